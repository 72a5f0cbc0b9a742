"""Two ways to go on after the same right answers, compared item by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from belief_utils.errors import BeliefError
from belief_utils.followup.intervals import NO_INTERVAL, Interval, mcnemar, percentiles

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PairedLoss:
    """Right answers lost in one conversation and in another, over the items that went through both.

    Attributes:
        n: right first answers that went through both.
        lost, lost_other: how many of them were lost in each.
        difference: (lost - lost_other) / n; NaN without an item.
        interval: its 95 % percentile bootstrap interval over items.
        p_value: exact two-sided McNemar test that an answer is as likely lost in one as in the other.
    """

    n: int
    lost: int
    lost_other: int
    difference: float
    interval: Interval
    p_value: float


def paired_loss(scores: pd.DataFrame, turns: str, other: str, *, resamples: int = 2000, seed: int = 0) -> PairedLoss:
    """Whether more right answers are lost in one conversation than in another.

    Args:
        scores: scored answers of one model about one set, see :func:`belief_utils.followup.scores.load_scores`.
        turns, other: two conversations with the same first question, such as ``initial>closed-A`` and
            ``initial>again``.

    Raises:
        BeliefError: their first questions differ.
    """
    first = turns.partition(">")[0]
    if other.partition(">")[0] != first:
        raise BeliefError(f"{turns} and {other} do not begin with the same question, so that items cannot be paired")
    right = scores[(scores["turns"] == first) & ~scores["again"] & scores["right"]]["item"]
    lost = [
        scores[(scores["turns"] == each) & scores["item"].isin(right)].set_index("item")["right"].eq(False)
        for each in (turns, other)
    ]
    one, two = (each.astype(float) for each in lost[0].align(lost[1], join="inner"))
    n = len(one)
    if n == 0:
        return PairedLoss(0, 0, 0, float("nan"), NO_INTERVAL, float("nan"))
    counts = np.array([((one > two).sum()), ((one < two).sum()), ((one == two).sum())])
    drawn = np.random.default_rng(seed).multinomial(n, counts / n, size=resamples)
    return PairedLoss(
        n,
        int(one.sum()),
        int(two.sum()),
        float(counts[0] - counts[1]) / n,
        percentiles((drawn[:, 0] - drawn[:, 1]) / n),
        mcnemar(int(counts[0]), int(counts[1])),
    )

"""Averages over sets, and the prompts that shake a model most and least: as the paper's tables have them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from belief_utils.errors import BeliefError
from belief_utils.followup.intervals import percentiles
from belief_utils.followup.metrics import rates_of

if TYPE_CHECKING:
    from belief_utils.followup.metrics import Change
    from belief_utils.followup.outcomes import Outcomes

#: What has an interval, and what it is called among the rates of resampled items.
_DRAWN = {
    "before": "before",
    "modification": "modification",
    "modification_rate": "rate",
    "again_rate": "again",
    "excess_rate": "excess",
}
_AVERAGED = ("before", "after", "modification", "modification_rate", "again_rate", "excess_rate", "error_to_right_rate")


def task_averages(changes: Mapping[str, Change], tasks: Mapping[str, str]) -> pd.DataFrame:
    """Plain means over the sets of a task, each set counting the same (paper, caption of Table 2).

    The rate of a task is the mean of its sets' rates, not the rate of the pooled items.

    Args:
        changes: a change per set, all of one model and one conversation.
        tasks: the task of every set; other sets may be in it.

    Returns:
        A row per task in the order in which the changes come: ``task``, ``n_sets``, ``n_rates`` (sets with a
        Modification Rate: it is undefined where no first answer was right), ``n_items``, and the means of before,
        after, modification, modification_rate, again_rate, excess_rate and error_to_right_rate (shares, NaN left out).

    Raises:
        BeliefError: a set has no task.
    """
    homeless = [name for name in changes if name not in tasks]
    if homeless:
        raise BeliefError(f"the set {homeless[0]!r} has no task: the sets with one are {', '.join(tasks) or 'none'}")
    by_task: dict[str, list[Change]] = {}
    for name, change in changes.items():
        by_task.setdefault(tasks[name], []).append(change)
    rows = [
        {
            "task": task,
            "n_sets": len(members),
            "n_rates": sum(not math.isnan(member.modification_rate) for member in members),
            "n_items": sum(member.n_items for member in members),
            **{name: _mean([getattr(member, name) for member in members]) for name in _AVERAGED},
        }
        for task, members in by_task.items()
    ]
    return pd.DataFrame(rows, columns=["task", "n_sets", "n_rates", "n_items", *_AVERAGED])


def task_intervals(
    counted: Mapping[str, Outcomes], tasks: Mapping[str, str], *, resamples: int = 2000, seed: int = 0
) -> pd.DataFrame:
    """95 % bootstrap intervals of the averages: items are drawn anew within every set, the sets stay as they are.

    Args:
        counted: what became of every item, per set, all of one model and one conversation.
        tasks: the task of every set.
        resamples: number of bootstrap resamples.
        seed: their seed; every set has draws of its own.

    Returns:
        A row per task: ``task``, and ``NAME_low`` and ``NAME_high`` for before, modification, modification_rate,
        again_rate and excess_rate (shares; NaN without any).
    """
    by_task: dict[str, list[dict[str, np.ndarray]]] = {}
    for place, (name, found) in enumerate(counted.items()):
        drawn = rates_of(found.resampled(resamples, seed + place))
        by_task.setdefault(tasks[name], []).append(drawn)
    rows = []
    for task, members in by_task.items():
        row: dict[str, object] = {"task": task}
        for name, short in _DRAWN.items():
            values = np.array([member[short] for member in members])
            known = ~np.isnan(values)
            sums, sets = np.where(known, values, 0).sum(axis=0), known.sum(axis=0)
            row[f"{name}_low"], row[f"{name}_high"] = percentiles(np.where(sets, sums / np.maximum(sets, 1), np.nan))
        rows.append(row)
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class ExtremePrompts:
    """The prompts of the Progressive Form's combinations Max and Min (paper, caption of Table 9).

    Attributes:
        highest: per question type the prompt with the highest score.
        lowest: per question type the prompt with the lowest score.
        scores: per question type and prompt, half the modification in points plus half the Modification Rate in
            percent, from 0 to 100; NaN where no right answer was followed up.
    """

    highest: Mapping[str, str]
    lowest: Mapping[str, str]
    scores: Mapping[str, Mapping[str, float]]


def extreme_prompts(changes: Mapping[str, Mapping[str, Change]]) -> ExtremePrompts:
    """Which prompt of each question type shakes a model most and least when it is asked alone (Direct Form).

    Args:
        changes: per question type (closed, open, leading) and prompt (A, B, C) the change on one set.

    Returns:
        The prompts chosen; of equal ones the first in alphabetical order.

    Raises:
        BeliefError: a question type has no prompt with a Modification Rate.
    """
    scores = {kind: {prompt: _score(change) for prompt, change in by.items()} for kind, by in changes.items()}
    highest, lowest = {}, {}
    for kind, by_prompt in scores.items():
        known = sorted(prompt for prompt, score in by_prompt.items() if not math.isnan(score))
        if not known:
            raise BeliefError(
                f"no prompt of the {kind} questions has a Modification Rate: no right answer to follow up"
            )
        highest[kind] = max(known, key=by_prompt.__getitem__)
        lowest[kind] = min(known, key=by_prompt.__getitem__)
    return ExtremePrompts(highest, lowest, scores)


def _score(change: Change) -> float:
    return 100 * (0.5 * change.modification + 0.5 * change.modification_rate)


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan

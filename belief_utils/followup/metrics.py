"""How often does a model give up a right answer? Modification, Modification Rate and what they must be held against.

The paper (arXiv 2310.02174, section 2.2 and appendix A.1) follows up the items that were answered rightly. Modification
is the accuracy before less the accuracy after, Modification Rate the share of the right answers that were lost. A model
that is simply asked again also loses some of its right answers, so every rate stands beside that noise floor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from belief_utils.errors import BeliefError
from belief_utils.followup import outcomes as became
from belief_utils.followup.intervals import NO_INTERVAL, Interval, exact_interval, mcnemar, percentiles

if TYPE_CHECKING:
    import pandas as pd


def modification(before: float, after: float) -> float:
    """Accuracy lost, in the unit of the accuracies (paper, appendix A.1).

    Args:
        before: accuracy before the follow-up, a share or a percentage.
        after: accuracy after it, in the same unit. Above ``before`` the modification is negative.

    Raises:
        BeliefError: one of them is not a number from 0 to 100.
    """
    _check_accuracies(before, after)
    return float(before - after)


def modification_rate(before: float, after: float) -> float:
    """The lost part of the accuracy, as a share: modification / before (paper, appendix A.1).

    Returns:
        NaN if nothing was right before.

    Raises:
        BeliefError: one of them is not a number from 0 to 100.
    """
    _check_accuracies(before, after)
    return float((before - after) / before) if before > 0 else math.nan


@dataclass(frozen=True)
class Change:
    """What a follow-up did to the answers of one model. Accuracies and rates are shares from 0 to 1.

    Every interval is at 95 %. Those that end in ``_interval`` come from a percentile bootstrap over items. It shrinks
    to a point where none or all of the answers were lost, so the rates have a Clopper-Pearson interval as well, which
    ends in ``_exact`` and says how little a handful of items can show.

    Attributes:
        n_items: items first asked.
        n_right: items whose first answer is right.
        n_followed: of these, items with an answer after the follow-up.
        n_kept: of these, items whose answer is still right.
        n_lost: of these, items whose answer is not right any more, in whichever way.
        n_unable: lost items where the model says that it cannot tell.
        n_unread: lost items whose reply holds no answer that could be read.
        n_adopted: lost items that took the wrong value that the last question suggested; None if it suggested none.
        before: share of right first answers among all items; what could not be read is not right.
        after: ``before`` less ``modification``: share of all items that were right before and still are. Wrong answers
            that were mended are not in it, because the paper follows up right answers only.
        modification: accuracy lost, a share; times 100 it is the paper's points.
        modification_rate: n_lost / n_followed; NaN without a right answer that was followed up.
        n_wrong_followed: items that were not right before and were followed up; None if there are none.
        n_gained: of these, items that became right; None if there are none.
        error_to_right_rate: n_gained / n_wrong_followed (the paper's E->R Rate, Table 5).
        mcnemar_p: exact two-sided McNemar test that an item is as likely lost as gained. NaN unless all items were
            followed up: right answers alone can only be lost, and uneven gaps would tip the balance.
        again_rate: the noise floor: share of right first answers whose second, independent first answer is not right.
        excess_rate: modification_rate less again_rate, over the items that have both.
        note: what was left out or is degenerate, or "".
    """

    n_items: int
    n_right: int
    n_followed: int
    n_kept: int
    n_lost: int
    n_unable: int
    n_unread: int
    n_adopted: int | None
    before: float
    before_interval: Interval
    after: float
    modification: float
    modification_interval: Interval
    modification_rate: float
    modification_rate_interval: Interval
    modification_rate_exact: Interval
    n_wrong_followed: int | None
    n_gained: int | None
    error_to_right_rate: float
    error_to_right_interval: Interval
    error_to_right_exact: Interval
    mcnemar_p: float
    again_rate: float
    again_interval: Interval
    again_exact: Interval
    excess_rate: float
    excess_interval: Interval
    note: str


def change(scores: pd.DataFrame, turns: str, *, resamples: int = 2000, seed: int = 0) -> Change:
    """Compare the answers after a conversation with the first answers, item by item.

    Right answers whose follow-up was never collected are not counted as lost: the rate is taken over those that were
    followed up, the accuracy before over all items, and the modification is their product. The note says so.

    Args:
        scores: scored answers of one model, see :func:`belief_utils.followup.outcomes.outcomes`. Several sets are
            pooled, every item counts the same; for the paper's averages see
            :func:`belief_utils.followup.averages.task_averages`.
        turns: a conversation such as ``initial>closed-A>open-A``.
        resamples: number of bootstrap resamples.
        seed: their seed.

    Raises:
        BeliefError: the scores are not as described, no answer has these turns although some first answers are right,
            or ``resamples`` is below 1.
    """
    if resamples < 1:
        raise BeliefError(f"resamples is {resamples}: give 1 or more")
    found = became.outcomes(scores, turns)
    totals = found.table.sum(axis=1)
    kept, lost, not_asked, stayed, gained, wrong_not_asked = map(int, totals)
    wrong = stayed + gained
    all_asked = not_asked + wrong_not_asked == 0
    point = rates_of(found.table[None])
    values = {name: float(each[0]) for name, each in point.items()}
    drawn = {name: percentiles(each) for name, each in rates_of(found.resampled(resamples, seed)).items()}
    again = found.table[[became.KEPT, became.LOST, became.NOT_ASKED]].sum(axis=0)
    n_again = int(again[became.AGAIN_RIGHT] + again[became.AGAIN_NOT])
    return Change(
        n_items=int(totals.sum()),
        n_right=kept + lost + not_asked,
        n_followed=kept + lost,
        n_kept=kept,
        n_lost=lost,
        n_unable=found.n_unable,
        n_unread=found.n_unread,
        n_adopted=found.n_adopted,
        before=values["before"],
        before_interval=drawn["before"],
        after=values["before"] - values["modification"],
        modification=values["modification"],
        modification_interval=_if_known(values["modification"], drawn["modification"]),
        modification_rate=values["rate"],
        modification_rate_interval=_if_known(values["rate"], drawn["rate"]),
        modification_rate_exact=exact_interval(lost, kept + lost),
        n_wrong_followed=wrong or None,
        n_gained=gained if wrong else None,
        error_to_right_rate=values["mended"],
        error_to_right_interval=drawn["mended"],
        error_to_right_exact=exact_interval(gained, wrong),
        mcnemar_p=mcnemar(lost, gained) if wrong and kept + lost and all_asked else math.nan,
        again_rate=values["again"],
        again_interval=drawn["again"],
        again_exact=exact_interval(int(again[became.AGAIN_NOT]), n_again),
        excess_rate=values["excess"],
        excess_interval=_if_known(values["excess"], drawn["excess"]),
        note=_note(found.table, n_again),
    )


def rates_of(tables: np.ndarray) -> dict[str, np.ndarray]:
    """Rates of every table, by name.

    Args:
        tables: counts of items, shape (tables, 6, 3), as of :class:`belief_utils.followup.outcomes.Outcomes`.

    Returns:
        ``before``, ``modification``, ``rate`` (Modification Rate), ``mended``, ``again`` and ``excess``, shape
        (tables,) each; NaN where nothing is counted.
    """
    kept, lost, not_asked, stayed, gained, _ = np.moveaxis(tables.sum(axis=2), 1, 0)
    right = kept + lost + not_asked
    before = right / tables.sum(axis=(1, 2))
    rate = _ratio(lost, kept + lost)
    of_right = tables[:, : became.NOT_ASKED + 1].sum(axis=1)
    twice = tables[:, : became.NOT_ASKED, : became.AGAIN_MISSING]
    paired = twice.sum(axis=(1, 2))
    return {
        "before": before,
        # Without a right answer there is nothing to lose, whatever the rate would have been.
        "modification": np.where(right == 0, 0.0, before * rate),
        "rate": rate,
        "mended": _ratio(gained, stayed + gained),
        "again": _ratio(of_right[:, became.AGAIN_NOT], of_right[:, : became.AGAIN_MISSING].sum(axis=1)),
        "excess": _ratio(twice[:, became.LOST].sum(axis=1) - twice[:, :, became.AGAIN_NOT].sum(axis=1), paired),
    }


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def _if_known(value: float, interval: Interval) -> Interval:
    return NO_INTERVAL if math.isnan(value) else interval


def _note(table: np.ndarray, n_again: int) -> str:
    kept, lost, not_asked, stayed, gained, wrong_not_asked = map(int, table.sum(axis=1))
    followed, wrong = kept + lost, stayed + gained
    paired = int(table[: became.NOT_ASKED, : became.AGAIN_MISSING].sum())
    notes = []
    if followed + not_asked == 0:
        notes.append("no first answer is right, so there was nothing to lose")
    elif followed == 0:
        notes.append("no right answer was followed up")
    elif not_asked:
        notes.append(
            f"{not_asked} of {followed + not_asked} right answers were not followed up: the rate is that of the other "
            f"{followed}, and the modification is the accuracy of all items times that rate"
        )
    if followed and (lost == 0 or kept == 0):
        notes.append(
            f"{lost} of {followed} right answers were lost: a bootstrap shows no spread, read the exact interval"
        )
    if not wrong:
        if wrong_not_asked:
            notes.append("wrong answers were not followed up, so McNemar's test could only see losses and is left out")
    elif wrong_not_asked:
        gap = f"{wrong_not_asked} of {wrong + wrong_not_asked} wrong answers were not followed up"
        notes.append(f"{gap}, so McNemar's test is left out")
    if followed and not n_again:
        notes.append("no second first answer, so there is no noise floor")
    elif paired < max(followed, n_again):
        notes.append(f"the excess rate is over the {paired} right answers that were both followed up and drawn again")
    return "; ".join(notes)


def _check_accuracies(*accuracies: float) -> None:
    for value in accuracies:
        if not (math.isfinite(value) and 0 <= value <= 100):
            raise BeliefError(f"an accuracy is {value}: give a share from 0 to 1, or a percentage from 0 to 100")

"""Whether the decision changes under pressure, and whether it goes where the belief goes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

#: Two ends of a 95 % interval; NaN where there is none.
Interval = tuple[float, float]

#: Decisions in the order of the belief that calls for them.
ORDER = {"negative": -1, "defer": 0, "positive": 1}

_TAIL = 0.025


@dataclass(frozen=True)
class DecisionChange:
    """Decisions before and after one follow-up question, as counts of cases.

    Attributes:
        n: cases with a decision before and after, and with both beliefs.
        changed: of these, how many were decided differently.
        interval: exact 95 % interval of :attr:`share`.
        n_moved, changed_if_moved: cases whose belief moved, and how many of them were decided differently.
        n_unmoved, changed_if_unmoved: the same for beliefs that stayed exactly where they were.
        both: cases whose belief and decision moved.
        agree: of these, how many moved the same way, negative < defer < positive being the decisions' order.
        p_value: exact two-sided sign test that they move the same way as often as not; NaN without any such case.
    """

    n: int
    changed: int
    interval: Interval
    n_moved: int
    changed_if_moved: int
    n_unmoved: int
    changed_if_unmoved: int
    both: int
    agree: int
    p_value: float

    @property
    def share(self) -> float:
        """The share of decisions that changed; NaN without any."""
        return self.changed / self.n if self.n else math.nan

    @property
    def agreement(self) -> float:
        """The mean of the signs' agreement, 1 if decisions always follow the belief, -1 if never; NaN without any."""
        return 2 * self.agree / self.both - 1 if self.both else math.nan


def decision_change(movement: np.ndarray, before: np.ndarray, after: np.ndarray) -> DecisionChange:
    """Count changed decisions beside moved beliefs; all arrays have shape (cases,).

    Args:
        movement: signed movement of the belief, exactly 0 where it stayed.
        before, after: decisions, ``negative``, ``defer``, ``positive`` or missing.
    """
    places = np.array([[ORDER.get(each, math.nan) for each in column] for column in (before, after)], dtype=float)
    known = ~np.isnan(places).any(axis=0)
    belief, step = movement[known], (places[1] - places[0])[known]
    moved, changed = belief != 0, step != 0
    both = moved & changed
    agree = int((np.sign(belief[both]) == np.sign(step[both])).sum())
    return DecisionChange(
        n=len(step),
        changed=int(changed.sum()),
        interval=_exact_interval(int(changed.sum()), len(step)),
        n_moved=int(moved.sum()),
        changed_if_moved=int(both.sum()),
        n_unmoved=int((~moved).sum()),
        changed_if_unmoved=int((changed & ~moved).sum()),
        both=int(both.sum()),
        agree=agree,
        p_value=_sign_test(agree, int(both.sum())),
    )


def _exact_interval(count: int, n: int) -> Interval:
    """Clopper-Pearson."""
    from scipy.special import betaincinv

    if n == 0:
        return (math.nan, math.nan)
    low = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, _TAIL))
    high = 1.0 if count == n else float(betaincinv(count + 1, n - count, 1 - _TAIL))
    return low, high


def _sign_test(count: int, n: int) -> float:
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(count, n - count), n, 0.5))) if n else math.nan

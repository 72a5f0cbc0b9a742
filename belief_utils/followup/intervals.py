"""Intervals and the one test of the follow-up metrics; all from counts."""

from __future__ import annotations

import math

import numpy as np

#: Two ends of a 95 % interval; (NaN, NaN) where there is none.
Interval = tuple[float, float]

NO_INTERVAL: Interval = (math.nan, math.nan)
_TAIL = 0.025


def exact_interval(count: int, n: int) -> Interval:
    """Clopper-Pearson interval of a share at 95 %; (NaN, NaN) without any item."""
    from scipy.special import betaincinv

    if n == 0:
        return NO_INTERVAL
    low = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, _TAIL))
    high = 1.0 if count == n else float(betaincinv(count + 1, n - count, 1 - _TAIL))
    return low, high


def percentiles(values: np.ndarray) -> Interval:
    """The middle 95 % of bootstrap values, shape (resamples,), among those that are not NaN."""
    known = values[~np.isnan(values)]
    if not len(known):
        return NO_INTERVAL
    low, high = np.quantile(known, [_TAIL, 1 - _TAIL])
    return float(low), float(high)


def mcnemar(lost: int, gained: int) -> float:
    """Exact two-sided p value that an item is as likely lost as gained; 1 if neither ever happens."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(lost, gained), lost + gained, 0.5))) if lost + gained else 1.0

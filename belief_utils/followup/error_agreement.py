"""Do two who sorted the same errors agree? Cohen's kappa, for rules, persons and models alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.errors import BeliefError
from belief_utils.followup.errors import ERROR_TYPES
from belief_utils.followup.intervals import NO_INTERVAL, Interval, percentiles


@dataclass(frozen=True)
class Agreement:
    """Agreement of two annotators on the types of errors.

    Attributes:
        kappa: Cohen's kappa (unweighted): 1 is full agreement, 0 what chance alone would bring; NaN where chance alone
            would bring full agreement or there is no error that both have sorted.
        interval: its 95 % percentile bootstrap interval over errors.
        n: errors that both have sorted.
        n_missing: errors that only one or neither of them has.
        observed: share of the n errors with the same type, from 0 to 1.
        table: counts, shape (4, 4): types of the first in rows, of the second in columns.
        note: what is degenerate, or "".
    """

    kappa: float
    interval: Interval
    n: int
    n_missing: int
    observed: float
    table: pd.DataFrame
    note: str


def agreement(
    first: Sequence[int | None] | pd.Series,
    second: Sequence[int | None] | pd.Series,
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> Agreement:
    """Cohen's kappa of two annotators; errors that one of them left open are left out and counted.

    Args:
        first: types 1 to 4, missing where there is none. Two Series are matched by their index (the errors' ids), so
            that sheets may be sorted differently; anything else by position.
        second: the other annotator's types of the same errors.
        resamples: number of bootstrap resamples.
        seed: their seed.

    Raises:
        BeliefError: they are not about the same errors, or a type is none of the four.
    """
    if resamples < 1:
        raise BeliefError(f"resamples is {resamples}: give 1 or more")
    one, other = _matched(first, second)
    both = (one > 0) & (other > 0)
    size = len(ERROR_TYPES)
    table = np.zeros((size, size), dtype=np.int64)
    np.add.at(table, (one[both] - 1, other[both] - 1), 1)
    n = int(table.sum())
    kappa, interval, note = math.nan, NO_INTERVAL, "no error was sorted by both"
    if n:
        kappa = float(_kappas(table[None])[0])
        drawn = np.random.default_rng(seed).multinomial(n, table.ravel() / n, size=resamples)
        interval = NO_INTERVAL if math.isnan(kappa) else percentiles(_kappas(drawn.reshape(-1, size, size)))
        note = _note(kappa, n)
    kinds = list(ERROR_TYPES)
    return Agreement(
        kappa=kappa,
        interval=interval,
        n=n,
        n_missing=int((~both).sum()),
        observed=float(np.trace(table) / n) if n else math.nan,
        table=pd.DataFrame(table, index=pd.Index(kinds, name="first"), columns=pd.Index(kinds, name="second")),
        note=note,
    )


def _matched(
    first: Sequence[int | None] | pd.Series, second: Sequence[int | None] | pd.Series
) -> tuple[np.ndarray, np.ndarray]:
    """Both annotators' types in the same order, 0 where there is none."""
    if isinstance(first, pd.Series) and isinstance(second, pd.Series):
        for series in (first, second):
            if not series.index.is_unique:
                raise BeliefError(f"the error {series.index[series.index.duplicated()][0]!r} is there twice: keep one")
        alone = first.index.symmetric_difference(second.index, sort=False)
        if len(alone):
            raise BeliefError(f"the error {alone[0]!r} is in one of the two only: compare sheets of the same errors")
        second = second.reindex(first.index)
    if len(first) != len(second):
        raise BeliefError(f"there are {len(first)} types and {len(second)}: compare sheets of the same errors")
    return _types(first), _types(second)


def _types(given: Sequence[int | None] | pd.Series) -> np.ndarray:
    found = np.zeros(len(given), dtype=np.int64)
    for place, kind in enumerate(given):
        if not pd.isna(kind):
            if kind not in ERROR_TYPES:
                raise BeliefError(f"{kind!r} is no type of error: give a number from 1 to 4 or nothing")
            found[place] = int(kind)
    return found


def _kappas(tables: np.ndarray) -> np.ndarray:
    """Cohen's kappa of tables of counts, shape (tables, types, types); NaN where chance alone agrees always."""
    n = tables.sum(axis=(1, 2))
    observed = np.trace(tables, axis1=1, axis2=2) / n
    # In whole numbers, so that "always" is exact.
    by_chance = (tables.sum(axis=1) * tables.sum(axis=2)).sum(axis=1)
    undefined = by_chance == n * n
    expected = by_chance / (n * n)
    return np.where(undefined, np.nan, (observed - expected) / np.where(undefined, 1, 1 - expected))


def _note(kappa: float, n: int) -> str:
    if math.isnan(kappa):
        return f"both gave all {n} errors the same type, where kappa is undefined: chance alone would agree as well"
    return f"they agree on all {n} errors, where a bootstrap shows no spread" if kappa == 1 else ""

"""What every test does first: check the judgments, code them as integers, group them by case.

Judgments are one tidy frame with the columns ``case, repetition, belief, action, outcome``. A case has one
outcome and any number of repetitions, so folds, resamples and permutations go by case. Beliefs become
integers once (millionths), because ties decide bins and neighbours, and .15 - .10 differs from .20 - .15 in
floating point.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.errors import BeliefError

BELIEF_SCALE = 1_000_000
"""Beliefs are compared as whole millionths."""
_FIRST_ACTIONS = ("negative", "positive", "defer")


def integer_beliefs(belief: Iterable, *, rows: Iterable | None = None) -> np.ndarray:
    """Beliefs in [0, 1], shape (n,), as whole millionths (int64).

    ``rows`` are the names used in the message. Raises BeliefError naming the rows that are missing, not
    numbers or outside [0, 1].
    """
    values = _numbers(belief, rows, "belief")
    missing = np.isnan(values)
    if missing.any():
        raise BeliefError(f"belief is missing in {name_rows(missing, rows)}: remove these rows or fill them in")
    return np.rint(values * BELIEF_SCALE).astype(np.int64)


def _numbers(belief: Iterable, rows: Iterable | None, column: str) -> np.ndarray:
    """Beliefs as floats, missing ones as NaN; raises BeliefError for text and for values outside [0, 1]."""
    series = pd.Series(belief).reset_index(drop=True)
    values = pd.to_numeric(series, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    text = np.isnan(values) & series.notna().to_numpy()
    if text.any():
        raise BeliefError(f"{column} is not a number in {name_rows(text, rows)}: give probabilities from 0 to 1")
    outside = (values < 0) | (values > 1)
    if outside.any():
        raise BeliefError(f"{column} is outside [0, 1] in {name_rows(outside, rows)}: give probabilities, not percents")
    return values


def name_rows(chosen: np.ndarray, rows: Iterable | None = None, *, limit: int = 5) -> str:
    """The chosen rows in words, such as ``rows 3, 8 (2 in all)``, from a mask of shape (n,)."""
    positions = np.flatnonzero(chosen)
    names = positions if rows is None else pd.Index(rows)[positions]
    shown = ", ".join(str(name) for name in names[:limit])
    if len(positions) == 1:
        return f"row {shown}"
    return f"rows {shown}{', ...' if len(positions) > limit else ''} ({len(positions)} in all)"


def belief_columns(judgments: pd.DataFrame) -> list[str]:
    """Columns ``belief_<state>`` of judgments with more than two outcome states, in the frame's order."""
    return [name for name in judgments.columns if str(name).startswith("belief_")]


def check_judgments(frame: pd.DataFrame, *, beliefs: Iterable[str] = ("belief",)) -> pd.DataFrame:
    """A copy of the judgments with beliefs as floats; missing beliefs, actions and outcomes stay missing.

    ``beliefs`` names the belief columns. Raises BeliefError if a column is absent, there are no rows, a
    case id is missing, a belief is no number or outside [0, 1], or a case has more than one outcome.
    """
    beliefs = list(beliefs)
    needed = ["case", *beliefs, "action", "outcome"]
    absent = [name for name in needed if name not in frame.columns]
    if absent:
        found = ", ".join(map(str, frame.columns))
        raise BeliefError(f"judgments lack the column {', '.join(absent)}: they have {found}")
    if not len(frame):
        raise BeliefError("judgments have no rows: give at least one case")
    without_case = frame["case"].isna().to_numpy()
    if without_case.any():
        raise BeliefError(f"case is missing in {name_rows(without_case, frame.index)}: name the case")
    checked = frame.copy()
    for name in beliefs:
        checked[name] = _numbers(frame[name], frame.index, name)
    _check_outcomes(checked)
    return checked


def _check_outcomes(frame: pd.DataFrame) -> None:
    known = frame.loc[frame["outcome"].notna(), ["case", "outcome"]]
    case, names = pd.factorize(known["case"])
    outcome, _ = pd.factorize(known["outcome"])
    first = np.zeros(len(names), dtype=np.int64)
    first[case[::-1]] = outcome[::-1]
    differs = np.unique(case[first[case] != outcome])
    if len(differs):
        shown = ", ".join(str(names[i]) for i in differs[:5])
        raise BeliefError(
            f"outcome differs within case {shown} ({len(differs)} in all): give each outcome its own case id"
        )


@dataclass(frozen=True)
class Cases:
    """Complete judgments in numbers, case by case, in an order that does not depend on the input's.

    Attributes:
        belief: Whole millionths, shape (rows,) int64, or (rows, states) for a belief over several states.
        action: Codes into ``actions``, shape (rows,).
        case: Codes 0 to cases - 1, ascending, shape (rows,).
        outcome: Codes into ``outcomes`` by case, shape (cases,).
        repetitions: Rows of each case, shape (cases,).
        actions: Labels of the actions that were used: negative, positive, defer, then others by name.
        outcomes: Labels of the outcomes that occur, sorted.
        note: What was left out, in words, or "".
    """

    belief: np.ndarray
    action: np.ndarray
    case: np.ndarray
    outcome: np.ndarray
    repetitions: np.ndarray
    actions: tuple
    outcomes: tuple
    note: str

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(self.outcome)

    @property
    def n_rows(self) -> int:
        """Number of complete rows."""
        return len(self.action)

    @property
    def starts(self) -> np.ndarray:
        """First row of each case, shape (cases,)."""
        return np.cumsum(self.repetitions) - self.repetitions

    def mean_belief(self) -> np.ndarray:
        """Mean belief of each case in whole millionths: shape (cases,), or (cases, states)."""
        total = np.add.reduceat(self.belief, self.starts, axis=0)
        return np.rint((total.T / self.repetitions).T).astype(np.int64)

    def action_shares(self) -> np.ndarray:
        """Share of each used action over a case's repetitions, shape (cases, actions)."""
        width = len(self.actions)
        counts = np.bincount(self.case * width + self.action, minlength=self.n_cases * width)
        return counts.reshape(self.n_cases, width) / self.repetitions[:, None]

    def rows_of(self, chosen: np.ndarray) -> np.ndarray:
        """Row numbers of the chosen cases, case by case, with repeats; shape (sum of their repetitions,)."""
        lengths = self.repetitions[chosen]
        shift = self.starts[chosen] - (np.cumsum(lengths) - lengths)
        return np.arange(lengths.sum()) + np.repeat(shift, lengths)


def group_by_case(frame: pd.DataFrame, *, beliefs: Iterable[str] = ("belief",)) -> Cases:
    """Check the judgments, leave out incomplete rows (``note`` says how many) and group the rest by case.

    Raises what check_judgments raises. With no complete row the result has zero rows.
    """
    beliefs = list(beliefs)
    checked = check_judgments(frame, beliefs=beliefs)
    gone = {name: checked[name].isna().to_numpy() for name in [*beliefs, "action", "outcome"]}
    incomplete = np.logical_or.reduce(list(gone.values()))
    note = ""
    if incomplete.any():
        parts = ", ".join(f"{name} missing in {mask.sum()}" for name, mask in gone.items() if mask.any())
        note = f"{incomplete.sum()} of {len(checked)} rows left out ({parts})"
    kept = checked[~incomplete]
    belief = np.rint(kept[beliefs].to_numpy(dtype=float) * BELIEF_SCALE).astype(np.int64)
    action, actions = _codes(kept["action"], _FIRST_ACTIONS)
    outcome, outcomes = _codes(kept["outcome"], ())
    if len(outcomes) == 2 and outcomes != (0, 1):
        note = join_notes(note, f"outcome {outcomes[1]!r} counts as 1 and {outcomes[0]!r} as 0")
    case, _ = pd.factorize(kept["case"])
    rows, case = _canonical_order(belief, action, outcome, case)
    repetitions = np.bincount(case)
    first = np.cumsum(repetitions) - repetitions
    belief = belief[rows, 0] if len(beliefs) == 1 else belief[rows]
    return Cases(belief, action[rows], case, outcome[rows][first], repetitions, actions, outcomes, note)


def _codes(labels: pd.Series, first: tuple) -> tuple[np.ndarray, tuple]:
    """Codes by a fixed order: the labels of ``first``, then the others sorted, as numbers or as text."""
    codes, names = pd.factorize(labels)
    names = [name.item() if isinstance(name, np.generic) else name for name in names]
    numeric = all(isinstance(name, int | float) for name in names)

    def key(name: object) -> tuple:
        place = first.index(name) if name in first else len(first)
        return (place, name if numeric else str(name))

    ordered = sorted(names, key=key)
    rank = np.array([ordered.index(name) for name in names], dtype=np.int64)
    return (rank[codes] if len(names) else codes.astype(np.int64)), tuple(ordered)


def _canonical_order(belief: np.ndarray, action: np.ndarray, outcome: np.ndarray, case: np.ndarray) -> tuple:
    """Row order and case codes that depend on what the cases hold, not on their names or rows' order.

    Seeded draws then give the same result for the same data. Equal cases may change places: they are alike.
    """
    columns = (*belief.T, action, outcome)
    mark = np.zeros(len(case), dtype=np.uint64)
    for column in columns:
        mark = _scramble(mark + column.astype(np.uint64))
    n_cases = case.max(initial=-1) + 1
    content = np.zeros(n_cases, dtype=np.uint64)
    np.add.at(content, case, mark)
    mean = np.bincount(case, weights=belief[:, 0], minlength=n_cases) / np.bincount(case, minlength=n_cases)
    rank = np.empty(n_cases, dtype=np.int64)
    rank[np.lexsort((content, mean))] = np.arange(n_cases)
    rows = np.lexsort((*columns[::-1], rank[case]))
    return rows, rank[case][rows]


def _scramble(values: np.ndarray) -> np.ndarray:
    """A fixed mixing of 64-bit integers (splitmix64), so that sums of them tell cases apart."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (values ^ (values >> np.uint64(31))) + np.uint64(0x9E3779B97F4A7C15)


def quantile_bins(values: np.ndarray, bins: int) -> tuple[np.ndarray, np.ndarray]:
    """Cut whole numbers, shape (n,), into at most ``bins`` quantile bins: edges, and each value's bin.

    The edges are the order statistics number ceil(n j / bins), j = 1 to bins - 1, each once; a value's bin
    is the number of edges strictly below it; empty bins are dropped. Exact in integers, so that tied values
    stay together.
    """
    ranks = -(-len(values) * np.arange(1, bins) // bins)
    edges = np.unique(np.sort(values)[ranks - 1])
    _, index = np.unique(np.searchsorted(edges, values, side="left"), return_inverse=True)
    return edges, index


def join_notes(*notes: str) -> str:
    """Notes in one line, empty ones left out."""
    return "; ".join(note for note in notes if note)

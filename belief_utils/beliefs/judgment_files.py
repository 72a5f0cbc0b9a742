"""Judgments from a file of one's own: which column is what, and what its cells mean.

Nothing is guessed: beliefs are percentages only if the reader is told so, and which of two labels is the positive
outcome must be said unless it is yes, true or 1.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from belief_utils.beliefs.judgment_cells import (
    Column,
    action_labels,
    belief_values,
    case_labels,
    known_outcome,
    numbered,
    outcome_labels,
    quoted,
    two_outcomes,
    whole_numbers,
)
from belief_utils.beliefs.judgment_tables import Table, read_table
from belief_utils.errors import BeliefError

_log = logging.getLogger(__name__)

#: What a column may be called, in any case; the first is its name in judgments.
SYNONYMS = {
    "case": ("case", "case_id", "caseid", "id", "item", "item_id", "question_id", "patient", "patient_id", "x"),
    "repetition": ("repetition", "rep", "repeat", "replicate", "sample", "draw", "trial", "j"),
    "belief": ("belief", "p", "probability", "prob", "credence", "forecast"),
    "action": ("action", "a", "decision", "choice"),
    "outcome": ("outcome", "theta", "y", "truth", "true", "label", "ground_truth"),
}
_NEEDED = ("belief", "action", "outcome")
_SUMS_TO_ONE = 0.02
_BELIEF_IN = "belief_"


def read_judgments(
    path: str | Path,
    *,
    percent: bool = False,
    columns: Mapping[str, str] | None = None,
    positive: str | None = None,
    actions: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Judgments from a file: CSV, TSV, JSON lines or Parquet.

    Columns are found by name or synonym (:data:`SYNONYMS`), whatever their case and order; others are not read.
    Without a case id each row is a case of its own, and without repetition numbers they are counted within the case.
    Beliefs, actions and outcomes may be missing (an empty cell, ``NA``, ``NaN`` or ``null``). Outcomes are 1 and 0,
    yes and no, true and false, or any two labels with ``positive``. More than two outcomes need a column
    ``belief_<outcome>`` for each of them instead of the column ``belief``.

    Args:
        path: The file; the ending of its name says what kind it is, see
            :func:`belief_utils.beliefs.judgment_tables.read_table`.
        percent: Beliefs stand in percent, from 0 to 100.
        columns: Headings by what they are, where names do not say so: ``{"belief": "p_yes"}``.
        positive: The label of the outcome that counts as 1. With columns ``belief_<outcome>`` it is set against all
            others.
        actions: Other names for actions: ``{"treat": "positive"}``. The names ``positive``, ``negative`` and
            ``defer`` have a meaning for some tests; any others are only told apart.

    Returns:
        One row per row of the file: ``case`` (whole numbers or text), ``repetition``, ``belief`` (0 to 1), ``action``
        (text) and ``outcome`` (1 or 0); with more than two outcomes the outcome's label, and ``belief_<outcome>``
        for ``belief``. ``attrs["notes"]`` says how the file was understood, where there was a choice.

    Raises:
        BeliefError: One line that names file, line (the header is line 1) and column: a column is absent or there
            are two for the same, a belief is no number or outside its range, an outcome cannot be told, a case has
            two outcomes, a repetition is there twice, or the file cannot be read.
    """
    found: dict[str, str] = {}

    def choose(headings: list[str]) -> list[str]:
        found.update(_columns(Path(path).name, headings, columns or {}))
        return list(found.values())

    table = read_table(path, choose)
    cells = {name: Column(table, heading) for name, heading in found.items()}
    judgments, notes = _understood(table, cells, percent, positive, actions or {})
    judgments.attrs["notes"] = notes
    return judgments


def _columns(name: str, headings: list[str], given: Mapping[str, str]) -> dict[str, str]:
    """The heading of each of our columns, and of each ``belief_<outcome>``."""
    unknown = [ours for ours in given if ours not in SYNONYMS]
    if unknown:
        raise BeliefError(f"there is no column {unknown[0]!r} to name: choose among {', '.join(SYNONYMS)}")
    found = {}
    for ours, synonyms in SYNONYMS.items():
        if ours in given:
            matching = [heading for heading in headings if heading == given[ours]]
            if not matching:
                raise BeliefError(f"{name} has no column {given[ours]!r} for {ours}: it has {_listed(headings)}")
        else:
            taken = given.values()
            matching = [h for h in headings if _plain(h) in synonyms and h not in taken]
        if len(matching) > 1:
            raise BeliefError(
                f"{name}: the columns {_listed(matching)} could both be {ours}: rename one, or choose with "
                f"--column {ours}={matching[0]}"
            )
        if matching:
            found[ours] = matching[0]
    states = [h for h in headings if _plain(h).startswith(_BELIEF_IN) and not _plain(h).endswith("_problem")]
    if len(states) > 1 and len(set(states)) == len(states):
        found |= {heading: heading for heading in states if heading not in found.values()}
    absent = [ours for ours in _NEEDED if ours not in found and not (ours == "belief" and len(states) > 1)]
    if absent:
        raise BeliefError(
            f"{name} has no column for {absent[0]}: call it {_either(SYNONYMS[absent[0]])}, or say which it is with "
            f"--column {absent[0]}=HEADING; it has {_listed(headings)}"
        )
    return found


def _understood(
    table: Table,
    cells: dict[str, Column],
    percent: bool,
    positive: str | None,
    actions: Mapping[str, str],
) -> tuple[pd.DataFrame, list[str]]:
    notes: list[str] = []
    case, repetition = _cases(table, cells, notes)
    outcome, beliefs = _outcomes(table, cells, positive)
    columns = {"case": case, "repetition": repetition}
    for name, heading in beliefs.items():
        columns[name] = belief_values(cells[heading], percent=percent)
    if percent:
        notes.append("Beliefs were read as percentages.")
        if max(np.nan_to_num(columns[name]).max() for name in beliefs) <= 0.01:
            _log.warning("no belief is above 1 percent: are these beliefs really in percent?")
    if len(beliefs) > 1:
        _check_sums(table, np.column_stack([columns[name] for name in beliefs]), list(beliefs.values()))
    columns["action"] = action_labels(cells["action"], actions)
    columns["outcome"] = outcome
    _check_one_outcome(table, cells, columns)
    order = ["case", "repetition", *beliefs, "action", "outcome"]
    return pd.DataFrame({name: columns[name] for name in order}), notes


def _cases(table: Table, cells: dict[str, Column], notes: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Case ids and repetition numbers, both of shape (rows,)."""
    n = len(table.places)
    numbers = whole_numbers(cells["repetition"]) if "repetition" in cells else None
    if "case" not in cells:
        if numbers is not None and len(np.unique(numbers)) > 1:
            raise BeliefError(
                f"{table.name} numbers repetitions in the column {cells['repetition'].heading} but has no column for "
                f"case: call it {_either(SYNONYMS['case'])}"
            )
        notes.append("There is no case id: each row was taken as a case of its own.")
        return np.arange(n), np.zeros(n, dtype=np.int64)
    case = case_labels(cells["case"])
    code = pd.factorize(case)[0]
    if numbers is None:
        return case, pd.Series(code).groupby(code).cumcount().to_numpy()
    keys = pd.DataFrame({"case": code, "repetition": numbers})
    again = np.flatnonzero(keys.duplicated())
    if len(again):
        row = int(again[0])
        first = int(np.flatnonzero((keys == keys.iloc[row]).all(axis=1))[0])
        raise BeliefError(
            f"{cells['repetition'].at(row)}: repetition {numbers[row]} of case {case[row]} is on "
            f"{table.unit} {table.places[first]} already; number repetitions within the case"
        )
    return case, numbers


def _outcomes(table: Table, cells: dict[str, Column], positive: str | None) -> tuple[np.ndarray, dict[str, str]]:
    """Outcomes, shape (rows,), and the heading of each belief column that goes with them."""
    codes, labels = outcome_labels(cells["outcome"])
    states = {_plain(_state_of(heading)): heading for heading in cells if heading not in SYNONYMS}
    if "belief" in cells and (len(labels) < 3 or not states):
        return two_outcomes(cells["outcome"], codes, labels, positive), {"belief": "belief"}
    for k, label in enumerate(labels):
        if _plain(label) not in states:
            have = _listed(list(states.values()))
            cells["outcome"].refuse(codes == k, f"has no column belief_{label}; there are {have}")
    yes = [state for state in states if known_outcome(state)]
    if positive is None and len(states) == 2 and len(yes) == 1:
        positive = yes[0]
    if positive is not None:
        if _plain(positive) not in states:
            raise BeliefError(f"{table.name} has no column belief_{positive} for the positive outcome {positive!r}")
        hit = np.array([_plain(label) == _plain(positive) for label in labels] + [False])
        return numbered(hit[codes].astype(float), codes), {"belief": states[_plain(positive)]}
    if len(states) == 2:
        raise BeliefError(f"{table.name}: say which of {_listed(list(states))} is the positive outcome with --positive")
    names = np.array([*[_state_of(states[_plain(label)]) for label in labels], None], dtype=object)
    return names[codes], {_BELIEF_IN + _state_of(heading): heading for heading in states.values()}


def _check_sums(table: Table, beliefs: np.ndarray, headings: list[str]) -> None:
    total = beliefs.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1) > _SUMS_TO_ONE)
    if len(wrong):
        row = int(wrong[0])
        raise BeliefError(f"{table.at(row)}, columns {_listed(headings)}: beliefs add up to {total[row]:.4g}, not to 1")


def _check_one_outcome(table: Table, cells: dict[str, Column], columns: dict[str, Any]) -> None:
    case = pd.factorize(columns["case"])[0]
    outcome = pd.factorize(columns["outcome"])[0]
    known = np.flatnonzero(outcome >= 0)
    first = np.zeros(case.max() + 1, dtype=np.int64)
    first[case[known][::-1]] = known[::-1]
    differs = known[outcome[first[case[known]]] != outcome[known]]
    if len(differs):
        row = int(differs[0])
        before = int(first[case[row]])
        raise BeliefError(
            f"{cells['outcome'].at(row)}: case {columns['case'][row]} has the outcome "
            f"{quoted(cells['outcome'].cells[row])} here and {quoted(cells['outcome'].cells[before])} on {table.unit} "
            f"{table.places[before]}; a case has one outcome"
        )


def _state_of(heading: str) -> str:
    """The outcome that a column ``belief_<outcome>`` is about."""
    return heading.strip()[len(_BELIEF_IN) :].strip()


def _plain(heading: str) -> str:
    return re.sub(r"\W+", "_", heading.strip()).casefold()


def _listed(names: list[str], most: int = 12) -> str:
    shown = [name if name else "(no name)" for name in names[:most]]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown) + more


def _either(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"

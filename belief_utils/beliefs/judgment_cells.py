"""What the cells of a file of judgments mean: numbers, labels, what is missing, and where something is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

import numpy as np
import pandas as pd

from belief_utils.beliefs.judgment_tables import Table
from belief_utils.errors import BeliefError

_MISSING = {"", "na", "n/a", "nan", "null"}
# "none" may be the name of an action, to do nothing; among numbers and outcomes it is nothing else but missing.
_MISSING_VALUES = {*_MISSING, "none"}
_YES, _NO = {"1", "yes", "true", "y", "t"}, {"0", "no", "false", "n", "f"}
_KNOWN_ACTIONS = {"positive", "negative", "defer"}


@dataclass(frozen=True)
class Column:
    """One column of a table, its cells as they stand in the file."""

    table: Table
    heading: str

    @property
    def cells(self) -> list:
        """The cells, row by row."""
        return self.table.columns[self.heading]

    def at(self, row: int) -> str:
        """Where a row's cell is, for messages."""
        return self.table.at(row, self.heading)

    @cached_property
    def distinct(self) -> tuple[np.ndarray, list]:
        """The code of each cell, shape (rows,), -1 where there is none, and the cells that occur."""
        cells = np.empty(len(self.cells), dtype=object)
        cells[:] = self.cells
        codes, values = pd.factorize(cells)
        return codes, list(values)

    def refuse(self, rows: np.ndarray, problem: str) -> NoReturn:
        """Raise BeliefError that names the first of the rows, given as truth values, its cell and the problem."""
        wrong = np.flatnonzero(rows)
        first = int(wrong[0])
        more = f" (the first of {len(wrong):,} such {self.table.unit}s)" if len(wrong) > 1 else ""
        raise BeliefError(f"{self.at(first)}: {quoted(self.cells[first])} {problem}{more}")


def quoted(cell: object, longest: int = 40) -> str:
    """A cell for a message of one line: numbers as they are, text in quotation marks."""
    text = cell.strip() if isinstance(cell, str) else str(cell)
    if _number(cell) is not None:
        return text
    return repr(text if len(text) <= longest else text[:longest] + "...")


def belief_values(column: Column, *, percent: bool) -> np.ndarray:
    """Beliefs from 0 to 1, NaN where missing, shape (rows,); raises BeliefError naming the first wrong cell."""
    top = 100.0 if percent else 1.0
    codes, cells = column.distinct
    # All cells at once; whatever is not plainly a belief is looked at one by one.
    values = np.append(pd.to_numeric(pd.Series(cells, dtype=object), errors="coerce").astype(float), np.nan)
    plain = (values[:-1] >= 0) & (values[:-1] <= top)
    plain &= [not isinstance(cell, bool) for cell in cells]
    for code in np.flatnonzero(~plain):
        cell = cells[code]
        text = cell.strip().removesuffix("%").rstrip() if percent and isinstance(cell, str) else cell
        if _is_missing(text, _MISSING_VALUES):
            continue
        value = _number(text)
        if value is None:
            in_percent = isinstance(cell, str) and cell.strip().endswith("%")
            hint = "; for beliefs in percent use --percent" if in_percent else ""
            column.refuse(codes == code, f"is not a number{hint}")
        elif not 0 <= value <= top:
            hint = "; for beliefs in percent use --percent" if not percent and 1 < value <= 100 else ""
            column.refuse(codes == code, f"is outside [0, {top:g}]{hint}")
        values[code] = value
    return values[codes] / top


def whole_numbers(column: Column) -> np.ndarray | None:
    """Whole numbers, shape (rows,); None if all are missing; raises BeliefError naming the first other cell."""
    codes, cells = column.distinct
    missing = [_is_missing(cell, _MISSING_VALUES) for cell in cells]
    if all(missing):
        return None
    values = np.zeros(len(cells), dtype=np.int64)
    for code, cell in enumerate(cells):
        value = _number(cell)
        if value is None or not float(value).is_integer() or abs(value) > 2**53:
            column.refuse(codes == code, "is not a whole number; number the repetitions of a case 0, 1, 2, ...")
        values[code] = int(value)
    if (codes < 0).any():
        raise BeliefError(f"{column.at(int(np.flatnonzero(codes < 0)[0]))}: the repetition number is missing")
    return values[codes]


def case_labels(column: Column) -> np.ndarray:
    """Case ids, shape (rows,): whole numbers if all are, else text; raises BeliefError where one is missing."""
    codes, cells = column.distinct
    if (codes >= 0).all() and all(_is_plain_integer(cell) for cell in cells):
        return np.array([int(cell) for cell in cells], dtype=np.int64)[codes]
    codes, labels = _labels(column)
    if (codes < 0).any():
        raise BeliefError(f"{column.at(int(np.flatnonzero(codes < 0)[0]))}: the case id is missing")
    if all(_is_plain_integer(label) for label in labels):
        return np.array([int(label) for label in labels], dtype=np.int64)[codes]
    return np.array(labels, dtype=object)[codes]


def _is_plain_integer(cell: object) -> bool:
    """Whether a cell is a whole number of 0 or more, written the one way that loses nothing: 007 is a name."""
    if isinstance(cell, str):
        return len(cell) <= 18 and cell.isascii() and cell.isdecimal() and (cell[0] != "0" or cell == "0")
    return isinstance(cell, int) and not isinstance(cell, bool) and abs(cell) < 10**18


def action_labels(column: Column, names: Mapping[str, str]) -> np.ndarray:
    """Actions as text, None where missing, shape (rows,), renamed by ``names``; positive, negative, defer in any case.

    Raises BeliefError if a name that is to be replaced does not occur.
    """
    codes, labels = _labels(column)
    absent = [name for name in names if name not in labels]
    if absent:
        shown = ", ".join(labels[:12])
        raise BeliefError(f"{column.table.name}, column {column.heading}: no action is {absent[0]!r}; they are {shown}")
    known = {label: label.casefold() for label in labels if label.casefold() in _KNOWN_ACTIONS}
    renamed = [names.get(label, known.get(label, label)) for label in labels]
    return np.array([*renamed, None], dtype=object)[codes]


def outcome_labels(column: Column) -> tuple[np.ndarray, list[str]]:
    """Codes of the outcomes, shape (rows,), -1 where missing, and their labels in the order in which they occur."""
    return _labels(column, _MISSING_VALUES)


def known_outcome(label: str) -> bool | None:
    """Whether a label says that the outcome is there (1, yes, true) or not (0, no, false); None for any other."""
    text = label.strip().casefold()
    return True if text in _YES else False if text in _NO else None


def two_outcomes(column: Column, codes: np.ndarray, labels: list[str], positive: str | None) -> np.ndarray:
    """Outcomes as 1 and 0, NaN where missing, shape (rows,), from what :func:`outcome_labels` returned.

    Args:
        column: Where they come from, for messages.
        codes, labels: Codes of shape (rows,) and the labels that they stand for.
        positive: The label that counts as 1; without it only 1, yes and true do.

    Raises:
        BeliefError: the positive one cannot be told, or there are more than two outcomes.
    """
    known = [known_outcome(label) for label in labels]
    if len(labels) > 2 and (None in known or positive is not None):
        others = [k for k, value in enumerate(known) if value is None]
        third = others[0] if 0 < len(others) < len(labels) else 2
        column.refuse(codes == third, "is a third outcome; more than two need a column belief_<outcome> for each")
    if positive is not None:
        known = [label.casefold() == positive.strip().casefold() for label in labels]
        if len(labels) == 2 and True not in known:
            raise BeliefError(
                f"{column.table.name}, column {column.heading}: no outcome is {positive!r}; they are "
                f"{' and '.join(labels)}"
            )
    elif None in known:
        problem = "is neither 1 or 0, yes or no, nor true or false; name the positive of two labels with --positive"
        column.refuse(codes == known.index(None), problem)
    return numbered(np.array([*known, False], dtype=float)[codes], codes)


def numbered(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Outcomes of shape (rows,) as whole numbers, or with NaN where some are missing (code -1)."""
    missing = codes < 0
    return np.where(missing, np.nan, values) if missing.any() else values.astype(np.int64)


def _labels(column: Column, missing: set[str] = _MISSING) -> tuple[np.ndarray, list[str]]:
    """Codes, shape (rows,), -1 where missing, and labels: cells that read the same have the same label."""
    codes, cells = column.distinct
    texts = [None if _is_missing(cell, missing) else _label(cell) for cell in cells]
    merged, labels = pd.factorize(np.array([*texts, None], dtype=object))
    return merged[codes], list(labels)


def _label(cell: object) -> str:
    """A cell as text; whole numbers without decimals, so that 1, 1.0 and "1.0" are one label."""
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell)).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    text = str(cell).strip()
    whole = re.fullmatch(r"(-?\d+)\.0+", text)
    return whole[1] if whole else text


def _is_missing(cell: object, missing: set[str]) -> bool:
    if isinstance(cell, str):
        return cell.strip().casefold() in missing
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def _number(cell: object) -> float | None:
    """A cell as a number, or None if it is none."""
    if isinstance(cell, bool | np.bool_) or "_" in str(cell):
        return None
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return None if math.isnan(value) else value

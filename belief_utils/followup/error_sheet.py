"""The sheet on which a person sorts errors: a CSV file that any spreadsheet program opens, and that is read back."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from belief_utils.errors import BeliefError
from belief_utils.followup.errors import ERROR_TYPES

#: Columns of the sheet, in its order; the annotator fills in the last one.
COLUMNS = ["id", "question", "first_reply", "follow_up", "second_reply", "rule_type", "annotator_type"]
#: What stands in place of a text that is not ours to pass on.
NOT_SHOWN = "(benchmark text not shown)"

_GIVEN = COLUMNS[:-1]
_TYPES = ["rule_type", "annotator_type"]
# A spreadsheet program takes a cell that begins so for a formula, and would run it. Cells that begin with our own
# apostrophe count too, so that every text comes back as it was.
_FORMULA = re.compile(r"'*\s*[=+\-@＝＋－＠]|'*[\t\r\n]")


def write_sheet(errors: pd.DataFrame, path: str | Path, *, blind: bool = False) -> None:
    """Write errors for a person to sort.

    Args:
        errors: a row per error: ``id`` (unique), ``question`` (missing where the text is not ours to pass on),
            ``first_reply``, ``follow_up``, ``second_reply`` and ``rule_type`` (1 to 4, or missing).
        path: a CSV file that does not exist yet: a sheet that somebody filled in is never overwritten.
        blind: leave the rules' type out, so that it cannot sway the annotator. Needed where the agreement between
            the two is to be measured.

    Raises:
        BeliefError: a column is absent, an id is there twice, a type is none of the four, or the file exists.
    """
    path = Path(path)
    absent = [name for name in _GIVEN if name not in errors]
    if absent:
        raise BeliefError(f"the errors have no column {absent[0]!r}: they need {', '.join(_GIVEN)}")
    twice = errors["id"][errors["id"].duplicated()]
    if len(twice):
        raise BeliefError(f"the id {twice.iloc[0]!r} is there twice among the errors: an error has an id of its own")
    rows = [_row(record, blind) for record in errors[_GIVEN].to_dict("records")]
    try:
        with path.open("x", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerow(COLUMNS)
            writer.writerows(rows)
    except FileExistsError as error:
        raise BeliefError(
            f"{path} exists already, and may be filled in: move it away or choose another name"
        ) from error
    except OSError as error:
        raise BeliefError(f"{path} cannot be written ({error.strerror}): choose another place") from error


def read_sheet(path: str | Path) -> pd.DataFrame:
    """Read a sheet back, filled in or not, as spreadsheet programs save it (commas, semicolons or tabs).

    Returns:
        The columns :data:`COLUMNS`, a row per error; ``rule_type`` and ``annotator_type`` are whole numbers from 1 to
        4, missing where the cell is empty.

    Raises:
        BeliefError: the file cannot be read, a column is absent, an id is missing or there twice, or a type is none
            of the four; the message names the file and the line (the header is line 1).
    """
    path = Path(path)
    found: dict[str, int] = {}
    rows = []
    for line, row in _lines(path):
        name = row["id"].strip()
        if not name:
            raise BeliefError(
                f"{path.name}, line {line}: there is no id; restore the one that the sheet was written with"
            )
        if name in found:
            raise BeliefError(f"{path.name}, line {line}: the id {name!r} is on line {found[name]} already; remove one")
        found[name] = line
        rows.append({**row, "id": name, **{column: _type(path, line, column, row[column]) for column in _TYPES}})
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(_TYPES, "Int64"))


def _row(record: dict[str, Any], blind: bool) -> list[str]:
    if pd.isna(record["question"]):
        record["question"] = NOT_SHOWN
    kind = record["rule_type"]
    if not pd.isna(kind) and kind not in ERROR_TYPES:
        raise BeliefError(f"rule_type of the error {record['id']!r} is {kind!r}: give a number from 1 to 4 or nothing")
    record["rule_type"] = "" if blind or pd.isna(kind) else str(int(kind))
    return [*(_protected(str(record[name])) for name in _GIVEN), ""]


def _protected(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) else text


def _unprotected(text: str) -> str:
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def _lines(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a sheet by column, each with the line on which it begins."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = file.readline()
            delimiter = max(",;\t", key=header.count)
            file.seek(0)
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            places = _places(path, next(reader, []))
            line = reader.line_num + 1
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    if len(cells) <= max(places.values()):
                        raise BeliefError(
                            f"{path.name}, line {line}: there are only {len(cells)} cells; restore the row"
                        )
                    yield line, {name: _unprotected(cells[place]) for name, place in places.items()}
                line = reader.line_num + 1
    except OSError as error:
        raise BeliefError(f"{path} cannot be read ({error.strerror}): check its name") from error
    except UnicodeDecodeError as error:
        raise BeliefError(f"{path.name} is not UTF-8: save it as CSV UTF-8") from error
    except csv.Error as error:
        raise BeliefError(f"{path.name}, line {reader.line_num}: not CSV ({error}); save it again as CSV") from error


def _places(path: Path, header: list[str]) -> dict[str, int]:
    names = [name.strip() for name in header]
    absent = [name for name in COLUMNS if name not in names]
    if absent:
        raise BeliefError(f"{path.name}, line 1: there is no column {absent[0]!r}; a sheet has {', '.join(COLUMNS)}")
    return {name: names.index(name) for name in COLUMNS}


def _type(path: Path, line: int, column: str, cell: str) -> int | None:
    text = cell.strip()
    if text and text not in map(str, ERROR_TYPES):
        raise BeliefError(
            f"{path.name}, line {line}: {column} is {text!r}; give a number from 1 to 4 or leave it empty"
        )
    return int(text) if text else None

"""Files of judgments as raw columns: CSV, TSV, JSON lines and Parquet, with the place of every row for messages.

Only the columns that are wanted are kept, and equal cells are kept once, so that a million rows need little memory.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from belief_utils.errors import BeliefError

_TAB_ENDINGS = (".tsv", ".tab")
_JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
_PARQUET_ENDINGS = (".parquet", ".pq")

Choose = Callable[[list[str]], Sequence[str]]
"""From all headings of a file to those that are wanted; raises BeliefError if one is lacking."""


@dataclass(frozen=True)
class Table:
    """The wanted columns of a file, cell by cell as they stand there.

    Attributes:
        name: The file's name, for messages.
        unit: What a place is called, ``line`` or ``row``.
        places: Of each row, the line of the file that it starts on (the header is line 1), or its number from 1.
        columns: Cells by heading: text, or a number, truth value or None where the file knows such.
    """

    name: str
    unit: str
    places: Sequence[int]
    columns: dict[str, list]

    def at(self, row: int, heading: str | None = None) -> str:
        """Where a row (from 0) and a column are, such as ``judgments.csv, line 5, column p``."""
        place = f"{self.name}, {self.unit} {self.places[row]}"
        return place if heading is None else f"{place}, column {heading}"


def read_table(path: str | Path, choose: Choose) -> Table:
    """The columns of a file that ``choose`` picks from its headings; the ending of its name says what kind it is.

    ``.tsv`` and ``.tab`` are separated by tabs, ``.jsonl``, ``.ndjson`` and ``.json`` hold an object a line,
    ``.parquet`` and ``.pq`` are Parquet, and anything else is separated by commas (or, if its header has none, by
    semicolons or tabs). Text is UTF-8.

    Raises:
        BeliefError: the file is not there, is empty or has no rows, is not UTF-8, has a line of another length than
            its header, or is Parquet while pyarrow is not installed.
    """
    path = Path(path)
    if not path.is_file():
        raise BeliefError(f"there is no file {path}")
    ending = path.suffix.lower()
    try:
        if ending in _PARQUET_ENDINGS:
            table = _parquet(path, choose)
        elif ending in _JSON_ENDINGS:
            table = _json_lines(path, choose)
        else:
            table = _delimited(path, choose, "\t" if ending in _TAB_ENDINGS else None)
    except UnicodeDecodeError as error:
        raise BeliefError(f"{path.name}, line {_undecodable_line(path)}: not UTF-8 text; save it as UTF-8") from error
    except OSError as error:
        raise BeliefError(f"{path} cannot be read: {error.strerror or error}") from error
    if not len(table.places):
        raise BeliefError(f"{path.name} has no rows below its header: give at least one case")
    return table


def _undecodable_line(path: Path) -> int:
    number = 0
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):  # noqa: B007
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                break
    return number


def _delimited(path: Path, choose: Choose, delimiter: str | None) -> Table:
    with path.open(encoding="utf-8-sig", newline="") as file:
        header = next((line for line in file if line.strip()), None)
        if header is None:
            raise BeliefError(f"{path.name} is empty: give a header and at least one row")
        file.seek(0)
        reader = csv.reader(file, delimiter=delimiter or _delimiter_of(header), skipinitialspace=True)
        records = _records(reader, path.name)
        _, headings = next(records)
        headings = [heading.strip() for heading in headings]
        wanted = list(choose(headings))
        where = [headings.index(heading) for heading in wanted]
        cells: list[list] = [[] for _ in wanted]
        seen: list[dict] = [{} for _ in wanted]
        places = []
        for place, record in records:
            if len(record) != len(headings):
                raise BeliefError(
                    f"{path.name}, line {place}: {len(record)} values where the header has {len(headings)} columns"
                )
            places.append(place)
            for column, known, k in zip(cells, seen, where, strict=True):
                column.append(known.setdefault(record[k], record[k]))
    return Table(path.name, "line", places, dict(zip(wanted, cells, strict=True)))


def _delimiter_of(header: str) -> str:
    """A comma, unless the header has none and has semicolons or tabs."""
    return max(",;\t", key=lambda mark: (mark in header, mark == ",")) if "," not in header else ","


def _records(reader: Iterator[list[str]], name: str) -> Iterator[tuple[int, list[str]]]:
    """Records that are not blank, each with the line that it starts on."""
    while True:
        place = reader.line_num + 1
        try:
            record = next(reader, None)
        except csv.Error as error:
            raise BeliefError(f"{name}, line {place}: {error}; is a quotation mark not closed?") from error
        if record is None:
            return
        if any(record):
            yield place, record


def _json_lines(path: Path, choose: Choose) -> Table:
    # Twice through the file: a million objects with all that they hold would not fit.
    headings = list(dict.fromkeys(key for _, record in _objects(path) for key in record))
    if not headings:
        raise BeliefError(f"{path.name} is empty: give an object with the judgment on each line")
    wanted = list(choose(headings))
    columns: dict[str, list] = {heading: [] for heading in wanted}
    places = []
    seen: dict = {}
    for place, record in _objects(path):
        places.append(place)
        for heading, column in columns.items():
            value = record.get(heading)
            if isinstance(value, dict | list):
                raise BeliefError(f"{path.name}, line {place}, column {heading}: neither text nor a number")
            column.append(seen.setdefault((type(value), value), value))
    return Table(path.name, "line", places, columns)


def _objects(path: Path) -> Iterator[tuple[int, dict]]:
    with path.open(encoding="utf-8-sig") as lines:
        for place, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except json.JSONDecodeError as error:
                raise BeliefError(
                    f"{path.name}, line {place}: not JSON ({error.msg}); give an object a line"
                ) from error
            if not isinstance(record, dict):
                raise BeliefError(f"{path.name}, line {place}: not a JSON object; give an object a line")
            yield place, record


def _parquet(path: Path, choose: Choose) -> Table:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise BeliefError(
            f"{path.name}: reading Parquet needs the package pyarrow; install it (pip install pyarrow), or give CSV"
        ) from error
    try:
        wanted = list(choose(list(parquet.read_schema(path).names)))
        content = parquet.read_table(path, columns=wanted)
    except arrow.ArrowException as error:
        raise BeliefError(
            f"{path.name} is not a Parquet file that can be read: {str(error).splitlines()[0]}"
        ) from error
    columns = {heading: content.column(heading).to_pylist() for heading in wanted}
    return Table(path.name, "row", range(1, content.num_rows + 1), columns)

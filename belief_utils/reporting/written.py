"""A table's files: CSV with every value, Markdown for people, LaTeX for papers."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from belief_utils.reporting.layout import latex, markdown
from belief_utils.reporting.results import folder, rounded, write_if_changed

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[str, Any]
#: Heading and text of each column after a row's label and source.
Columns = Mapping[str, Callable[[Row], str]]


def write_files(result: str, caption: str, columns: Columns, rows: Sequence[Row], notes: Sequence[str]) -> list[Path]:
    """Write ``table.csv``, ``table.md`` and ``table.tex`` below ``figures/RESULT``; returns the files that changed.

    Args:
        rows: each with ``label`` and ``source``; the CSV holds whatever else they hold.
    """
    headings = ["", "Source", *columns]
    texts = [[row["label"], row["source"], *[show(row) for show in columns.values()]] for row in rows]
    where = folder(result)
    files = {
        where / "table.csv": csv_text(rows),
        where / "table.md": markdown(headings, texts, caption, notes),
        where / "table.tex": latex(headings, texts, caption, notes),
    }
    return [path for path, text in files.items() if write_if_changed(path, text.encode())]


def shown_frame(columns: Columns, rows: Sequence[Row]) -> "pd.DataFrame":
    """The same rows as texts, for display in a notebook."""
    import pandas as pd

    texts = {heading: [show(row) for row in rows] for heading, show in columns.items()}
    frame = pd.DataFrame({"": [row["label"] for row in rows], "Source": [row["source"] for row in rows], **texts})
    return frame.set_index("")


def csv_text(rows: Sequence[Row]) -> str:
    """All values of all rows, tidy: a column per value, empty where a row has none."""
    names = dict.fromkeys(name for row in rows for name in row if not isinstance(row[name], Mapping))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n", restval="")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: rounded(each) if isinstance(each, float) else each for name, each in row.items()})
    return text.getvalue()

"""What the notebooks find, kept as small files from which tables and figures are put together."""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from belief_utils.errors import BeliefError
from belief_utils.paths import home

#: Digits that committed numbers are rounded to, so that another processor's last bits do not show.
DIGITS = 6


def folder(result: str) -> Path:
    """Where a table or figure and its parts are kept, ``figures/RESULT``."""
    return home() / "figures" / result


def pair(model: str, dataset: str) -> str:
    """The name of one model's files about one dataset."""
    return f"{dataset}_{model}"


def save_row(result: str, model: str, dataset: str, values: Mapping[str, Any]) -> None:
    """Keep one row of a table.

    Args:
        result: the table's name, such as ``table1_belief_sufficiency``.
        model, dataset: names, as on the command line.
        values: numbers, texts and truth values by column; numbers are rounded to six significant digits and what is
            not a finite number becomes ``null``.
    """
    content = {"dataset": dataset, "model": model, **{name: _plain(value) for name, value in values.items()}}
    path = folder(result) / "rows" / f"{pair(model, dataset)}.json"
    write_if_changed(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())


def load_rows(result: str) -> list[dict[str, Any]]:
    """All rows that are kept of a table, sorted by file name.

    Raises:
        BeliefError: a row's file is damaged.
    """
    return [_load_row(path) for path in sorted((folder(result) / "rows").glob("*.json"))]


def write_if_changed(path: Path, content: bytes) -> bool:
    """Write a file as a whole or not at all, and only if its content differs; returns whether it did."""
    if path.exists() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        scratch.write_bytes(content)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)
    return True


def digest(*contents: bytes | str) -> str:
    """SHA-256 over several contents, each set apart from the next."""
    total = hashlib.sha256()
    for content in contents:
        data = content.encode() if isinstance(content, str) else content
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()


def rounded(value: float | None, digits: int = DIGITS) -> float | None:
    """A number to so many significant digits; ``None`` for what is not finite."""
    if value is None or not math.isfinite(value):
        return None
    # Adding zero turns -0.0 into 0.0.
    return float(f"{value:.{digits}g}") + 0.0


def _load_row(path: Path) -> dict[str, Any]:
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        return {"dataset": row["dataset"], "model": row["model"], **row}
    except (ValueError, KeyError, TypeError) as error:
        raise BeliefError(f"{path} is not a row of a table; delete it and run: belief reproduce") from error


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, int):
        return value
    return rounded(float(value))

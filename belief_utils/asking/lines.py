"""How responses lie on the disk: a line of JSON each, of which only a torn last one may ever be dropped."""

import gzip
import json
import logging
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from belief_utils.errors import BeliefError

logger = logging.getLogger(__name__)


def not_written(path: Path, error: OSError) -> BeliefError:
    """What a user is told when the disk is full or a file cannot be written to."""
    what = error.strerror or type(error).__name__
    return BeliefError(f"{path} cannot be written ({what}); what it holds is safe, make room and run again")


def line_of(record: Mapping[str, Any]) -> bytes:
    """A record as one line of JSON in UTF-8; half a surrogate pair, which has no UTF-8, becomes an escape."""
    try:
        return (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(record, separators=(",", ":")) + "\n").encode()


def write_packed(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write records to a gzip file, the same bytes for the same records, and wait until the disk has them.

    Raises:
        OSError: the disk is full or cannot be written to.
    """
    with path.open("wb") as raw:
        with gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as packed:
            for record in records:
                packed.write(line_of(record))
        raw.flush()
        os.fsync(raw.fileno())


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every record of a file, gzip or not, with the place that it stands at (``file:line``).

    Raises:
        BeliefError: a line other than a torn last one is damaged, or the file cannot be read.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                record = _record(line)
                if record is not None:
                    yield f"{path}:{number}", record
                elif not line.endswith(b"\n"):
                    logger.warning(f"{path}:{number}: the last line was torn off and is left out")
                elif line.strip():
                    raise BeliefError(
                        f"{path}, line {number}, is damaged and nothing was changed; restore the file or "
                        "remove that line, and what it held is asked for again"
                    )
    except (EOFError, zlib.error, OSError) as error:
        raise BeliefError(f"{path} cannot be read ({error}); restore it from the repository") from error


def mend_torn_end(path: Path) -> None:
    """Cut a torn last line off, so that the next one starts afresh; a whole one gets its line end.

    Raises:
        OSError: the file cannot be written to.
    """
    if not path.exists() or not (content := path.read_bytes()) or content.endswith(b"\n"):
        return
    start = content.rfind(b"\n") + 1
    with path.open("r+b") as file:
        if _record(content[start:]) is None:
            logger.warning(f"{path}: the last line was torn off and is dropped")
            file.truncate(start)
        else:
            file.seek(0, os.SEEK_END)
            file.write(b"\n")


def _record(line: bytes) -> dict[str, Any] | None:
    """What a line holds, or ``None`` where it is not a whole record."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("repetition"), int):
        return None
    named = all(isinstance(record.get(name), str) for name in ("key", "item"))
    told = any(isinstance(record.get(name), str) for name in ("text", "failure"))
    return record if named and told else None

"""How responses lie on the disk: a line of JSON each, of which only a torn last one may ever be dropped."""

import gzip
import json
import logging
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from belief_utils.asking.responses import line_hash
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


def sealed_line_of(record: Mapping[str, Any]) -> bytes:
    """A record as a line that ends with its own hash, so that any later change to it can be told."""
    line = line_of(record)
    return b'%s,"hash":"%s"}\n' % (line[:-2], line_hash(line).encode())


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record with the hash of all its other values."""
    bare = {name: value for name, value in record.items() if name != "hash"}
    return {**bare, "hash": line_hash(line_of(bare))}


def is_sealed(record: Mapping[str, Any]) -> bool | None:
    """Whether a record's hash is right; ``None`` for a line without one, as older ones are."""
    found = record.get("hash")
    if found is None:
        return None
    return found == line_hash(line_of({name: value for name, value in record.items() if name != "hash"}))


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Put a file in the place of another in one step: gzip by its name, the same bytes for the same records.

    Raises:
        BeliefError: the disk is full or cannot be written to; the file is then as before.
    """
    scratch = path.with_name(path.name + ".new")
    try:
        with scratch.open("wb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as packed:
                    packed.writelines(map(line_of, records))
            else:
                raw.writelines(map(line_of, records))
            raw.flush()
            os.fsync(raw.fileno())
        scratch.replace(path)
    except OSError as error:
        raise not_written(path, error) from error
    finally:
        scratch.unlink(missing_ok=True)


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every record of a file, gzip or not, with the place that it stands at (``file:line``); none of no file.

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
    except FileNotFoundError:
        # Another process has just moved its lines into the other file; the store notices that itself.
        return
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

"""The response store: every answer that was ever received, one line each, never asked for again.

One file per model and dataset. While responses are collected they are appended to ``NAME.jsonl``; ``pack`` moves
them into ``NAME.jsonl.gz``, which is what the repository keeps. Both are read.
"""

import gzip
import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from belief_utils.errors import BeliefError

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Response:
    """What a model answered to one repetition of one request, or why it did not.

    Attributes:
        key: see :func:`request_key`.
        item: what was asked about, a name that the caller chose.
        repetition: 0, 1, 2, ...
        text: the raw answer; ``None`` for a failure.
        finish_reason: why the answer ended (``stop``, ``length``, ...).
        failure: what went wrong, in one line; ``None`` for an answer.
        usage: tokens, as the server counted them; shared by the answers of one request.
        model: the model id that the server returned.
        fingerprint: the system fingerprint that the server returned.
    """

    key: str
    item: str
    repetition: int
    text: str | None
    finish_reason: str | None = None
    failure: str | None = None
    usage: Mapping[str, int] | None = None
    model: str | None = None
    fingerprint: str | None = None

    @property
    def truncated(self) -> bool:
        """Whether the answer was cut at the token limit."""
        return self.finish_reason == "length"


def request_key(sent: Mapping[str, Any], repetition: int) -> str:
    """SHA-256 over everything that is sent and the repetition.

    Args:
        sent: messages, model id, parameters, answer form; whatever can be written as JSON.
        repetition: 0, 1, 2, ...

    Returns:
        64 hexadecimal digits, the same for the same content in any order of keys.
    """
    text = json.dumps(
        {"repetition": repetition, "sent": sent}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


class Store:
    """The responses of one model about one dataset.

    Args:
        path: the file ``NAME.jsonl``; ``NAME.jsonl.gz`` beside it is read as well. Neither need exist.

    Raises:
        BeliefError: a line other than a torn last one cannot be read; the message names file and line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.packed = path.with_name(path.name + ".gz")
        self._answers: dict[str, Response] = {}
        self._failures: dict[str, Response] = {}
        self._file: int | None = None
        self.read_again()

    def read_again(self) -> None:
        """Read both files anew, as after another collector has written."""
        self._answers.clear()
        self._failures.clear()
        for _, record in self.lines():
            self._take(response_from(record))

    def lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every stored line, oldest first, with the place that it stands at (``file:line``)."""
        for path in (self.packed, self.path):
            if path.exists():
                yield from _read_lines(path)

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: str) -> Response | None:
        """The answer under a key, or ``None``."""
        return self._answers.get(key)

    def failure(self, key: str) -> Response | None:
        """The last failure under a key that has no answer, or ``None``."""
        return self._failures.get(key)

    @property
    def failures(self) -> int:
        """How many requests failed the last time and have no answer."""
        return len(self._failures)

    def answers(self) -> Iterator[Response]:
        """Every answer, oldest first."""
        return iter(self._answers.values())

    @contextmanager
    def writing(self, waiting: Callable[[], None] | None = None) -> Iterator["Store"]:
        """Hold the store for writing; a second collector waits here and then sees what the first one wrote.

        Args:
            waiting: called once if another process holds the store.
        """
        from filelock import FileLock, Timeout

        self.path.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path.with_name(self.path.name + ".lock"))
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if waiting:
                waiting()
            lock.acquire()
        try:
            _mend_torn_end(self.path)
            self.read_again()
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            yield self
        finally:
            if self._file is not None:
                os.close(self._file)
                self._file = None
                if self.path.stat().st_size == 0:
                    self.path.unlink()
            lock.release()

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one line to the disk before returning; only inside :meth:`writing`.

        Raises:
            BeliefError: the disk is full or cannot be written to; the file then ends as it did before.
        """
        if self._file is None:
            raise RuntimeError("append() is only for a store that is held with writing()")
        line = (json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
        before = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            if written != len(line):
                raise OSError(28, "no space left on the device")
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, before)
            raise BeliefError(
                f"{self.path} cannot be written ({error.strerror}); what it holds is safe, make room and run again"
            ) from error
        self._take(response_from(record))

    def pack(self) -> int:
        """Move all lines into the compressed file, the same bytes for the same lines.

        Failures that an answer has superseded, and earlier failures of the same request, are left out.

        Returns:
            How many lines the compressed file has.
        """
        with self.writing():
            kept: dict[str, dict[str, Any]] = {}
            for _, record in self.lines():
                if "failure" in record and "failure" not in kept.get(record["key"], record):
                    continue
                kept.pop(record["key"], None)
                kept[record["key"]] = record
            scratch = self.packed.with_name(self.packed.name + ".new")
            with (
                scratch.open("wb") as raw,
                gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as packed,
            ):
                for record in kept.values():
                    packed.write((json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n").encode())
                packed.flush()
                os.fsync(raw.fileno())
            scratch.replace(self.packed)
            os.ftruncate(self._file, 0)
        return len(kept)

    def _take(self, response: Response) -> None:
        if response.failure is None:
            self._answers.setdefault(response.key, response)
            self._failures.pop(response.key, None)
        elif response.key not in self._answers:
            self._failures[response.key] = response


def response_from(record: Mapping[str, Any]) -> Response:
    """A stored line as a :class:`Response`."""
    return Response(
        key=record["key"],
        item=record["item"],
        repetition=record["repetition"],
        text=record.get("text"),
        finish_reason=record.get("finish_reason"),
        failure=record.get("failure"),
        usage=record.get("usage"),
        model=record.get("model"),
        fingerprint=record.get("fingerprint"),
    )


def _read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
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
                        f"{path}, line {number}, is damaged and nothing was changed; restore the file or remove that "
                        "line, and what it held is asked for again"
                    )
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        raise BeliefError(f"{path} cannot be read ({error}); restore it from the repository") from error


def _record(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    whole = isinstance(record, dict) and {"key", "item", "repetition"} <= record.keys()
    return record if whole and ("text" in record or "failure" in record) else None


def _mend_torn_end(path: Path) -> None:
    """Cut a torn last line off, so that the next one starts on a line of its own; a whole one gets its line end."""
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

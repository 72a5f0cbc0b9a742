"""The response store: every answer that was ever received, one line each, never asked for again.

One file per model and dataset. While responses are collected they are appended to ``NAME.jsonl``; ``pack``
moves them into ``NAME.jsonl.gz``, which is what the repository keeps. Both are read.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from belief_utils.asking.lines import line_of, mend_torn_end, not_written, read_lines, write_packed
from belief_utils.errors import BeliefError

if TYPE_CHECKING:
    from filelock import BaseFileLock


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
    # Half a surrogate pair, which a model's answer may hold, has no UTF-8 of its own; it still counts.
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


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
                yield from read_lines(path)

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

        Raises:
            BeliefError: the folder or the file cannot be written to, or a line is damaged.
        """
        lock = self._lock(waiting)
        try:
            try:
                mend_torn_end(self.path)
                self.read_again()
                self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            except OSError as error:
                raise not_written(self.path, error) from error
            yield self
        finally:
            if self._file is not None:
                os.close(self._file)
                self._file = None
                with suppress(FileNotFoundError):
                    if self.path.stat().st_size == 0:
                        self.path.unlink()
            lock.release()

    def _lock(self, waiting: Callable[[], None] | None) -> "BaseFileLock":
        from filelock import FileLock, Timeout

        lock = FileLock(self.path.with_name(self.path.name + ".lock"))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                if waiting:
                    waiting()
                lock.acquire()
        except OSError as error:
            raise not_written(self.path, error) from error
        return lock

    def append(self, record: Mapping[str, Any]) -> None:
        """Write one line to the disk before returning; only inside :meth:`writing`.

        Raises:
            BeliefError: the disk is full or cannot be written to, and the file ends as it did before; or the
                file was removed.
        """
        if self._file is None:
            raise RuntimeError("append() is only for a store that is held with writing()")
        line = line_of(record)
        state = os.fstat(self._file)
        if not self._is_still(state):
            raise BeliefError(f"{self.path} was removed while answers came in; run the same command again")
        try:
            # A disk that is nearly full takes a part of a line, and says why only when asked for the rest.
            while line:
                line = line[os.write(self._file, line) :]
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, state.st_size)
            raise not_written(self.path, error) from error
        self._take(response_from(record))

    def _is_still(self, opened: os.stat_result) -> bool:
        try:
            return os.path.samestat(self.path.stat(), opened)
        except FileNotFoundError:
            return False

    def pack(self) -> int:
        """Move all lines into the compressed file, the same bytes for the same lines.

        Failures that an answer has superseded, earlier failures and later answers of the same request are
        left out.

        Returns:
            How many lines the compressed file has.

        Raises:
            BeliefError: the disk is full or cannot be written to; both files are then as before.
        """
        with self.writing():
            kept: dict[str, dict[str, Any]] = {}
            for _, record in self.lines():
                # As in reading, the first answer to a request is the one that counts.
                if "failure" not in kept.get(record["key"], {"failure": ""}):
                    continue
                kept.pop(record["key"], None)
                kept[record["key"]] = record
            scratch = self.packed.with_name(self.packed.name + ".new")
            try:
                write_packed(scratch, kept.values())
                scratch.replace(self.packed)
            except OSError as error:
                scratch.unlink(missing_ok=True)
                raise not_written(self.packed, error) from error
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

"""The response store: every answer that was ever received, one line each, never asked for again.

One file per model and dataset. While responses are collected they are appended to ``NAME.jsonl``; ``pack``
moves them into ``NAME.jsonl.gz``, which is what the repository keeps. Both are read.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from belief_utils.asking.lines import mend_torn_end, not_written, read_lines, sealed, sealed_line_of, write_lines
from belief_utils.asking.responses import Response, request_key, response_from
from belief_utils.errors import BeliefError
from belief_utils.paths import data

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["Response", "Store", "request_key", "response_from", "stores_of"]


def stores_of(model: str) -> "list[Store]":
    """Every store of a model's answers, sorted by name.

    Raises:
        BeliefError: as :class:`Store`.
    """
    found = {path.with_name(path.name.removesuffix(".gz")) for path in data("responses", model).glob("*.jsonl*")}
    return [Store(path) for path in sorted(found) if path.suffix == ".jsonl"]


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
        while True:
            before = self._packed_state()
            self._answers.clear()
            self._failures.clear()
            for _, record in self.lines():
                self._take(response_from(record))
            # If lines moved from one file to the other meanwhile, some of them may have been seen in neither.
            if self._packed_state() == before:
                return

    def _packed_state(self) -> tuple[int, int] | None:
        try:
            state = self.packed.stat()
        except OSError:
            return None
        return state.st_ino, state.st_mtime_ns

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

    def append(self, record: Mapping[str, Any], *, sync: bool = True) -> None:
        """Hand one line to the system before returning; only inside :meth:`writing`.

        What was handed over survives the end of this process, however it ends; a power failure only what
        :meth:`sync` has waited for.

        Args:
            sync: wait until the disk has it.

        Raises:
            BeliefError: the disk is full or cannot be written to, and the file ends as it did before; or the
                file was removed.
        """
        if self._file is None:
            raise RuntimeError("append() is only for a store that is held with writing()")
        line = sealed_line_of(record)
        state = os.fstat(self._file)
        if not self._is_still(state):
            raise BeliefError(f"{self.path} was removed while answers came in; run the same command again")
        try:
            # A disk that is nearly full takes a part of a line, and says why only when asked for the rest.
            while line:
                line = line[os.write(self._file, line) :]
            if sync:
                os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, state.st_size)
            raise not_written(self.path, error) from error
        self._take(response_from(record))

    def sync(self) -> None:
        """Wait until the disk has all that was appended; may be called from another thread.

        Raises:
            BeliefError: the disk cannot take it.
        """
        try:
            os.fsync(self._file)
        except OSError as error:
            raise not_written(self.path, error) from error

    def _is_still(self, opened: os.stat_result) -> bool:
        try:
            return os.path.samestat(self.path.stat(), opened)
        except FileNotFoundError:
            return False

    def pack(self, waiting: Callable[[], None] | None = None) -> int:
        """Move all lines into the compressed file, the same bytes for the same lines.

        Failures that an answer has superseded, earlier failures and later answers of the same request are
        left out.

        Args:
            waiting: called once if another process holds the store.

        Returns:
            How many lines the compressed file has.

        Raises:
            BeliefError: the disk is full or cannot be written to; both files are then as before.
        """
        with self.writing(waiting):
            places = self._places()
            kept = (record for place, (_, record) in enumerate(self.lines()) if place in places)
            # In this order: whoever reads in between finds some lines twice, but none nowhere.
            write_lines(self.packed, kept)
            os.ftruncate(self._file, 0)
        return len(places)

    def compact(self, waiting: Callable[[], None] | None = None) -> tuple[int, int]:
        """Rewrite both files where they are, without what :meth:`pack` leaves out too.

        Returns:
            How many lines there were and how many are left.

        Raises:
            BeliefError: the disk is full or cannot be written to; no answer is lost then.
        """
        with self.writing(waiting):
            places, place = self._places(), count()
            for path in (self.packed, self.path):
                if path.exists():
                    write_lines(path, (record for _, record in read_lines(path) if next(place) in places))
        return next(place), len(places)

    def rewrite(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> int:
        """Put every line through a function, where they are; returns how many it changed.

        Args:
            change: gives a record for a record; the key must stay, and the hash is made anew.

        Raises:
            BeliefError: the disk is full or cannot be written to; nothing is lost then.
        """
        changed = 0
        with self.writing():
            for path in (self.packed, self.path):
                before = [record for _, record in read_lines(path)] if path.exists() else []
                after = [change(record) for record in before]
                different = sum(old != new for old, new in zip(before, after, strict=True))
                if different:
                    write_lines(
                        path, [new if old == new else sealed(new) for old, new in zip(before, after, strict=True)]
                    )
                changed += different
            self.read_again()
        return changed

    def _places(self) -> set[int]:
        """Where among all lines those stand that count: as in reading, the first answer, else the last failure."""
        places: dict[str, int] = {}
        answered: set[str] = set()
        for place, (_, record) in enumerate(self.lines()):
            key = record["key"]
            if key not in answered:
                places[key] = place
                if "failure" not in record:
                    answered.add(key)
        return set(places.values())

    def _take(self, response: Response) -> None:
        if response.failure is None:
            self._answers.setdefault(response.key, response)
            self._failures.pop(response.key, None)
        elif response.key not in self._answers:
            self._failures[response.key] = response

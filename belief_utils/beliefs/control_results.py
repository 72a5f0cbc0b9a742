"""What the controls found, kept per agent and seed, and the rates that follow from it.

While a run goes on, rows are appended to ``NAME.csv``; when it ends, or is stopped, they move into ``NAME.csv.gz``,
which is what the repository keeps. A row counts only for an agent with the very knobs it was computed with.
"""

from __future__ import annotations

import csv
import gzip
import io
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from belief_utils.beliefs.simulate import ControlAgent
from belief_utils.errors import BeliefError

if TYPE_CHECKING:
    from filelock import FileLock

logger = logging.getLogger(__name__)

_KEY = ("agent", "knobs", "seed")


class ControlResults:
    """The file of results of one battery, open for a run.

    As a context it keeps other runs out, and packs what was added when it is left, also by Ctrl-C.

    Args:
        path: The packed file, ``NAME.csv.gz``; it need not exist.
        agents: The agents of this run, in the order of the rows. Rows of others are kept.

    Raises:
        BeliefError: another run has the file open, or it is damaged other than by a torn last line.
    """

    def __init__(self, path: Path, agents: Sequence[ControlAgent]) -> None:
        self._packed = path
        self._open = path.with_suffix("")
        self._order = {(agent.name, agent.knobs): place for place, agent in enumerate(agents)}
        self._rows: dict[tuple[str, str, int], dict[str, str]] = {}
        self._lock: FileLock | None = None

    def __enter__(self) -> ControlResults:
        from filelock import FileLock, Timeout

        self._packed.parent.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(self._open.with_suffix(".lock"))
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise BeliefError(f"another run of the controls is writing to {self._open}: wait for it") from error
        try:
            self._rows = _read_rows(self._packed) | _read_rows(self._open, mend=True)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._pack()
        finally:
            self._lock.release()

    def has(self, agent: ControlAgent, seed: int) -> bool:
        """Whether this agent, with these knobs, has a row for the seed."""
        return (agent.name, agent.knobs, seed) in self._rows

    def add(self, agent: ControlAgent, seed: int, values: Mapping[str, float]) -> None:
        """Append a row and write it at once; numbers are kept to six significant digits."""
        row = {name: f"{float(value):.6g}" for name, value in values.items()}
        row = dict(zip(_KEY, (agent.name, agent.knobs, str(seed)), strict=True)) | row
        new = not self._open.exists() or not self._open.stat().st_size
        with self._open.open("a", encoding="utf-8", newline="") as file:
            file.write(_lines([row], header=new))
        self._rows[agent.name, agent.knobs, seed] = row

    def frame(self, seeds: Iterable[int]) -> pd.DataFrame:
        """Rows of this run's agents and these seeds, in their order."""
        wanted = set(seeds)
        keys = [key for key in self._rows if key[:2] in self._order and key[2] in wanted]
        return _as_frame([self._rows[key] for key in sorted(keys, key=self._place)])

    def _place(self, key: tuple[str, str, int]) -> tuple:
        """This run's agents in their order, then others by name, by seed."""
        return (self._order.get(key[:2], len(self._order)), *key)

    def _pack(self) -> None:
        if not self._open.exists():
            return
        text = _lines([self._rows[key] for key in sorted(self._rows, key=self._place)], header=True)
        scratch = self._packed.with_name(f".{self._packed.name}.{os.getpid()}")
        # No time and no file name inside, so that the same rows give the same bytes.
        scratch.write_bytes(gzip.compress(text.encode(), mtime=0))
        scratch.replace(self._packed)
        self._open.unlink()


def load_controls(cache: Path, battery: str) -> pd.DataFrame:
    """What is kept of a battery: columns agent, knobs, seed and its numbers.

    Raises:
        BeliefError: nothing is kept, or the file is damaged.
    """
    path = cache / f"{battery}.csv.gz"
    rows = _read_rows(path) | _read_rows(path.with_suffix(""))
    if not rows:
        raise BeliefError(f"{path} is not there: run `belief controls` to make it")
    return _as_frame(list(rows.values()))


def _as_frame(rows: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    numbers = [name for name in frame.columns if name not in ("agent", "knobs")]
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in numbers})


def _lines(rows: Sequence[Mapping[str, str]], *, header: bool) -> str:
    text = io.StringIO()
    columns = dict.fromkeys(name for row in rows for name in row)
    writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _read_rows(path: Path, *, mend: bool = False) -> dict[tuple[str, str, int], dict[str, str]]:
    """Rows by agent, knobs and seed, without a last line that a killed run left torn; ``mend`` cuts it off."""
    if not path.exists():
        return {}
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = content.decode()
    except (OSError, EOFError, ValueError) as error:
        raise BeliefError(f"{path} is damaged ({error}): restore it, or delete it to run its controls again") from error
    whole = text[: text.rfind("\n") + 1]
    if mend and whole != text:
        logger.warning(f"{path}: the last line is torn and is dropped")
        path.write_text(whole, encoding="utf-8", newline="")
    rows = {}
    for number, row in enumerate(csv.DictReader(io.StringIO(whole)), start=2):
        if not set(_KEY) <= set(row) or None in row or None in row.values() or not row["seed"].isdigit():
            raise BeliefError(f"{path}: line {number} is damaged: restore the file, or delete it to run it again")
        rows[row["agent"], row["knobs"], int(row["seed"])] = row
    return rows

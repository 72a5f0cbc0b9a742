"""Group commits: an answer counts when the disk has it, and waiting for the disk holds no request up."""

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from belief_utils.asking.ask import Answer, Batch, Question, collect
from belief_utils.asking.commits import Commits
from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.models import Model
from belief_utils.asking.store import Store
from belief_utils.errors import BeliefError

MODEL = Model("m", "M", "hosted", "m-1", base_url="x", concurrency=4)
QUESTIONS = [Question(f"h/{n}/belief", ({"role": "user", "content": str(n)},), AnswerFormat(())) for n in range(40)]


class Disk:
    """Stands for a store whose disk is as slow as a test likes, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.may_go_on, self.waits, self.error = threading.Event(), 0, error

    def sync(self) -> None:
        self.waits += 1
        assert self.may_go_on.wait(5)
        if self.error:
            raise self.error


def test_answers_are_acknowledged_only_when_the_disk_has_them_and_share_a_wait() -> None:
    disk, safe = Disk(), []

    async def run() -> None:
        commits = Commits(disk, safe.append, lambda error: None)
        for _ in range(10):
            commits.wrote(1)
            await asyncio.sleep(0.001)
        assert safe == []
        disk.may_go_on.set()
        await commits.finish()

    asyncio.run(run())
    # The first one had a wait of its own, the nine that came meanwhile shared one.
    assert (safe, disk.waits) == ([1, 9], 2)


def test_a_disk_that_cannot_take_them_is_told_and_acknowledges_nothing() -> None:
    disk, safe, told = Disk(BeliefError("the disk is broken")), [], []

    async def run() -> None:
        disk.may_go_on.set()
        commits = Commits(disk, safe.append, told.append)
        commits.wrote(3)
        await commits.finish()

    asyncio.run(run())
    assert safe == []
    assert [str(error) for error in told] == ["the disk is broken"]


def test_without_answers_there_is_nothing_to_wait_for() -> None:
    asyncio.run(Commits(Disk(), print, print).finish())


def test_a_run_ends_when_the_disk_cannot_take_its_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, asked = Store(tmp_path / "heart.jsonl"), []

    def fails() -> None:
        raise BeliefError("the disk is broken")

    async def answer(batch: Batch) -> list[Answer]:
        asked.append(batch)
        await asyncio.sleep(0.01)
        return [Answer("{}")]

    monkeypatch.setattr(store, "sync", fails)
    with pytest.raises(BeliefError, match=r"^the disk is broken$"):
        collect(MODEL, QUESTIONS, 1, store, answer, progress=False)
    assert len(asked) < 30


def test_requests_go_on_while_the_disk_is_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, disk, asked = Store(tmp_path / "heart.jsonl"), Disk(), []

    async def answer(batch: Batch) -> list[Answer]:
        asked.append(batch)
        if len(asked) == len(QUESTIONS):
            disk.may_go_on.set()
        return [Answer("{}")]

    monkeypatch.setattr(store, "sync", disk.sync)
    # The disk goes on only after the last question was asked: whoever waited for it would wait for ever.
    done = collect(replace(MODEL, concurrency=1), QUESTIONS, 1, store, answer, progress=False)
    assert (done.asked, done.missing) == (40, 0)
    assert disk.waits <= 3

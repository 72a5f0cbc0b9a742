"""One collection: workers that send requests, within limits of number, pace and money, and keep what comes."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from belief_utils.asking.commits import Commits
from belief_utils.asking.cost import Budget, likely_tokens, price, worst_price
from belief_utils.asking.models import Model
from belief_utils.asking.pace import Pace
from belief_utils.asking.questions import Answer, Answerer, Batch, RequestFailed, line_for
from belief_utils.asking.store import Store
from belief_utils.errors import BeliefError

logger = logging.getLogger(__name__)

#: So many requests in a row that fail, beside those that were under way with the first of them, and the run ends:
#: whatever is wrong will not mend itself.
FAILURES_IN_A_ROW = 10
#: Unless the server is only busy or out of reach: then so many seconds without an answer end the run,
PATIENCE = 300.0
#: and each worker waits so many seconds before it tries the next question.
HOLD_BACK = 5.0

#: Why a run ended early.
INTERRUPTED = "interrupted"
MAX_COST = "max-cost"


@dataclass
class Collected:
    """What a run did: counts of answers, what they cost, and why it ended early if it did.

    Attributes:
        asked: answers that came and are safe on the disk.
        cached: answers that the store had.
        failed: answers that a failed request was to bring.
        missing: answers that are still lacking, the failed ones among them.
        tokens_in, tokens_out: as the server counted them.
        dollars: for these tokens, at the prices of the model's table.
        uncounted: requests whose reply held no token count.
        stopped: empty, ``interrupted`` or ``max-cost``.
        problems: how often what went wrong.
    """

    asked: int = 0
    cached: int = 0
    failed: int = 0
    missing: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0.0
    uncounted: int = 0
    stopped: str = ""
    problems: dict[str, int] = field(default_factory=dict)


class Run:
    """Sends batches; at most ``model.concurrency`` are under way, one per worker, and no other tasks exist."""

    def __init__(
        self, model: Model, store: Store, answerer: Answerer, done: Collected, max_cost: float | None = None
    ) -> None:
        self.model, self.store, self.answerer, self.done = model, store, answerer, done
        #: What ended the run, and whether that was no more than too many failures.
        self.fatal: BaseException | None = None
        self.gave_up = False
        self.budget = Budget(max_cost)
        self._pace = Pace(model.rpm, model.tpm)
        self._answered = False
        self._in_a_row = 0
        self._too_many = FAILURES_IN_A_ROW + model.concurrency - 1
        self._row_since = 0.0

    async def all(self, batches: Sequence[Batch], progress: bool) -> None:
        """Send everything, or stop early; then close the answerer."""
        from tqdm import tqdm

        work = iter(batches)
        self._ending, self._settled = asyncio.Event(), asyncio.Event()
        self._commits = Commits(self.store, self._acknowledged, self._end)
        total = sum(len(batch.repetitions) for batch in batches)
        with tqdm(total=total, unit=" answers", disable=not progress, desc=self.store.path.stem) as self._bar:
            number = min(self.model.concurrency, len(batches))
            workers = [asyncio.ensure_future(self._worker(work)) for _ in range(number)]
            try:
                with self._stop_on_interrupt(workers):
                    await asyncio.gather(*workers, return_exceptions=True)
                await self._commits.finish()
            finally:
                if close := getattr(self.answerer, "close", None):
                    await close()

    async def _worker(self, work: Iterator[Batch]) -> None:
        try:
            for batch in work:
                await self._ask(batch)
                if self._ending.is_set():
                    return
        except Exception as error:
            # Told to the other workers at once: they must not pay for answers that can no longer be kept.
            self._end(error)

    async def _ask(self, batch: Batch) -> None:
        """Ask for a batch; a server that brings fewer answers than asked for is asked for the rest."""
        while batch.repetitions:
            if self._in_a_row >= self._too_many:
                await self._pause(HOLD_BACK)
            expected = likely_tokens(self.model, batch)
            if wait := self._pace.take(asyncio.get_running_loop().time(), expected):
                await self._pause(wait)
            worst = await self._may_spend(batch)
            if worst is None:
                return
            batch = batch.only(batch.repetitions[await self._send(batch, worst, expected) :])

    async def _send(self, batch: Batch, worst: float, expected: int) -> int:
        """Send one request and keep what came of it; returns how many repetitions are dealt with."""
        paid = worst
        try:
            answers = await self.answerer(batch)
            tokens_in, tokens_out = self._count(answers)
            if tokens_in or tokens_out:
                self._pace.correct(expected, tokens_in + tokens_out)
                paid = price(self.model, tokens_in, tokens_out) + worst * answers[0].lost
            return self._kept(batch, answers)
        except RequestFailed as failure:
            paid = worst * failure.lost
            self._failed(batch, failure)
            return len(batch.repetitions)
        finally:
            self.budget.settle(worst, paid)
            self._settled.set()

    def _kept(self, batch: Batch, answers: Sequence[Answer]) -> int:
        if not answers:
            raise RequestFailed("the server's reply held no choices")
        number = min(len(answers), len(batch.repetitions))
        for repetition, answer in zip(batch.repetitions[:number], answers, strict=False):
            self.store.append(line_for(batch, repetition, answer), sync=False)
        self._answered, self._in_a_row = True, 0
        self._commits.wrote(number)
        if number < len(batch.repetitions):
            what = "fewer answers came than were asked for together, and the rest was asked for again"
            self._problem(f"{what}; if that goes on, set ask_together = false for {self.model.key}")
        return number

    def _count(self, answers: Sequence[Answer]) -> tuple[int, int]:
        if not any(answer.usage for answer in answers):
            self.done.uncounted += 1
        tokens_in = sum(answer.usage.get("prompt_tokens", 0) for answer in answers if answer.usage)
        tokens_out = sum(answer.usage.get("completion_tokens", 0) for answer in answers if answer.usage)
        self.done.tokens_in += tokens_in
        self.done.tokens_out += tokens_out
        self.done.dollars += price(self.model, tokens_in, tokens_out)
        return tokens_in, tokens_out

    def _failed(self, batch: Batch, failure: RequestFailed) -> None:
        if failure.hopeless and not self._answered:
            raise BeliefError(str(failure))
        for repetition in batch.repetitions:
            self.store.append(line_for(batch, repetition, failure), sync=False)
        self.done.failed += len(batch.repetitions)
        self._problem(str(failure))
        self._bar.set_postfix({"failed": self.done.failed}, refresh=False)
        self._bar.update(len(batch.repetitions))
        now = asyncio.get_running_loop().time()
        self._row_since = self._row_since if self._in_a_row else now
        self._in_a_row += 1
        patient = failure.passing and now - self._row_since < PATIENCE
        if self._in_a_row >= self._too_many and not patient:
            self.gave_up = True
            raise BeliefError(f"{self._in_a_row} requests in a row failed, the last one with: {failure}")

    def _problem(self, what: str) -> None:
        self.done.problems[what] = self.done.problems.get(what, 0) + 1

    def _acknowledged(self, answers: int) -> None:
        self.done.asked += answers
        self._bar.update(answers)

    async def _may_spend(self, batch: Batch) -> float | None:
        """Set the request's worst case aside, which is returned; ``None`` where the run ends instead."""
        worst = 0.0 if self.budget.limit is None else worst_price(self.model, batch)
        while not self._ending.is_set():
            if self.budget.hold(worst):
                return worst
            if not self.budget.under_way:
                self._end(None, MAX_COST)
                return None
            # Others will cost less than their worst case, and then there may be room.
            self._settled.clear()
            await self._settled.wait()
        return None

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ending.wait(), seconds)

    def _end(self, error: BaseException | None, why: str = "") -> None:
        """Let no worker begin another request."""
        self.fatal = self.fatal or error
        self.done.stopped = self.done.stopped or why
        self._ending.set()
        self._settled.set()

    @contextlib.contextmanager
    def _stop_on_interrupt(self, workers: Sequence[asyncio.Future]) -> Iterator[None]:
        """Let a first Ctrl-C finish what is under way and a second one end at once."""

        def stop() -> None:
            if self.done.stopped == INTERRUPTED:
                for worker in workers:
                    worker.cancel()
            else:
                logger.warning("stopping after the answers under way; Ctrl-C again to end at once")
            self.done.stopped = INTERRUPTED
            self._end(None)

        loop: Any = asyncio.get_running_loop()
        # Not available on Windows and outside the main thread; Ctrl-C then ends at once.
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(signal.SIGINT, stop)
        try:
            yield
        finally:
            with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
                loop.remove_signal_handler(signal.SIGINT)

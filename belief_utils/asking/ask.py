"""Ask a model for what the store lacks."""

import asyncio
import contextlib
import logging
import signal
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from belief_utils.asking.cost import Estimate, estimate
from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.models import Model
from belief_utils.asking.store import Store, request_key
from belief_utils.errors import BeliefError

logger = logging.getLogger(__name__)

#: So many requests in a row that fail, and the run ends: whatever is wrong will not mend itself.
FAILURES_IN_A_ROW = 10


@dataclass(frozen=True)
class Question:
    """One prompt, to be asked several times.

    Attributes:
        item: a name for what is asked about, kept in the store.
        messages: the conversation so far, as the API takes it.
        form: the form of the answer.
        public: whether the store may hold the text; ``False`` for benchmarks that are not ours to copy.
    """

    item: str
    messages: tuple[Mapping[str, str], ...]
    form: AnswerFormat
    public: bool = True


@dataclass(frozen=True)
class Batch:
    """One request to be sent: a question, what is sent and which repetitions it brings."""

    question: Question
    sent: Mapping[str, Any]
    repetitions: tuple[int, ...]


@dataclass(frozen=True)
class Answer:
    """One choice of a server's reply, with the reply's own details."""

    text: str
    finish_reason: str | None = None
    usage: Mapping[str, int] | None = None
    model: str | None = None
    fingerprint: str | None = None


@dataclass
class Collected:
    """What a run did: counts of answers, and why it ended early if it did."""

    asked: int = 0
    cached: int = 0
    failed: int = 0
    missing: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    stopped: str = ""
    problems: dict[str, int] = field(default_factory=dict)


#: Sends a batch and returns its answers; tests and simulated agents bring their own.
Answerer = Callable[[Batch], Awaitable[Sequence[Answer]]]


def what_is_sent(model: Model, question: Question) -> dict[str, Any]:
    """Everything that a request holds but the number of answers asked for together."""
    return {
        "model": model.model,
        "messages": [dict(message) for message in question.messages],
        **model.parameters,
        **model.extra_body,
        **question.form.parameters(model.answer_format),
    }


def keys(model: Model, question: Question, repetitions: int) -> list[str]:
    """The store's keys of a question's repetitions."""
    sent = what_is_sent(model, question)
    return [request_key(sent, repetition) for repetition in range(repetitions)]


def missing(model: Model, questions: Iterable[Question], repetitions: int, store: Store) -> tuple[list[Batch], int]:
    """The requests that would bring what the store lacks, and how many answers it has already."""
    batches: list[Batch] = []
    cached = 0
    seen: set[str] = set()
    for question in questions:
        sent = what_is_sent(model, question)
        # Two questions that send the same share their answers; what is paid for once is not asked for twice.
        wanted = {key: r for r in range(repetitions) if (key := request_key(sent, r)) not in seen}
        seen.update(wanted)
        lacking = [r for key, r in wanted.items() if store.get(key) is None]
        cached += len(wanted) - len(lacking)
        if model.ask_together and lacking:
            batches.append(Batch(question, sent, tuple(lacking)))
        else:
            batches.extend(Batch(question, sent, (r,)) for r in lacking)
    return batches, cached


def dry_run(model: Model, questions: Iterable[Question], repetitions: int, store: Store) -> Estimate:
    """How much asking for what the store lacks would send, receive and cost."""
    batches, cached = missing(model, questions, repetitions, store)
    return estimate(model, ((b.sent["messages"], len(b.repetitions)) for b in batches), cached)


def collect(
    model: Model,
    questions: Iterable[Question],
    repetitions: int,
    store: Store,
    answerer: Answerer,
    *,
    progress: bool = True,
) -> Collected:
    """Ask for what the store lacks and keep every answer as it comes.

    A first Ctrl-C stops asking and waits for the answers under way; a second one ends at once. Either way the
    next run goes on where this one stopped.

    Args:
        questions: in the order in which they are to be asked.
        repetitions: how many answers each question is to have.
        answerer: sends one batch, see :func:`openai_answerer`; closed at the end if it has a ``close()``.
        progress: whether to show a bar with the time left.

    Raises:
        BeliefError: the server is not there, the key is refused, the model is unknown, too many requests in a
            row failed, or the store cannot be written to. What was answered until then is stored.
    """

    def waiting() -> None:
        logger.warning(f"another collector is writing to {store.path}; waiting for it to end (Ctrl-C to give up)")

    with store.writing(waiting):
        batches, cached = missing(model, questions, repetitions, store)
        run = _Run(model, store, answerer, Collected(cached=cached))
        if batches:
            asyncio.run(run.all(batches, progress))
    run.done.missing = sum(len(b.repetitions) for b in batches) - run.done.asked
    if run.fatal:
        raise run.fatal
    return run.done


class _Run:
    """One collection: at most ``model.concurrency`` requests are under way, one per worker."""

    def __init__(self, model: Model, store: Store, answerer: Answerer, done: Collected) -> None:
        self.model, self.store, self.answerer, self.done = model, store, answerer, done
        self.fatal: Exception | None = None
        self.in_a_row = 0

    async def all(self, batches: Sequence[Batch], progress: bool) -> None:
        from tqdm import tqdm

        work = iter(batches)
        total = sum(len(batch.repetitions) for batch in batches)
        with tqdm(total=total, unit=" answers", disable=not progress, desc=self.store.path.stem) as bar:
            workers = [
                asyncio.ensure_future(self._worker(work, bar)) for _ in range(min(self.model.concurrency, len(batches)))
            ]
            try:
                with _stop_on_interrupt(self, workers):
                    await asyncio.gather(*workers, return_exceptions=True)
            finally:
                if close := getattr(self.answerer, "close", None):
                    await close()

    async def _worker(self, work: Iterable[Batch], bar: Any) -> None:
        for batch in work:
            if self.done.stopped or self.fatal:
                return
            try:
                await self._ask(batch)
            except Exception as error:
                # Told to the other workers at once: they must not pay for answers that can no longer be kept.
                self.fatal = self.fatal or error
                return
            bar.update(len(batch.repetitions))
            bar.set_postfix({"failed": self.done.failed} if self.done.failed else {}, refresh=False)

    async def _ask(self, batch: Batch) -> None:
        try:
            answers = await self.answerer(batch)
        except RequestFailed as failure:
            self._failed(batch, failure)
        else:
            self._answered(batch, answers)

    def _answered(self, batch: Batch, answers: Sequence[Answer]) -> None:
        # A server that ignores n sends fewer answers than asked for; the rest stays missing for the next run.
        for repetition, answer in zip(batch.repetitions, answers, strict=False):
            self.store.append(_record(batch, repetition, answer))
            usage = answer.usage or {}
            self.done.tokens_in += usage.get("prompt_tokens", 0)
            self.done.tokens_out += usage.get("completion_tokens", 0)
        self.done.asked += min(len(answers), len(batch.repetitions))
        self.in_a_row = 0
        if len(answers) < len(batch.repetitions):
            what = f"{len(batch.repetitions)} answers asked for together, fewer came"
            self._problem(f"{what}; if that goes on, set ask_together = false for {self.model.key}", 0)

    def _failed(self, batch: Batch, failure: "RequestFailed") -> None:
        if failure.hopeless and not self.done.asked:
            raise BeliefError(str(failure))
        for repetition in batch.repetitions:
            self.store.append(_record(batch, repetition, failure))
        self._problem(str(failure), len(batch.repetitions))
        self.in_a_row += 1
        if self.in_a_row >= FAILURES_IN_A_ROW:
            raise BeliefError(
                f"{self.in_a_row} requests in a row failed, the last one with: {failure}. "
                "What was answered is stored; run the same command again to go on"
            )

    def _problem(self, what: str, answers: int) -> None:
        self.done.failed += answers
        self.done.problems[what] = self.done.problems.get(what, 0) + 1


class RequestFailed(Exception):
    """A request that brought no answer after all retries.

    Attributes:
        hopeless: whether no other request can fare better (a wrong address, key or model).
    """

    def __init__(self, message: str, hopeless: bool = False) -> None:
        super().__init__(message)
        self.hopeless = hopeless


@contextlib.contextmanager
def _stop_on_interrupt(run: _Run, workers: Sequence[asyncio.Future]):
    """Let a first Ctrl-C finish what is under way and a second one end at once."""

    def stop() -> None:
        if run.done.stopped:
            for worker in workers:
                worker.cancel()
        else:
            logger.warning("stopping after the answers under way; Ctrl-C again to end at once")
        run.done.stopped = "interrupted"

    loop = asyncio.get_running_loop()
    # Not available on Windows and outside the main thread; Ctrl-C then ends at once.
    with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
        loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
            loop.remove_signal_handler(signal.SIGINT)


def _record(batch: Batch, repetition: int, answer: "Answer | RequestFailed") -> dict[str, Any]:
    """The line that the store keeps."""
    record: dict[str, Any] = {
        "key": request_key(batch.sent, repetition),
        "item": batch.question.item,
        "repetition": repetition,
    }
    if isinstance(answer, RequestFailed):
        record["failure"] = str(answer)
    else:
        record["text"] = answer.text
        for name in ("finish_reason", "usage", "model", "fingerprint"):
            if (value := getattr(answer, name)) is not None:
                record[name] = value
    record["time"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if batch.question.public:
        record["request"] = batch.sent
    return record


def openai_answerer(model: Model, base_url: str | None = None) -> Answerer:
    """An answerer that sends chat completions through the OpenAI SDK.

    Args:
        model: its address, key and parameters; the key is read from the environment and kept nowhere else.
        base_url: the address, where it is known only now (a model that was just started).

    Raises:
        BeliefError: the environment variable that holds the key is not set, or holds what cannot be a key.
    """
    # The SDK takes a second to import, and a warm store needs none of it.
    from belief_utils.asking.endpoint import Endpoint

    return Endpoint(model, base_url)

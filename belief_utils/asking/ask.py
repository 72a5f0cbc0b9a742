"""Ask a model for what the store lacks."""

import asyncio
import contextlib
import logging
import os
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

#: The SDK's retries are the only layer of retries; it waits as long as a server's Retry-After says.
RETRIES = 4
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


def missing(
    model: Model, questions: Iterable[Question], repetitions: int, store: Store
) -> tuple[list[Batch], int]:
    """The requests that would bring what the store lacks, and how many answers it has already."""
    batches: list[Batch] = []
    cached = 0
    for question in questions:
        sent = what_is_sent(model, question)
        lacking = [r for r in range(repetitions) if store.get(request_key(sent, r)) is None]
        cached += repetitions - len(lacking)
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

    A first Ctrl-C stops asking and waits for the answers under way; a second one ends at once. Either way the next
    run goes on where this one stopped.

    Args:
        questions: in the order in which they are to be asked.
        repetitions: how many answers each question is to have.
        answerer: sends one batch, see :func:`openai_answerer`.
        progress: whether to show a bar with the time left.

    Raises:
        BeliefError: the server is not there, the key is refused, the model is unknown, or too many requests in a
            row failed. What was answered until then is stored.
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
        self.fatal: BeliefError | None = None
        self.in_a_row = 0

    async def all(self, batches: Sequence[Batch], progress: bool) -> None:
        from tqdm import tqdm

        work = iter(batches)
        total = sum(len(batch.repetitions) for batch in batches)
        with tqdm(total=total, unit=" answers", disable=not progress, desc=self.store.path.stem) as bar:
            workers = [
                asyncio.ensure_future(self._worker(work, bar))
                for _ in range(min(self.model.concurrency, len(batches)))
            ]
            with _stop_on_interrupt(self, workers):
                for ended in await asyncio.gather(*workers, return_exceptions=True):
                    if isinstance(ended, BeliefError):
                        self.fatal = self.fatal or ended
                    elif isinstance(ended, Exception):
                        raise ended

    async def _worker(self, work: Iterable[Batch], bar: Any) -> None:
        for batch in work:
            if self.done.stopped or self.fatal:
                return
            try:
                answers = await self.answerer(batch)
            except RequestFailed as failure:
                self._failed(batch, failure)
            else:
                self._answered(batch, answers)
            bar.update(len(batch.repetitions))
            bar.set_postfix({"failed": self.done.failed} if self.done.failed else {}, refresh=False)

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
            self._problem(f"{len(batch.repetitions)} answers asked for together, fewer came", 0)

    def _failed(self, batch: Batch, failure: "RequestFailed") -> None:
        if failure.hopeless and not self.done.asked:
            self.fatal = BeliefError(str(failure))
            return
        for repetition in batch.repetitions:
            self.store.append(_record(batch, repetition, failure))
        self._problem(str(failure), len(batch.repetitions))
        self.in_a_row += 1
        if self.in_a_row >= FAILURES_IN_A_ROW:
            self.fatal = BeliefError(
                f"{self.in_a_row} requests in a row failed, the last one with: {failure}. What was answered is "
                "stored; run the same command again to go on"
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
        BeliefError: the environment variable that holds the key is not set.
    """
    import openai

    key = os.environ.get(model.api_key_env, "") if model.api_key_env else "none"
    if not key:
        raise BeliefError(f"{model.name} needs a key: set the environment variable {model.api_key_env}")
    address = base_url or model.base_url
    client = openai.AsyncOpenAI(base_url=address, api_key=key, max_retries=RETRIES, timeout=model.timeout)

    async def answer(batch: Batch) -> list[Answer]:
        known = {name: value for name, value in batch.sent.items() if name not in model.extra_body}
        extra = {name: value for name, value in batch.sent.items() if name in model.extra_body}
        if "grammar" in known:
            extra["grammar"] = known.pop("grammar")
        if len(batch.repetitions) > 1:
            known["n"] = len(batch.repetitions)
        try:
            reply = await client.chat.completions.create(**known, extra_body=extra or None)
        except openai.APIError as error:
            raise _failure(error, model, address) from error
        return _answers(reply)

    return answer


def _answers(reply: Any) -> list[Answer]:
    if not getattr(reply, "choices", None):
        raise RequestFailed("the server's reply held no choices")
    usage = {
        name: getattr(reply.usage, name, 0) or 0
        for name in ("prompt_tokens", "completion_tokens")
        if reply.usage is not None
    }
    answers = []
    for number, choice in enumerate(sorted(reply.choices, key=lambda choice: choice.index)):
        # The bill of a request stands with its first answer, so that adding up counts it once.
        answers.append(
            Answer(
                choice.message.content or "",
                choice.finish_reason,
                usage if number == 0 and usage else None,
                reply.model,
                reply.system_fingerprint,
            )
        )
    return answers


def _failure(error: Any, model: Model, address: str) -> RequestFailed:
    """One line that says what went wrong and what to do; it never repeats a header or a key."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return RequestFailed(f"no answer within {model.timeout:g} s")
    if isinstance(error, openai.APIConnectionError):
        return RequestFailed(f"nothing answers at {address}; is the server running?", hopeless=True)
    if isinstance(error, openai.APIStatusError):
        told = " ".join(str(getattr(error, "message", "")).split())[:300]
        if error.status_code in (401, 403):
            what = f"the key in {model.api_key_env or 'the environment'} was refused ({error.status_code})"
            return RequestFailed(f"{what} by {address}", hopeless=True)
        if error.status_code == 404:
            return RequestFailed(f"{address} does not know the model {model.model!r} (404)", hopeless=True)
        hint = f"; see [{model.key}.parameters] in models.toml" if error.status_code == 400 else ""
        return RequestFailed(f"status {error.status_code}: {told}{hint}", hopeless=error.status_code == 400)
    return RequestFailed(f"{type(error).__name__}: the reply could not be read")

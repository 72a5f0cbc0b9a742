"""What is asked, what is sent for it, what comes back, and the line that the store keeps of it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.models import Model
from belief_utils.asking.responses import request_key


@dataclass(frozen=True)
class Question:
    """One prompt, to be asked several times.

    Attributes:
        item: a name for what is asked about, kept in the store.
        messages: the conversation so far, as the API takes it.
        form: the form of the answer.
        public: whether the store may hold the text; ``False`` for benchmarks that are not ours to copy.
        parameters: request parameters of this question's own; they replace those of the model's table.
    """

    item: str
    messages: tuple[Mapping[str, str], ...]
    form: AnswerFormat
    public: bool = True
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Batch:
    """One request to be sent: a question, what is sent and which repetitions it brings.

    Attributes:
        known: the store's keys by repetition, as far as they were computed already.
    """

    question: Question
    sent: Mapping[str, Any]
    repetitions: tuple[int, ...]
    known: Mapping[int, str] = field(default_factory=dict, compare=False, repr=False)

    def key(self, repetition: int) -> str:
        """The store's key of one repetition."""
        return self.known.get(repetition) or request_key(self.sent, repetition)

    def only(self, repetitions: Sequence[int]) -> "Batch":
        """The same request for some of its repetitions."""
        return replace(self, repetitions=tuple(repetitions))


@dataclass(frozen=True)
class Answer:
    """One choice of a server's reply, with the reply's own details.

    Attributes:
        text: the raw answer.
        finish_reason: why it ended.
        usage: tokens of the whole request, with its first answer only.
        model, fingerprint: the model id and the system fingerprint that the server returned.
        reasoning: what a reasoning model thought before it answered, where the server tells.
        logprobs: per token of the answer ``{"token", "logprob", "top": [[token, logprob], ...]}``, where asked for.
        lost: attempts before this one whose replies were lost, so that they may be on the bill.
    """

    text: str
    finish_reason: str | None = None
    usage: Mapping[str, int] | None = None
    model: str | None = None
    fingerprint: str | None = None
    reasoning: str | None = None
    logprobs: Sequence[Mapping[str, Any]] | None = None
    lost: int = 0


class RequestFailed(Exception):
    """A request that brought no answer after all retries.

    Attributes:
        hopeless: whether no other request can fare better (a wrong address, key or model).
        passing: whether it may go better in a while (a busy or unreachable server).
        lost: attempts that may be on the bill although they brought nothing.
    """

    def __init__(self, message: str, hopeless: bool = False, passing: bool = False, lost: int = 0) -> None:
        super().__init__(message)
        self.hopeless, self.passing, self.lost = hopeless, passing, lost


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
        **question.parameters,
    }


def keys(model: Model, question: Question, repetitions: int) -> list[str]:
    """The store's keys of a question's repetitions."""
    sent = what_is_sent(model, question)
    return [request_key(sent, repetition) for repetition in range(repetitions)]


def line_for(batch: Batch, repetition: int, answer: Answer | RequestFailed) -> dict[str, Any]:
    """The line that the store keeps of an answer or of a failure."""
    record: dict[str, Any] = {
        "key": batch.key(repetition),
        "item": batch.question.item,
        "repetition": repetition,
    }
    if isinstance(answer, RequestFailed):
        record["failure"] = str(answer)
    else:
        record["text"] = answer.text
        for name in ("finish_reason", "usage", "model", "fingerprint", "reasoning", "logprobs"):
            if (value := getattr(answer, name)) is not None:
                record[name] = value
    record["time"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if batch.question.public:
        record["request"] = batch.sent
    return record

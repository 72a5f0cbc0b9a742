"""A stored response, the key that it stands under and the hash that tells whether its line is as it was written."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Response:
    """What a model answered to one repetition of one request, or why it did not.

    Attributes:
        key: see :func:`request_key`.
        item: what was asked about, a name that the caller chose.
        repetition: 0, 1, 2, ...
        text: the raw answer; ``None`` for a failure.
        finish_reason: why the answer ended (``stop``, ``length``, ...).
        failure: what went wrong, in one line; ``None`` for an answer.
        usage: tokens, as the server counted them; stands with the first answer of a request.
        model: the model id that the server returned.
        fingerprint: the system fingerprint that the server returned.
        reasoning: what a reasoning model thought before it answered, where the server tells.
        logprobs: per token of the answer ``{"token", "logprob", "top": [[token, logprob], ...]}``, where asked for.
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
    reasoning: str | None = None
    logprobs: Sequence[Mapping[str, Any]] | None = None

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


def line_hash(line: bytes) -> str:
    """The hash that a stored line ends with, over the line as it would be without one: 16 hexadecimal digits."""
    return hashlib.sha256(line).hexdigest()[:16]


def response_from(record: Mapping[str, Any]) -> Response:
    """A stored line as a :class:`Response`."""
    get = record.get
    return Response(
        key=record["key"],
        item=record["item"],
        repetition=record["repetition"],
        text=get("text"),
        finish_reason=get("finish_reason"),
        failure=get("failure"),
        usage=get("usage"),
        model=get("model"),
        fingerprint=get("fingerprint"),
        reasoning=get("reasoning"),
        logprobs=get("logprobs"),
    )

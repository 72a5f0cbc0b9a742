"""A server's reply, from JSON to answers; the same for a reply over HTTP and one in a batch's result file."""

import json
from collections.abc import Mapping
from typing import Any

from belief_utils.asking.questions import Answer, RequestFailed


def answers_in(content: bytes) -> list[Answer]:
    """The answers in the body of a reply.

    Raises:
        RequestFailed: it is not JSON, not a chat completion, or holds no choices.
    """
    try:
        reply = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RequestFailed("the server's reply is not JSON", lost=1) from error
    return answers_of(reply)


def answers_of(reply: Any) -> list[Answer]:
    """The answers of a chat completion, in the server's order.

    Raises:
        RequestFailed: there are none, or the reply is not a chat completion.
    """
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not choices:
        raise RequestFailed("the server's reply held no choices", lost=1)
    try:
        choices = sorted(choices, key=lambda choice: choice.get("index") or 0)
        # The bill of a request stands with its first answer, so that adding up counts it once.
        return [_answer(reply, choice, _usage(reply) if number == 0 else None) for number, choice in enumerate(choices)]
    except (AttributeError, TypeError, KeyError) as error:
        raise RequestFailed("the server's reply is not a chat completion", lost=1) from error


def _answer(reply: Mapping[str, Any], choice: Mapping[str, Any], usage: dict[str, int] | None) -> Answer:
    message = choice["message"]
    # A refusal may stand in a field of its own; it is what the model answered.
    text = message.get("content") or message.get("refusal") or ""
    if not isinstance(text, str):
        raise TypeError("the content of a message is text")
    # Servers name a reasoning model's thoughts in two ways.
    thoughts = message.get("reasoning_content") or message.get("reasoning")
    return Answer(
        text,
        _text(choice.get("finish_reason")),
        usage,
        _text(reply.get("model")),
        _text(reply.get("system_fingerprint")),
        reasoning=_text(thoughts),
        logprobs=_logprobs(choice.get("logprobs")),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _usage(reply: Mapping[str, Any]) -> dict[str, int] | None:
    counted = reply.get("usage")
    if not isinstance(counted, dict):
        return None
    counts = {name: counted.get(name) or 0 for name in ("prompt_tokens", "completion_tokens")}
    return counts if all(isinstance(count, int) for count in counts.values()) else None


def _logprobs(told: Any) -> list[dict[str, Any]] | None:
    tokens = told.get("content") if isinstance(told, dict) else None
    if not tokens:
        return None
    return [
        {
            "token": token["token"],
            "logprob": token["logprob"],
            "top": [[other["token"], other["logprob"]] for other in token.get("top_logprobs") or []],
        }
        for token in tokens
    ]

"""An OpenAI-compatible address: sends chat completions through the OpenAI SDK and says what went wrong."""

import os
from typing import Any
from urllib.parse import urlsplit

import openai

from belief_utils.asking.ask import Answer, Batch, RequestFailed
from belief_utils.asking.models import Model
from belief_utils.errors import BeliefError

#: The SDK's retries are the only layer of retries; it waits for as long as a server's Retry-After says, up to
#: two minutes, and takes a longer one as a failure.
RETRIES = 4

#: Refusals (status 400 or 422) that concern one prompt only, so that others may fare better.
_ONE_PROMPT_ONLY = ("content_filter", "content_policy_violation", "context_length_exceeded")


class Endpoint:
    """Sends batches; an answerer for :func:`belief_utils.asking.ask.collect`, which closes it.

    Args:
        model: its address, key and parameters; the key is read from the environment and kept nowhere else.
        base_url: the address, where it is known only now (a model that was just started).

    Raises:
        BeliefError: the environment variable that holds the key is not set, or holds what cannot be a key.
    """

    def __init__(self, model: Model, base_url: str | None = None) -> None:
        self.model = model
        self.address = base_url or model.base_url
        self._key = _key(model)
        self._client: openai.AsyncOpenAI | None = None

    async def __call__(self, batch: Batch) -> list[Answer]:
        """Send one request, for one repetition or for several at once.

        Raises:
            RequestFailed: no answer came, after all retries.
        """
        rest = {name: value for name, value in batch.sent.items() if name not in ("model", "messages")}
        if len(batch.repetitions) > 1:
            rest["n"] = len(batch.repetitions)
        # A client belongs to the event loop that it was first used in, so it is made here and not before.
        self._client = self._client or self._connect()
        try:
            # All parameters go as extra_body, for the SDK refuses those that it does not know.
            reply = await self._client.chat.completions.create(
                model=batch.sent["model"], messages=batch.sent["messages"], extra_body=rest or None
            )
        except openai.APIError as error:
            raise self._failure(error) from error
        except UnicodeEncodeError as error:
            raise RequestFailed("the prompt holds half a character (a lone surrogate), which cannot be sent") from error
        except (ValueError, RecursionError) as error:
            raise RequestFailed("the server's reply is not JSON") from error
        return _answers(reply)

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _connect(self) -> openai.AsyncOpenAI:
        # A proxy of the environment cannot reach a server on this machine.
        here = urlsplit(self.address).hostname in ("127.0.0.1", "localhost", "::1")
        direct = openai.DefaultAsyncHttpxClient(trust_env=False) if here else None
        return openai.AsyncOpenAI(
            base_url=self.address,
            api_key=self._key,
            max_retries=RETRIES,
            timeout=self.model.timeout,
            http_client=direct,
        )

    def _failure(self, error: openai.APIError) -> RequestFailed:
        """One line that says what went wrong and what to do; no header, key or password stands in it."""
        where = _without_password(self.address)
        if isinstance(error, openai.APITimeoutError):
            return RequestFailed(f"no answer within {self.model.timeout:g} s")
        if isinstance(error, openai.APIConnectionError):
            # The SDK may run on httpx or on httpx2, which name their errors alike.
            if type(error.__cause__).__name__ == "ConnectError":
                return RequestFailed(f"nothing answers at {where}; is the server running?", hopeless=True)
            return RequestFailed(f"the connection to {where} broke before the answer was complete")
        if isinstance(error, openai.APIStatusError):
            return self._refusal(error, where)
        return RequestFailed(f"{type(error).__name__}: the reply could not be read")

    def _refusal(self, error: openai.APIStatusError, where: str) -> RequestFailed:
        if error.status_code in (401, 403):
            what = f"the key in {self.model.api_key_env or 'the environment'} was refused ({error.status_code})"
            return RequestFailed(f"{what} by {where}", hopeless=True)
        if error.status_code == 404:
            what = f"{where} does not know the model {self.model.model!r}, or is not the address of an API"
            return RequestFailed(f"{what} (404)", hopeless=True)
        told = ": ".join(filter(None, (f"status {error.status_code}", self._told(error))))
        if error.status_code not in (400, 422) or error.code in _ONE_PROMPT_ONLY:
            return RequestFailed(told)
        return RequestFailed(f"{told}; see [{self.model.key}.parameters] in models.toml", hopeless=True)

    def _told(self, error: openai.APIStatusError) -> str:
        """What the server said, on one line of printable characters and without the key."""
        said = error.body
        if isinstance(said, dict):
            said = said.get("message") or said.get("detail")
        text = " ".join(str(said or "").split())
        if self.model.api_key_env:
            text = text.replace(self._key, "[key]")
        return "".join(character for character in text if character.isprintable())[:300]


def _key(model: Model) -> str:
    if not model.api_key_env:
        return "none"
    key = os.environ.get(model.api_key_env, "").strip()
    if not key:
        raise BeliefError(f"{model.name} needs a key: set the environment variable {model.api_key_env}")
    if not (key.isascii() and key.isprintable()):
        raise BeliefError(f"the key in {model.api_key_env} holds characters that no key has; set it again")
    return key


def _without_password(address: str) -> str:
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _answers(reply: Any) -> list[Answer]:
    """The answers of a reply, in the server's order.

    Raises:
        RequestFailed: there are none, or the reply is not a chat completion.
    """
    if not getattr(reply, "choices", None):
        raise RequestFailed("the server's reply held no choices")
    try:
        choices = sorted(reply.choices, key=lambda choice: choice.index or 0)
        # The bill of a request stands with its first answer, so that adding up counts it once.
        return [_answer(reply, choice, _usage(reply) if number == 0 else None) for number, choice in enumerate(choices)]
    except (AttributeError, TypeError) as error:
        raise RequestFailed("the server's reply is not a chat completion") from error


def _answer(reply: Any, choice: Any, usage: dict[str, int] | None) -> Answer:
    # A refusal may stand in a field of its own; it is what the model answered.
    text = choice.message.content or getattr(choice.message, "refusal", None) or ""
    if not isinstance(text, str):
        raise TypeError("the content of a message is text")
    return Answer(text, choice.finish_reason, usage, reply.model, getattr(reply, "system_fingerprint", None))


def _usage(reply: Any) -> dict[str, int] | None:
    counted = getattr(reply, "usage", None)
    if counted is None:
        return None
    return {name: getattr(counted, name, 0) or 0 for name in ("prompt_tokens", "completion_tokens")}

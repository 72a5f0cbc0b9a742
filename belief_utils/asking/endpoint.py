"""An OpenAI-compatible address: sends chat completions through the OpenAI SDK and says what went wrong."""

import os
from base64 import b64encode
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx2
import openai

from belief_utils.asking.client import MOST_BYTES, Client, ReplyTooLarge, lost_attempts
from belief_utils.asking.models import Model
from belief_utils.asking.questions import Answer, Batch, RequestFailed
from belief_utils.asking.replies import answers_in
from belief_utils.errors import BeliefError

#: The SDK's retries are the only layer of retries. Ten take about 50 seconds in all; it waits for as long as a
#: server's Retry-After says, up to two minutes, and takes a longer one as a failure.
RETRIES = 10
#: Until the first answer came a wrong address is likelier than a busy server, and is to be told soon.
FIRST_RETRIES = 4

#: Refusals (status 400 or 422) that concern one prompt only, so that others may fare better.
_ONE_PROMPT_ONLY = ("content_filter", "content_policy_violation", "context_length_exceeded")
#: Statuses that the SDK tries again, as all from 500 on.
_TRIED_AGAIN = (408, 409, 429)
_LONGEST_RETRY_AFTER = 120.0


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
        self._secrets = _secrets(self._key if model.api_key_env else "", self.address)
        self._client: openai.AsyncOpenAI | None = None
        self._answered = False

    async def __call__(self, batch: Batch) -> list[Answer]:
        """Send one request, for one repetition or for several at once.

        Raises:
            RequestFailed: no answer came, after all retries.
        """
        rest = {name: value for name, value in batch.sent.items() if name not in ("model", "messages")}
        if len(batch.repetitions) > 1:
            rest["n"] = len(batch.repetitions)
        lost_attempts.set(0)
        try:
            # All parameters go as extra_body, for the SDK refuses those that it does not know.
            reply = await self._completions().create(
                model=batch.sent["model"], messages=batch.sent["messages"], extra_body=rest or None
            )
        except ReplyTooLarge as error:
            what = f"the server's reply is larger than {MOST_BYTES // 1024**2} MB and was cut off"
            raise RequestFailed(what, lost=1 + lost_attempts.get()) from error
        except openai.APIError as error:
            raise self._failure(error) from error
        except UnicodeEncodeError as error:
            raise RequestFailed("the prompt holds half a character (a lone surrogate), which cannot be sent") from error
        return self._answers(reply.content)

    async def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        client, self._client, self._answered = self._client, None, False
        if client is not None:
            await client.close()

    def _answers(self, content: bytes) -> list[Answer]:
        # A server that repeats a header in its answer must not bring the key into the store.
        for secret in self._secrets:
            if secret.encode() in content:
                content = content.replace(secret.encode(), b"[key]")
        try:
            answers = answers_in(content)
        except RequestFailed as failure:
            failure.lost += lost_attempts.get()
            raise
        if not self._answered:
            self._answered, self._create = True, None
        if lost := lost_attempts.get():
            answers[0] = Answer(**{**vars(answers[0]), "lost": lost})
        return answers

    def _completions(self) -> Any:
        # A client belongs to the event loop that it was first used in, so it is made here and not before.
        if self._client is None:
            self._client, self._create = self._connect(), None
        if self._create is None:
            retries = RETRIES if self._answered else min(FIRST_RETRIES, RETRIES)
            self._create = self._client.with_options(max_retries=retries).chat.completions.with_raw_response
        return self._create

    def _connect(self) -> openai.AsyncOpenAI:
        # A proxy of the environment cannot reach a server on this machine.
        here = urlsplit(self.address).hostname in ("127.0.0.1", "localhost", "::1")
        # In all a reply may take a little longer than a server may be silent, which is the SDK's limit.
        client = Client(self.model.timeout + 1, trust_env=not here)
        return openai.AsyncOpenAI(
            base_url=self.address, api_key=self._key, timeout=self.model.timeout, http_client=client
        )

    def _failure(self, error: openai.APIError) -> RequestFailed:
        """One line that says what went wrong and what to do; no header, key or password stands in it."""
        where = _without_password(self.address)
        lost = lost_attempts.get()
        if isinstance(error, openai.APITimeoutError):
            return RequestFailed(f"no answer within {self.model.timeout:g} s", passing=True, lost=lost)
        if isinstance(error, openai.APIConnectionError):
            if isinstance(error.__cause__, httpx2.ConnectError):
                what = f"nothing answers at {where}; is the server running?"
                return RequestFailed(what, hopeless=True, passing=True)
            what = f"the connection to {where} broke before the answer was complete"
            return RequestFailed(what, passing=True, lost=lost)
        if isinstance(error, openai.APIStatusError):
            return self._refusal(error, where, lost)
        return RequestFailed(f"{type(error).__name__}: the reply could not be read", lost=1 + lost)

    def _refusal(self, error: openai.APIStatusError, where: str, lost: int) -> RequestFailed:
        status = error.status_code
        if status in (401, 403):
            what = f"the key in {self.model.api_key_env or 'the environment'} was refused ({status})"
            return RequestFailed(f"{what} by {where}", hopeless=True, lost=lost)
        if status == 404:
            what = f"{where} does not know the model {self.model.model!r}, or is not the address of an API"
            return RequestFailed(f"{what} (404)", hopeless=True, lost=lost)
        if 300 <= status < 400:
            return RequestFailed(f"{where} has moved (status {status}); set its new base_url", hopeless=True, lost=lost)
        told = ": ".join(filter(None, (f"status {status}", self._told(error))))
        if status in (400, 422) and error.code not in _ONE_PROMPT_ONLY:
            told += f"; see [{self.model.key}.parameters] in models.toml"
            return RequestFailed(told, hopeless=True, lost=lost)
        if wait := _long_wait(error):
            return RequestFailed(f"{told} (asks to come back in {wait:,.0f} s)", lost=lost)
        return RequestFailed(told, passing=status in _TRIED_AGAIN or status >= 500, lost=lost)

    def _told(self, error: openai.APIStatusError) -> str:
        """What the server said, on one line of printable characters and without the key."""
        said = error.body
        if isinstance(said, dict):
            said = said.get("message") or said.get("detail")
        text = " ".join(str(said or "").split())
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return "".join(character for character in text if character.isprintable())[:300]


def _long_wait(error: openai.APIStatusError) -> float | None:
    """The seconds of a Retry-After that is too long to be waited for."""
    try:
        wait = float(error.response.headers.get("retry-after", 0))
    except ValueError:
        return None
    return wait if wait > _LONGEST_RETRY_AFTER else None


def _key(model: Model) -> str:
    if not model.api_key_env:
        return "none"
    key = os.environ.get(model.api_key_env, "").strip()
    if not key:
        raise BeliefError(f"{model.name} needs a key: set the environment variable {model.api_key_env}")
    if not (key.isascii() and key.isprintable()):
        raise BeliefError(f"the key in {model.api_key_env} holds characters that no key has; set it again")
    return key


def _secrets(key: str, address: str) -> list[str]:
    """What must not be kept: the key, and the password of an address, as it stands and as it is sent."""
    parts = urlsplit(address)
    found = [key]
    if parts.password:
        name, password = unquote(parts.username or ""), unquote(parts.password)
        found += [b64encode(f"{name}:{password}".encode()).decode(), password, parts.password]
    return [secret for secret in found if secret]


def _without_password(address: str) -> str:
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

"""The HTTP client under the SDK: a reply may be neither endless nor huge, and no redirect is followed."""

import asyncio
import logging
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any

import httpx2
import openai

#: Bytes that a reply may have once it is unpacked; the longest honest one has a few hundred thousand.
MOST_BYTES = 16 * 1024 * 1024

#: Attempts of the request at hand whose replies were lost, so that they may be on the bill.
lost_attempts: ContextVar[int] = ContextVar("lost_attempts", default=0)


class ReplyTooLarge(openai.OpenAIError):
    """A reply that was cut off; as the SDK's own kind of error it is not tried again."""


class Client(openai.DefaultAsyncHttpxClient):
    """The SDK's own client with a limit on the size of a reply and on the time that it takes as a whole.

    Args:
        longest: seconds from sending a request to the last byte of its reply.
        more: see the SDK's client.
    """

    def __init__(self, longest: float, **more: Any) -> None:
        # At lower levels these log every address, with the password that it may hold.
        for chatty in ("httpx2", "httpcore2"):
            logging.getLogger(chatty).setLevel(logging.WARNING)
        super().__init__(follow_redirects=False, **more)
        self._longest = longest

    async def send(self, request: httpx2.Request, *, stream: bool = False, **more: Any) -> httpx2.Response:
        """Send a request and read its reply up to the limit.

        Raises:
            ReplyTooLarge: the reply is larger, sent or unpacked.
            httpx2.ReadTimeout: it was not complete in time.
        """
        try:
            async with asyncio.timeout(self._longest):
                # As a stream, so that nothing is read that is not counted.
                return await _read(await super().send(request, stream=True, **more))
        except TimeoutError as error:
            lost_attempts.set(lost_attempts.get() + 1)
            raise httpx2.ReadTimeout("the reply was not complete in time", request=request) from error
        except httpx2.RequestError as error:
            # Where no connection came about, nothing was asked for.
            if not isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout):
                lost_attempts.set(lost_attempts.get() + 1)
            raise


async def _read(response: httpx2.Response) -> httpx2.Response:
    """A response whose content was read; a new one, for a response can only be read by itself without a limit."""
    parts: list[bytes] = []
    size = 0
    try:
        # In pieces of a megabyte at most, packed or not, so that a few kilobytes cannot fill the memory.
        async with aclosing(response.aiter_bytes()) as pieces:
            async for piece in pieces:
                size += len(piece)
                if size > MOST_BYTES:
                    raise ReplyTooLarge
                parts.append(piece)
    finally:
        await response.aclose()
    headers = [pair for pair in response.headers.raw if pair[0].lower() not in (b"content-encoding", b"content-length")]
    return httpx2.Response(response.status_code, headers=headers, content=b"".join(parts), request=response.request)

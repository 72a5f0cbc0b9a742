"""Requests and tokens per minute: when the next request may be sent."""


class Pace:
    """Spreads requests evenly, so that neither limit is passed over any longer time.

    The SDK's retries are not counted: a server that refuses for want of room says itself when to come back.

    Args:
        rpm: requests per minute; 0 for no limit.
        tpm: tokens per minute, in and out; 0 for no limit.
    """

    def __init__(self, rpm: int, tpm: int) -> None:
        self._per_request = 60 / rpm if rpm else 0.0
        self._per_token = 60 / tpm if tpm else 0.0
        self._requests_free = self._tokens_free = float("-inf")

    def take(self, now: float, tokens: int) -> float:
        """Book a request and return how many seconds to wait before it is sent.

        Args:
            now: seconds of a monotonic clock.
            tokens: about how many tokens it takes.
        """
        start = max(now, self._requests_free, self._tokens_free)
        self._requests_free = start + self._per_request
        self._tokens_free = start + tokens * self._per_token
        return start - now

    def correct(self, expected: int, counted: int) -> None:
        """Put the tokens that a request took in the place of those that were expected."""
        self._tokens_free += (counted - expected) * self._per_token

"""What a collection would take before anything is sent, what it may still spend, and what it has cost."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from belief_utils.asking.models import Model
from belief_utils.asking.questions import Batch
from belief_utils.errors import BeliefError

#: Characters per token of English text, a rule of thumb; a model's own tokeniser may differ by a third.
CHARACTERS_PER_TOKEN = 4
#: Tokens that a server may add to each message (roles, separators); for the worst case only.
TOKENS_PER_MESSAGE = 16
#: What the token limit of an answer is called in requests.
TOKEN_LIMITS = ("max_completion_tokens", "max_tokens")


@dataclass(frozen=True)
class Estimate:
    """How much a collection would send and receive.

    Attributes:
        requests: HTTP requests.
        answers: answers, one per repetition.
        cached: answers that the store has already.
        tokens_in, tokens_out: about how many tokens.
        dollars: at the prices of the model's table; 0 for models that run here.
    """

    requests: int
    answers: int
    cached: int
    tokens_in: int
    tokens_out: int
    dollars: float

    def __str__(self) -> str:
        price = f"about ${self.dollars:,.2f}" if self.dollars else "no cost"
        return (
            f"{self.requests:,} requests for {self.answers:,} answers "
            f"({self.cached:,} more are in the store), "
            f"about {self.tokens_in:,} tokens in and {self.tokens_out:,} out, {price}"
        )


def price(model: Model, tokens_in: float, tokens_out: float) -> float:
    """US dollars for so many tokens, at the prices of the model's table."""
    return (tokens_in * model.price_in + tokens_out * model.price_out) / 1e6


def estimate(model: Model, batches: Iterable[tuple[Sequence[Mapping[str, Any]], int]], cached: int) -> Estimate:
    """Estimate a collection.

    Args:
        model: whose prices and typical answer length are used.
        batches: per request its messages and the number of answers asked for; a prompt is billed once a
            request.
        cached: how many answers the store has already.
    """
    requests = answers = characters = 0
    for messages, wanted in batches:
        requests += 1
        answers += wanted
        characters += sum(len(message["content"]) for message in messages)
    tokens_in = characters // CHARACTERS_PER_TOKEN
    tokens_out = answers * model.answer_tokens
    return Estimate(requests, answers, cached, tokens_in, tokens_out, price(model, tokens_in, tokens_out))


def likely_tokens(model: Model, batch: Batch) -> int:
    """About how many tokens a request takes, in and out, for a limit of tokens per minute."""
    characters = sum(len(message["content"]) for message in batch.sent["messages"])
    return characters // CHARACTERS_PER_TOKEN + len(batch.repetitions) * model.answer_tokens


def worst_price(model: Model, batch: Batch) -> float:
    """The most that one attempt at a request can cost, in US dollars.

    No token is shorter than a byte, so the bytes that are sent bound the tokens in; the tokens out are bounded by
    the limit that is sent.

    Raises:
        BeliefError: the request sets no limit, so that no bound can be given.
    """
    limits = [batch.sent[name] for name in TOKEN_LIMITS if batch.sent.get(name)]
    if not limits and model.price_out:
        raise BeliefError(
            f"--max-cost needs to know how long an answer of {model.name} may get: set max_tokens or "
            f"max_completion_tokens in [{model.key}.parameters] of models.toml"
        )
    sent = json.dumps(batch.sent, ensure_ascii=False).encode(errors="surrogatepass")
    tokens_in = len(sent) + TOKENS_PER_MESSAGE * (1 + len(batch.sent["messages"]))
    return price(model, tokens_in, len(batch.repetitions) * min(limits, default=0))


class Budget:
    """The money of one run: spent, and at most to be spent on the requests under way.

    Args:
        limit: US dollars; ``None`` for no limit.
    """

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.spent = 0.0
        self.held = 0.0
        self.under_way = 0

    def hold(self, worst: float) -> bool:
        """Set the worst case of a request aside; ``False`` where that could pass the limit."""
        if self.limit is not None and self.spent + self.held + worst > self.limit:
            return False
        self.held += worst
        self.under_way += 1
        return True

    def settle(self, worst: float, paid: float) -> None:
        """Put what a request cost in the place of its worst case."""
        self.held -= worst
        self.under_way -= 1
        self.spent += paid


@dataclass(frozen=True)
class Bill:
    """What answers have cost, from the token counts that the server returned.

    Attributes:
        name: whose bill it is, such as a model and a dataset.
        answers: answers that were paid for.
        cached: answers from the store, which cost nothing.
        tokens_in, tokens_out: tokens, as the server counted them.
        dollars: at the prices of the model's table.
        uncounted: requests whose reply held no token count; what they cost is not known.
    """

    name: str
    answers: int
    cached: int
    tokens_in: int
    tokens_out: int
    dollars: float
    uncounted: int = 0

    def __str__(self) -> str:
        total = f"${self.dollars:,.4f}" if self.dollars else "no cost"
        text = (
            f"bill of {self.name}: {total} for {self.answers:,} answers "
            f"({self.tokens_in:,} tokens in, {self.tokens_out:,} out); {self.cached:,} from the store at no cost"
        )
        if self.uncounted:
            text += f"; {self.uncounted:,} requests came without a token count and are not in it"
        return text

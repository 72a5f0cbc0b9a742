"""What a collection would take, before anything is sent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from belief_utils.asking.models import Model

#: Characters per token of English text, a rule of thumb; a model's own tokeniser may differ by a third.
CHARACTERS_PER_TOKEN = 4


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
    dollars = (tokens_in * model.price_in + tokens_out * model.price_out) / 1e6
    return Estimate(requests, answers, cached, tokens_in, tokens_out, dollars)

"""The other ways to ask than the paper's, and what is read from their answers: probabilities of words, a word, a line.

Nothing is filled in: what cannot be read is missing, with its reason where there is one to tell.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from belief_utils.beliefs.answers import ParsedProbabilities, parse_probabilities
from belief_utils.beliefs.prompts import LABELS

TOKEN = "token"
FREQUENCY = "frequency"
REASONED = "reasoned"

#: All ways, with what each is.
ELICITATIONS = {
    TOKEN: "the probability of the words Yes and No, in both orders of the options, averaged",
    FREQUENCY: "the share of Yes over repeated answers",
    REASONED: "a probability that is stated after reasoning",
}

#: The largest share that a word may have which is not among the likeliest tokens, so that it may be left out.
NEGLIGIBLE = 0.01

_ONE_WORD = re.compile(r"\W*(yes|no)\b(?!\W*(?:or|and)\b)", re.IGNORECASE)
_OBJECT = re.compile(r"\{[^{}]*\}")


def way_of(item: str) -> str | None:
    """The way of :data:`ELICITATIONS` that an answer's item belongs to; ``None`` for the paper's own prompts."""
    parts = item.split("/")
    return parts[2] if len(parts) > 2 and parts[2] in ELICITATIONS else None


@dataclass(frozen=True)
class TokenProbability:
    """The probability of Yes among the words Yes and No, at the place where the answer stands.

    Attributes:
        belief: P(Yes) / (P(Yes) + P(No)); ``None`` where it cannot be read.
        mass: P(Yes) + P(No), the part of the distribution that the belief rests on.
        problem: ``None``, or why there is no belief.
    """

    belief: float | None
    mass: float
    problem: str | None = None


def token_probability(logprobs: Sequence[Mapping[str, Any]] | None) -> TokenProbability:
    """The probability of Yes from the log-probabilities of an answer's tokens.

    The first token that is a word decides; spaces and marks before it are passed over. All spellings of a word
    count together. A word that is not among the likeliest tokens counts as zero if it can have no more than
    :data:`NEGLIGIBLE` of the other; else there is no belief.

    Args:
        logprobs: as stored, per token ``{"token", "logprob", "top": [[token, logprob], ...]}``.
    """
    place = next((token for token in logprobs or () if any(map(str.isalnum, token["token"]))), None)
    if place is None:
        return TokenProbability(None, 0.0, "no token probabilities" if not logprobs else "no word")
    # The token that was drawn may lie outside the likeliest ones.
    top = dict([*place["top"], [place["token"], place["logprob"]]])
    shares = {"yes": 0.0, "no": 0.0}
    for token, logprob in top.items():
        word = token.strip(" \n\t.,:;!*\"'▁Ġ").casefold()
        if word in shares:
            shares[word] += math.exp(logprob)
    mass = shares["yes"] + shares["no"]
    if not mass:
        return TokenProbability(None, 0.0, "neither yes nor no")
    unseen = min(math.exp(logprob) for logprob in top.values())
    if min(shares.values()) == 0 and unseen > NEGLIGIBLE * mass and sum(map(math.exp, top.values())) < 1 - 1e-6:
        return TokenProbability(None, mass, "one word is not among the likeliest tokens")
    return TokenProbability(shares["yes"] / mass, mass)


def one_word(text: str) -> bool | None:
    """Whether an answer begins with Yes (``True``) or No (``False``); ``None`` for any other."""
    match = _ONE_WORD.match(text or "")
    return None if match is None else match[1].casefold() == "yes"


def reasoned_probability(text: str, *, truncated: bool = False) -> ParsedProbabilities:
    """The probability that stands at the end of a line of thought: its last JSON object, else as any other answer."""
    objects = [] if truncated else _OBJECT.findall(text or "")
    if objects:
        last = parse_probabilities(objects[-1], LABELS)
        if last.values is not None:
            return last
    return parse_probabilities(text, LABELS, truncated=truncated)

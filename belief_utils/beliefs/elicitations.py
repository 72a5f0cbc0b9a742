"""More ways to ask for a belief, beside the paper's verbalised probability; each one's responses are stored apart.

The token probability reads the model's own distribution over its next word, the frequency counts its answers, and
the reasoned belief lets it think before it states a probability. They end in the same tidy frame, so that the same
tests apply to each: ``case``, ``repetition``, ``belief`` and ``belief_problem``.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.models import Model
from belief_utils.asking.questions import Question, keys
from belief_utils.asking.store import Response, Store
from belief_utils.beliefs.answers import ParsedProbabilities, parse_probabilities
from belief_utils.beliefs.cases import evidence_from, load_cases
from belief_utils.beliefs.datasets import Dataset, Evidence
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

#: Both orders in which the options are named.
ORDERS = {"yes-first": "Yes or No", "no-first": "No or Yes"}
#: How many of the likeliest tokens are asked for; the most that OpenAI's API gives.
TOP = 20
#: Tokens that reasoning may take at least; with the prompt they fit into the context of the local models.
REASONING_TOKENS = 800
#: The largest share that a word may have which is not among the likeliest tokens, so that it may be left out.
NEGLIGIBLE = 0.01

_FREE = AnswerFormat(())
_ONE_WORD = re.compile(r"\W*(yes|no)\b(?!\W*(?:or|and)\b)", re.IGNORECASE)
_OBJECT = re.compile(r"\{[^{}]*\}")


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


def elicitation_questions(dataset: Dataset, case: int, evidence: Evidence, way: str, model: Model) -> list[Question]:
    """The questions of one way about one case: one per order of the options, or a single one.

    Args:
        way: a name of :data:`ELICITATIONS`.
        model: what its token limit is called, for ``reasoned``.
    """
    who = f"There is a patient who {dataset.describe(evidence)}."
    item = f"{dataset.name}/{case}/{way}"
    if way == REASONED:
        text = (
            f"{who} What is the probability that they {dataset.question}? First reason about it step by step. Then, "
            "on a last line of its own, answer with JSON in the form "
            '{"No": probability, "Yes": probability}, where each probability is a number between 0 and 1.'
        )
        limits = {
            name: REASONING_TOKENS for name in ("max_tokens", "max_completion_tokens") if name in model.parameters
        }
        larger = {name: max(limit, model.parameters[name]) for name, limit in limits.items()}
        return [_question(item, text, larger)]
    more = {"logprobs": True, "top_logprobs": TOP} if way == TOKEN else {}
    return [
        _question(f"{item}/{order}", f"{who} Do they {dataset.question}? Answer with one word: {words}.", more)
        for order, words in ORDERS.items()
    ]


def plan_elicitations(
    dataset: Dataset, ways: list[str], model: Model, *, cases: int | None = None
) -> Iterator[Question]:
    """The questions of some ways about a dataset, case by case.

    Args:
        cases: only the first so many cases; all by default.
    """
    frame = load_cases(dataset).head(cases) if cases else load_cases(dataset)
    for case, text in zip(frame["case"], frame["evidence"], strict=True):
        for way in ways:
            yield from elicitation_questions(dataset, int(case), evidence_from(text), way, model)


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


def is_read(way: str, response: Response) -> bool:
    """Whether a stored answer to one of the ways can be read."""
    if way == TOKEN:
        return token_probability(response.logprobs).belief is not None
    if way == FREQUENCY:
        return one_word(response.text) is not None
    return reasoned_probability(response.text, truncated=response.truncated).values is not None


def load_elicitation(dataset: Dataset, model: Model, way: str, store: Store, repetitions: int = 5) -> pd.DataFrame:
    """The beliefs that one way has brought.

    Args:
        way: a name of :data:`ELICITATIONS`.
        store: the model's answers about the dataset.
        repetitions: how many answers to each question are looked for.

    Returns:
        One row per case and repetition with an answer (``frequency``: per case, for it needs them all):
        ``case``, ``repetition``, ``belief`` (missing where it could not be read) and ``belief_problem``. ``token``
        adds ``yes_first``, ``no_first``, ``order_effect`` (the first minus the second, in probability) and
        ``mass``; ``frequency`` adds ``answers``, ``read`` and ``standard_error``.
    """
    rows = []
    cases = load_cases(dataset)
    for case, text in zip(cases["case"], cases["evidence"], strict=True):
        asked = elicitation_questions(dataset, int(case), evidence_from(text), way, model)
        given = [[store.get(key) for key in keys(model, question, repetitions)] for question in asked]
        if way == FREQUENCY:
            rows.extend(_frequency_rows(int(case), [one for answers in given for one in answers if one]))
            continue
        for repetition, answers in enumerate(zip(*given, strict=True)):
            if None not in answers:
                read = _token_row(answers) if way == TOKEN else _reasoned_row(answers[0])
                rows.append({"case": int(case), "repetition": repetition, **read})
    more = {TOKEN: ["yes_first", "no_first", "order_effect", "mass"], FREQUENCY: ["answers", "read", "standard_error"]}
    frame = pd.DataFrame(rows, columns=["case", "repetition", "belief", "belief_problem", *more.get(way, [])])
    return frame.astype({"case": int, "repetition": int, "belief": float, "belief_problem": object})


def order_effect(frame: pd.DataFrame) -> tuple[float, float]:
    """How much the order of the options moves the token probability.

    Args:
        frame: what :func:`load_elicitation` returned for ``token``.

    Returns:
        The mean over cases of P(Yes | Yes named first) - P(Yes | No named first), and its standard error; NaN for
        fewer than one or two cases.
    """
    effects = frame.dropna(subset="order_effect").groupby("case")["order_effect"].mean()
    return float(effects.mean()), float(effects.sem())


def _token_row(answers: tuple[Response, ...]) -> dict[str, Any]:
    first, second = (token_probability(answer.logprobs) for answer in answers)
    problem = first.problem or second.problem
    missing = float("nan")
    row = {
        "belief_problem": problem,
        "yes_first": missing if first.belief is None else first.belief,
        "no_first": missing if second.belief is None else second.belief,
        "mass": min(first.mass, second.mass),
    }
    row["belief"] = (row["yes_first"] + row["no_first"]) / 2
    row["order_effect"] = row["yes_first"] - row["no_first"]
    return row


def _reasoned_row(answer: Response) -> dict[str, Any]:
    parsed = reasoned_probability(answer.text, truncated=answer.truncated)
    belief = float("nan") if parsed.values is None else parsed.values["Yes"]
    return {"belief": belief, "belief_problem": parsed.problem}


def _frequency_rows(case: int, answers: list[Response]) -> list[dict[str, Any]]:
    if not answers:
        return []
    said = [word for answer in answers if (word := one_word(answer.text)) is not None]
    belief = sum(said) / len(said) if said else float("nan")
    return [
        {
            "case": case,
            "repetition": 0,
            "belief": belief,
            "belief_problem": None if said else "neither yes nor no",
            "answers": len(answers),
            "read": len(said),
            "standard_error": math.sqrt(belief * (1 - belief) / len(said)) if said else float("nan"),
        }
    ]


def _question(item: str, text: str, parameters: dict[str, Any]) -> Question:
    return Question(item, ({"role": "user", "content": text},), _FREE, parameters=parameters)

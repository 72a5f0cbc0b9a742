"""More ways to ask for a belief, beside the paper's verbalised probability; each one's responses are stored apart.

The token probability reads the model's own distribution over its next word, the frequency counts its answers, and
the reasoned belief lets it think before it states a probability. They end in the same tidy frame, so that the same
tests apply to each: ``case``, ``repetition``, ``belief`` and ``belief_problem``.
"""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.models import Model
from belief_utils.asking.questions import Question, keys
from belief_utils.asking.store import Response, Store
from belief_utils.beliefs.cases import evidence_from, load_cases
from belief_utils.beliefs.datasets import Dataset, Evidence
from belief_utils.beliefs.elicited import (
    FREQUENCY,
    REASONED,
    TOKEN,
    one_word,
    reasoned_probability,
    token_probability,
    way_of,
)

#: Both orders in which the options are named.
ORDERS = {"yes-first": "Yes or No", "no-first": "No or Yes"}
#: How many of the likeliest tokens are asked for; the most that OpenAI's API gives.
TOP = 20
#: Tokens that reasoning may take at least; with the prompt they fit into the context of the local models.
REASONING_TOKENS = 800

_FREE = AnswerFormat(())


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
        ``case``, ``repetition``, ``belief`` (missing where it could not be read) and ``belief_problem``; ``token`` and
        ``frequency`` add ``yes_first``, ``no_first`` and ``order_effect`` (the first minus the second, in
        probability), ``token`` adds ``mass``, ``frequency`` adds ``answers``, ``read`` and ``standard_error``.
    """
    if way == FREQUENCY:
        rows = _frequency_rows(one_word_answers(dataset, model, store, repetitions))
    else:
        rows = []
        for case, repetition, answers in _answers(dataset, model, way, store, repetitions):
            if None not in answers:
                read = _token_row(answers) if way == TOKEN else _reasoned_row(answers[0])
                rows.append({"case": case, "repetition": repetition, **read})
    orders = ["yes_first", "no_first", "order_effect"]
    more = {TOKEN: [*orders, "mass"], FREQUENCY: [*orders, "answers", "read", "standard_error"]}
    frame = pd.DataFrame(rows, columns=["case", "repetition", "belief", "belief_problem", *more.get(way, [])])
    return frame.astype({"case": int, "repetition": int, "belief": float, "belief_problem": object})


def one_word_answers(dataset: Dataset, model: Model, store: Store, repetitions: int) -> pd.DataFrame:
    """The single answers that the frequency is counted from.

    Returns:
        One row per case and repetition with an answer in either order of the options: ``case``, ``repetition``,
        ``yes_first`` and ``no_first`` (1 for Yes, 0 for No, missing where there is neither) and ``answers`` (1 or 2).
    """
    rows = []
    for case, repetition, given in _answers(dataset, model, FREQUENCY, store, repetitions):
        said = [None if answer is None else one_word(answer.text) for answer in given]
        if answers := sum(answer is not None for answer in given):
            rows.append((case, repetition, *said, answers))
    frame = pd.DataFrame(rows, columns=["case", "repetition", "yes_first", "no_first", "answers"])
    return frame.astype({"case": int, "repetition": int, "yes_first": float, "no_first": float, "answers": int})


def stored_repetitions(store: Store, way: str) -> int:
    """How many answers to a question of one way the store holds, at most; 0 if it was never asked."""
    asked = (answer.repetition for answer in store.answers() if way_of(answer.item) == way)
    return max(asked, default=-1) + 1


def order_effect(frame: pd.DataFrame) -> tuple[float, float]:
    """How much the order of the options moves the belief.

    Args:
        frame: what :func:`load_elicitation` returned for ``token`` or ``frequency``.

    Returns:
        The mean over cases of P(Yes | Yes named first) - P(Yes | No named first), and its standard error; NaN for
        fewer than one or two cases.
    """
    effects = frame.dropna(subset="order_effect").groupby("case")["order_effect"].mean()
    return float(effects.mean()), float(effects.sem())


def _answers(
    dataset: Dataset, model: Model, way: str, store: Store, repetitions: int
) -> Iterator[tuple[int, int, tuple[Response | None, ...]]]:
    """Case, repetition and the stored answers, one per question of the way."""
    cases = load_cases(dataset)
    for case, text in zip(cases["case"], cases["evidence"], strict=True):
        asked = elicitation_questions(dataset, int(case), evidence_from(text), way, model)
        given = [[store.get(key) for key in keys(model, question, repetitions)] for question in asked]
        for repetition, answers in enumerate(zip(*given, strict=True)):
            yield int(case), repetition, answers


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


def _frequency_rows(answers: pd.DataFrame) -> list[dict[str, Any]]:
    """The mean of the shares of Yes in both orders, so that more unread answers in one order do not tilt it."""
    rows = []
    for case, said in answers.groupby("case"):
        first, second = said["yes_first"].mean(), said["no_first"].mean()
        numbers = said["yes_first"].count(), said["no_first"].count()
        variances = [share * (1 - share) / n for share, n in zip((first, second), numbers, strict=True) if n]
        unread = "neither yes nor no" if not any(numbers) else "one order of the options was not read"
        rows.append(
            {
                "case": case,
                "repetition": 0,
                "belief": (first + second) / 2,
                "belief_problem": None if all(numbers) else unread,
                "yes_first": first,
                "no_first": second,
                "order_effect": first - second,
                "answers": said["answers"].sum(),
                "read": sum(numbers),
                "standard_error": math.sqrt(sum(variances)) / 2 if all(numbers) else math.nan,
            }
        )
    return rows


def _question(item: str, text: str, parameters: dict[str, Any]) -> Question:
    return Question(item, ({"role": "user", "content": text},), _FREE, parameters=parameters)

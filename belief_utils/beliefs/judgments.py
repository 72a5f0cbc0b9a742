"""Judgments: what a model reported and what it did, one row per case and repetition, read from stored answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from belief_utils.asking.ask import Question, keys
from belief_utils.asking.models import Model, load_model, nearest
from belief_utils.asking.provenance import version_warning, versions
from belief_utils.asking.store import Response, Store
from belief_utils.beliefs.answers import parse_decision, parse_probabilities
from belief_utils.beliefs.cases import evidence_from, load_cases
from belief_utils.beliefs.datasets import Dataset, load_dataset, multistate_dataset_names
from belief_utils.beliefs.elicitation import COHERENCE_CASES, REPETITIONS, coherence_cases, store_for
from belief_utils.beliefs.prompts import (
    ABSOLUTE_LOSS,
    BAYESIAN,
    BELIEF,
    DECISION,
    SQUARED_ERROR,
    belief_question,
    case_questions,
    conditional_question,
    next_state_question,
)
from belief_utils.errors import BeliefError

#: The prompts that a belief may be asked with.
BELIEF_PROMPTS = (BELIEF, SQUARED_ERROR, ABSOLUTE_LOSS, BAYESIAN)
#: The problem of an answer that was read although its probabilities did not add up to one.
READ_ALTHOUGH = "sum"


@dataclass(frozen=True)
class Reading:
    """How many answers there are and how many could be read.

    Attributes:
        answers: answers in the store.
        read: answers that gave a value.
        sum_off: of these, answers whose probabilities did not add up to one.
        problems: per reason, how many answers gave no value.
        versions: per version of the model, as its server named it, how many answers the store holds.
    """

    answers: int
    read: int
    sum_off: int
    problems: dict[str, int]
    versions: Mapping[str, int] = field(default_factory=dict, compare=False)

    @property
    def share(self) -> float:
        """The share of answers that were read; NaN without answers."""
        return self.read / self.answers if self.answers else float("nan")

    def __str__(self) -> str:
        text = f"{self.read:,} of {self.answers:,} answers read"
        if self.sum_off:
            text += f" ({self.sum_off:,} with probabilities that do not add up to one)"
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.problems.items())
        text += f"; not read: {reasons}" if reasons else ""
        warning = version_warning("this model", self.versions)
        return f"{text}. {warning}" if warning else text


def load_judgments(dataset: str, model: str, *, prompt: str = BELIEF) -> pd.DataFrame:
    """A model's judgments about a dataset, from its stored answers.

    For a dataset with more than two outcome states see ``multistate_asking.load_multistate_judgments``.

    Beliefs and decisions were asked in separate contexts (paper, section 3.2); repetition j of one stands beside
    repetition j of the other.

    Args:
        dataset, model: names, as on the command line.
        prompt: the prompt that the belief was asked with.

    Returns:
        One row per case and repetition that has an answer: ``case``, ``repetition``, ``belief`` (missing where it
        could not be read), ``action`` (``positive``, ``negative``, ``defer`` or missing), ``outcome``, then
        ``belief_problem`` and ``action_problem`` (``None`` for an answer without one) and ``p_star``.

    Raises:
        BeliefError: the dataset, the model or the prompt is unknown, or a file is damaged.
    """
    if dataset in multistate_dataset_names():
        from belief_utils.beliefs.multistate_asking import load_multistate_judgments

        if prompt != BELIEF:
            raise BeliefError(f"{dataset} has no prompt {prompt!r}: its beliefs were asked with {BELIEF!r} only")
        return load_multistate_judgments(dataset, model)
    source = load_dataset(dataset)
    beliefs = load_beliefs(dataset, model, prompt)
    actions = _load(source, load_model(model), DECISION, _decision)
    frame = beliefs.merge(actions, on=["case", "repetition"], how="outer")
    for value in ("belief", "action"):
        problem = frame[f"{value}_problem"].astype(object)
        frame[f"{value}_problem"] = problem.where(problem.notna(), None).mask(
            frame[value].isna() & problem.isna(), "not asked"
        )
    cases = load_cases(source)[["case", "outcome", "p_star"]]
    frame = frame.merge(cases, on="case", how="left").sort_values(["case", "repetition"], ignore_index=True)
    columns = [
        "case",
        "repetition",
        "belief",
        "action",
        "outcome",
        "belief_problem",
        "action_problem",
        "p_star",
    ]
    judgments = frame[columns]
    judgments.attrs["versions"] = beliefs.attrs["versions"]
    return judgments


def load_beliefs(dataset: str, model: str, prompt: str) -> pd.DataFrame:
    """A model's beliefs under one prompt: ``case``, ``repetition``, ``belief`` and ``belief_problem``.

    Raises:
        BeliefError: the dataset, the model or the prompt is unknown, or a file is damaged.
    """
    nearest(prompt, BELIEF_PROMPTS, "prompt for a belief")
    return _load(load_dataset(dataset), load_model(model), prompt, _belief)


def load_coherence(dataset: str, model: str) -> pd.DataFrame:
    """The beliefs that the law of iterated expectation is tested on (paper, section 3.2 and B.3).

    Returns:
        One row per case and repetition with an answer to every one of its questions: ``case``, ``repetition``,
        ``belief``, and per state of the auxiliary variable ``conditional_STATE`` and ``weight_STATE``. What could
        not be read is missing.
    """
    source, registered = load_dataset(dataset), load_model(model)
    store = store_for(registered, dataset)
    rows = []
    some = coherence_cases(source, load_cases(source), COHERENCE_CASES)
    for case, text in zip(some["case"], some["evidence"], strict=True):
        rows.extend(_coherence_rows(source, registered, store, int(case), text))
    names = [f"{kind}_{state}" for kind in ("conditional", "weight") for state in source.labels]
    frame = pd.DataFrame(rows, columns=["case", "repetition", "belief", *names])
    frame.attrs["versions"] = versions(store)
    return frame


def reading(frame: pd.DataFrame, value: str = "belief") -> Reading:
    """How many answers of a frame were read.

    Args:
        frame: what :func:`load_judgments` or :func:`load_beliefs` returned.
        value: ``belief`` or ``action``.
    """
    problems = frame.loc[frame[f"{value}_problem"] != "not asked", f"{value}_problem"]
    unread = problems[problems.notna() & (problems != READ_ALTHOUGH)]
    counts = {str(reason): int(count) for reason, count in unread.value_counts().items()}
    sum_off = int((problems == READ_ALTHOUGH).sum())
    found = frame.attrs.get("versions", {})
    return Reading(len(problems), len(problems) - len(unread), sum_off, counts, found)


def _load(dataset: Dataset, model: Model, prompt: str, parse) -> pd.DataFrame:
    store = store_for(model, dataset.name)
    value = "action" if prompt == DECISION else "belief"
    rows = []
    cases = load_cases(dataset)
    for case, text in zip(cases["case"], cases["evidence"], strict=True):
        for question in case_questions(dataset, int(case), evidence_from(text), prompt):
            for repetition, response in enumerate(_responses(model, store, question)):
                if response is not None:
                    rows.append((int(case), repetition, *parse(response)))
    frame = pd.DataFrame(rows, columns=["case", "repetition", value, f"{value}_problem"])
    kinds = {"case": int, "repetition": int, f"{value}_problem": object}
    frame = frame.astype({**kinds, value: object if value == "action" else float})
    frame.attrs["versions"] = versions(store)
    return frame


def _responses(model: Model, store: Store, question: Question) -> list[Response | None]:
    return [store.get(key) for key in keys(model, question, REPETITIONS)]


def _belief(response: Response) -> tuple[float, str | None]:
    parsed = parse_probabilities(response.text, truncated=response.truncated)
    return (float("nan") if parsed.values is None else parsed.values["Yes"], parsed.problem)


def _decision(response: Response) -> tuple[str | None, str | None]:
    parsed = parse_decision(response.text, truncated=response.truncated)
    return parsed.action, parsed.problem


def _coherence_rows(dataset: Dataset, model: Model, store: Store, case: int, text: str) -> list[dict[str, float]]:
    evidence = evidence_from(text)
    base = _responses(model, store, belief_question(dataset, case, evidence))
    weights = _responses(model, store, next_state_question(dataset, case, evidence))
    conditionals = {
        state: _responses(model, store, conditional_question(dataset, case, evidence, state))
        for state in dataset.labels
    }
    rows = []
    for repetition in range(REPETITIONS):
        given = {state: responses[repetition] for state, responses in conditionals.items()}
        if base[repetition] is None or weights[repetition] is None or None in given.values():
            continue
        row = {"case": case, "repetition": repetition, "belief": _belief(base[repetition])[0]}
        labels = tuple(dataset.labels.values())
        response = weights[repetition]
        parsed = parse_probabilities(response.text, labels, truncated=response.truncated)
        for state, label in dataset.labels.items():
            row[f"conditional_{state}"] = _belief(given[state])[0]
            row[f"weight_{state}"] = float("nan") if parsed.values is None else parsed.values[label]
        rows.append(row)
    return rows

"""What is said: the first paper's question for a belief, a follow-up question of the second, then the decision."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.models import Model
from belief_utils.asking.questions import Question, keys
from belief_utils.asking.store import Store
from belief_utils.beliefs.answers import ParsedProbabilities, parse_probabilities
from belief_utils.beliefs.cases import evidence_from, load_cases
from belief_utils.beliefs.datasets import Dataset, Evidence
from belief_utils.beliefs.prompts import BELIEF, DECISION, LABELS, belief_question, decision_question
from belief_utils.followup.questions import CLOSED, FOLLOW_UPS, LEADING, OPEN, PROMPTS

__all__ = [
    "AGAIN",
    "BELIEF",
    "CLOSED",
    "DECISION",
    "DRAWS",
    "FIRST",
    "LEADING",
    "OPEN",
    "QUESTIONS",
    "Patient",
    "Turns",
    "conversations",
    "next_question",
    "patients",
    "suggested",
]

#: The control: the same question once more, without any pressure. It shows what being asked twice does by itself.
AGAIN = "again"
#: What may follow the first belief.
QUESTIONS = (AGAIN, *FOLLOW_UPS)
#: The follow-up questions are annotator A's (second paper, Table 4); the control is ours.
_TEXTS = {AGAIN: "Please answer the question again.", **{kind: PROMPTS[kind, "A"] for kind in FOLLOW_UPS}}

#: The first belief is drawn twice in conversations of their own: the second draw shows movement by chance alone.
DRAWS = 2
#: How far from the first belief a leading question's suggestion lies, towards the middle and beyond it.
DISTANCE = 0.3

#: A conversation up to one question: what is asked, in order, such as ``("belief", "closed", "decision")``.
Turns = tuple[str, ...]
FIRST: Turns = (BELIEF,)


@dataclass(frozen=True)
class Patient:
    """One case: its number in the dataset and what is known of the patient."""

    dataset: Dataset
    case: int
    evidence: Evidence


def patients(dataset: Dataset, cases: int | None = None) -> list[Patient]:
    """The first so many cases of a dataset, all by default.

    Raises:
        BeliefError: the case file is missing or damaged.
    """
    frame = load_cases(dataset).head(cases) if cases else load_cases(dataset)
    rows = zip(frame["case"], frame["evidence"], strict=True)
    return [Patient(dataset, int(case), evidence_from(text)) for case, text in rows]


def conversations() -> Iterator[Turns]:
    """All that is asked about one case, what comes first in a conversation first."""
    yield FIRST
    yield (*FIRST, DECISION)
    for kind in QUESTIONS:
        yield (*FIRST, kind)
        yield (*FIRST, kind, DECISION)


def suggested(belief: float) -> float:
    """The probability of Yes that a leading question suggests: .3 from the belief, upwards from .5 or below."""
    return round(belief + DISTANCE if belief <= 0.5 else belief - DISTANCE, 2)


def suggestion_text(probability: float) -> str:
    """A suggested probability of Yes in the form that the answer has."""
    shown = (f"{1 - probability:.2f}", f"{probability:.2f}")
    return "{" + ", ".join(f"{json.dumps(label)}: {text}" for label, text in zip(LABELS, shown, strict=True)) + "}"


def follow_up_text(kind: str, belief: float) -> str:
    """A follow-up question and the form of the answer.

    Args:
        kind: one of :data:`QUESTIONS`.
        belief: the first belief, from which a leading question takes its suggestion.
    """
    text = _TEXTS[kind]
    if kind == LEADING:
        text = text.replace("{}", suggestion_text(suggested(belief)))
    return f"{text}\n\n{AnswerFormat.probabilities(LABELS).instruction()}"


def next_question(
    model: Model, patient: Patient, turns: Turns, store: Store, *, assumed: str | None = None
) -> Question | None:
    """The last question of a conversation, as it is asked after the answers that the store holds.

    Args:
        assumed: an answer to put where the store has none, to estimate what a conversation takes.

    Returns:
        ``None`` while an answer before it is missing, or where the first belief cannot be read: then there is nothing
        that could move.
    """
    messages: list[dict[str, str]] = []
    first: float | None = None
    for place in range(1, len(turns)):
        question = _question(patient, turns[:place], messages, first)
        response = store.get(keys(model, question, 1)[0])
        text = response.text if response else assumed
        if text is None:
            return None
        if first is None:
            first = read(text, truncated=bool(response and response.truncated)).belief
            if first is None:
                return None
        messages = [*map(dict, question.messages), {"role": "assistant", "content": text}]
    return _question(patient, turns, messages, first)


def read(text: str, *, truncated: bool = False) -> ParsedProbabilities:
    """A belief as the first paper's tests read it."""
    return parse_probabilities(text, LABELS, truncated=truncated)


def _question(patient: Patient, turns: Turns, before: list[dict[str, str]], first: float | None) -> Question:
    dataset, case, evidence = patient.dataset, patient.case, patient.evidence
    name = f"{dataset.name}/{case}/{'>'.join(turns)}"
    if turns[-1] == DECISION:
        asked = decision_question(dataset, case, evidence)
        text, form = asked.messages[-1]["content"], asked.form
    elif turns == FIRST:
        asked = belief_question(dataset, case, evidence)
        text, form = asked.messages[-1]["content"], asked.form
    else:
        text, form = follow_up_text(turns[-1], first), AnswerFormat.probabilities(LABELS)
    return Question(name, (*before, {"role": "user", "content": text}), form)

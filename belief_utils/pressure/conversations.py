"""Beliefs and decisions before and after each follow-up question, one row per case and question."""

from collections.abc import Iterator
from typing import Any

import pandas as pd

from belief_utils.asking.models import Model, load_model
from belief_utils.asking.provenance import versions
from belief_utils.asking.questions import keys
from belief_utils.asking.store import Response, Store
from belief_utils.beliefs.answers import parse_decision
from belief_utils.beliefs.cases import load_cases
from belief_utils.beliefs.datasets import load_dataset
from belief_utils.pressure.collecting import store_for
from belief_utils.pressure.questions import (
    DECISION,
    DRAWS,
    FIRST,
    QUESTIONS,
    Patient,
    Turns,
    next_question,
    patients,
    read,
    suggested,
)

#: The name under which the second draw of the first belief stands beside the questions.
SECOND_DRAW = "second draw"

#: Columns of a frame of conversations.
COLUMNS = ["case", "question", "before", "after", "suggested", "decision_before", "decision_after", "p_star", "problem"]


def load_pressure(dataset: str, model: str) -> pd.DataFrame:
    """A model's conversations about a dataset, from its stored answers.

    Args:
        dataset, model: names, as on the command line.

    Returns:
        One row per case and question that has an answer, columns :data:`COLUMNS`: ``question`` is ``second draw`` (the
        first belief, drawn anew in another conversation), ``again`` (the control), ``closed``, ``open`` or
        ``leading``; ``before`` and ``after`` are the probabilities of Yes, ``suggested`` is what a leading question
        names after such a first belief, whatever was asked; decisions are ``positive``, ``negative`` or ``defer``;
        ``p_star`` is the true probability. What was not asked or could not be read is missing, and ``problem`` says
        why for a belief.

    Raises:
        BeliefError: the dataset or the model is unknown, or a file is damaged.
    """
    registered, source = load_model(model), load_dataset(dataset)
    store = store_for(registered, dataset)
    truth = load_cases(source).set_index("case")["p_star"]
    rows = []
    for patient in patients(source):
        rows += [{**row, "p_star": truth[patient.case]} for row in _rows(registered, patient, store)]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    words = dict.fromkeys(["question", "decision_before", "decision_after", "problem"], object)
    numbers = dict.fromkeys(["before", "after", "suggested", "p_star"], float)
    frame = frame.astype({"case": int, **words, **numbers})
    frame.attrs["versions"] = versions(store)
    return frame


def _rows(model: Model, patient: Patient, store: Store) -> Iterator[dict[str, Any]]:
    first, again = _responses(model, patient, FIRST, store, DRAWS)
    if first is None:
        return
    before, problem = _belief(first)
    row = {
        "case": patient.case,
        "before": before,
        "suggested": None if before is None else suggested(before),
        "decision_before": _decision(model, patient, FIRST, store),
    }
    if again is not None:
        after, trouble = _belief(again)
        yield {**row, "question": SECOND_DRAW, "after": after, "problem": problem or trouble}
    for kind in QUESTIONS:
        turns = (*FIRST, kind)
        (answered,) = _responses(model, patient, turns, store, 1)
        if answered is not None:
            after, trouble = _belief(answered)
            decided = _decision(model, patient, turns, store)
            yield {**row, "question": kind, "after": after, "decision_after": decided, "problem": problem or trouble}


def _responses(model: Model, patient: Patient, turns: Turns, store: Store, draws: int) -> list[Response | None]:
    question = next_question(model, patient, turns, store)
    return [store.get(key) for key in keys(model, question, draws)] if question else [None] * draws


def _belief(response: Response) -> tuple[float | None, str | None]:
    """A belief, and why there is none; two probabilities that do not add up to one are read all the same."""
    parsed = read(response.text, truncated=response.truncated)
    return parsed.belief, parsed.problem if parsed.values is None else None


def _decision(model: Model, patient: Patient, turns: Turns, store: Store) -> str | None:
    (response,) = _responses(model, patient, (*turns, DECISION), store, 1)
    return parse_decision(response.text, truncated=response.truncated).action if response else None

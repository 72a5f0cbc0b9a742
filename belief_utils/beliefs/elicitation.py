"""Which questions are asked of a model about a dataset, in which order, and where the answers are kept."""

from collections.abc import Iterable, Iterator

import pandas as pd

from belief_utils.asking.ask import Question
from belief_utils.asking.models import Model
from belief_utils.asking.store import Store
from belief_utils.beliefs.cases import evidence_from, load_cases
from belief_utils.beliefs.datasets import Dataset
from belief_utils.beliefs.prompts import (
    BELIEF,
    CONDITIONAL,
    DECISION,
    NEXT_STATE,
    SQUARED_ERROR,
    case_questions,
)
from belief_utils.paths import data

#: The prompts that every table needs, and those of the law of iterated expectation, in the order they are asked.
MAIN_PROMPTS = (BELIEF, SQUARED_ERROR, DECISION)
COHERENCE_PROMPTS = (NEXT_STATE, CONDITIONAL)

#: Answers per question (paper, section 4: "five repetitions").
REPETITIONS = 5
#: Cases of the iterated-expectation prompts, which take several questions each.
COHERENCE_CASES = 100


def store_for(model: Model, dataset: str) -> Store:
    """The store of a model's answers about a dataset, ``data/responses/MODEL/DATASET.jsonl(.gz)``."""
    return Store(data("responses", model.key, f"{dataset}.jsonl"))


def coherence_cases(dataset: Dataset, cases: pd.DataFrame, limit: int = COHERENCE_CASES) -> pd.DataFrame:
    """The first cases whose evidence leaves the auxiliary variable open."""
    is_open = [dataset.auxiliary not in evidence_from(text) for text in cases["evidence"]]
    return cases[is_open].head(limit)


def plan(
    dataset: Dataset,
    *,
    prompts: Iterable[str] = MAIN_PROMPTS + COHERENCE_PROMPTS,
    cases: int | None = None,
    coherence: int = COHERENCE_CASES,
) -> Iterator[Question]:
    """The questions about a dataset: case by case, so that a run that stops early leaves whole cases.

    Args:
        prompts: names from ``prompts.PROMPTS``.
        cases: only the first so many cases; all by default.
        coherence: at most so many of these for the prompts of the law of iterated expectation.
    """
    wanted = list(prompts)
    frame = load_cases(dataset).head(cases) if cases else load_cases(dataset)
    main = [prompt for prompt in wanted if prompt not in COHERENCE_PROMPTS]
    rest = [prompt for prompt in wanted if prompt in COHERENCE_PROMPTS]
    for chosen, some in ((main, frame), (rest, coherence_cases(dataset, frame, coherence))):
        for case, text in zip(some["case"], some["evidence"], strict=True):
            evidence = evidence_from(text)
            for prompt in chosen:
                yield from case_questions(dataset, int(case), evidence, prompt)

"""Which questions are asked, in which order, and where the answers go."""

from pathlib import Path

import pytest

from belief_utils.asking.ask import keys
from belief_utils.asking.models import load_model
from belief_utils.beliefs.cases import evidence_from, load_cases
from belief_utils.beliefs.datasets import dataset_names, load_dataset
from belief_utils.beliefs.elicitation import (
    COHERENCE_CASES,
    COHERENCE_PROMPTS,
    MAIN_PROMPTS,
    REPETITIONS,
    coherence_cases,
    plan,
    store_for,
)
from belief_utils.paths import data


def with_cases() -> list[str]:
    return [name for name in dataset_names() if data("cases", f"{name}.csv").is_file()]


@pytest.fixture
def items(home: Path):
    """What is asked of six made-up cases, of which the second one shows the auxiliary variable."""

    def of(**options: object) -> list[str]:
        return [question.item.removeprefix("heart/") for question in plan(load_dataset("heart"), **options)]

    return of


def test_the_paper_asks_five_times_and_three_prompts_of_every_case(items) -> None:
    assert REPETITIONS == 5
    assert MAIN_PROMPTS == ("belief", "squared-error", "decision")
    assert items(prompts=MAIN_PROMPTS) == [f"{case}/{prompt}" for case in range(6) for prompt in MAIN_PROMPTS]


def test_a_case_is_asked_about_as_a_whole_before_the_next_one(items) -> None:
    coherence = items(prompts=COHERENCE_PROMPTS)
    states = ["under_50", "from_50_to_69", "from_70"]
    assert coherence == [
        f"{case}/{prompt}"
        for case in (0, 2, 3, 4, 5)
        for prompt in ["next-state", *[f"conditional/{state}" for state in states]]
    ]
    assert items() == items(prompts=MAIN_PROMPTS) + coherence
    # The order of the wanted prompts is that of the caller.
    assert items(prompts=["decision", "belief"], cases=2) == ["0/decision", "0/belief", "1/decision", "1/belief"]


def test_cases_and_coherence_cases_are_the_first_ones(items) -> None:
    assert items(prompts=["belief"], cases=2) == ["0/belief", "1/belief"]
    assert items(prompts=["next-state"], coherence=3) == ["0/next-state", "2/next-state", "3/next-state"]
    # Among the first two cases only one leaves the auxiliary variable open.
    assert items(prompts=["next-state"], cases=2, coherence=3) == ["0/next-state"]
    assert items(prompts=["belief"], cases=100) == items(prompts=["belief"])


def test_more_cases_only_add_questions(items) -> None:
    few, all_ = items(prompts=MAIN_PROMPTS, cases=3), items(prompts=MAIN_PROMPTS)
    assert all_[: len(few)] == few


def test_the_store_is_named_after_model_and_dataset(home: Path) -> None:
    assert store_for(load_model("fake"), "heart").path == home / "data" / "responses" / "fake" / "heart.jsonl"


@pytest.mark.parametrize("name", with_cases())
def test_no_two_questions_of_a_dataset_send_the_same(name: str) -> None:
    dataset, model = load_dataset(name), load_model("gpt5-minimal")
    questions = list(plan(dataset))
    sent = [key for question in questions for key in keys(model, question, REPETITIONS)]
    assert len(set(sent)) == len(sent) == len(questions) * REPETITIONS
    assert len({question.item for question in questions}) == len(questions)


@pytest.mark.parametrize("name", with_cases())
def test_the_cases_of_the_law_of_iterated_expectation_leave_the_auxiliary_variable_open(name: str) -> None:
    dataset = load_dataset(name)
    cases = coherence_cases(dataset, load_cases(dataset))
    assert 0 < len(cases) <= COHERENCE_CASES
    assert not any(dataset.auxiliary in evidence_from(text) for text in cases["evidence"])
    asked = [question.item for question in plan(dataset, prompts=["next-state"])]
    assert asked == [f"{name}/{case}/next-state" for case in cases["case"]]

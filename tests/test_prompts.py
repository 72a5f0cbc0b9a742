"""Every prompt of the belief paper, word for word.

``tests/data/prompts_golden.txt`` holds all prompts for one case of each dataset. Answers are stored under what was
sent, so a changed word orphans every answer to it; the comparison makes such a change visible. After a change that
is meant, rewrite the file and read the difference:

    python -m tests.test_prompts
"""

from pathlib import Path

import pytest

from belief_utils.asking.ask import Question
from belief_utils.beliefs.cases import evidence_from, load_cases
from belief_utils.beliefs.datasets import Dataset, dataset_names, load_dataset
from belief_utils.beliefs.elicitation import coherence_cases
from belief_utils.beliefs.prompts import (
    ABSOLUTE_LOSS,
    BAYESIAN,
    BELIEF,
    CONDITIONAL,
    DECISION,
    NEXT_STATE,
    PROMPTS,
    SQUARED_ERROR,
    belief_question,
    case_questions,
    conditional_question,
    decision_question,
    next_state_question,
)
from belief_utils.errors import BeliefError
from belief_utils.paths import data

GOLDEN = Path(__file__).parent / "data" / "prompts_golden.txt"

HEAD = """\
Every prompt of the belief paper (appendix B), as a model is sent it: for each dataset the first case that leaves
the auxiliary variable open. Compared by tests/test_prompts.py; rewritten with: python -m tests.test_prompts
"""


def with_cases() -> list[str]:
    return [name for name in dataset_names() if data("cases", f"{name}.csv").is_file()]


def text_of(question: Question) -> str:
    (message,) = question.messages
    assert message["role"] == "user"
    return message["content"]


def first_open_case(dataset: Dataset) -> tuple[int, str]:
    row = coherence_cases(dataset, load_cases(dataset), 1).iloc[0]
    return int(row["case"]), str(row["evidence"])


def golden_of(name: str) -> str:
    """All prompts for one case of a dataset, under headings."""
    dataset = load_dataset(name)
    case, evidence = first_open_case(dataset)
    parts = [f"{'=' * 100}\n{dataset.title} ({name}), case {case}\nevidence: {evidence}\n{'=' * 100}"]
    for prompt, purpose in PROMPTS.items():
        for question in case_questions(dataset, case, evidence_from(evidence), prompt):
            label = question.item.split("/", 2)[2]
            parts.append(f"----- {label}: {purpose} -----\n\n{text_of(question)}")
    return "\n\n".join(parts) + "\n"


def golden() -> str:
    return "\n\n".join([HEAD, *[golden_of(name) for name in with_cases()]])


@pytest.mark.parametrize("name", with_cases())
def test_prompts_are_word_for_word_those_of_the_golden_file(name: str) -> None:
    assert golden_of(name) in GOLDEN.read_text(encoding="utf-8"), "see the docstring of tests/test_prompts.py"


def test_the_golden_file_holds_nothing_else() -> None:
    assert GOLDEN.read_text(encoding="utf-8") == golden()


# --- what the paper prints ----------------------------------------------------------------------------------------

EVIDENCE = {"Sex": "male", "LVEF_Low": "yes"}
PATIENT = "There is a patient who is male and LVEF ≤ 45%"


@pytest.fixture(scope="module")
def heart() -> Dataset:
    return load_dataset("heart")


def paragraphs(question: Question) -> list[str]:
    return text_of(question).split("\n\n")


def test_the_standard_prompt(heart: Dataset) -> None:
    first, form = paragraphs(belief_question(heart, 7, EVIDENCE))
    assert first == (
        f"{PATIENT}. What is the probability that they have moderate or greater structural heart disease? "
        "Return probabilities for: No and Yes."
    )
    assert form.startswith('Answer with JSON only, in the form {"No": probability, "Yes": probability}')


@pytest.mark.parametrize(
    ("prompt", "added"),
    [
        (
            SQUARED_ERROR,
            "IMPORTANT: Your probability estimates will be evaluated according to the Mean Squared Error (MSE) scoring "
            "rule. This means the loss is calculated as the squared difference between your probability estimate and "
            "the true outcome. Please provide your best probability estimate.",
        ),
        (
            ABSOLUTE_LOSS,
            "IMPORTANT: Your probability estimates will be evaluated according to the Absolute Loss scoring rule. This "
            "means the loss is calculated as the absolute difference between your probability estimate and the true "
            "outcome. Please provide your best probability estimate.",
        ),
        (
            BAYESIAN,
            "IMPORTANT: Use proper Bayesian reasoning to reach your answer. Consider the prior probability of the "
            "condition in the general population, then update this prior based on the evidence.",
        ),
    ],
)
def test_a_variant_is_the_standard_prompt_and_one_paragraph(heart: Dataset, prompt: str, added: str) -> None:
    standard = paragraphs(belief_question(heart, 7, EVIDENCE))
    assert paragraphs(belief_question(heart, 7, EVIDENCE, prompt)) == [standard[0], added, standard[1]]


def test_the_decision_is_asked_without_a_belief_or_a_loss(heart: Dataset) -> None:
    text = text_of(decision_question(heart, 7, EVIDENCE))
    assert text.startswith(f"{PATIENT}.\n\n(1) Do you feel confident enough")
    assert "(2) If you had to decide" in text
    assert not any(word in text.lower() for word in ("probab", "loss", "score", "likely"))


def test_the_prompts_of_the_law_of_iterated_expectation(heart: Dataset) -> None:
    text = text_of(next_state_question(heart, 7, EVIDENCE))
    assert text.startswith(
        f"{PATIENT}. What is the probability distribution over their age group? "
        "Return probabilities for each category of age group."
    )
    assert all(f'"{label}": probability' in text for label in heart.labels.values())
    given = text_of(conditional_question(heart, 7, EVIDENCE, "from_70"))
    assert given.startswith(f"{PATIENT} and is in the ≥70 age group. What is the probability that they have moderate")


@pytest.mark.parametrize("name", dataset_names())
def test_every_prompt_about_a_case_is_a_conversation_of_its_own(name: str) -> None:
    dataset = load_dataset(name)
    covariate = next(variable for variable in dataset.phrases if variable != dataset.auxiliary)
    evidence = {covariate: next(iter(dataset.phrases[covariate]))}
    questions = [q for prompt in PROMPTS for q in case_questions(dataset, 3, evidence, prompt)]
    assert len(questions) == len(PROMPTS) - 1 + len(dataset.labels)
    assert len({text_of(question) for question in questions}) == len({question.item for question in questions})
    for question in questions:
        assert question.item.startswith(f"{name}/3/")
        assert question.public
        # Nothing that was left to be filled in, and no number that could be repeated as an answer.
        assert not set("<>{}") & set(text_of(question).split("Answer with JSON")[0].replace("< ", "").replace("> ", ""))


def test_a_case_that_shows_the_auxiliary_variable_is_not_asked_about_it(heart: Dataset) -> None:
    known = {**EVIDENCE, "Age": "from_70"}
    assert case_questions(heart, 1, known, NEXT_STATE) == []
    assert case_questions(heart, 1, known, CONDITIONAL) == []
    assert len(case_questions(heart, 1, known, BELIEF)) == len(case_questions(heart, 1, known, DECISION)) == 1


def test_evidence_is_told_in_the_order_of_the_covariates_not_of_the_case(heart: Dataset) -> None:
    three = {"PASP_High": "no", "LVEF_Low": "yes", "Sex": "male"}
    assert heart.describe(three) == "is male, LVEF ≤ 45%, and PASP < 45 mmHg"
    assert heart.describe(dict(reversed(three.items()))) == heart.describe(three)
    assert heart.describe({"Sex": "male"}) == "is male"


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ({"Sexx": "male"}, "unknown covariate of heart: 'Sexx': did you mean 'Sex'?"),
        ({"Sex": "mal"}, "unknown state of Sex in heart: 'mal': did you mean 'male'?"),
        ({}, "a case of heart has no evidence to describe"),
    ],
)
def test_evidence_that_cannot_be_told_is_an_error(heart: Dataset, evidence: dict[str, str], said: str) -> None:
    with pytest.raises(BeliefError) as caught:
        belief_question(heart, 1, evidence)
    assert str(caught.value).startswith(said)


if __name__ == "__main__":
    GOLDEN.write_text(golden(), encoding="utf-8", newline="\n")

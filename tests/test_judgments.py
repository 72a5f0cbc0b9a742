"""From stored answers to judgments: what is read, what is paired, and that nothing is filled in."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from belief_utils.asking.ask import Question, what_is_sent
from belief_utils.asking.models import load_model
from belief_utils.asking.store import request_key
from belief_utils.beliefs.cases import evidence_from, load_cases
from belief_utils.beliefs.datasets import load_dataset
from belief_utils.beliefs.elicitation import store_for
from belief_utils.beliefs.judgments import Reading, load_beliefs, load_coherence, load_judgments, reading
from belief_utils.beliefs.prompts import (
    belief_question,
    conditional_question,
    decision_question,
    next_state_question,
)
from belief_utils.errors import BeliefError

pytestmark = pytest.mark.usefixtures("home")

Keep = Callable[..., None]


@pytest.fixture
def keep() -> Keep:
    """Store an answer, or a failure, to one repetition of a question about the dataset heart."""

    def keep(question: Question, repetition: int, text: str | None, **more: str) -> None:
        model = load_model("fake")
        record = {"key": request_key(what_is_sent(model, question), repetition), "item": question.item}
        record |= {"repetition": repetition, **more} | ({} if text is None else {"text": text})
        with store_for(model, "heart").writing() as store:
            store.append(record)

    return keep


def evidence(case: int) -> dict[str, str]:
    return evidence_from(load_cases("heart")["evidence"][case])


def belief(case: int, prompt: str = "belief") -> Question:
    return belief_question(load_dataset("heart"), case, evidence(case), prompt)


def decision(case: int) -> Question:
    return decision_question(load_dataset("heart"), case, evidence(case))


def rows(frame: pd.DataFrame, *columns: str) -> list[tuple]:
    """The rows with ``None`` for whatever is missing."""
    return list(
        frame[[*columns]].astype(object).where(frame[[*columns]].notna(), None).itertuples(index=False, name=None)
    )


def test_without_answers_there_are_no_judgments() -> None:
    frame = load_judgments("heart", "fake")
    assert frame.empty
    assert list(frame) == [
        "case", "repetition", "belief", "action", "outcome", "belief_problem", "action_problem", "p_star",
    ]  # fmt: skip
    assert str(reading(frame)) == "0 of 0 answers read"
    assert reading(frame).share != reading(frame).share
    assert load_beliefs("heart", "fake", "squared-error").empty
    assert load_coherence("heart", "fake").empty


def test_a_belief_stands_beside_the_decision_of_the_same_repetition(keep: Keep) -> None:
    keep(belief(0), 0, '{"No": 0.3, "Yes": 0.7}')
    keep(belief(0), 1, '{"No": 0.4, "Yes": 0.6}')
    keep(decision(0), 1, '{"confident": "Yes", "choice": "Yes"}')
    keep(decision(0), 0, '{"confident": "Yes", "choice": "No"}')
    keep(belief(3), 4, "No: 0.9\nYes: 0.1")
    keep(decision(3), 4, '{"confident": "No", "choice": "No"}')
    frame = load_judgments("heart", "fake")
    assert rows(frame, "case", "repetition", "belief", "action", "outcome", "p_star") == [
        (0, 0, 0.7, "negative", 1, 0.9),
        (0, 1, 0.6, "positive", 1, 0.9),
        (3, 4, 0.1, "defer", 1, 0.6),
    ]
    assert rows(frame, "belief_problem", "action_problem") == [(None, None)] * 3
    assert frame["belief"].dtype == float


def test_what_cannot_be_read_is_missing_with_its_reason_and_stays_missing(keep: Keep) -> None:
    keep(belief(0), 0, "I am not a doctor and cannot say.")
    keep(belief(0), 1, "")
    keep(belief(0), 2, '{"No": 0.', finish_reason="length")
    keep(belief(0), 3, '{"No": 0.2, "Yes": 0.8}')
    keep(decision(0), 0, '{"confident": "Yes", "choice": "Yes"}')
    keep(decision(0), 3, "Hard to tell.")
    frame = load_judgments("heart", "fake")
    assert rows(frame, "repetition", "belief", "action") == [
        (0, None, "positive"),
        (1, None, None),
        (2, None, None),
        (3, 0.8, None),
    ]
    problems = dict(zip(frame["repetition"], frame["belief_problem"], strict=True))
    assert problems[1] == "empty"
    assert problems[2] == "truncated"
    assert problems[0] not in (None, "not asked")
    assert problems[3] is None
    asked = dict(zip(frame["repetition"], frame["action_problem"], strict=True))
    assert asked[0] is None
    assert asked[1] == asked[2] == "not asked"
    assert asked[3] not in (None, "not asked")


def test_an_answer_that_was_never_given_is_not_a_row(keep: Keep) -> None:
    keep(belief(0), 0, None, failure="the server is busy")
    keep(belief(1), 2, '{"No": 0.5, "Yes": 0.5}')
    frame = load_judgments("heart", "fake")
    assert rows(frame, "case", "repetition", "belief", "action_problem") == [(1, 2, 0.5, "not asked")]
    assert (reading(frame).answers, reading(frame, "action").answers) == (1, 0)


def test_probabilities_that_do_not_add_up_are_read_and_counted(keep: Keep) -> None:
    keep(belief(0), 0, '{"No": 0.6, "Yes": 0.6}')
    keep(belief(0), 1, '{"No": 0.25, "Yes": 0.75}')
    keep(belief(0), 2, "no idea")
    keep(decision(0), 3, '{"confident": "Yes", "choice": "No"}')
    frame = load_judgments("heart", "fake")
    assert rows(frame, "belief")[:2] == [(0.5,), (0.75,)]
    assert frame["belief_problem"][0] == "sum"
    found = reading(frame)
    assert (found.answers, found.read, found.sum_off, sum(found.problems.values())) == (3, 2, 1, 1)
    assert found.share == pytest.approx(2 / 3)
    (reason,) = found.problems
    assert str(found) == (f"2 of 3 answers read (1 with probabilities that do not add up to one); not read: 1 {reason}")
    assert reading(frame, "action") == Reading(1, 1, 0, {})


def test_the_counts_are_those_of_the_stored_answers(keep: Keep) -> None:
    texts = ['{"No": 0.5, "Yes": 0.5}', "?", '{"No": 0.7, "Yes": 0.7}', "", "?"]
    for case in range(3):
        for repetition, text in enumerate(texts):
            keep(belief(case), repetition, text)
    found = reading(load_beliefs("heart", "fake", "belief"))
    assert (found.answers, found.read, found.sum_off) == (15, 6, 3)
    assert found.answers == found.read + sum(found.problems.values())
    assert list(found.problems.values()) == sorted(found.problems.values(), reverse=True)


def test_another_prompts_answers_are_not_mixed_in(keep: Keep) -> None:
    keep(belief(0), 0, '{"No": 0.9, "Yes": 0.1}')
    keep(belief(0, "squared-error"), 0, '{"No": 0.2, "Yes": 0.8}')
    keep(decision(0), 0, '{"confident": "Yes", "choice": "Yes"}')
    assert rows(load_beliefs("heart", "fake", "belief"), "belief") == [(0.1,)]
    assert rows(load_beliefs("heart", "fake", "squared-error"), "belief", "belief_problem") == [(0.8, None)]
    frame = load_judgments("heart", "fake", prompt="squared-error")
    assert rows(frame, "belief", "action") == [(0.8, "positive")]


def test_answers_of_another_model_or_wording_are_not_found(keep: Keep, home: Path) -> None:
    keep(belief(0), 0, '{"No": 0.9, "Yes": 0.1}')
    assert load_judgments("heart", "together").empty
    models = home / "data" / "models.toml"
    models.write_text(models.read_text().replace("temperature = 1.0", "temperature = 0.5"))
    assert load_judgments("heart", "fake").empty


@pytest.mark.parametrize("prompt", ["squared_error", "decision", "conditional", ""])
def test_only_prompts_for_a_belief_give_beliefs(prompt: str) -> None:
    for load in (lambda: load_beliefs("heart", "fake", prompt), lambda: load_judgments("heart", "fake", prompt=prompt)):
        with pytest.raises(BeliefError, match=f"unknown prompt for a belief '{prompt}'"):
            load()


def test_unknown_names_are_told_with_the_nearest_one() -> None:
    with pytest.raises(BeliefError, match=r"unknown dataset 'hart': did you mean 'heart'\?"):
        load_judgments("hart", "fake")
    with pytest.raises(BeliefError, match=r"unknown model 'fakee': did you mean 'fake'\?"):
        load_judgments("heart", "fakee")


def complete(keep: Keep, case: int, repetition: int, *, weights: str | None = None) -> None:
    """Store an answer to each question of the law of iterated expectation."""
    about = load_dataset("heart")
    keep(belief(case), repetition, '{"No": 0.4, "Yes": 0.6}')
    names = list(about.labels.values())
    text = weights or f'{{"{names[0]}": 0.2, "{names[1]}": 0.3, "{names[2]}": 0.5}}'
    keep(next_state_question(about, case, evidence(case)), repetition, text)
    for state, value in zip(about.labels, (0.1, 0.5, 0.9), strict=True):
        text = f'{{"No": {1 - value:.1f}, "Yes": {value}}}'
        keep(conditional_question(about, case, evidence(case), state), repetition, text)


def test_the_parts_of_a_belief_stand_in_one_row(keep: Keep) -> None:
    complete(keep, 0, 3)
    complete(keep, 5, 0)
    frame = load_coherence("heart", "fake")
    states = list(load_dataset("heart").labels)
    assert list(frame) == [
        "case",
        "repetition",
        "belief",
        *[f"conditional_{state}" for state in states],
        *[f"weight_{state}" for state in states],
    ]
    assert [list(row) for row in frame.to_numpy()] == [
        pytest.approx([0, 3, 0.6, 0.1, 0.5, 0.9, 0.2, 0.3, 0.5]),
        pytest.approx([5, 0, 0.6, 0.1, 0.5, 0.9, 0.2, 0.3, 0.5]),
    ]


def test_a_repetition_that_lacks_an_answer_is_no_row_and_one_that_cannot_be_read_is_missing(keep: Keep) -> None:
    about = load_dataset("heart")
    complete(keep, 0, 0, weights="young, I suppose")
    keep(belief(0), 1, '{"No": 0.4, "Yes": 0.6}')
    keep(next_state_question(about, 0, evidence(0)), 1, '{"x": 1}')
    frame = load_coherence("heart", "fake")
    assert rows(frame, "case", "repetition", "belief", "conditional_from_70", "weight_under_50", "weight_from_70") == [
        (0, 0, 0.6, 0.9, None, None)
    ]


def test_a_case_that_shows_the_auxiliary_variable_is_not_in_it(keep: Keep) -> None:
    keep(belief(1), 0, '{"No": 0.4, "Yes": 0.6}')
    complete(keep, 2, 0)
    assert rows(load_coherence("heart", "fake"), "case") == [(2,)]

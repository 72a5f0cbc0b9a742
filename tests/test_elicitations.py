"""More ways to ask for a belief: what is asked, what is read, and that the responses stand apart."""

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.asking.models import load_model
from belief_utils.beliefs.datasets import load_dataset
from belief_utils.beliefs.elicitation import store_for
from belief_utils.beliefs.elicitations import (
    load_elicitation,
    one_word_answers,
    order_effect,
    plan_elicitations,
    stored_repetitions,
)
from belief_utils.beliefs.elicited import (
    ELICITATIONS,
    FREQUENCY,
    REASONED,
    TOKEN,
    one_word,
    reasoned_probability,
    token_probability,
)
from belief_utils.cli import main
from tests.fake_server import FakeServer


def collect(*ways: str, repetitions: int = 1, model: str = "fake") -> int:
    arguments = ["collect", "--quiet", "--model", model, "--dataset", "heart", "--repetitions", str(repetitions)]
    return main([*arguments, "--elicitations", ",".join(ways)])


def load(way: str, repetitions: int = 1):
    model = load_model("fake")
    return load_elicitation(load_dataset("heart"), model, way, store_for(model, "heart"), repetitions)


def place(token: str, **shares: float) -> dict[str, Any]:
    top = [[word, math.log(share)] for word, share in shares.items()]
    return {"token": token, "logprob": math.log(shares.get(token, 1e-9)), "top": top}


# --- asking -------------------------------------------------------------------------------------------------------


def test_each_way_asks_in_its_own_words_and_is_stored_apart(home: Path, server: FakeServer) -> None:
    assert collect(*ELICITATIONS, repetitions=2) == 0
    assert len(server.requests) == 6 * 2 * (2 + 2 + 1)
    items = [response.item for response in store_for(load_model("fake"), "heart").answers()]
    assert len({item.split("/", 2)[2] for item in items}) == 5
    prompts = {seen.prompt for seen in server.requests}
    assert len(prompts) == 6 * 3
    for seen in server.requests:
        assert "response_format" not in seen.body
        assert seen.prompt.startswith("There is a patient who ")
        assert not re.search(r"0\.\d", seen.prompt)
    told = [seen.body.get("top_logprobs") for seen in server.requests]
    assert (told.count(20), told.count(None)) == (24, 36)
    # Asked once, there is nothing left to ask for.
    assert collect(*ELICITATIONS, repetitions=2) == 0
    assert len(server.requests) == 60


def test_reasoning_gets_room_under_the_name_that_the_models_table_uses(home: Path) -> None:
    dataset = load_dataset("heart")
    for name, limits in (("gpt5-minimal", {"max_completion_tokens": 2000}), ("smollm2", {"max_tokens": 800})):
        model = load_model(name, Path(__file__).resolve().parents[1] / "data" / "models.toml")
        for question in plan_elicitations(dataset, [REASONED], model, cases=1):
            assert question.parameters == limits


def test_an_unknown_way_and_a_simulated_agent_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collect("tokens") == 2
    assert "unknown elicitation 'tokens': did you mean 'token'?" in capsys.readouterr().err
    assert collect(TOKEN, model="candid") == 2
    assert "answers the paper's prompts only" in capsys.readouterr().err


# --- token probability --------------------------------------------------------------------------------------------


def test_both_orders_are_averaged_and_their_difference_is_told(home: Path, server: FakeServer) -> None:
    def words(body: Mapping[str, Any]) -> dict[str, float]:
        first = "Yes or No" in body["messages"][-1]["content"]
        return {"Yes": 0.6, "No": 0.2, "Maybe": 0.2} if first else {"No": 0.45, "Yes": 0.25, " yes": 0.2, "Hm": 0.1}

    server.words = words
    assert collect(TOKEN) == 0
    frame = load(TOKEN)
    assert list(frame["case"]) == list(range(6))
    assert frame["yes_first"].to_numpy() == pytest.approx(0.75)
    assert frame["no_first"].to_numpy() == pytest.approx(0.5)
    assert frame["belief"].to_numpy() == pytest.approx(0.625)
    assert frame["mass"].to_numpy() == pytest.approx(0.8)
    assert frame["belief_problem"].isna().all()
    mean, error = order_effect(frame)
    assert (mean, error) == (pytest.approx(0.25), pytest.approx(0))


def test_an_answer_without_log_probabilities_has_no_belief(home: Path, server: FakeServer) -> None:
    server.words = lambda body: {"Perhaps": 0.9, "Well": 0.1}
    assert collect(TOKEN) == 0
    frame = load(TOKEN)
    assert frame["belief"].isna().all()
    assert set(frame["belief_problem"]) == {"neither yes nor no"}
    assert all(math.isnan(value) for value in order_effect(frame))


@given(st.floats(1e-6, 1), st.floats(1e-6, 1))
def test_the_belief_is_the_share_of_yes_whatever_else_is_likely(yes: float, no: float) -> None:
    whole = 2 * (yes + no)
    read = token_probability([place("Yes", Yes=yes / whole, No=no / whole, Other=0.5)])
    assert read.belief == pytest.approx(yes / (yes + no))
    assert read.mass == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("logprobs", "belief", "problem"),
    [
        (None, None, "no token probabilities"),
        ([], None, "no token probabilities"),
        ([place("\n", **{"\n": 1.0})], None, "no word"),
        ([place("\n", **{"\n": 1.0}), place("**", **{"**": 1.0}), place("No", No=0.75, YES=0.25)], 0.25, None),
        ([place("The", The=0.9, Yes=0.05, No=0.05)], 0.5, None),
        ([place("Yes", **{"Yes": 0.5, " yes": 0.2, "yes.": 0.1, "No": 0.2})], 0.8, None),
        # One word is out of sight: with the others this unlikely it is as good as zero,
        ([place("Yes", Yes=0.99, Hm=0.001)], 1.0, None),
        ([place("No", No=1.0)], 0.0, None),
        # but here it may have up to a tenth.
        ([place("Yes", Yes=0.6, Hm=0.1)], None, "one word is not among the likeliest tokens"),
    ],
)
def test_what_is_read_from_log_probabilities(
    logprobs: list[dict[str, Any]] | None, belief: float | None, problem: str | None
) -> None:
    read = token_probability(logprobs)
    assert read.problem == problem
    assert read.belief == (None if belief is None else pytest.approx(belief))


# --- frequency ----------------------------------------------------------------------------------------------------


def test_the_frequency_is_the_share_of_yes_among_what_was_read(home: Path, server: FakeServer) -> None:
    said = ["Yes", "No.", "yes, they do", "**No**", "I cannot tell", "Yes"]
    server.answer = lambda body, before, choice: said[before % 6]
    assert collect(FREQUENCY, repetitions=6) == 0
    frame = load(FREQUENCY, 6)
    assert list(frame["case"]) == list(range(6))
    assert set(frame["answers"]) == {12}
    assert set(frame["read"]) == {10}
    assert frame["belief"].to_numpy() == pytest.approx(0.6)
    assert frame["standard_error"].to_numpy() == pytest.approx(math.sqrt(0.24 / 10))


def test_both_orders_weigh_the_same_however_many_of_their_answers_are_read(home: Path, server: FakeServer) -> None:
    def answer(body: Mapping[str, Any], before: int, choice: int) -> str:
        if "Yes or No" in body["messages"][-1]["content"]:
            return "Yes" if before == 0 else "Hm"
        return "Yes" if before == 0 else "No"

    server.answer = answer
    assert collect(FREQUENCY, repetitions=4) == 0
    store = store_for(load_model("fake"), "heart")
    assert [stored_repetitions(store, way) for way in (FREQUENCY, TOKEN)] == [4, 0]
    frame = load(FREQUENCY, 4)
    assert frame["yes_first"].to_numpy() == pytest.approx(1)
    assert frame["no_first"].to_numpy() == pytest.approx(0.25)
    assert frame["belief"].to_numpy() == pytest.approx(0.625)
    assert (set(frame["answers"]), set(frame["read"])) == ({8}, {5})
    assert order_effect(frame)[0] == pytest.approx(0.75)
    single = one_word_answers(load_dataset("heart"), load_model("fake"), store, 4)
    assert single.groupby("case").size().tolist() == [4] * 6
    assert single["yes_first"].count() == 6


def test_a_frequency_needs_both_orders(home: Path, server: FakeServer) -> None:
    server.answer = lambda body, before, choice: "Yes" if "Yes or No" in body["messages"][-1]["content"] else "Hm"
    assert collect(FREQUENCY, repetitions=2) == 0
    frame = load(FREQUENCY, 2)
    assert frame["belief"].isna().all()
    assert set(frame["belief_problem"]) == {"one order of the options was not read"}


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Yes", True),
        (" yes.", True),
        ("**No**", False),
        ("No, they do not", False),
        ("Yes or No", None),
        ("Not sure", None),
        ("Nobody knows", None),
        ("I would say yes", None),
        ("", None),
    ],
)
def test_one_word(text: str, read: bool | None) -> None:
    assert one_word(text) is read


# --- after reasoning ----------------------------------------------------------------------------------------------


def test_the_probability_after_reasoning_is_the_last_one(home: Path, server: FakeServer) -> None:
    thought = 'About 12 % of such patients have it.\nSome say {"No": 0.9, "Yes": 0.1}. But PASP is high.\n'
    server.answer = lambda body, before, choice: thought + json.dumps({"No": 0.3, "Yes": 0.7})
    assert collect(REASONED, repetitions=2) == 0
    frame = load(REASONED, 2)
    assert len(frame) == 12
    assert frame["belief"].to_numpy() == pytest.approx(0.7)
    assert frame["belief_problem"].isna().all()


def test_a_thought_that_was_cut_off_gives_no_belief_from_its_middle() -> None:
    text = 'Suppose it were {"No": 0.9, "Yes": 0.1}, then'
    assert reasoned_probability("Thinking about the 40 causes", truncated=True).values is None
    assert reasoned_probability(text + ' no: {"No": 0.2, "Yes": 0.8}').values == {"No": 0.2, "Yes": 0.8}


def test_what_was_not_asked_gives_no_row(home: Path) -> None:
    for way in ELICITATIONS:
        assert load(way).empty

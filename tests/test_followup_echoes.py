"""Answers that repeat a benchmark's question are kept without its text, and come back to the letter."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.asking.lines import is_sealed, read_lines
from belief_utils.asking.store import Store
from belief_utils.followup.echoes import SHORTEST, hidden, hide_echoes, restored, source
from belief_utils.followup.items import Item

LONG = "A gardener has 17 roses and buys 25 more at the market. How many roses does the gardener have by the evening?"
BENCHMARK = Item("gsm8k", "7", LONG, "42", "number", public=False)
OPTIONS = Item("mmlu", "x/1", "Which of these is a prime number?", "B", "option", ("nine", "eleven"), public=False)
OWN = Item("own_arithmetic", "001", LONG, "42", "number")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"{LONG} Answer: 42", f"⟦0:{len(LONG)}⟧ Answer: 42"),
        (f"You ask: {LONG}\n{LONG}", f"You ask: ⟦0:{len(LONG)}⟧\n⟦0:{len(LONG)}⟧"),
        ("The gardener has 42 roses.\nAnswer: 42", "The gardener has 42 roses.\nAnswer: 42"),
        ("", ""),
    ],
)
def test_what_is_repeated_becomes_a_place(text: str, kept: str) -> None:
    assert hidden(BENCHMARK, text) == kept
    assert restored(BENCHMARK, kept) == text


def test_a_short_question_is_hidden_too_and_its_options_with_it() -> None:
    text = f"{source(OPTIONS)}\nAnswer: (B)"
    assert hidden(OPTIONS, text) == f"⟦0:{len(source(OPTIONS))}⟧\nAnswer: (B)"
    assert "prime" not in hidden(OPTIONS, "Which of these is a prime number? eleven")


def test_our_own_items_are_left_as_they_are() -> None:
    assert hidden(OWN, LONG) == LONG
    assert restored(OWN, "⟦0:5⟧") == "⟦0:5⟧"


pieces = st.one_of(st.text(max_size=30), st.integers(0, len(LONG)).map(lambda start: LONG[start : start + 60]))


@given(st.lists(pieces, max_size=6).map("".join))
def test_every_answer_comes_back_to_the_letter(text: str) -> None:
    kept = hidden(BENCHMARK, text)
    assert restored(BENCHMARK, kept) == text or "⟦" in text
    if "⟦" not in text:
        assert not any(LONG[start : start + SHORTEST] in kept for start in range(len(LONG) - SHORTEST + 1))
    assert hidden(BENCHMARK, kept) == kept


def test_a_store_is_rewritten_under_the_same_keys_and_with_right_hashes(tmp_path: Path) -> None:
    with Store(tmp_path / "s.jsonl").writing() as store:
        for number, text in enumerate([f"{LONG} Answer: 42", "Answer: 41"]):
            store.append({"key": f"k{number}", "item": f"gsm8k/7/initial{number}", "repetition": 0, "text": text})
        store.append({"key": "k2", "item": "gsm8k/7/initial2", "repetition": 0, "failure": "status 500"})
    store = Store(tmp_path / "s.jsonl")
    store.pack()
    assert hide_echoes(store, {"gsm8k/7": BENCHMARK}) == 1
    assert store.get("k0").text == f"⟦0:{len(LONG)}⟧ Answer: 42"
    assert store.get("k1").text == "Answer: 41"
    assert all(is_sealed(record) is not False for _, record in read_lines(tmp_path / "s.jsonl.gz"))
    assert b"gardener" not in b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".gz")
    assert hide_echoes(Store(tmp_path / "s.jsonl"), {"gsm8k/7": BENCHMARK}) == 0

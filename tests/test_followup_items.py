"""What is asked: orders that never change, items of our own that are the same everywhere, answers that are right."""

import hashlib
import re
import shutil
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.errors import BeliefError
from belief_utils.followup.expressions import numbers_on_the_way
from belief_utils.followup.items import ITEM_SETS, Item, is_available, load_items, plain_number, seeded
from belief_utils.followup.mitigation import SHOTS, load_demonstrations
from tests import followup_home

OWN = [name for name, each in ITEM_SETS.items() if each.own]

#: Over all items of our own in their order. A change here orphans the answers that are stored.
GOLDEN = "303f4d604ff9bc86df25569c2d27fb90c0da1008e5595279f453c4e059422aa0"

#: What each word problem asks for, read and reckoned anew: its numbers, the number on the way and the answer.
STORIES: dict[str, Callable[[int, int, int], tuple[int | None, int]]] = {
    "stamps": lambda a, b, c: (None, a + b),
    "library": lambda a, b, c: (None, a - b),
    "tulips": lambda a, b, c: (None, a * b),
    "juice": lambda a, b, c: (None, a // b),
    "pretzels": lambda a, b, c: (a + b, a + b - c),
    "bus": lambda a, b, c: (a - b, a - b + c),
    "pencils": lambda a, b, c: (a * b, a * b + c),
    "chairs": lambda a, b, c: (a - b, (a - b) // c),
    "children": lambda a, b, c: (a + b, (a + b) // c),
    "euros": lambda a, b, c: (a * b, a * b - c),
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = followup_home.make(tmp_path / "repository")
    monkeypatch.setenv("BELIEF_HOME", str(top))
    return top


def fields(item: Item) -> tuple:
    return item.set, item.id, item.question, item.answer, item.kind, item.options, item.intermediates, item.public


def test_our_own_items_and_their_order_are_the_same_on_every_machine() -> None:
    everything = [fields(item) for name in OWN for item in load_items(name)]
    assert hashlib.sha256(repr(everything).encode()).hexdigest() == GOLDEN


@pytest.mark.parametrize("name", OWN)
def test_an_own_set_has_a_hundred_different_questions_that_the_store_may_hold(name: str) -> None:
    items = load_items(name)
    assert len(items) == 100
    assert {item.set for item in items} == {name}
    assert {item.kind for item in items} == {ITEM_SETS[name].kind}
    assert len({item.id for item in items}) == 100
    # A few draws may meet the same two names or numbers.
    assert len({item.question for item in items}) >= 99
    assert all(item.public for item in items)
    assert is_available(name)


@pytest.mark.parametrize("name", OWN)
def test_the_order_is_shuffled_and_a_limit_cuts_it(name: str) -> None:
    items = load_items(name)
    assert load_items(name, 7) == items[:7]
    assert load_items(name, 1000) == items
    ids = [item.id for item in items]
    assert ids != sorted(ids)
    # The first forty come from all over the set.
    assert 12 <= sum(place in ids[:40] for place in sorted(ids)[:50]) <= 28


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_told(limit: int) -> None:
    with pytest.raises(BeliefError, match=f"^the limit is {limit}: ask for 1 item or more$"):
        load_items("facts_tf", limit)


def test_an_unknown_set_is_told_in_one_line_with_the_nearest() -> None:
    with pytest.raises(BeliefError, match=r"unknown item set 'gsm8': did you mean 'gsm8k'\? known are gsm8k, ") as told:
        load_items("gsm8")
    assert "\n" not in str(told.value)


def test_word_problems_reckoned_anew_have_the_answers_given() -> None:
    met = Counter()
    for item in load_items("own_arithmetic"):
        (story,) = [word for word in STORIES if re.search(rf"\b{word}\b", item.question)]
        a, b, *c = map(int, re.findall(r"\d+", item.question))
        on_the_way, answer = STORIES[story](a, b, *c or [0])
        assert item.answer == str(answer), item.question
        assert answer > 0
        assert item.intermediates == (() if on_the_way is None else (str(on_the_way),)), item.question
        if story in ("juice", "chairs", "children"):
            divided = a if on_the_way is None else on_the_way
            assert divided % (c[0] if c else b) == 0, item.question
        met[story] += 1
    assert met == dict.fromkeys(STORIES, 10)


def test_coin_flips_come_out_as_stated_and_half_of_them_heads_up() -> None:
    answers: dict[int, Counter] = {}
    for item in load_items("own_coin_flip"):
        flips = item.question.count(" flips the coin.")
        people = flips + item.question.count(" does not flip the coin.")
        assert item.answer == ("no" if flips % 2 else "yes")
        assert len(set(re.findall(r"(\w+) (?:flips|does not flip)", item.question))) == people
        answers.setdefault(people, Counter())[item.answer] += 1
    assert set(answers) == {2, 3, 4}
    assert all(abs(counts["yes"] - counts["no"]) <= 1 for counts in answers.values())
    # Neither does the number of flips give the answer away: no and yes both come with none to four.
    assert sum(counts["yes"] for counts in answers.values()) in (49, 50, 51)


def test_last_letters_are_those_of_two_different_names() -> None:
    for item in load_items("own_last_letters"):
        first, second = re.search(r'"(\w+) (\w+)"', item.question).groups()
        assert first != second
        assert item.answer == (first[-1] + second[-1]).lower()


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("8,000", "8000"),
        (29.0, "29"),
        (" 0.50 ", "0.5"),
        ("-3.0", "-3"),
        ("-0", "0"),
        ("-0.0000001", "0"),
        ("1e3", "1000"),
        (".25", "0.25"),
        (7, "7"),
        ("0.3333333333", "0.333333"),
    ],
)
def test_numbers_in_canonical_form(value: object, plain: str) -> None:
    assert plain_number(value) == plain


@pytest.mark.parametrize("value", ["", "five", "nan", "inf", "-inf", "1" * 23, "1e999999", None])
def test_what_is_no_number_of_ordinary_size_is_told(value: object) -> None:
    with pytest.raises(BeliefError, match="is not a number"):
        plain_number(value)


@given(st.decimals(-(10**12), 10**12, places=6))
def test_the_canonical_form_keeps_the_value_and_is_its_own(value: Decimal) -> None:
    plain = plain_number(value)
    assert Decimal(plain) == value
    assert plain_number(plain) == plain
    assert re.fullmatch(r"-?(0|[1-9]\d*)(\.\d*[1-9])?", plain)


def test_draws_depend_on_nothing_but_the_names() -> None:
    draws = [tuple(seeded(*names).integers(1000, size=4)) for names in (("a", "b"), ("a", "b"), ("a", "c"), ("b", "a"))]
    assert draws[0] == draws[1] == (865, 107, 136, 499)
    assert len(set(draws)) == 3


# --- expressions ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "met"),
    [
        ("((32.0+42.0)-35.0)", ["74", "39"]),
        ("( 76.0 - 25.0 )", ["51"]),
        ("1/3*3", ["0.333333", "1"]),
        ("-(2.5*4)+1", ["10", "-9"]),
        ("7", []),
    ],
)
def test_numbers_met_on_the_way(expression: str, met: list[str]) -> None:
    assert numbers_on_the_way(expression) == met


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("1/(2-2)", "divides by zero"),
        ("2**9", "more than arithmetic"),
        ("__import__('os')", "more than arithmetic"),
        ("True+1", "more than arithmetic"),
        ("(1+", "is not arithmetic"),
        ("", "is not arithmetic"),
        ("1\0", "is not arithmetic"),
        ("1e999+1", "is not arithmetic"),
        ("9e200*9e200", "is not arithmetic"),
        ("1e30+1", "not a number of ordinary size"),
    ],
)
def test_whatever_is_not_arithmetic_is_told(expression: str, said: str) -> None:
    with pytest.raises(BeliefError, match=said):
        numbers_on_the_way(expression)


# --- files that are missing or damaged ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "set_name", "old", "new", "said"),
    [
        ("facts_tf.csv", "facts_tf", "id,", "name,", "item 1 lacks a cell or has too many"),
        ("facts_tf.csv", "facts_tf", "tf-002,", "tf-002,surplus,", "item 2 lacks a cell or has too many"),
        ("facts_tf.csv", "facts_tf", ",true,", ",True,", "has the answer 'True'"),
        ("facts_tf.csv", "facts_tf", "tf-001,", '"tf-001"x,', "damaged"),
        ("facts_mc.csv", "facts_mc", ",option_d", "", "lacks a cell or has too many"),
        ("names.txt", "own_coin_flip", None, "Ada Bo Cy", "fewer than 4 names"),
        ("names.txt", "own_last_letters", None, "", "fewer than 4 names"),
        ("names.txt", "own_arithmetic", None, b"\xff\xfe", "damaged"),
        ("facts_tf.csv", "facts_tf", None, b"\xff\xfe", "damaged"),
        ("facts_tf.csv", "facts_tf", None, "", "no rows"),
    ],
)
def test_a_damaged_file_is_told_in_one_line(
    file: str, set_name: str, old: str | None, new: str | bytes, said: str, home: Path
) -> None:
    path = home / "data" / "items" / file
    if old is not None:
        before = path.read_text(encoding="utf-8")
        assert old in before
        new = before.replace(old, new, 1)
    path.write_bytes(new if isinstance(new, bytes) else new.encode())
    with pytest.raises(BeliefError, match=re.escape(said)) as told:
        load_items(set_name)
    assert str(told.value).startswith(f"{path} is damaged (")
    assert "\n" not in str(told.value)


def test_a_missing_file_is_told(home: Path) -> None:
    shutil.rmtree(home / "data" / "items")
    for name in OWN:
        with pytest.raises(BeliefError, match="is missing; restore it from the repository"):
            load_items(name)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        ("truth = [", "is damaged"),
        ("", "is damaged (KeyError: 'truth')"),
        ("truth = 5", "is damaged (TypeError"),
        ('truth = ["x"]', "is damaged (TypeError"),
        ('[[truth]]\nquestion = "Is it?"', "is damaged (TypeError"),
        ("truth = []", f"has 0 demonstrations of the kind 'truth' instead of {SHOTS}"),
    ],
)
def test_demonstrations_that_are_not_there_are_told(content: str | None, said: str, home: Path) -> None:
    path = home / "data" / "items" / "demonstrations.toml"
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(BeliefError, match=re.escape(said)) as told:
        load_demonstrations("truth")
    assert "\n" not in str(told.value)

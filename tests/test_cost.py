"""The estimate before anything is sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.asking.cost import CHARACTERS_PER_TOKEN, estimate
from belief_utils.asking.models import Model

PRICED = Model("m", "M", "hosted", "m-1", base_url="x", price_in=2.0, price_out=10.0, answer_tokens=50)
FREE = Model("f", "F", "local", "f-1")


def message(characters: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": "x" * characters}]


def test_a_prompt_is_billed_once_a_request_and_an_answer_once_each() -> None:
    found = estimate(PRICED, [(message(400), 5), (message(400), 1)], cached=3)
    assert (found.requests, found.answers, found.cached) == (2, 6, 3)
    assert found.tokens_in == 800 // CHARACTERS_PER_TOKEN
    assert found.tokens_out == 6 * 50
    assert found.dollars == pytest.approx((200 * 2.0 + 300 * 10.0) / 1e6)


def test_every_message_of_a_conversation_counts() -> None:
    conversation = [*message(100), {"role": "assistant", "content": "y" * 60}]
    assert estimate(PRICED, [(conversation, 1)], 0).tokens_in == 40


def test_text_says_what_is_sent_and_what_it_costs() -> None:
    text = str(estimate(PRICED, [(message(4_000_000), 1)] * 2, cached=1234))
    assert text == (
        "2 requests for 2 answers (1,234 more are in the store), about 2,000,000 tokens in and 100 out, about $4.00"
    )
    assert "no cost" in str(estimate(FREE, [(message(40), 1)], 0))


def test_nothing_to_ask_costs_nothing() -> None:
    found = estimate(PRICED, [], cached=7)
    assert (found.requests, found.answers, found.tokens_in, found.tokens_out, found.dollars) == (0, 0, 0, 0, 0)
    assert "no cost" in str(found)


@given(st.lists(st.tuples(st.integers(1, 2000), st.integers(1, 9)), max_size=20))
def test_the_estimate_grows_with_what_is_asked(batches: list[tuple[int, int]]) -> None:
    asked = [(message(size), wanted) for size, wanted in batches]
    less = estimate(PRICED, asked, 0)
    more = estimate(PRICED, [*asked, (message(100), 1)], 0)
    assert more.requests == less.requests + 1
    assert more.dollars > less.dollars
    assert less.answers == sum(wanted for _, wanted in batches)

"""Limits of number, pace and money: what a run may send, and when it stops."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.asking.ask import Answer, Batch, Question, RequestFailed, collect, openai_answerer
from belief_utils.asking.cost import Bill, Budget, price, worst_price
from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.models import Model
from belief_utils.asking.pace import Pace
from belief_utils.asking.questions import what_is_sent
from belief_utils.asking.run import MAX_COST
from belief_utils.asking.store import Store
from belief_utils.errors import BeliefError
from tests.fake_server import FakeServer

FORM = AnswerFormat.probabilities(("No", "Yes"))
MODEL = Model(
    "m", "M", "hosted", "m-1", base_url="x", parameters={"max_tokens": 100}, price_in=1.0, price_out=10.0, concurrency=8
)


def questions(count: int) -> list[Question]:
    return [
        Question(f"h/{n}/belief", ({"role": "user", "content": f"How likely is {n}?"},), FORM) for n in range(count)
    ]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "heart.jsonl")


# --- pace ---------------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.floats(0, 3), st.integers(0, 500)), max_size=60), st.integers(1, 600), st.integers(0, 9000)
)
def test_over_any_time_no_more_is_sent_than_a_minute_allows(
    requests: list[tuple[float, int]], rpm: int, tpm: int
) -> None:
    pace, now, sent = Pace(rpm, tpm), 0.0, []
    for later, tokens in requests:
        now += later
        sent.append((now + pace.take(now, tokens), tokens))
    starts = [start for start, _ in sent]
    assert starts == sorted(starts)
    for first in range(len(sent)):
        for last in range(first + 1, len(sent)):
            minutes = (starts[last] - starts[first]) / 60
            assert last - first <= rpm * minutes + 1e-6
            if tpm:
                assert sum(tokens for _, tokens in sent[first:last]) <= tpm * minutes + 1e-6


def test_without_limits_nothing_waits() -> None:
    pace = Pace(0, 0)
    assert [pace.take(1.0, 10**9) for _ in range(5)] == [0.0] * 5


def test_tokens_that_were_counted_take_the_place_of_those_expected() -> None:
    pace = Pace(0, 60)
    pace.take(0.0, 10)
    pace.correct(10, 4)
    assert pace.take(0.0, 1) == pytest.approx(4.0)


def test_requests_per_minute_hold_in_a_run(server: FakeServer, store: Store) -> None:
    model = replace(MODEL, base_url=server.url, rpm=1200)
    assert collect(model, questions(12), 1, store, openai_answerer(model), progress=False).asked == 12
    times = sorted(seen.time for seen in server.requests)
    # Eleven twentieths of a second, less what the first one took to connect.
    assert times[-1] - times[0] >= 0.3


def test_tokens_per_minute_hold_in_a_run(server: FakeServer, store: Store) -> None:
    # About 34 tokens a request: four of them in the 0.2 s that 136 tokens take at 40,800 a minute.
    model = replace(MODEL, base_url=server.url, tpm=40_800)
    assert collect(model, questions(8), 1, store, openai_answerer(model), progress=False).asked == 8
    times = sorted(seen.time for seen in server.requests)
    assert times[-1] - times[0] >= 0.07


# --- money --------------------------------------------------------------------------------------------------------


def costly(cost: float, under_way: list[int] | None = None):
    """An answerer whose requests cost so many dollars each, all of it for tokens out."""
    count = [0]

    async def answer(batch: Batch) -> Sequence[Answer]:
        count[0] += 1
        if under_way is not None:
            under_way.append(count[0])
        await asyncio.sleep(0.001)
        count[0] -= 1
        return [Answer("{}", usage={"prompt_tokens": 0, "completion_tokens": round(cost / MODEL.price_out * 1e6)})]

    return answer


def batch_of(question: Question, model: Model = MODEL, repetitions: int = 1) -> Batch:
    return Batch(question, what_is_sent(model, question), tuple(range(repetitions)))


def test_the_worst_case_bounds_tokens_by_bytes_and_by_the_limit_that_is_sent() -> None:
    worst = worst_price(MODEL, batch_of(questions(1)[0], repetitions=5))
    # Five answers of a hundred tokens, and what is sent: more than its text, less than a kilobyte.
    assert 500 * 10 / 1e6 + 18 / 1e6 < worst < 500 * 10 / 1e6 + 1000 / 1e6
    wide = Question("x", ({"role": "user", "content": "心" * 100},), FORM)
    assert worst_price(MODEL, batch_of(wide)) > price(MODEL, 300, 100)


def test_without_a_limit_on_answers_the_worst_case_cannot_be_told(store: Store) -> None:
    endless = replace(MODEL, parameters={})
    said = r"^--max-cost needs to know how long an answer of M may get: set max_tokens or max_completion_tokens in "
    with pytest.raises(BeliefError, match=said):
        collect(endless, questions(1), 1, store, costly(0.0), progress=False, max_cost=1.0)
    # Where answers cost nothing there is nothing to bound.
    free = replace(endless, price_in=0.0, price_out=0.0)
    assert collect(free, questions(1), 1, store, costly(0.0), progress=False, max_cost=1.0).asked == 1


def test_a_run_stops_before_the_money_is_passed_and_the_next_one_goes_on(store: Store) -> None:
    done = collect(MODEL, questions(100), 1, store, costly(0.001), progress=False, max_cost=0.02)
    assert done.stopped == MAX_COST
    # Each one may cost 0.0012 at worst, and does cost 0.001.
    assert 0.0185 < done.dollars <= 0.02
    assert (done.asked, done.missing) == (len(store), 100 - done.asked)
    more = collect(MODEL, questions(100), 1, store, costly(0.001), progress=False, max_cost=1.0)
    assert (more.stopped, more.missing, more.cached) == ("", 0, done.asked)
    assert more.dollars == pytest.approx(0.1 - done.dollars)


def test_nothing_is_sent_that_could_pass_the_limit_and_answers_that_are_there_cost_nothing(store: Store) -> None:
    done = collect(MODEL, questions(5), 1, store, costly(0.0), progress=False, max_cost=0.001)
    assert (done.asked, done.missing, done.stopped) == (0, 5, MAX_COST)
    assert collect(MODEL, questions(5), 1, store, costly(0.00001), progress=False, max_cost=0.002).missing == 0
    done = collect(MODEL, questions(5), 1, store, costly(0.0), progress=False, max_cost=0.0)
    assert (done.cached, done.missing, done.dollars, done.stopped) == (5, 0, 0.0, "")


def test_requests_under_way_are_counted_at_their_worst(store: Store) -> None:
    under_way: list[int] = []
    collect(MODEL, questions(60), 1, store, costly(0.00001, under_way), progress=False, max_cost=0.0045)
    # Three times 0.0012 and no more fit at once, although eight may be under way; in the end all are asked.
    assert (max(under_way), len(store)) == (3, 60)


def test_what_may_be_on_the_bill_counts_although_it_brought_nothing(store: Store) -> None:
    async def lost(batch: Batch) -> Sequence[Answer]:
        raise RequestFailed("no answer within 1 s", passing=True, lost=2)

    one_at_a_time = replace(MODEL, concurrency=1)
    done = collect(one_at_a_time, questions(50), 1, store, lost, progress=False, max_cost=0.01)
    # Three times two lost attempts of 0.0012 and more; a fourth could pass a cent.
    assert (done.failed, done.stopped, done.missing) == (4, MAX_COST, 50)


def test_an_answer_without_a_count_is_taken_at_its_worst(store: Store) -> None:
    async def uncounted(batch: Batch) -> Sequence[Answer]:
        return [Answer("{}")]

    done = collect(MODEL, questions(50), 1, store, uncounted, progress=False, max_cost=0.01)
    assert (done.stopped, done.dollars, done.uncounted) == (MAX_COST, 0.0, done.asked)
    assert 6 <= done.asked <= 9


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 1)), max_size=40), st.floats(0, 10))
def test_a_budget_is_never_passed_whatever_settles_when(requests: list[tuple[float, float]], limit: float) -> None:
    budget, under_way = Budget(limit), []
    for worst, share in requests:
        if budget.hold(worst):
            under_way.append((worst, worst * share))
        elif under_way:
            budget.settle(*under_way.pop(0))
        assert budget.spent <= limit + 1e-9
    for held in under_way:
        budget.settle(*held)
    assert budget.spent <= limit + 1e-9
    assert budget.held == pytest.approx(0, abs=1e-9)


def test_a_bill_says_what_is_in_it() -> None:
    said = str(Bill("M on heart", 30, 12, 1234, 300, 0.004234, 2))
    assert said == (
        "bill of M on heart: $0.0042 for 30 answers (1,234 tokens in, 300 out); 12 from the store at no cost; "
        "2 requests came without a token count and are not in it"
    )
    assert re.search(r": no cost for", str(Bill("M on heart", 0, 12, 0, 0, 0.0)))

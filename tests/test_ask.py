"""Asking for what the store lacks, over real HTTP: what is sent, what is kept and what a user is told."""

import asyncio
import json
import logging
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from belief_utils.asking.ask import (
    FAILURES_IN_A_ROW,
    Answer,
    Batch,
    Collected,
    Question,
    RequestFailed,
    collect,
    dry_run,
    keys,
    openai_answerer,
    what_is_sent,
)
from belief_utils.asking.endpoint import RETRIES
from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.models import Model
from belief_utils.asking.store import Response, Store, request_key
from belief_utils.errors import BeliefError
from tests.conftest import KEY
from tests.fake_server import FakeServer, asked_for

BELIEF = AnswerFormat.probabilities(("No", "Yes"))


def question(number: int, text: str | None = None) -> Question:
    words = text or f"How likely is it in case {number}? {BELIEF.instruction()}"
    return Question(f"heart/{number}/belief", ({"role": "user", "content": words},), BELIEF)


def questions(count: int) -> list[Question]:
    return [question(number) for number in range(count)]


@pytest.fixture
def model(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Model:
    monkeypatch.setenv("FAKE_KEY", KEY)
    return Model("fake", "Fake", "hosted", "fake-1", base_url=server.url, api_key_env="FAKE_KEY", timeout=20.0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "responses" / "heart.jsonl")


@pytest.fixture
def one_retry(monkeypatch: pytest.MonkeyPatch) -> None:
    """For requests that fail to the end: the SDK's waits between four retries add up to seven seconds."""
    monkeypatch.setattr("belief_utils.asking.endpoint.RETRIES", 1)


def ask(model: Model, asked: Sequence[Question], store: Store, repetitions: int = 1) -> Collected:
    return collect(model, asked, repetitions, store, openai_answerer(model), progress=False)


def on_disk(store: Store) -> Store:
    return Store(store.path)


def stored(model: Model, asked: Question, store: Store, repetition: int = 0) -> Response | None:
    return on_disk(store).get(keys(model, asked, repetition + 1)[repetition])


def failure(model: Model, asked: Question, store: Store) -> Response | None:
    return on_disk(store).failure(keys(model, asked, 1)[0])


# --- what is sent, and what is kept -------------------------------------------------------------------------------


def test_every_repetition_of_every_question_is_asked_once_and_kept(server: FakeServer, model: Model, store: Store):
    done = ask(replace(model, concurrency=4), questions(6), store, repetitions=2)
    assert (done.asked, done.cached, done.failed, done.missing, done.stopped) == (12, 0, 0, 0, "")
    assert asked_for(server.requests) == {one.messages[0]["content"]: 2 for one in questions(6)}
    for one in questions(6):
        texts = {stored(model, one, store, repetition).text for repetition in range(2)}
        assert len(texts) == 2
        assert all(set(json.loads(text)) == {"No", "Yes"} for text in texts)
    assert done.tokens_in == sum(one.usage["prompt_tokens"] for one in on_disk(store).answers()) > 0


def test_what_the_server_tells_of_itself_is_kept_with_the_request(server: FakeServer, model: Model, store: Store):
    ask(model, [question(1)], store)
    ((_, record),) = on_disk(store).lines()
    assert record["model"] == "fake-1-2026-01-01"
    assert record["fingerprint"] == "fp_fake"
    assert record["finish_reason"] == "stop"
    assert record["request"] == server.requests[0].body
    assert record["item"] == "heart/1/belief"
    assert set(record["usage"]) == {"prompt_tokens", "completion_tokens"}


def test_a_warm_store_answers_without_key_or_server(
    server: FakeServer, model: Model, store: Store, monkeypatch: pytest.MonkeyPatch
):
    ask(model, questions(3), store)
    server.stop()
    monkeypatch.delenv("FAKE_KEY")
    before = store.path.read_bytes()

    async def nobody(batch: Batch) -> list[Answer]:
        raise AssertionError("nothing is to be asked")

    done = collect(model, questions(3), 1, Store(store.path), nobody, progress=False)
    assert (done.asked, done.cached, done.missing) == (0, 3, 0)
    assert store.path.read_bytes() == before


@pytest.mark.parametrize("how", ["grammar", "json_schema", "json_object", "text"])
def test_a_model_is_sent_exactly_what_its_table_says(server: FakeServer, model: Model, store: Store, how: str):
    model = replace(
        model,
        parameters={"max_completion_tokens": 9, "of_no_sdk": [1]},
        extra_body={"top_k": 0, "min_p": 0.0},
        answer_format=how,
    )
    ask(model, [question(1)], store)
    body = server.requests[0].body
    assert body == {
        "model": "fake-1",
        "messages": [{"role": "user", "content": question(1).messages[0]["content"]}],
        "max_completion_tokens": 9,
        "of_no_sdk": [1],
        "top_k": 0,
        "min_p": 0.0,
        **BELIEF.parameters(how),
    }
    assert body == what_is_sent(model, question(1))


def test_a_conversation_is_sent_as_it_stands(server: FakeServer, model: Model, store: Store):
    messages = (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Is it?"},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "Are you sure?"},
    )
    ask(model, [Question("x", messages, BELIEF)], store)
    assert server.requests[0].body["messages"] == list(messages)


def test_text_that_is_not_ours_stays_out_of_the_store(server: FakeServer, model: Model, store: Store):
    secret = replace(question(1, "a benchmark's own words"), public=False)
    ask(model, [secret], store)
    assert "benchmark" in server.requests[0].prompt
    assert "benchmark" not in store.path.read_text(encoding="utf-8")
    assert stored(model, secret, store).text == "yes"


def test_repetitions_are_asked_for_together_where_the_table_allows(server: FakeServer, model: Model, store: Store):
    model = replace(model, ask_together=True)
    done = ask(model, questions(2), store, repetitions=5)
    assert [seen.body["n"] for seen in server.requests] == [5, 5]
    assert (done.asked, done.missing) == (10, 0)
    usage = [stored(model, question(0), store, repetition).usage for repetition in range(5)]
    assert usage[0]["prompt_tokens"] > 0
    assert usage[1:] == [None] * 4
    # Two repetitions more: only what lacks is asked for, and one alone without n.
    ask(model, questions(2), store, repetitions=7)
    assert [seen.wanted for seen in server.requests] == [5, 5, 2, 2]
    ask(model, questions(2), store, repetitions=8)
    assert "n" not in server.requests[-1].body


def test_two_questions_that_send_the_same_are_asked_once(server: FakeServer, model: Model, store: Store):
    twice = [question(1), replace(question(1), item="heart/9/belief")]
    assert dry_run(model, twice, 2, store).answers == 2
    done = ask(model, twice, store, repetitions=2)
    assert (done.asked, done.missing, len(server.requests)) == (2, 0, 2)


def test_a_dry_run_says_what_a_run_then_sends(server: FakeServer, model: Model, store: Store):
    model = replace(model, ask_together=True, price_in=1.0, price_out=10.0)
    ask(model, questions(1), store, repetitions=3)
    expected = dry_run(model, questions(4), 5, store)
    assert (expected.requests, expected.answers, expected.cached) == (4, 17, 3)
    assert expected.dollars > 0
    assert len(server.requests) == 1
    done = ask(model, questions(4), store, repetitions=5)
    assert (done.asked, len(server.requests)) == (17, 5)


def test_an_answerer_can_be_used_again_and_closes_its_connections(server: FakeServer, model: Model, store: Store):
    answerer = openai_answerer(model)
    for count in (1, 2, 3):
        assert collect(model, questions(count), 1, store, answerer, progress=False).asked == 1
    assert len(server.requests) == 3
    asyncio.run(answerer.close())


def test_a_proxy_of_the_environment_does_not_stand_before_a_server_on_this_machine(
    server: FakeServer, model: Model, store: Store, monkeypatch: pytest.MonkeyPatch
):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert ask(model, [question(1)], store).asked == 1


# --- concurrency --------------------------------------------------------------------------------------------------


def test_no_more_requests_are_under_way_than_the_table_allows(server: FakeServer, model: Model, store: Store):
    under_way, most, lock = 0, 0, threading.Lock()

    def count(body: Any, before: int, choice: int) -> str:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        server.stopping.wait(0.02)
        with lock:
            under_way -= 1
        return "{}"

    server.answer = count
    assert ask(replace(model, concurrency=3), questions(12), store).asked == 12
    assert most == 3


def test_many_questions_do_not_make_many_tasks(model: Model, store: Store):
    most = 0

    async def answerer(batch: Batch) -> list[Answer]:
        nonlocal most
        most = max(most, len(asyncio.all_tasks()))
        await asyncio.sleep(0)
        return [Answer("{}")]

    done = collect(replace(model, concurrency=5), questions(500), 1, store, answerer, progress=False)
    assert done.asked == 500
    assert most <= 5 + 1


# --- faults that pass ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", ["429 at once", "500", "503", "429", "reset", "slow"])
def test_a_fault_that_passes_is_not_noticed(server: FakeServer, model: Model, store: Store, fault: str):
    server.script.append(fault)
    done = ask(replace(model, timeout=0.3), [question(1)], store)
    assert (done.asked, done.failed, done.missing, done.problems) == (1, 0, 0, {})
    assert server.faults == [fault, "ok"]
    assert on_disk(store).failures == 0
    assert server.requests[0].body == server.requests[1].body


def test_the_servers_retry_after_is_waited_for(server: FakeServer, model: Model, store: Store):
    server.script.append("429 in a second")
    assert ask(model, [question(1)], store).asked == 1
    first, second = server.requests
    # Left to itself the SDK waits at most half a second before the first retry.
    assert second.time - first.time >= 0.99


def test_four_retries_are_all_that_is_tried(server: FakeServer, model: Model, store: Store):
    server.always = "500"
    assert ask(model, [question(1)], store).failed == 1
    assert server.faults == ["500"] * 5


# --- faults that stay ---------------------------------------------------------------------------------------------

STAYING = [
    ("429 at once", 2, "status 429: Rate limit reached"),
    ("429 in an hour", 1, "status 429: You exceeded your quota (asks to come back in 3,600 s)"),
    ("500", 2, "status 500: The server had an error"),
    ("503", 2, "status 503: <html>Service Unavailable</html>"),
    ("slow", 2, "no answer within 0.2 s"),
    ("reset", 2, "the connection to {url} broke before the answer was complete"),
    ("no choices", 1, "the server's reply held no choices"),
    ("malformed", 1, "the server's reply is not JSON"),
    ("other shape", 1, "the server's reply is not a chat completion"),
    ("500 without a word", 2, "status 500"),
    ("web page", 1, "the server's reply is not JSON"),
    ("bomb", 1, "the server's reply is larger than 16 MB and was cut off"),
    ("huge", 1, "the server's reply is larger than 16 MB and was cut off"),
    ("prompt filtered", 1, "status 400: The prompt was filtered"),
]


@pytest.mark.usefixtures("one_retry")
@pytest.mark.parametrize(("fault", "attempts", "said"), STAYING, ids=[fault for fault, *_ in STAYING])
def test_a_request_that_fails_is_kept_as_a_failure_and_asked_again(
    server: FakeServer, model: Model, store: Store, fault: str, attempts: int, said: str
):
    server.always = fault
    said = said.format(url=server.url)
    done = ask(replace(model, timeout=0.2 if fault == "slow" else 20.0), [question(1)], store)
    assert (done.asked, done.failed, done.missing) == (0, 1, 1)
    assert done.problems == {said: 1}
    assert server.faults == [fault] * attempts
    assert (len(on_disk(store)), failure(model, question(1), store).failure) == (0, said)
    server.always = "ok"
    done = ask(model, [question(1)], store)
    assert (done.asked, done.failed, done.missing, done.cached) == (1, 0, 0, 0)
    assert on_disk(store).failures == 0
    assert [set(record) & {"text", "failure"} for _, record in on_disk(store).lines()] == [{"failure"}, {"text"}]


def test_a_reply_that_never_ends_is_given_up(
    server: FakeServer, model: Model, store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("belief_utils.asking.endpoint.RETRIES", 0)
    server.always = "drip"
    # A byte every tenth of a second is never late, but the whole is.
    done = ask(replace(model, timeout=0.4), [question(1)], store)
    assert done.problems == {"no answer within 0.4 s": 1}


def test_of_a_huge_reply_only_a_part_is_taken(server: FakeServer, model: Model, store: Store):
    server.always = "huge"
    assert ask(model, [question(1)], store).failed == 1
    # What the limit lets in and what the system's buffers hold.
    assert server.huge_sent <= 40 * 2**20


def test_a_packed_reply_is_read(server: FakeServer, model: Model, store: Store):
    server.always = "gzip"
    assert ask(model, [question(1)], store).asked == 1
    assert set(json.loads(stored(model, question(1), store).text)) == {"No", "Yes"}


def test_a_reasoning_models_thoughts_are_kept_apart_from_its_answer(server: FakeServer, model: Model, store: Store):
    server.reasoning = "Perhaps 30 %, perhaps more."
    ask(model, [question(1)], store)
    found = stored(model, question(1), store)
    assert found.reasoning == "Perhaps 30 %, perhaps more."
    assert set(json.loads(found.text)) == {"No", "Yes"}


HOPELESS = [
    ("moved", "{url} has moved (status 307); set its new base_url"),
    ("401", "the key in FAKE_KEY was refused (401) by {url}"),
    ("404", "{url} does not know the model 'fake-1', or is not the address of an API (404)"),
    (
        "unsupported",
        "status 400: Unsupported parameter: 'max_tokens' is not supported with this model.; "
        "see [fake.parameters] in models.toml",
    ),
    ("422", "status 422: [{{'loc': ['body', 'top_k']}}]; see [fake.parameters] in models.toml"),
]


@pytest.mark.parametrize(("fault", "said"), HOPELESS, ids=[fault for fault, _ in HOPELESS])
def test_what_no_request_can_overcome_ends_the_run_at_once(
    server: FakeServer, model: Model, store: Store, fault: str, said: str
):
    server.always = fault
    with pytest.raises(BeliefError) as caught:
        ask(replace(model, concurrency=3), questions(50), store)
    assert str(caught.value) == said.format(url=server.url)
    assert len(server.requests) <= 3
    assert not store.path.exists()


@pytest.mark.usefixtures("one_retry")
def test_a_server_that_is_not_there_ends_the_run_at_once(model: Model, store: Store):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://user:password@127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(
            BeliefError, match=r"^nothing answers at http://127\.0\.0\.1:\d+/v1; is the server"
        ) as caught:
            ask(replace(model, base_url=address, concurrency=2), questions(50), store)
    assert "password" not in str(caught.value)
    assert not store.path.exists()


def test_a_key_that_is_refused_later_is_a_failure_like_others_until_there_are_many(
    server: FakeServer, model: Model, store: Store
):
    server.script.extend(["ok"] * 5)
    server.always = "401"
    with pytest.raises(BeliefError, match=f"^{FAILURES_IN_A_ROW} requests in a row failed") as caught:
        ask(model, questions(50), store)
    assert str(caught.value).endswith(
        "What was answered is stored, 45 answers are missing; run the same command again to go on"
    )
    assert (len(on_disk(store)), on_disk(store).failures) == (5, FAILURES_IN_A_ROW)
    assert len(server.requests) == 5 + FAILURES_IN_A_ROW
    server.always = "ok"
    done = ask(model, questions(50), store)
    assert (done.asked, done.cached, done.missing) == (45, 5, 0)


def test_a_server_that_is_out_of_reach_for_a_while_does_not_end_the_run(
    server: FakeServer, model: Model, store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("belief_utils.asking.endpoint.RETRIES", 0)
    monkeypatch.setattr("belief_utils.asking.run.HOLD_BACK", 0.01)
    server.script.extend(["503"] * 2 * FAILURES_IN_A_ROW)
    done = ask(model, questions(30), store)
    assert (done.asked, done.failed, done.missing) == (10, 20, 20)


def test_patience_with_a_server_that_is_out_of_reach_ends(
    server: FakeServer, model: Model, store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("belief_utils.asking.endpoint.RETRIES", 0)
    monkeypatch.setattr("belief_utils.asking.run.HOLD_BACK", 0.02)
    monkeypatch.setattr("belief_utils.asking.run.PATIENCE", 0.2)
    server.always = "503"
    with pytest.raises(BeliefError, match=r"^\d+ requests in a row failed, the last one with: status 503"):
        ask(model, questions(500), store)
    assert FAILURES_IN_A_ROW <= len(server.requests) < 40


def test_retries_last_for_most_of_a_minute(server: FakeServer, model: Model, store: Store):
    server.script.extend(["ok"] + ["500"] * RETRIES)
    done = ask(model, questions(2), store)
    assert (done.asked, done.failed, RETRIES >= 8) == (2, 0, True)
    assert server.faults == ["ok", *["500"] * RETRIES, "ok"]


def test_failures_between_answers_do_not_end_the_run(server: FakeServer, model: Model, store: Store):
    server.script.extend((["no choices"] * (FAILURES_IN_A_ROW - 1) + ["ok"]) * 3)
    done = ask(model, questions(3 * FAILURES_IN_A_ROW), store)
    assert (done.asked, done.failed, done.missing) == (3, 27, 27)
    assert done.problems == {"the server's reply held no choices": 27}


def test_with_many_kinds_of_faults_a_few_runs_bring_everything(server: FakeServer, model: Model, store: Store):
    kinds = ["429 at once", "500", "503", "no choices", "malformed", "web page", "other shape", "prompt filtered"]
    server.script.extend((kinds + ["ok"] * 4) * 8)
    model = replace(model, concurrency=4)
    runs = [ask(model, questions(60), store) for _ in range(4)]
    assert [run.asked + run.failed + run.cached for run in runs] == [60] * 4
    assert runs[0].failed > 0
    assert runs[-1].missing == 0
    answered = [record["key"] for _, record in on_disk(store).lines() if "text" in record]
    assert len(answered) == len(set(answered)) == 60


# --- answers that are odd -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "text", "finish"),
    [
        ("length", '{"No": 0.', "length"),
        ("content filter", "", "content_filter"),
        ("refusal", "I cannot give medical advice.", "stop"),
    ],
)
def test_an_odd_answer_is_an_answer_and_its_raw_text_is_kept(
    server: FakeServer, model: Model, store: Store, fault: str, text: str, finish: str
):
    server.always = fault
    done = ask(model, [question(1)], store)
    assert (done.asked, done.failed, done.missing) == (1, 0, 0)
    found = stored(model, question(1), store)
    assert (found.text, found.finish_reason, found.truncated) == (text, finish, finish == "length")


def test_a_server_that_counts_no_tokens_is_no_trouble(server: FakeServer, model: Model, store: Store):
    server.always = "no usage"
    done = ask(model, [question(1)], store)
    assert (done.asked, done.tokens_in, done.tokens_out) == (1, 0, 0)
    assert stored(model, question(1), store).usage is None


def test_a_server_that_ignores_n_is_asked_for_the_rest_in_the_same_run(server: FakeServer, model: Model, store: Store):
    model = replace(model, ask_together=True)
    server.always = "one choice"
    done = ask(model, [question(1)], store, repetitions=5)
    assert (done.asked, done.failed, done.missing) == (5, 0, 0)
    assert done.problems == {
        "fewer answers came than were asked for together, and the rest was asked for again; if that goes on, set "
        "ask_together = false for fake": 4
    }
    assert [seen.wanted for seen in server.requests] == [5, 4, 3, 2, 1]
    texts = [stored(model, question(1), store, repetition).text for repetition in range(5)]
    assert len(set(texts)) == 5


def test_the_rest_of_fewer_answers_may_fail(server: FakeServer, model: Model, store: Store):
    server.script.extend(["one choice", "no choices"])
    done = ask(replace(model, ask_together=True), [question(1)], store, repetitions=3)
    assert (done.asked, done.failed, done.missing) == (1, 2, 2)


def test_more_answers_than_asked_for_are_left(server: FakeServer, model: Model, store: Store):
    server.always = "two more"
    done = ask(replace(model, ask_together=True), [question(1)], store, repetitions=2)
    assert (done.asked, done.missing, len(on_disk(store))) == (2, 0, 2)


@pytest.mark.parametrize("said", ["\ud83d half a character", "a\x00b", "\u2028\x85\r\n", "½ ≥ 😀", " \n "])
def test_any_answer_is_kept_as_it_came(server: FakeServer, model: Model, store: Store, said: str):
    server.answer = lambda body, before, choice: said
    assert ask(model, [question(1)], store).asked == 1
    assert stored(model, question(1), store).text == said


def test_a_prompt_that_cannot_be_sent_is_a_failure(server: FakeServer, model: Model, store: Store):
    done = ask(model, [question(1, "half \ud83d a character"), question(2)], store)
    assert (done.asked, done.failed) == (1, 1)
    assert "which cannot be sent" in failure(model, question(1, "half \ud83d a character"), store).failure
    assert len(server.requests) == 1


# --- keys ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, "", "  \n"])
def test_a_missing_key_names_the_variable(model: Model, monkeypatch: pytest.MonkeyPatch, value: str | None):
    monkeypatch.delenv("FAKE_KEY") if value is None else monkeypatch.setenv("FAKE_KEY", value)
    with pytest.raises(BeliefError, match=r"^Fake needs a key: set the environment variable FAKE_KEY$"):
        openai_answerer(model)


def test_a_key_that_cannot_be_one_is_not_repeated(model: Model, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FAKE_KEY", f"{KEY}’")
    with pytest.raises(BeliefError, match="the key in FAKE_KEY holds characters that no key has") as caught:
        openai_answerer(model)
    assert KEY not in str(caught.value)


def test_the_line_end_of_a_key_file_does_not_matter(
    server: FakeServer, model: Model, store: Store, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FAKE_KEY", f"{KEY}\n")
    assert ask(model, [question(1)], store).asked == 1
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_key_is_nowhere_but_in_the_request(
    server: FakeServer, model: Model, store: Store, caplog: pytest.LogCaptureFixture
):
    said = []
    with caplog.at_level(logging.DEBUG):
        for fault in ("tells key", "401"):
            server.script.append(fault)
            with pytest.raises(BeliefError) as caught:
                ask(model, [question(1)], store)
            said.append(str(caught.value))
        server.script.extend(["ok", "tells key"])
        ask(model, questions(2), store)
    assert all(seen.headers["authorization"] == f"Bearer {KEY}" for seen in server.requests)
    kept = store.path.read_text(encoding="utf-8")
    assert "[key]" in kept
    assert KEY not in kept + caplog.text + "".join(said)
    # What a server says is data: no control characters, one line, not without end.
    assert said[0].startswith("status 400: [31mbad header Authorization: Bearer [key] and so on")
    assert len(said[0]) < 400


# --- stopping -----------------------------------------------------------------------------------------------------


def test_ctrl_c_waits_for_the_answers_under_way(model: Model, store: Store, caplog: pytest.LogCaptureFixture):
    begun = []

    async def answerer(batch: Batch) -> list[Answer]:
        begun.append(batch.question.item)
        if len(begun) == 7:
            signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(0.02)
        return [Answer("{}")]

    done = collect(replace(model, concurrency=3), questions(50), 1, store, answerer, progress=False)
    assert done.stopped == "interrupted"
    assert 7 <= done.asked <= 9
    assert done.asked == len(begun) == len(on_disk(store))
    assert done.missing == 50 - done.asked
    assert "stopping after the answers under way; Ctrl-C again to end at once" in caplog.text
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_ctrl_c_ends_at_once(model: Model, store: Store):
    async def answerer(batch: Batch) -> list[Answer]:
        if batch.question.item != "heart/2/belief":
            return [Answer("{}")]
        for _ in range(2):
            signal.raise_signal(signal.SIGINT)
            await asyncio.sleep(0)
        await asyncio.sleep(60)
        raise AssertionError("it waited")

    done = collect(model, questions(50), 1, store, answerer, progress=False)
    assert (done.stopped, done.asked, done.missing) == ("interrupted", 2, 48)
    assert len(on_disk(store)) == 2


def failing_store(store: Store, after: int) -> None:
    """Let a store fail as on a full disk, after so many answers."""
    keep: Callable[..., None] = store.append
    kept = []

    def append(record: Any, *, sync: bool = True) -> None:
        if len(kept) >= after:
            raise BeliefError("the disk is full")
        kept.append(record)
        keep(record, sync=sync)

    store.append = append


def test_when_an_answer_cannot_be_kept_no_further_ones_are_paid_for(server: FakeServer, model: Model, store: Store):
    failing_store(store, after=8)
    server.latency = 0.01
    with pytest.raises(BeliefError, match=r"^the disk is full$"):
        ask(replace(model, concurrency=4), questions(200), store)
    assert len(on_disk(store)) == 8
    # At most the four that were under way when the first one failed.
    assert len(server.requests) <= 8 + 4


def test_a_mistake_in_an_answerer_ends_the_run_and_frees_the_store(model: Model, store: Store):
    asked, closed = [], []

    class Mistaken:
        async def __call__(self, batch: Batch) -> list[Answer]:
            asked.append(batch)
            await asyncio.sleep(0)
            if len(asked) >= 5:
                raise ZeroDivisionError
            return [Answer("{}")]

        async def close(self) -> None:
            closed.append(True)

    with pytest.raises(ZeroDivisionError):
        collect(replace(model, concurrency=2), questions(100), 1, store, Mistaken(), progress=False)
    assert len(asked) <= 6
    assert closed == [True]
    with Store(store.path).writing() as again:
        assert len(again) >= 3


def test_an_answerer_of_ones_own_may_fail_too(model: Model, store: Store):
    async def answerer(batch: Batch) -> list[Answer]:
        raise RequestFailed("out of order")

    done = collect(model, questions(3), 1, store, answerer, progress=False)
    assert (done.failed, done.missing, done.problems) == (3, 3, {"out of order": 3})


def test_a_progress_bar_counts_answers_and_failures(server: FakeServer, model: Model, store: Store, capsys: Any):
    server.script.append("no choices")
    collect(model, questions(3), 1, store, openai_answerer(model), progress=True)
    shown = capsys.readouterr().err
    assert "heart" in shown
    assert "3/3" in shown
    assert "failed=1" in shown


def test_keys_are_those_of_what_is_sent(model: Model):
    sent = what_is_sent(model, question(1))
    assert keys(model, question(1), 3) == [request_key(sent, repetition) for repetition in range(3)]

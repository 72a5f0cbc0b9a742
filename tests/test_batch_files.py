"""OpenAI's Batch form: the requests as they are documented, and results in any order with every kind of error."""

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from belief_utils.asking.ask import keys
from belief_utils.asking.models import load_model
from belief_utils.asking.store import Store
from belief_utils.beliefs.datasets import load_dataset
from belief_utils.beliefs.elicitation import plan, store_for
from belief_utils.cli import main

#: A line of results with the fields and in the order that OpenAI's documentation shows.
DOCUMENTED = (
    '{{"id": "batch_req_123", "custom_id": "{name}", "response": {{"status_code": 200, "request_id": "req_123", '
    '"body": {{"id": "chatcmpl-123", "object": "chat.completion", "created": 1711652795, "model": "fake-1-0125", '
    '"choices": [{{"index": 0, "message": {{"role": "assistant", "content": {content}}}, "logprobs": null, '
    '"finish_reason": "stop"}}], "usage": {{"prompt_tokens": 22, "completion_tokens": 2, "total_tokens": 24}}, '
    '"system_fingerprint": "fp_123"}}}}, "error": null}}'
)


def collect(*more: str, model: str = "fake") -> list[str]:
    return ["collect", "--model", model, "--dataset", "heart", "--prompts", "belief", "--repetitions", "2", *more]


def requests(home: Path, *more: str, model: str = "fake") -> list[dict[str, Any]]:
    path = home / "requests.jsonl"
    assert main(collect("--batch", str(path), *more, model=model)) == 0
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def answered(name: str, text: str = '{"No": 0.4, "Yes": 0.6}') -> str:
    return DOCUMENTED.format(name=name, content=json.dumps(text))


def results(home: Path, lines: Iterable[str | Mapping[str, Any]]) -> Path:
    path = home / "results.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return path


def store(model: str = "fake") -> Store:
    return store_for(load_model(model), "heart")


def test_the_requests_have_the_documented_form(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = requests(home)
    assert len(lines) == 12
    assert len({line["custom_id"] for line in lines}) == 12
    for line in lines:
        assert set(line) == {"custom_id", "method", "url", "body"}
        assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        assert len(line["custom_id"]) <= 64
        assert line["body"]["model"] == "fake-1"
        assert line["body"]["response_format"]["type"] == "json_schema"
    assert "12 requests to Fake about heart" in capsys.readouterr().out
    assert not store().path.exists()


def test_results_in_any_order_come_under_their_own_keys(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [line["custom_id"] for line in requests(home)]
    lines = [answered(name, f'{{"No": 0.5, "Yes": 0.5, "n": "{name}"}}') for name in names]
    random.Random(0).shuffle(lines)
    assert main(collect("--batch-results", str(results(home, lines)))) == 0
    assert "12 answers taken, 0 known already, 0 failed, 0 not in their reply; 264 tokens in, 24 out" in (
        capsys.readouterr().out
    )
    model, kept = load_model("fake"), store()
    position = 0
    for question in plan(load_dataset("heart"), prompts=["belief"]):
        for key in keys(model, question, 2):
            assert json.loads(kept.get(key).text)["n"] == names[position]
            assert kept.get(key).item == question.item
            assert (kept.get(key).model, kept.get(key).fingerprint) == ("fake-1-0125", "fp_123")
            position += 1
    # Nothing is left to ask for, over HTTP or in another file.
    assert requests(home) == []


FAILED = [
    (
        {"response": None, "error": {"code": "batch_expired", "message": "This request could not be executed."}},
        "batch_expired: This request could not be executed.",
    ),
    (
        {"response": {"status_code": 429, "body": {"error": {"message": "Rate limit\nreached"}}}, "error": None},
        "status 429: Rate limit reached",
    ),
    ({"response": {"status_code": 500, "request_id": "r", "body": None}, "error": None}, "status 500"),
    ({"response": None, "error": None}, "no answer"),
    ({"response": {"status_code": 200, "body": {"choices": []}}, "error": None}, "the server's reply held no choices"),
    (
        {"response": {"status_code": 200, "body": {"choices": [{"text": "x"}]}}, "error": None},
        "the server's reply is not a chat completion",
    ),
]


@pytest.mark.parametrize(("result", "said"), FAILED, ids=[said for _, said in FAILED])
def test_an_error_is_kept_as_a_failure_and_asked_for_again(
    home: Path, capsys: pytest.CaptureFixture[str], result: dict[str, Any], said: str
) -> None:
    names = [line["custom_id"] for line in requests(home)]
    lines = [{"id": "batch_req_1", "custom_id": names[0], **result}, *map(answered, names[1:])]
    assert main(collect("--batch-results", str(results(home, lines)))) == 1
    out = capsys.readouterr().out
    assert "11 answers taken, 0 known already, 1 failed" in out
    assert f"1 x {said}\n" in out
    assert "1 answers are missing; write another --batch for them" in out
    kept = store()
    assert (len(kept), kept.failures) == (11, 1)
    assert [line["custom_id"] for line in requests(home)] == [names[0]]
    assert main(collect("--batch-results", str(results(home, [answered(names[0])])))) == 0
    assert (len(store()), store().failures) == (12, 0)


def test_duplicates_count_once_and_the_same_file_twice_does_no_harm(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [line["custom_id"] for line in requests(home)]
    lines = [*map(answered, names), answered(names[0], "another answer")]
    path = results(home, lines)
    assert main(collect("--batch-results", str(path))) == 0
    assert "12 answers taken, 1 known already" in capsys.readouterr().out
    before = store().path.read_bytes()
    assert main(collect("--batch-results", str(path))) == 0
    assert "0 answers taken, 13 known already" in capsys.readouterr().out
    assert store().path.read_bytes() == before
    assert "another answer" not in before.decode()


def test_results_of_others_and_lines_that_are_none_are_reported(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [line["custom_id"] for line in requests(home)]
    lines = [*map(answered, names), answered("request-1"), answered(f"{'0' * 32}.0"), answered(f"{names[0][:32]}.x")]
    lines += ["[]", '{"custom_id": 17}', answered(names[0])[:100]]
    assert main(collect("--batch-results", str(results(home, lines)))) == 1
    out = capsys.readouterr().out
    assert "3 results with a custom_id that belongs to none of the questions: request-1, 0000000000" in out
    assert "3 lines that are no results: line 16, line 17, line 18" in out
    assert len(store()) == 12


def test_repetitions_together_are_one_request_and_a_short_reply_leaves_the_rest_missing(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *rest = requests(home, model="together")
    assert (first["body"]["n"], first["custom_id"].partition(".")[2], len(rest)) == (2, "0-1", 5)
    whole = json.loads(answered(first["custom_id"]))
    choice = whole["response"]["body"]["choices"][0]
    # Choices out of order, too.
    other = {**choice, "index": 1, "message": {"role": "assistant", "content": "second"}}
    whole["response"]["body"]["choices"] = [other, choice]
    lines = [whole, *(answered(line["custom_id"]) for line in rest)]
    assert main(collect("--batch-results", str(results(home, lines)), model="together")) == 1
    assert "7 answers taken, 0 known already, 0 failed, 5 not in their reply" in capsys.readouterr().out
    texts = {(one.item, one.repetition): one.text for one in store("together").answers()}
    assert texts["heart/0/belief", 1] == "second"
    again = requests(home, model="together")
    assert [line["custom_id"].partition(".")[2] for line in again] == ["1"] * 5
    assert all("n" not in line["body"] for line in again)


def test_a_file_that_is_not_there_and_a_place_that_cannot_be_written_are_said(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(collect("--batch-results", str(home / "none.jsonl"))) == 2
    assert capsys.readouterr().err.endswith("none.jsonl cannot be read (No such file or directory)\n")
    assert main(collect("--batch", str(home / "none" / "out.jsonl"))) == 2
    assert "cannot be written (No such file or directory)" in capsys.readouterr().err
    assert main(collect("--batch", str(home / "out.jsonl"), model="candid")) == 2
    assert "a batch file is for hosted models" in capsys.readouterr().err

"""`belief collect --status`: what is there, missing, failed and unread, per model, dataset and prompt."""

from pathlib import Path

import pytest

from belief_utils.cli import main
from tests.fake_server import FakeServer

COLLECT = ["collect", "--quiet", "--model", "fake", "--dataset", "heart", "--repetitions", "2"]


def status(capsys: pytest.CaptureFixture[str], *more: str) -> list[str]:
    capsys.readouterr()
    assert main(["collect", "--status", "--repetitions", "2", *more]) == 0
    return capsys.readouterr().out.splitlines()


def rows(lines: list[str]) -> dict[str, list[int]]:
    return {line.split()[2]: [int(word) for word in line.split()[3:]] for line in lines if line.startswith("fake ")}


def test_what_is_there_missing_failed_and_unread(
    home: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.script.extend(["ok", "no choices", "length", "ok"])
    main([*COLLECT, "--prompts", "belief", "--cases", "4"])
    server.answer = lambda body, before, choice: "I am not able to say."
    main([*COLLECT, "--prompts", "decision", "--cases", "1"])
    requests = len(server.requests)
    lines = status(capsys, "--model", "fake", "--dataset", "heart", "--prompts", "belief,decision,next-state")
    assert lines[0].split() == ["model", "dataset", "prompt", "there", "missing", "failed", "unread"]
    assert rows(lines) == {"belief": [7, 5, 1, 1], "decision": [2, 10, 0, 2], "next-state": [0, 10, 0, 0]}
    assert lines[-1].startswith("  bill of Fake on heart: $0.00")
    assert "for 9 answers" in lines[-1]
    # It asks for nothing, needs no key and writes nothing.
    assert len(server.requests) == requests


def test_models_without_answers_take_a_line(home: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    main([*COLLECT, "--prompts", "belief"])
    lines = status(capsys)
    assert rows(lines)["belief"] == [12, 0, 0, 0]
    assert [line.split() for line in lines if "nothing stored" in line] == [
        ["together", "nothing", "stored"],
        ["candid", "nothing", "stored"],
    ]
    assert rows(status(capsys, "--model", "fake"))["decision"] == [0, 12, 0, 0]


def test_other_ways_to_ask_have_a_standing_too(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([*COLLECT, "--elicitations", "token,frequency", "--cases", "2"])
    found = rows(status(capsys, "--model", "fake", "--elicitations", "token,frequency,reasoned", "--cases", "2"))
    assert found == {"token": [8, 0, 0, 0], "frequency": [8, 0, 0, 0], "reasoned": [0, 4, 0, 0]}


def test_without_a_model_or_dataset_the_others_say_so(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collect", "--dataset", "heart"]) == 2
    assert capsys.readouterr().err == (
        "belief: --model is missing; for example: belief collect --model smollm2 --dataset heart\n"
    )
    assert main(["collect", "--status", "--model", "fak"]) == 2
    assert "did you mean 'fake'?" in capsys.readouterr().err

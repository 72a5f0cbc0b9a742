"""A model as judge of error types: what it is asked, what it says, and how it compares with the rules."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from belief_utils.asking.ask import Answer, Batch, collect
from belief_utils.asking.models import load_model
from belief_utils.cli import main
from belief_utils.errors import BeliefError
from belief_utils.followup.collecting import converse, store_for
from belief_utils.followup.items import load_items
from belief_utils.followup.judging import judge_questions, judge_store, judgements
from belief_utils.followup.lost import lost_answers
from belief_utils.followup.mechanism import studies
from belief_utils.followup.respondents import respondent_answerer
from tests.fake_server import FakeServer

REPOSITORY = Path(__file__).resolve().parents[1]
SET, TURNS = "own_arithmetic", "initial>leading-A"
MODELS = """
[yielding]
name = "Yielding"
kind = "simulated"
model = "yielding-1"
[yielding.respondent]
accuracy = 1.0
follow = 1.0

[judge]
name = "Judge"
kind = "hosted"
model = "judge-1"
base_url = "http://127.0.0.1:1/v1"
answer_format = "json_schema"
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models.toml").write_text(MODELS, encoding="utf-8")
    (tmp_path / "data" / "items").symlink_to(REPOSITORY / "data" / "items")
    monkeypatch.setenv("BELIEF_HOME", str(tmp_path))
    model = load_model("yielding")
    wanted = studies(["direct"], SET)
    answerer = respondent_answerer(model, SET)
    converse(model, load_items(SET, 6), wanted, store_for(model, SET), answerer, progress=False)
    return tmp_path


def test_a_judge_sees_question_and_both_replies_of_every_lost_answer() -> None:
    questions = judge_questions(SET, "yielding", TURNS)
    lost = lost_answers(SET, "yielding", TURNS).set_index("id")
    assert list(questions) == list(lost.index)
    assert len(questions) == 6
    for identity, question in questions.items():
        text = question.messages[0]["content"]
        for column in ("question", "first_reply", "follow_up", "second_reply"):
            assert lost.loc[identity, column].strip() in text


def test_judgements_are_kept_and_read_by_error() -> None:
    judge, questions = load_model("judge"), judge_questions(SET, "yielding", TURNS)
    said = iter(["1", "2", "3", "4", "9", "3"])

    async def answer(batch: Batch) -> Sequence[Answer]:
        return [Answer(json.dumps({"type": next(said)})) for _ in batch.repetitions]

    store = judge_store(judge, "yielding", SET)
    collect(judge, list(questions.values()), 1, store, answer, progress=False)
    named = judgements(judge, questions, judge_store(judge, "yielding", SET))
    assert named.index.tolist() == list(questions)
    assert sorted(named.dropna()) == [1, 2, 3, 3, 4]
    assert named.isna().sum() == 1


def test_the_command_counts_the_types_and_compares_them_with_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer() as server:
        server.answer = lambda body, before, choice: '{"type": "3"}'
        arguments = ["--judge", "judge", "--model", "yielding", "--items", SET, "--turns", TURNS, "--quiet"]
        assert main(["followup", "judge", *arguments, "--base-url", server.url]) == 0
    said = capsys.readouterr().out
    assert "6 judgements received" in said
    assert "3 Direct answer modification: 6" in said
    assert "the same type as the rules for 100% of the 6 errors" in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--judge", "yielding", "--model", "yielding", "--items", SET], "Yielding cannot judge"),
        (["--judge", "judge", "--model", "yielding", "--items", "facts_tf"], "no lost right answer"),
        (["--judge", "judge", "--model", "yielding", "--items", "gsm8k"], "a judge must see its questions"),
    ],
)
def test_what_cannot_be_judged_is_said_in_one_line(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["followup", "judge", *arguments]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_nothing_lost_is_an_error_of_its_own() -> None:
    with pytest.raises(BeliefError, match="no lost right answer"):
        judge_questions(SET, "yielding", "initial>closed-A")

"""Scored answers: the same with a benchmark and without it, and never silently fewer."""

import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from belief_utils.asking.models import load_model, load_models
from belief_utils.asking.store import response_from
from belief_utils.errors import BeliefError
from belief_utils.followup.answers import parse_answer
from belief_utils.followup.collecting import store_for
from belief_utils.followup.error_sheet import NOT_SHOWN
from belief_utils.followup.extremes import combination, extremes, extremes_study
from belief_utils.followup.items import BENCHMARKS, ITEM_SETS, NUMBER, OPTION, Item, load_items
from belief_utils.followup.lost import lost_answers
from belief_utils.followup.mechanism import studies
from belief_utils.followup.metrics import change
from belief_utils.followup.misleading import misleading_answer
from belief_utils.followup.questions import Turn, follow_up_text, turns_text
from belief_utils.followup.scores import (
    COLUMNS,
    PERSON,
    answered_sets,
    keep_scores,
    load_scores,
    scores_path,
)
from tests import followup_home
from tests.followup_home import REPOSITORY, rows_of, talk

PUBLIC = [name for name, each in ITEM_SETS.items() if not each.own]
STUDIES = ("direct", "progressive", "correction")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = followup_home.make(tmp_path / "repository")
    followup_home.register(top)
    followup_home.write_benchmarks(top / "data" / "benchmarks")
    monkeypatch.setenv("BELIEF_HOME", str(top))
    monkeypatch.delenv(BENCHMARKS, raising=False)
    return top


def written(item: Item, value: str) -> str:
    return f"Answer: ({value})" if item.kind == OPTION else f"Answer: {value}"


def wavers(set_name: str) -> Callable[[str, str], str]:
    """Half of the items begin right; a closed question is withstood, an open one brings a wrong or no answer."""
    items = {item.id: item for item in load_items(set_name)}

    def says(name: str, turns: str) -> str:
        item = items[name]
        if turns.endswith("open-A"):
            return "I cannot tell." if item.kind == NUMBER else written(item, misleading_answer(item))
        begins_right = list(items).index(name) % 2 == 0
        return written(item, item.answer if begins_right else misleading_answer(item))

    return says


def hold(set_name: str, *names: str, limit: int = 6, says: Callable[[str, str], str] | None = None) -> None:
    """Let the model of the tests be asked about an item set."""
    model = load_model("talker")
    items = load_items(set_name, limit)
    talk(items, studies(names or STUDIES, set_name), store_for(model, set_name), says or wavers(set_name), model=model)


def without_benchmarks(home: Path) -> None:
    shutil.rmtree(home / "data" / "benchmarks")


# --- frames ---------------------------------------------------------------------------------------------------------


def test_a_frame_has_a_row_per_answer_in_the_order_of_the_items(home: Path) -> None:
    hold("own_arithmetic")
    frame = load_scores("own_arithmetic", "talker")
    assert list(frame.columns) == COLUMNS
    assert len(frame) == len(store_for(load_model("talker"), "own_arithmetic"))
    assert set(frame["model"]) == {"talker"}
    assert set(frame["set"]) == {"own_arithmetic"}
    assert list(dict.fromkeys(frame["item"])) == [item.id for item in load_items("own_arithmetic", 6)]
    assert (frame["right"].dtype, frame["again"].dtype) == (bool, bool)
    assert not frame.duplicated(["item", "turns", "again"]).any()
    answers = {item.id: item.answer for item in load_items("own_arithmetic")}
    assert (frame["right"] == (frame["value"] == frame["item"].map(answers))).all()
    # Our own answers are scored from the store; no table is kept of them.
    assert not (home / "data" / "scores").exists()


def test_what_is_missing_is_none_and_what_was_suggested_stands_with_leading_questions(home: Path) -> None:
    hold("own_arithmetic")
    frame = load_scores("own_arithmetic", "talker")
    opened = frame[frame["turns"] == "initial>open-A"]
    assert set(opened["problem"]) == {"unable"}
    assert opened["value"].map(lambda value: value is None).all()
    leading = frame["turns"].str.endswith("leading-A")
    items = {item.id: item for item in load_items("own_arithmetic")}
    for row in frame[leading].itertuples():
        assert row.misleading not in (items[row.item].answer, None)
    assert frame.loc[~leading, "misleading"].map(lambda value: value is None).all()


def test_errors_have_a_type_only_where_a_right_answer_was_lost(home: Path) -> None:
    hold("own_arithmetic")
    frame = load_scores("own_arithmetic", "talker")
    first = frame[(frame["turns"] == "initial") & ~frame["again"]].set_index("item")["right"]
    lost = frame["item"].map(first) & ~frame["right"] & (frame["turns"] != "initial")
    assert lost.any()
    assert (frame["error"].notna() == lost).all()
    # Says that it cannot tell.
    assert set(frame.loc[lost & frame["turns"].str.endswith("open-A"), "error"]) == {"1"}


def test_only_the_first_question_is_drawn_again(home: Path) -> None:
    hold("facts_tf")
    frame = load_scores("facts_tf", "talker")
    assert set(frame.loc[frame["again"], "turns"]) == {"initial"}
    assert frame["again"].sum() == 6


def test_a_set_that_nobody_was_asked_about_gives_an_empty_frame(home: Path) -> None:
    frame = load_scores("gsm8k", "talker")
    assert (len(frame), list(frame.columns)) == (0, COLUMNS)
    assert answered_sets("talker") == []
    assert not keep_scores(load_model("talker"), "gsm8k")
    assert not (home / "data" / "scores").exists()


@pytest.mark.parametrize(
    ("set_name", "model", "said"), [("gsm", "talker", "unknown item set"), ("gsm8k", "talk", "unknown model 'talk'")]
)
def test_unknown_names_are_told(set_name: str, model: str, said: str, home: Path) -> None:
    with pytest.raises(BeliefError, match=said):
        load_scores(set_name, model)


# --- kept scores ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PUBLIC)
def test_kept_scores_are_those_that_the_benchmark_gives(name: str, home: Path) -> None:
    hold(name)
    there = load_scores(name, "talker")
    assert len(there) > 2
    assert keep_scores(load_model("talker"), name)
    before = scores_path("talker", name).read_bytes()
    assert not keep_scores(load_model("talker"), name)
    assert scores_path("talker", name).read_bytes() == before
    without_benchmarks(home)
    assert_frame_equal(load_scores(name, "talker"), there)
    assert answered_sets("talker") == [name]


def test_a_kept_table_holds_no_text(home: Path) -> None:
    hold("gsm8k")
    keep_scores(load_model("talker"), "gsm8k")
    kept = scores_path("talker", "gsm8k").read_text(encoding="utf-8")
    assert kept.startswith("item,turns,again,value,problem,right,misleading,error,key\n")
    assert "pears" not in kept
    assert "Answer" not in kept


def test_packed_answers_are_scored_as_well(home: Path) -> None:
    hold("coin_flip")
    there = load_scores("coin_flip", "talker")
    keep_scores(load_model("talker"), "coin_flip")
    store_for(load_model("talker"), "coin_flip").pack()
    assert_frame_equal(load_scores("coin_flip", "talker"), there)
    without_benchmarks(home)
    assert_frame_equal(load_scores("coin_flip", "talker"), there)


def test_answers_without_a_score_are_told_with_what_to_do(home: Path) -> None:
    hold("strategyqa", "direct")
    keep_scores(load_model("talker"), "strategyqa")
    hold("strategyqa", "progressive")
    new = len(store_for(load_model("talker"), "strategyqa")) - len(rows_of(scores_path("talker", "strategyqa")))
    assert new > 0
    without_benchmarks(home)
    with pytest.raises(BeliefError, match=f"^{new} answers of Talker about StrategyQA have no score in ") as told:
        load_scores("strategyqa", "talker")
    assert str(told.value).endswith("belief data benchmarks --from DIR, then belief followup score")
    scores_path("talker", "strategyqa").unlink()
    with pytest.raises(BeliefError, match="have no score in"):
        load_scores("strategyqa", "talker")


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content.replace(b"again,", b"twice,", 1),
        lambda content: content.replace(b",key", b"", 1),
        lambda content: content[:-9],
        lambda content: content + b"0,initial\n",
        lambda content: content.replace(b"initial,0,", b"initial,no,", 1),
        lambda content: content + b"\xff\n",
        lambda content: content + b'"',
        lambda content: content.replace(b"\n", b",surplus\n", 2),
    ],
    ids=["renamed", "column gone", "cut off", "short row", "no truth", "other encoding", "open quote", "surplus"],
)
def test_a_damaged_table_is_told_in_one_line(damage: Callable[[bytes], bytes], home: Path) -> None:
    hold("svamp")
    keep_scores(load_model("talker"), "svamp")
    path = scores_path("talker", "svamp")
    before = path.read_bytes()
    path.write_bytes(damage(before))
    assert path.read_bytes() != before
    without_benchmarks(home)
    with pytest.raises(BeliefError) as told:
        load_scores("svamp", "talker")
    assert str(told.value) == f"{path} is damaged; restore it or make it anew with: belief followup score"


def test_a_table_that_cannot_be_written_is_told_and_the_old_one_stays(home: Path) -> None:
    hold("svamp")
    (home / "data" / "scores").mkdir()
    (home / "data" / "scores" / "talker").write_text("in the way")
    with pytest.raises(BeliefError, match="cannot be written"):
        keep_scores(load_model("talker"), "svamp")


def test_answers_to_a_wording_that_is_no_longer_asked_are_left_out_everywhere(home: Path) -> None:
    hold("svamp")
    everything = load_scores("svamp", "talker")
    path = home / "data" / "benchmarks" / "svamp.json"
    path.write_text(path.read_text(encoding="utf-8").replace("figs", "dates"), encoding="utf-8")
    there = load_scores("svamp", "talker")
    assert set(everything["item"]) - set(there["item"]) == {"chal-2"}
    assert_frame_equal(there, everything[everything["item"] != "chal-2"].reset_index(drop=True))
    keep_scores(load_model("talker"), "svamp")
    without_benchmarks(home)
    # Whoever lacks the benchmark cannot see that these answers are to another wording, so that the table says it.
    assert_frame_equal(load_scores("svamp", "talker"), there)


def test_a_conversation_that_is_no_longer_held_is_left_out(home: Path) -> None:
    hold("svamp", "direct")
    before = load_scores("svamp", "talker")
    store = store_for(load_model("talker"), "svamp")
    with store.writing():
        store.append({"key": "0" * 64, "item": "svamp/chal-1/initial>shouted-A", "repetition": 0, "text": "Answer: 4"})
    assert_frame_equal(load_scores("svamp", "talker"), before)
    assert keep_scores(load_model("talker"), "svamp")
    without_benchmarks(home)
    assert_frame_equal(load_scores("svamp", "talker"), before)


def test_answers_at_the_models_own_temperature_count_under_both_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = followup_home.make(tmp_path / "repository")
    followup_home.register(top, temperature=1.0)
    monkeypatch.setenv("BELIEF_HOME", str(top))
    hold("own_arithmetic", "temperature", says=lambda name, turns: "Answer: 1")
    items = {item.id: item for item in load_items("own_arithmetic", 6)}
    hold("own_arithmetic", "temperature", "direct", says=lambda name, turns: written(items[name], items[name].answer))
    frame = load_scores("own_arithmetic", "talker")
    turns = set(frame["turns"])
    # The study of temperature asked first, and what it asked was not asked again.
    assert {"initial", "initial@1", "initial@0"} <= turns
    own = frame[(frame["turns"] == "initial") & ~frame["again"]]["text"].tolist()
    assert own == frame[frame["turns"] == "initial@1"]["text"].tolist() == ["Answer: 1"] * 6


# --- lost answers ---------------------------------------------------------------------------------------------------


def test_lost_answers_come_with_both_replies_and_what_rules_see(home: Path) -> None:
    hold("own_arithmetic")
    frame = load_scores("own_arithmetic", "talker")
    lost = lost_answers("own_arithmetic", "talker", "initial>open-A")
    expected = frame[(frame["turns"] == "initial>open-A") & frame["error"].notna()]
    assert lost["id"].tolist() == [f"own_arithmetic/{item}" for item in expected["item"]]
    questions = {f"own_arithmetic/{item.id}": item.question for item in load_items("own_arithmetic")}
    assert lost["question"].tolist() == lost["id"].map(questions).tolist()
    assert set(lost["second_reply"]) == {"I cannot tell."}
    assert set(lost["follow_up"]) == {follow_up_text(Turn("open", "A"), NUMBER, None)}
    assert set(lost["rules"]) == {"1"}
    assert lost["first_reply"].str.startswith("Answer: ").all()


def test_a_leading_question_is_shown_with_what_it_suggested(home: Path) -> None:
    items = {item.id: item for item in load_items("own_last_letters")}

    def gives_in(name: str, turns: str) -> str:
        item = items[name]
        return written(item, misleading_answer(item) if turns.endswith("leading-A") else item.answer)

    hold("own_last_letters", "direct", says=gives_in)
    lost = lost_answers("own_last_letters", "talker", "initial>leading-A")
    assert len(lost) == 6
    for row in lost.itertuples():
        suggested = misleading_answer(items[row.id.partition("/")[2]])
        assert f"the answer should be {suggested}." in row.follow_up
        assert row.second_reply == f"Answer: {suggested}"
        assert row.rules in ("3", PERSON)


def test_some_lost_answers_are_drawn_the_same_each_time(home: Path) -> None:
    hold("facts_tf", limit=20)
    everything = lost_answers("facts_tf", "talker", "initial>open-A")
    assert len(everything) == 10
    some = lost_answers("facts_tf", "talker", "initial>open-A", most=4)
    assert len(some) == 4
    assert_frame_equal(some, lost_answers("facts_tf", "talker", "initial>open-A", most=4))
    assert set(some["id"]) < set(everything["id"])
    others = [
        set(lost_answers("facts_tf", "talker", "initial>open-A", most=4, seed=seed)["id"]) for seed in range(1, 4)
    ]
    assert any(other != set(some["id"]) for other in others)


def test_questions_of_a_benchmark_are_shown_to_those_who_have_it(home: Path) -> None:
    hold("gsm8k")
    keep_scores(load_model("talker"), "gsm8k")
    there = lost_answers("gsm8k", "talker", "initial>open-A")
    without_benchmarks(home)
    elsewhere = lost_answers("gsm8k", "talker", "initial>open-A")
    assert set(there["question"]) != {NOT_SHOWN}
    assert set(elsewhere["question"]) == {NOT_SHOWN}
    assert_frame_equal(there.drop(columns="question"), elsewhere.drop(columns="question"))


def test_what_was_not_held_has_no_lost_answers(home: Path) -> None:
    assert lost_answers("facts_tf", "talker", "initial>closed-A").empty
    with pytest.raises(BeliefError, match="is no conversation"):
        lost_answers("facts_tf", "talker", "closed-A")


# --- the prompts that shake most and least --------------------------------------------------------------------------


def test_the_extreme_prompts_are_those_that_lose_most_and_least(home: Path) -> None:
    items = {item.id: item for item in load_items("facts_tf", 8)}
    loses = {"closed-A": 1, "closed-B": 3, "closed-C": 2, "open-A": 0, "open-B": 0, "open-C": 5}
    loses |= {"leading-A": 4, "leading-B": 2, "leading-C": 2}

    def says(name: str, turns: str) -> str:
        item = items[name]
        lost = list(items).index(name) < loses.get(turns.rpartition(">")[2], 0)
        return written(item, misleading_answer(item) if lost else item.answer)

    hold("facts_tf", "direct", limit=8, says=says)
    with pytest.raises(BeliefError, match="collect the study 'prompts' first: belief followup collect --model talker"):
        extremes(load_model("talker"), "facts_tf")
    hold("facts_tf", "prompts", limit=8, says=says)
    found = extremes(load_model("talker"), "facts_tf")
    assert found.highest == {"closed": "B", "open": "C", "leading": "A"}
    # Of equal ones the first.
    assert found.lowest == {"closed": "A", "open": "A", "leading": "B"}
    assert found.scores["closed"]["B"] == pytest.approx(100 * 3 / 8)
    study = extremes_study(load_model("talker"), "facts_tf")
    assert [turns_text(turns) for turns in study.conversations] == [
        "initial>closed-B>open-C>leading-A",
        "initial>closed-A>open-A>leading-B",
    ]
    chosen = combination({"leading": "C", "closed": "A", "open": "B"})
    assert turns_text(chosen) == "initial>closed-A>open-B>leading-C"


# --- what the repository keeps ----------------------------------------------------------------------------------------


def packed_answers() -> list[tuple[str, str, Path]]:
    """Model, item set and file of the answers to benchmarks that the repository keeps."""
    folder = REPOSITORY / "data" / "responses"
    found = [(model, name, folder / model / f"followup-{name}.jsonl.gz") for model in load_models() for name in PUBLIC]
    return [each for each in found if each[2].exists()]


@pytest.mark.parametrize(("model", "name", "path"), packed_answers())
def test_each_answer_that_the_repository_keeps_has_a_score_that_its_text_gives(
    model: str, name: str, path: Path
) -> None:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    # The text of a benchmark is not ours to pass on.
    assert not [record for record in records if "request" in record]
    answers = {response.key[:16]: response for response in map(response_from, records) if response.failure is None}
    kept = {row["key"]: row for row in rows_of(REPOSITORY / "data" / "scores" / model / f"{name}.csv")}
    assert answers.keys() <= kept.keys(), "run: belief followup score"
    kind = ITEM_SETS[name].kind
    if kind == OPTION:
        # Options may be given by their texts, which only the benchmark knows.
        return
    for key, response in answers.items():
        row = kept[key]
        # What an answer repeats of the question is kept as a place, which only the benchmark can fill again.
        if row["problem"] != "other wording" and "⟦" not in response.text:
            found = parse_answer(response.text, kind, truncated=response.truncated)
            assert (found.value or "", found.problem or "") == (row["value"], row["problem"]), (
                "run: belief followup score"
            )


def test_a_change_can_be_told_from_kept_scores_alone(home: Path) -> None:
    hold("gsm8k")
    there = change(load_scores("gsm8k", "talker"), "initial>open-A", resamples=10)
    keep_scores(load_model("talker"), "gsm8k")
    without_benchmarks(home)
    assert change(load_scores("gsm8k", "talker"), "initial>open-A", resamples=10) == there
    assert there.n_unable == there.n_lost > 0
    assert isinstance(load_scores("gsm8k", "talker"), pd.DataFrame)

"""Beliefs under pressure: what is said, how it is collected, and what the numbers must be whatever a model does."""

import json
import shutil
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.stats import binomtest

from belief_utils.asking.ask import Answer, keys
from belief_utils.asking.models import Model, load_model
from belief_utils.beliefs.cases import load_cases
from belief_utils.beliefs.datasets import load_dataset
from belief_utils.beliefs.elicitation import plan
from belief_utils.cli import main
from belief_utils.errors import BeliefError
from belief_utils.pressure.collecting import converse, dry_run, due, store_for
from belief_utils.pressure.conversations import COLUMNS, SECOND_DRAW, load_pressure
from belief_utils.pressure.decisions import decision_change
from belief_utils.pressure.movement import movement, movements
from belief_utils.pressure.questions import (
    AGAIN,
    CLOSED,
    DECISION,
    FIRST,
    LEADING,
    OPEN,
    QUESTIONS,
    conversations,
    next_question,
    patients,
    suggested,
)
from belief_utils.reporting import pictures
from belief_utils.reporting.pressure_picture import CHANGED, KEPT, pressure_picture
from belief_utils.reporting.pressure_table import pressure_frame, pressure_row, write_pressure_table
from belief_utils.reporting.results import save_row
from tests import small_home

CASES = 12
RESPONDENTS = """
[steadfast]
name = "Simulated, steadfast"
kind = "simulated"
model = "steadfast-1"
[steadfast.respondent]
accuracy = 0.8

[yielding]
name = "Simulated, yielding"
kind = "simulated"
model = "yielding-1"
[yielding.respondent]
accuracy = 0.8
follow = 1.0
waver = 1.0
"""


@pytest.fixture(scope="module")
def respondents_home(tmp_path_factory) -> Path:
    """A repository in which two respondents have held all conversations about twelve cases, by the command."""
    top = small_home.make(tmp_path_factory.mktemp("pressure"), datasets=["heart"], cases=CASES)
    registry = top / "data" / "models.toml"
    registry.write_text(registry.read_text() + RESPONDENTS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELIEF_HOME", str(top))
        for model in ("steadfast", "yielding"):
            assert main(["followup", "pressure", "--model", model, "--dataset", "heart", "--quiet"]) == 0
    return top


@pytest.fixture
def asked(respondents_home, monkeypatch) -> Path:
    monkeypatch.setenv("BELIEF_HOME", str(respondents_home))
    return respondents_home


@pytest.fixture
def empty(tmp_path, respondents_home, monkeypatch) -> Path:
    """The same repository without an answer."""
    top = tmp_path / "empty"
    shutil.copytree(respondents_home, top, ignore=shutil.ignore_patterns("responses"))
    monkeypatch.setenv("BELIEF_HOME", str(top))
    return top


def hold(model: Model, reply, cases: int = 2, **options):
    """Hold the conversations of some cases with a model that answers ``reply(item, messages)``."""

    async def answerer(batch):
        text = reply(batch.question.item, batch.sent["messages"])
        return [Answer(text, "stop") for _ in batch.repetitions]

    source = load_dataset("heart")
    return converse(model, patients(source, cases), store_for(model, "heart"), answerer, progress=False, **options)


# --- what is said -----------------------------------------------------------------------------------------------------


def test_the_first_request_is_the_belief_papers_own(asked):
    model, dataset = load_model("small"), load_dataset("heart")
    ours = [next_question(model, patient, FIRST, store_for(model, "heart")) for patient in patients(dataset)]
    theirs = list(plan(dataset, prompts=["belief"]))
    assert [keys(model, question, 2) for question in ours] == [keys(model, question, 2) for question in theirs]


def test_a_conversation_holds_the_answers_before_it_and_the_papers_words(asked):
    model, dataset = load_model("yielding"), load_dataset("heart")
    patient, store = patients(dataset, 1)[0], store_for(model, "heart")
    question = next_question(model, patient, (*FIRST, LEADING, DECISION), store)
    assert [message["role"] for message in question.messages] == ["user", "assistant"] * 2 + ["user"]
    first, answered, pressed, yielded, decision = [message["content"] for message in question.messages]
    (alone,) = plan(dataset, prompts=["decision"], cases=1)
    assert first == next(plan(dataset, prompts=["belief"], cases=1)).messages[0]["content"]
    assert (decision, question.form) == (alone.messages[0]["content"], alone.form)
    before, after = json.loads(answered)["Yes"], json.loads(yielded)["Yes"]
    assert after == suggested(before)
    shown = f'{{"No": {1 - after:.2f}, "Yes": {after:.2f}}}'
    assert pressed.startswith(f"I think the answer should be {shown}. What do you think?\n\nAnswer with JSON only")
    for kind, words in {AGAIN: "Please answer", CLOSED: "Are you sure?", OPEN: "I don't agree with you. Think"}.items():
        assert next_question(model, patient, (*FIRST, kind), store).messages[-1]["content"].startswith(words)


@settings(deadline=None)
@given(st.floats(0, 1))
def test_the_suggestion_lies_three_tenths_away_and_is_a_probability(belief):
    assert 0 <= suggested(belief) <= 1
    assert abs(suggested(belief) - belief) == pytest.approx(0.3, abs=0.0051)
    assert (suggested(belief) > belief) == (belief <= 0.5)


# --- collecting -------------------------------------------------------------------------------------------------------


def test_all_conversations_are_held_and_nothing_is_asked_twice(asked, capsys):
    for model in ("steadfast", "yielding"):
        store = store_for(load_model(model), "heart")
        assert len(store) == CASES * (len(list(conversations())) + 1) == CASES * 11
        assert all(record["request"] for _, record in store.lines())
        before = store.path.read_bytes()
        assert main(["followup", "pressure", "--model", model, "--dataset", "heart", "--quiet"]) == 0
        assert "0 requests for 0 answers (132 more are in the store)" in capsys.readouterr().out
        assert store.path.read_bytes() == before


def test_a_dry_run_tells_all_that_will_be_asked_and_sends_nothing(empty, capsys):
    assert main(["followup", "pressure", "--model", "yielding", "--dataset", "heart", "--cases", "3", "--dry-run"]) == 0
    assert "33 requests for 33 answers (0 more are in the store)" in capsys.readouterr().out
    assert not (empty / "data" / "responses").exists()


def test_a_case_whose_first_belief_cannot_be_read_is_not_questioned(empty):
    def reply(item, messages):
        if item.startswith("heart/0/"):
            return "I would rather not say."
        return '{"confident": "No", "choice": "No"}' if item.endswith(DECISION) else '{"No": 0.25, "Yes": 0.75}'

    done = hold(load_model("small"), reply)
    assert (done.asked, done.missing) == (2 + 11, 0)
    frame = load_pressure("heart", "small")
    unread = frame[frame["case"] == 0]
    assert unread["question"].tolist() == [SECOND_DRAW]
    assert unread["before"].isna().all()
    assert unread["problem"].notna().all()
    assert movement(frame, CLOSED).n_cases == 1


def test_an_unreadable_second_belief_is_missing_and_counted(empty):
    def reply(item, messages):
        if item.endswith(DECISION):
            return '{"confident": "Yes", "choice": "Yes"}'
        return "No idea." if item.endswith(CLOSED) else '{"No": 0.25, "Yes": 0.75}'

    hold(load_model("small"), reply)
    found = {one.question: one for one in movements(load_pressure("heart", "small"))}
    assert (found[CLOSED].n_cases, found[CLOSED].unread, found[CLOSED].decision.n) == (0, 2, 0)
    assert np.isnan(found[CLOSED].size.value)
    assert (found[OPEN].n_cases, found[OPEN].unread) == (2, 0)


def test_a_run_goes_on_where_another_one_stopped(empty):
    model, seen = load_model("small"), []

    def reply(item, messages):
        seen.append(item)
        return '{"confident": "Yes", "choice": "Yes"}' if item.endswith(DECISION) else '{"No": 0.5, "Yes": 0.5}'

    hold(model, reply, cases=1)
    hold(model, reply, cases=3)
    assert len(seen) == len(set(seen)) + 3 == 33  # the first belief of each case is drawn twice
    store, source = store_for(model, "heart"), load_dataset("heart")
    assert list(due(model, patients(source, 3), store)) == []
    assert dry_run(model, patients(source, 3), store).answers == 0


@pytest.mark.parametrize(
    ("model", "dataset", "said"),
    [
        ("steadfast", "hart", "unknown dataset 'hart': did you mean 'heart'?"),
        ("stedfast", "heart", "unknown model 'stedfast': did you mean 'steadfast'?"),
        ("candid", "heart", "Simulated, candid answers no follow-up questions"),
    ],
)
def test_what_cannot_be_asked_is_told_on_one_line(model, dataset, said, asked, capsys):
    assert main(["followup", "pressure", "--model", model, "--dataset", dataset]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"belief: {said}")
    assert error.count("\n") == 1


# --- controls whose movement is known ---------------------------------------------------------------------------------


def test_a_steadfast_respondent_moves_nothing(asked):
    frame = load_pressure("heart", "steadfast")
    assert list(frame.columns) == COLUMNS
    assert len(frame) == CASES * (1 + len(QUESTIONS))
    truth = load_cases("heart").set_index("case")["p_star"]
    assert (frame["before"].to_numpy() == truth.loc[frame["case"]].round(2).to_numpy()).all()
    for one in movements(frame):
        assert one.n_cases == one.decision.n == CASES
        assert one.size.value == one.chance.value == one.shift.value == one.from_truth.value == 0
        assert one.size.interval == (0, 0)
        assert (one.unmoved, one.toward, one.away, one.taken) == (1, 0, 0, 0)
        assert (one.decision.changed, one.decision.n_unmoved, one.decision.both) == (0, CASES, 0)


def test_a_yielding_respondent_takes_every_suggestion_and_halves_the_way_to_the_middle(asked):
    found = {one.question: one for one in movements(load_pressure("heart", "yielding"))}
    leading = found[LEADING]
    assert (leading.taken, leading.toward) == (1, 1)
    assert leading.followed == pytest.approx(1)
    assert leading.pull_beyond_again.value == pytest.approx(0.3)
    assert leading.decision.agree == leading.decision.both == leading.decision.changed > 0
    half = (load_cases("heart")["p_star"].round(2) - 0.5).abs().mean() / 2
    for kind in (CLOSED, OPEN):
        assert found[kind].size.value == pytest.approx(half)
        assert found[kind].to_middle == found[kind].toward == 1 - found[kind].unmoved
    assert found[AGAIN].size.value == 0


def test_decisions_are_those_of_highest_expected_utility(asked):
    frame = load_pressure("heart", "yielding")
    frame = frame[frame["question"] != SECOND_DRAW]
    for belief, decision in (("before", "decision_before"), ("after", "decision_after")):
        sure = 2 * frame[belief] - 1
        expected = np.where(sure.abs() <= 0.35, "defer", np.where(sure > 0, "positive", "negative"))
        away = (sure.abs() - 0.35).abs() > 1e-9  # exactly between two decisions, the last bit decides
        assert (frame[decision] == expected)[away].all()


# --- the measures -----------------------------------------------------------------------------------------------------

beliefs = st.integers(0, 100).map(lambda each: each / 100)
decided = st.sampled_from(["negative", "defer", "positive", None])


@st.composite
def frames(draw) -> pd.DataFrame:
    """Conversations about some cases, with gaps."""
    rows = []
    for case in range(draw(st.integers(1, 7))):
        before, truth, decision = draw(beliefs), draw(beliefs), draw(decided)
        for question in (SECOND_DRAW, *QUESTIONS):
            after = draw(st.none() | beliefs)
            rows.append([case, question, before, after, suggested(before), decision, draw(decided), truth, None])
    numbers = dict.fromkeys(["before", "after", "suggested", "p_star"], float)
    return pd.DataFrame(rows, columns=COLUMNS).astype(numbers)


@settings(max_examples=20, deadline=None)
@given(frames())
def test_what_holds_of_any_movement(frame):
    for one in movements(frame, resamples=20):
        assert one.n_cases + one.unread == frame["case"].nunique()
        if one.n_cases == 0:
            assert np.isnan(one.size.value)
            continue
        assert abs(one.shift.value) <= one.size.value + 1e-9 <= 1 + 2e-9
        assert abs(one.pull.value) <= one.size.value + 1e-9
        assert one.toward + one.away + one.unmoved == pytest.approx(1)
        assert one.taken <= one.toward
        low, high = one.size.interval
        assert np.isnan(low) if one.n_cases < 2 else 0 <= low <= high <= 1
        change = one.decision
        assert change.n == change.n_moved + change.n_unmoved <= one.n_cases
        assert change.changed == change.changed_if_moved + change.changed_if_unmoved
        assert change.agree <= change.both == change.changed_if_moved


@settings(max_examples=20, deadline=None)
@given(frames(), st.randoms(use_true_random=False))
def test_a_mirrored_world_moves_the_other_way_and_order_does_not_matter(frame, random):
    mirror = {"negative": "positive", "positive": "negative"}
    mirrored = frame.assign(**{name: 1 - frame[name] for name in ("before", "after", "suggested", "p_star")})
    for name in ("decision_before", "decision_after"):
        mirrored[name] = frame[name].replace(mirror)
    shuffled = frame.sample(frac=1, random_state=random.randint(0, 99))
    for kind in QUESTIONS:
        one = movement(frame, kind, resamples=20)
        assert repr(movement(shuffled, kind, resamples=20)) == repr(one)
        other = movement(mirrored, kind, resamples=20)
        assert other.shift.value == pytest.approx(-one.shift.value, nan_ok=True)
        for name in ("size", "chance", "beyond_chance", "beyond_again", "pull", "pull_beyond_again", "from_truth"):
            assert getattr(other, name).value == pytest.approx(getattr(one, name).value, nan_ok=True, abs=1e-9)
        assert repr(other.decision) == repr(one.decision)


def test_a_small_example_by_hand():
    rows = []
    for case, (before, draw, again, after) in enumerate([(0.2, 0.4, 0.3, 0.5), (0.8, 0.8, 0.8, 0.9)]):
        for question, value in ((SECOND_DRAW, draw), (AGAIN, again), (LEADING, after)):
            rows.append([case, question, before, value, suggested(before), "negative", "defer", 0.5, None])
    one = movement(pd.DataFrame(rows, columns=COLUMNS), LEADING)
    assert one.size.value == pytest.approx((0.3 + 0.1) / 2)
    assert one.chance.value == pytest.approx(0.1)
    assert one.beyond_chance.value == pytest.approx(0.1)
    assert one.beyond_again.value == pytest.approx(0.15)
    assert one.pull.value == pytest.approx((0.3 - 0.1) / 2)
    assert one.pull_beyond_again.value == pytest.approx(0.05)
    assert one.followed == pytest.approx((1 - 1 / 3) / 2)
    assert (one.toward, one.away, one.taken, one.to_middle) == (0.5, 0.5, 0.5, 0.5)
    assert one.from_truth.value == pytest.approx((-0.3 + 0.1) / 2)
    assert (one.decision.changed, one.decision.agree, one.decision.p_value) == (2, 2, 0.5)


def test_decisions_that_move_against_the_belief():
    movement_of = np.array([0.1, -0.2, 0.3, 0.0])
    before = np.array(["positive", "defer", "negative", "defer"], dtype=object)
    after = np.array(["defer", "positive", None, "negative"], dtype=object)
    change = decision_change(movement_of, before, after)
    assert (change.n, change.changed, change.both, change.agree) == (3, 3, 2, 0)
    assert (change.n_unmoved, change.changed_if_unmoved) == (1, 1)
    assert (change.share, change.agreement, change.p_value) == (1, -1, 0.5)
    assert change.interval == pytest.approx((0.292402, 1), abs=1e-6)  # from .025 ** (1 / 3)


@settings(deadline=None)
@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_exact_interval_and_the_sign_test_are_those_of_scipy(counts):
    agree, n = counts
    before, after = ["defer"] * n, ["positive"] * agree + ["negative"] * (n - agree)
    change = decision_change(np.full(n, 0.1), np.array(before, dtype=object), np.array(after, dtype=object))
    assert change.p_value == pytest.approx(binomtest(agree, n).pvalue)
    stays = np.array(["positive"] * agree + ["defer"] * (n - agree), dtype=object)
    exact = binomtest(agree, n).proportion_ci(0.95, method="exact")
    interval = decision_change(np.zeros(n), np.array(before, dtype=object), stays).interval
    assert interval == pytest.approx((exact.low, exact.high), abs=1e-9)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda frame: frame.drop(columns="suggested"), "have no column suggested"),
        (lambda frame: frame.assign(after=1.2), "a belief after a follow-up question is outside 0 to 1"),
        (lambda frame: pd.concat([frame, frame.head(1)]), "case 0 has two rows of 'second draw'"),
    ],
)
def test_a_frame_that_cannot_be_right(change, said, asked):
    with pytest.raises(BeliefError, match=said):
        movement(change(load_pressure("heart", "steadfast")), CLOSED)
    with pytest.raises(BeliefError, match="unknown follow-up question 'opened': did you mean 'open'"):
        movement(load_pressure("heart", "steadfast"), "opened")


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_the_picture_and_the_table(asked, monkeypatch):
    monkeypatch.setattr(pictures, "RESOLUTION", 40)
    monkeypatch.setitem(pictures.STYLE, "pdf.fonttype", 3)
    result = "belief_under_pressure"
    for model in ("yielding", "steadfast"):
        frame = load_pressure("heart", model)
        found = movements(frame)
        image = pressure_picture(result, f"heart_{model}", frame, found, "Heart", source="simulated agent")
        assert image.data.startswith(b"\x89PNG")
        save_row(result, model, "heart", pressure_row(frame, found))
    plotted = pd.read_csv(asked / "figures" / result / "heart_yielding.csv")
    leading = plotted[plotted["part"] == LEADING]
    assert len(leading) == CASES
    assert set(leading["label"]) <= {CHANGED, KEPT}
    assert (leading["label"] == CHANGED).sum() == movement(load_pressure("heart", "yielding"), LEADING).decision.changed
    assert {path.name for path in write_pressure_table()} == {"table.csv", "table.md", "table.tex"}
    assert write_pressure_table() == []
    table = pd.read_csv(asked / "figures" / result / "table.csv")
    assert table["question"].tolist() == [*QUESTIONS] * 2
    assert table.loc[table["model"] == "yielding", "taken"].iloc[-1] == 1
    shown = pressure_frame("steadfast", "heart")
    assert shown["Movement [95 % CI]"].tolist() == ["0.000 [0.000, 0.000]"] * 4
    assert set(shown["Source"]) == {"simulated"}


def test_a_picture_without_answers_says_so(empty, monkeypatch):
    monkeypatch.setattr(pictures, "RESOLUTION", 40)
    monkeypatch.setitem(pictures.STYLE, "pdf.fonttype", 3)
    frame = load_pressure("heart", "small")
    assert list(frame.columns) == COLUMNS
    image = pressure_picture("belief_under_pressure", "none", frame, movements(frame), "Heart", source="nobody")
    assert image.data.startswith(b"\x89PNG")


def test_answers_of_two_versions_of_a_model_are_told_apart(asked):
    frame = load_pressure("heart", "yielding")
    frame.attrs["versions"] = {"one": 100, "two": 32}
    save_row("belief_under_pressure", "yielding", "heart", pressure_row(frame, movements(frame, resamples=2)))
    write_pressure_table()
    notes = (asked / "figures" / "belief_under_pressure" / "table.md").read_text()
    assert "WARNING: Heart–Simulated, yielding: the answers come from 2 versions of the model: 100 from one" in notes

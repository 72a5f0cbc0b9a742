"""Simulated respondents through the whole pipeline: what is known of them is what the metrics say of them."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import binom

from belief_utils.asking.models import Model, load_model, load_models
from belief_utils.cli import main
from belief_utils.errors import BeliefError
from belief_utils.followup.items import ITEM_SETS, load_items, seeded
from belief_utils.followup.metrics import Change, change
from belief_utils.followup.misleading import misleading_answer
from belief_utils.followup.respondents import Respondent, respondent_answerer, respondent_of
from belief_utils.followup.scores import load_scores
from tests import followup_home, small_home

OWN = [name for name, each in ITEM_SETS.items() if each.own]
RESPONDENTS = ("simulated-steadfast", "simulated-wavering", "simulated-sycophantic", "simulated-mending")
DIRECT = tuple(f"initial>{kind}-A" for kind in ("closed", "open", "leading"))
LATER_ROUNDS = ("initial>closed-A>open-A", "initial>closed-A>open-A>leading-A")


#: Items of each set: more for the rates that are compared with a probability, a few for those that are exact.
LIMITS = {
    "simulated-steadfast": 15,
    "simulated-wavering": 60,
    "simulated-sycophantic": 15,
    "simulated-mending": 40,
}

Scores = dict[str, dict[str, pd.DataFrame]]


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which every respondent was asked about our own items, with the command."""
    top = followup_home.make(tmp_path_factory.mktemp("respondents") / "repository")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELIEF_HOME", str(top))
        for model in RESPONDENTS:
            assert main(["followup", "collect", "--quiet", "--model", model, "--limit", str(LIMITS[model])]) == 0
    return top


@pytest.fixture(scope="module")
def scores(top: Path) -> Scores:
    """The scored answers of each respondent about each of our own sets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELIEF_HOME", str(top))
        return {model: {name: load_scores(name, model) for name in OWN} for model in RESPONDENTS}


@pytest.fixture
def home(top: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BELIEF_HOME", str(top))
    return top


def changes(scores: Scores, model: str, turns: str) -> dict[str, Change]:
    """What a conversation did to the answers of a respondent, for each of our own sets."""
    return {name: change(frame, turns, resamples=1) for name, frame in scores[f"simulated-{model}"].items()}


def within(count: int, n: int, probability: float) -> bool:
    """Whether a count is inside the middle 99.9 % of a binomial distribution."""
    low, high = binom.interval(0.999, n, probability)
    return low <= count <= high


def test_the_steadfast_one_never_changes_an_answer(scores: Scores) -> None:
    for turns in (*DIRECT, *LATER_ROUNDS):
        for name, found in changes(scores, "steadfast", turns).items():
            assert (found.modification, found.modification_rate) == (0.0, 0.0), (name, turns)
            assert found.n_followed == found.n_right > 0
            assert (found.n_gained or 0) == 0


def test_the_sycophantic_one_takes_every_answer_that_it_is_offered_and_gives_in_to_nothing_else(scores: Scores) -> None:
    for name, found in changes(scores, "sycophantic", "initial>leading-A").items():
        assert found.modification_rate == 1.0, name
        assert found.n_adopted == found.n_lost == found.n_right > 0
        assert found.modification == pytest.approx(found.before)
        assert found.after == pytest.approx(0)
    for found in changes(scores, "sycophantic", "initial>closed-A>open-A>leading-A").values():
        assert found.modification_rate == 1.0
    for turns in (*DIRECT[:2], LATER_ROUNDS[0]):
        assert {found.modification_rate for found in changes(scores, "sycophantic", turns).values()} == {0.0}


def test_the_wavering_one_gives_up_three_in_ten(scores: Scores) -> None:
    for turns in DIRECT:
        found = changes(scores, "wavering", turns).values()
        lost, followed = sum(each.n_lost for each in found), sum(each.n_followed for each in found)
        assert followed > 200
        assert within(lost, followed, 0.3), (turns, lost, followed)
        assert not any(each.n_unable or each.n_unread for each in found)


def test_the_mending_one_corrects_nine_in_ten_and_loses_none(scores: Scores) -> None:
    gained = wrong = 0
    for turns in DIRECT:
        for found in changes(scores, "mending", turns).values():
            assert found.n_lost == 0
            gained += found.n_gained or 0
            wrong += found.n_wrong_followed or 0
    assert wrong > 150
    assert within(gained, wrong, 0.9), (gained, wrong)


@pytest.mark.parametrize("model", RESPONDENTS)
def test_first_answers_are_right_as_often_as_the_registry_says(model: str, scores: Scores) -> None:
    everything = pd.concat(list(scores[model].values()))
    first = everything[everything["turns"] == "initial"]
    assert set(first["again"]) == {False, True}
    assert len(first) == 2 * 5 * LIMITS[model]
    assert within(int(first["right"].sum()), len(first), load_model(model).respondent["accuracy"])


@pytest.mark.parametrize("model", RESPONDENTS)
def test_every_answer_can_be_read(model: str, scores: Scores) -> None:
    for frame in scores[model].values():
        assert frame["value"].notna().all(), frame[frame["value"].isna()]["text"].tolist()
        assert frame["problem"].isna().all()


def test_asked_again_after_the_first_answer_the_noise_floor_is_that_of_chance(scores: Scores) -> None:
    # A second first answer is drawn anew, so that it is wrong as often as any, whatever a follow-up question would do.
    lost = right = 0
    for frame in scores["simulated-wavering"].values():
        first = frame[frame["turns"] == "initial"].pivot_table(index="item", columns="again", values="right")
        right += int(first[False].sum())
        lost += int((first[False] > first[True]).sum())
    assert within(lost, right, 0.2), (lost, right)
    again = [found.again_rate for found in changes(scores, "wavering", "initial>closed-A").values()]
    assert min(again) * right <= lost <= max(again) * right


def test_a_second_run_receives_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["followup", "collect", "--quiet", "--model", "simulated-steadfast", "--limit", "15"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(OWN)
    assert all(": 0 answers received, 0 failed, 0 missing; " in line for line in lines)


def test_demonstrations_are_not_taken_for_its_own_answers(home: Path) -> None:
    few = ["--items", "facts_tf,own_arithmetic", "--limit", "12", "--studies", "mitigation"]
    assert main(["followup", "collect", "--quiet", "--model", "simulated-steadfast", *few]) == 0
    for name, kind in (("facts_tf", "closed"), ("own_arithmetic", "leading")):
        for turns in (f"initial+shots-{kind}-A>{kind}-A", f"initial+shots-{kind}-A>{kind}-A+cot"):
            found = change(load_scores(name, "simulated-steadfast"), turns, resamples=1)
            assert found.n_followed == found.n_right > 0
            assert found.modification_rate == 0.0


# --- the respondent alone -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OWN)
def test_what_a_respondent_does_with_its_answer(name: str) -> None:
    for item in load_items(name, 15):
        draw = seeded("test", item.id)
        other = misleading_answer(item)
        assert Respondent(1.0).first(item, draw) == item.answer
        assert Respondent(0.0).first(item, draw) == other
        assert Respondent(1.0).next(item, item.answer, other, draw) == item.answer
        assert Respondent(1.0, waver=1.0).next(item, item.answer, None, draw) == other
        assert Respondent(1.0, follow=1.0).next(item, item.answer, other, draw) == other
        assert Respondent(1.0, follow=1.0).next(item, item.answer, None, draw) == item.answer
        assert Respondent(1.0, mend=1.0).next(item, other, None, draw) == item.answer
        # Being offered an answer comes first.
        assert Respondent(1.0, 1.0, 1.0, 1.0).next(item, item.answer, other, draw) == other


def test_the_registry_has_the_four_respondents() -> None:
    assert tuple(key for key, model in load_models().items() if model.respondent) == RESPONDENTS
    assert [respondent_of(load_model(key)) for key in RESPONDENTS] == [
        Respondent(0.8),
        Respondent(0.8, waver=0.3),
        Respondent(0.8, follow=1.0),
        Respondent(0.6, mend=0.9),
    ]


@pytest.mark.parametrize(
    ("knobs", "said"),
    [
        (
            {"acuracy": 0.5},
            "unknown entry in data/models.toml, table [odd.respondent]: 'acuracy': did you mean 'accuracy'?",
        ),
        ({"accuracy": 1.5}, "accuracy must be a number from 0 to 1, not 1.5"),
        ({"accuracy": "often"}, "accuracy must be a number from 0 to 1, not 'often'"),
        ({"accuracy": True}, "accuracy must be a number from 0 to 1, not True"),
        ({"waver": 0.5}, "the entry 'accuracy' is missing"),
        ({}, "Odd answers no follow-up questions; see `belief models` for the respondents"),
    ],
)
def test_knobs_that_are_wrong_are_told_in_one_line(knobs: dict, said: str) -> None:
    with pytest.raises(BeliefError) as told:
        respondent_answerer(Model("odd", "Odd", "simulated", "odd-1", respondent=knobs), "facts_tf")
    assert said in str(told.value)
    assert "\n" not in str(told.value)


# --- what respondents are not asked -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "simulated-steadfast", "--items", "gsm8k"], "answers our own items only"),
        (["--model", "simulated-steadfast", "--items", "facts_tf,mmlu"], "answers our own items only"),
        (["--model", "simulated-steadfast", "--items", "gsm8k", "--dry-run"], "answers our own items only"),
        (["--model", "simulated-candid"], "Simulated, candid answers no follow-up questions; see `belief models`"),
        (["--model", "simulated-wavering", "--studies", "temperature"], "takes no temperature in data/models.toml"),
    ],
)
def test_what_a_simulated_model_does_not_answer(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    top = followup_home.make(tmp_path / "repository")
    followup_home.write_benchmarks(top / "data" / "benchmarks")
    monkeypatch.setenv("BELIEF_HOME", str(top))
    assert main(["followup", "collect", "--quiet", *arguments]) == 2
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert said in error
    assert not list((top / "data").glob("responses/*/*.jsonl"))


@pytest.mark.parametrize("dataset", ["heart", "child"])
def test_a_respondent_reports_no_beliefs(
    dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # What it would say as a candid agent would stand in the store as its own.
    top = small_home.make(tmp_path / "repository", ("heart",)) if dataset == "heart" else small_home.REPOSITORY
    if dataset == "child":
        from belief_utils.beliefs.multistate_agents import multistate_answerer
        from belief_utils.beliefs.multistate_dataset import load_multistate_dataset

        with pytest.raises(BeliefError, match="answers follow-up questions and reports no beliefs"):
            multistate_answerer(load_model("simulated-steadfast"), load_multistate_dataset("child"))
        return
    followup = small_home.MODELS + '\n[steady]\nname = "Steady"\nkind = "simulated"\nmodel = "steady-1"\n'
    (top / "data" / "models.toml").write_text(followup + "[steady.respondent]\naccuracy = 0.8\n")
    monkeypatch.setenv("BELIEF_HOME", str(top))
    assert main(["collect", "--quiet", "--model", "steady", "--dataset", "heart", "--prompts", "belief"]) == 2
    error = capsys.readouterr().err
    assert error == (
        "belief: Steady answers follow-up questions and reports no beliefs: ask it with belief followup collect, or "
        "give it a table [steady.agent]\n"
    )
    assert not list((top / "data").glob("responses/*/*.jsonl"))


def test_a_model_may_be_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = replace(load_model("simulated-steadfast"), agent={"hidden": 0.0})
    from belief_utils.beliefs.agents import agent_of

    assert agent_of(both).hidden == 0.0
    assert respondent_of(both).accuracy == 0.8

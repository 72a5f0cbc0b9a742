"""Ways to ask for a belief: the same cases, the same decisions and the same tests for each, and what is told of it."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import nbformat
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy.stats import spearmanr

from belief_utils.asking.models import load_model
from belief_utils.asking.store import Store
from belief_utils.beliefs.elicitation import store_for
from belief_utils.beliefs.information import information_test
from belief_utils.beliefs.sufficiency import KNOWS_MORE, NO_EVIDENCE, holm, sufficiency_test
from belief_utils.beliefs.ways import SameCases, Way, line_up, load_ways
from belief_utils.beliefs.ways_compared import NOT_COMPARED, compare_ways, excess_information, rank_correlation
from belief_utils.cli import main
from belief_utils.errors import BeliefError
from belief_utils.reporting import pictures
from belief_utils.reporting.available import has_elicitations
from belief_utils.reporting.gathering import measured
from belief_utils.reporting.jobs import jobs_for
from belief_utils.reporting.results import folder, save_row
from belief_utils.reporting.rows import ways_row
from belief_utils.reporting.tables import TABLES, table_frame, write_table
from belief_utils.reporting.ways_picture import draw_ways, ways_picture, ways_rows
from tests import small_home
from tests.fake_server import FakeServer, right_answer

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebooks" / "07_ways_to_ask.ipynb"
RESULT = "ways_to_ask"


@pytest.fixture(autouse=True)
def quick_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "RESOLUTION", 40)
    monkeypatch.setitem(pictures.STYLE, "pdf.fonttype", 3)


def decisions(cases: int, repetitions: int = 5, seed: int = 0) -> pd.DataFrame:
    """Somebody who acts on the true probability."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0.03, 0.97, cases)
    outcome = (rng.random(cases) < truth).astype(int)
    frame = pd.DataFrame({"case": np.arange(cases), "p_star": truth, "outcome": outcome})
    frame = frame.loc[frame.index.repeat(repetitions)].reset_index(drop=True)
    frame["repetition"] = np.tile(np.arange(repetitions), cases)
    seen = frame["p_star"] + rng.normal(0, 0.15, len(frame))
    frame["action"] = np.select([seen < 0.4, seen > 0.65], ["negative", "positive"], "defer")
    return frame


def stated(beliefs: Mapping[int, list[float]]) -> pd.DataFrame:
    """Stated probabilities by case."""
    rows = [(case, repetition, value) for case, values in beliefs.items() for repetition, value in enumerate(values)]
    return pd.DataFrame(rows, columns=["case", "repetition", "belief"])


def read_off(beliefs: Mapping[int, float], effect: Mapping[int, float] | float = 0.0) -> pd.DataFrame:
    """Token probabilities by case."""
    frame = stated({case: [belief] for case, belief in beliefs.items()})
    return frame.assign(order_effect=frame["case"].map(effect) if isinstance(effect, Mapping) else effect)


def counted(first: Mapping[int, list[float]], second: Mapping[int, list[float]]) -> pd.DataFrame:
    """Single answers by case, in both orders of the options."""
    frame = stated(first).rename(columns={"belief": "yes_first"})
    return frame.merge(stated(second).rename(columns={"belief": "no_first"})).assign(answers=2)


def named(same: SameCases) -> dict[str, Way]:
    return {way.name: way for way in same.ways}


# --- the same cases -------------------------------------------------------------------------------------------------


def test_only_cases_that_every_way_has_a_belief_about_are_kept() -> None:
    nothing = math.nan
    answers = {
        "verbalised": stated({0: [0.1, 0.3], 1: [nothing, nothing], 2: [0.5, nothing], 3: [0.7, 0.7], 4: [0.9]}),
        "token": read_off({0: 0.2, 1: 0.4, 2: 0.6, 3: nothing}),
        # Never asked about by the token probability, or without a decision: no case for any.
        "reasoned": stated({0: [0.3], 1: [0.3], 2: [0.3], 3: [0.3], 4: [0.3], 9: [0.3]}),
    }
    same = line_up(answers, decisions(6), {"m-1": 3})
    assert (same.n_cases, same.n_asked, same.set_aside) == (2, 4, ())
    assert str(same) == "2 of 4 cases have a belief from each of: verbalised, token, reasoned"
    told = {way.name: (way.answers, way.read) for way in same.ways}
    assert told == {"verbalised": (8, 5), "token": (4, 3), "reasoned": (4, 4)}
    for way in same.ways:
        assert list(way.beliefs["case"]) == [0, 2]
        assert len(way.judgments) == 10
    beliefs = {way.name: way.beliefs["belief"].tolist() for way in same.ways}
    assert beliefs == {"verbalised": pytest.approx([0.2, 0.5]), "token": [0.2, 0.6], "reasoned": [0.3, 0.3]}


def test_decisions_are_the_same_for_every_way() -> None:
    frame = decisions(8)
    truth = frame.groupby("case")["p_star"].first()
    ones = {case: [1.0, 0.0] for case in truth.index}
    answers = {
        "verbalised": stated({case: [p] * 5 for case, p in truth.items()}),
        "token": read_off(truth),
        "frequency": counted(ones, ones),
    }
    columns = ["case", "repetition", "action", "outcome", "p_star"]
    for way in line_up(answers, frame).ways:
        pd.testing.assert_frame_equal(way.judgments[columns], frame[columns])


def test_a_way_that_can_hardly_be_read_is_set_aside_and_leaves_the_others_their_cases() -> None:
    frame = decisions(20)
    readable = {case: [0.5 if case < 9 else math.nan] for case in range(20)}
    answers = {"verbalised": stated({case: [case / 20] for case in range(20)}), "reasoned": stated(readable)}
    same = line_up(answers, frame)
    assert (same.n_cases, same.n_asked, same.set_aside) == (20, 20, ("reasoned",))
    assert "set aside, for it can be read for too few cases: reasoned" in str(same)
    assert (named(same)["reasoned"].answers, named(same)["reasoned"].read) == (20, 9)
    verbalised, reasoned = compare_ways(same, permutations=9, resamples=5)
    assert (reasoned.verdict, reasoned.sufficiency, reasoned.margin) == (NOT_COMPARED, None, None)
    assert math.isnan(reasoned.holm_p_value)
    # Its tests count for nobody's adjustment.
    assert verbalised.holm_p_value == verbalised.sufficiency.p_value


def test_without_any_readable_way_there_is_nothing_to_compare() -> None:
    same = line_up({"verbalised": stated({0: [math.nan], 1: [math.nan]})}, decisions(2))
    assert (same.n_cases, same.n_asked) == (0, 0)
    assert [one.verdict for one in compare_ways(same)] == [NOT_COMPARED]
    assert ways_rows(same, "A title", "a source")["part"].tolist() == ["title", "source"]
    assert line_up({}, decisions(2)).ways == ()
    assert compare_ways(line_up({}, decisions(2))) == ()


# --- the reports of one way -----------------------------------------------------------------------------------------


def test_spread_of_stated_probabilities() -> None:
    answers = {"verbalised": stated({0: [0.2, 0.4], 1: [0.5, 0.5, 0.8], 2: [0.1]})}
    (way,) = line_up(answers, decisions(3)).ways
    pooled = (0.02 + 0.06) / (1 + 2)
    assert way.within_sd == pytest.approx(math.sqrt(pooled))
    assert way.standard_error == pytest.approx(math.sqrt((pooled / 2 + pooled / 3 + pooled) / 3))
    assert math.isnan(way.order_effect)


def test_a_token_probability_has_no_spread_and_stands_beside_every_decision() -> None:
    effects = {0: 0.1, 1: 0.3, 2: 0.2, 3: 0.0}
    (way,) = line_up({"token": read_off({0: 0.1, 1: 0.4, 2: 0.6, 3: 0.8}, effects)}, decisions(4)).ways
    assert math.isnan(way.within_sd)
    assert math.isnan(way.standard_error)
    assert (way.judgments["report"] == way.judgments["belief"]).all()
    # Student's t with 3 degrees of freedom.
    reach = 3.182446 * np.std(list(effects.values()), ddof=1) / 2
    assert way.order_effect == pytest.approx(0.15)
    assert way.order_effect_interval == pytest.approx((0.15 - reach, 0.15 + reach))


def test_an_order_effect_in_one_case_has_no_interval() -> None:
    (way,) = line_up({"token": read_off({0: 0.1}, 0.2)}, decisions(1)).ways
    assert way.order_effect == pytest.approx(0.2)
    assert all(map(math.isnan, way.order_effect_interval))


def test_a_frequency_has_a_standard_error_and_an_order_effect() -> None:
    first, second = {0: [1, 1, 1, 0], 1: [1, 0, 1, 0]}, {0: [1, 0, 0, 0], 1: [0, 0, math.nan, 0]}
    (way,) = line_up({"frequency": counted(first, second)}, decisions(2, repetitions=2)).ways
    assert way.beliefs["belief"].tolist() == pytest.approx([0.5, 0.25])
    assert (way.answers, way.read) == (16, 15)
    assert math.isnan(way.within_sd)
    # p (1 - p) / (n - 1) for each order, a quarter of their sum, mean of both cases.
    of_cases = ((0.75 * 0.25 / 3) * 2 / 4, (0.5 * 0.5 / 3 + 0) / 4)
    assert way.standard_error == pytest.approx(math.sqrt(sum(of_cases) / 2))
    assert way.order_effect == pytest.approx(0.5)


ANSWERS = st.lists(st.sampled_from([0.0, 1.0]), min_size=12, max_size=12)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(ANSWERS, ANSWERS), min_size=1, max_size=4), st.sampled_from([1, 2, 3, 4, 6, 12]))
def test_the_answers_of_a_frequency_are_dealt_out_to_the_decisions(answers: list, hands: int) -> None:
    first, second = ({case: sides[order] for case, sides in enumerate(answers)} for order in (0, 1))
    (way,) = line_up({"frequency": counted(first, second)}, decisions(len(answers), repetitions=hands)).ways
    rows = way.judgments
    assert rows.groupby("case")["report"].mean().to_numpy() == pytest.approx(way.beliefs["belief"].to_numpy())
    for row in rows.itertuples():
        dealt = [side[row.repetition :: hands] for side in answers[row.case]]
        assert row.report == pytest.approx(np.mean(dealt))


def test_a_stated_probability_stands_beside_the_decision_of_its_own_repetition() -> None:
    (way,) = line_up({"reasoned": stated({0: [0.2, 0.6], 1: [0.4]})}, decisions(2, repetitions=3)).ways
    missing = -1
    assert way.judgments["report"].fillna(missing).tolist() == [0.2, 0.6, missing, 0.4, missing, missing]
    assert way.judgments["belief"].tolist() == pytest.approx([0.4] * 6)


# --- the tests ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def compared() -> dict[str, Any]:
    """A belief that holds all that the decisions rest on, one that holds nothing, and one asked for once."""
    frame = decisions(150, seed=3)
    truth = frame.groupby("case")["p_star"].first()
    rng = np.random.default_rng(1)
    answers = {
        "verbalised": stated({case: list(np.clip(p + rng.normal(0, 0.02, 5), 0, 1)) for case, p in truth.items()}),
        "token": read_off({case: rng.random() for case in truth.index}),
        "reasoned": stated({case: [rng.random()] for case in truth.index}),
    }
    same = line_up(answers, frame)
    return {one.way.name: one for one in compare_ways(same, resamples=20)}


def test_a_way_that_misses_what_the_decisions_rest_on_fails_and_one_that_holds_it_does_not(compared) -> None:
    assert compared["verbalised"].verdict == NO_EVIDENCE
    assert compared["token"].verdict == KNOWS_MORE
    assert compared["token"].excess > 0.05 > compared["verbalised"].excess
    assert compared["verbalised"].margin.anchored_verdict == "strictly monotone (certified)"
    assert compared["token"].margin.anchored_verdict != "strictly monotone (certified)"
    assert compared["verbalised"].from_truth < 0.02 < 0.3 < compared["token"].from_truth


def test_it_is_the_same_test_as_everywhere_and_adjusted_for_the_number_of_ways(compared) -> None:
    tests = {name: sufficiency_test(one.way.judgments) for name, one in compared.items()}
    assert {name: one.sufficiency for name, one in compared.items()} == tests
    adjusted = holm([test.p_value for test in tests.values()])
    assert [one.holm_p_value for one in compared.values()] == pytest.approx(list(adjusted))


def test_noise_that_nobody_can_tell_is_in_the_verdict(compared) -> None:
    assert math.isnan(compared["reasoned"].noise_p_value)
    assert compared["reasoned"].verdict == "knows more than it says, unless its reports are noisy"
    assert "one repetition a case" in compared["reasoned"].note
    # Nothing is drawn in a token probability: its noise is known to be none.
    assert compared["token"].noise_p_value == pytest.approx(compared["token"].sufficiency.p_chi2)


def test_agreement_with_the_verbalised_belief(compared) -> None:
    assert math.isnan(compared["verbalised"].agreement)
    low, high = compared["token"].agreement_interval
    assert low < 0 < high
    assert low < compared["token"].agreement < high


NUMBERS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=20)


@given(NUMBERS)
def test_rank_correlation_is_spearmans(pairs: list[tuple[int, int]]) -> None:
    one, other = ([value / 6 for value in values] for values in zip(*pairs, strict=True))
    found = rank_correlation(one, other)
    if len(set(one)) < 2 or len(set(other)) < 2:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)
        assert rank_correlation([math.exp(value) for value in one], other) == pytest.approx(found)


def test_the_excess_sees_what_decisions_that_share_a_belief_hide_from_the_estimate() -> None:
    frame = decisions(200, seed=7)
    frame["belief"] = frame["case"].map(dict(enumerate(np.random.default_rng(2).random(200))))
    assert abs(information_test(frame, resamples=2).excess) < 0.02
    excess, (low, high) = excess_information(frame, resamples=50)
    assert 0.05 < low < excess < high


def test_without_rows_enough_there_is_no_excess() -> None:
    frame = decisions(3).assign(belief=0.5)
    assert math.isnan(excess_information(frame)[0])
    assert math.isnan(excess_information(frame.assign(action=None))[0])


# --- the picture ----------------------------------------------------------------------------------------------------


def test_the_picture_shows_every_case_once_for_each_way(home: Path) -> None:
    frame = decisions(30)
    truth = frame.groupby("case")["p_star"].first()
    same = line_up({"verbalised": stated({c: [p] for c, p in truth.items()}), "token": read_off(truth**2)}, frame)
    image = ways_picture(RESULT, "heart_fake", same, "A $title", source="surrogate cases")
    assert image.data.startswith(b"\x89PNG")
    kept = pd.read_csv(folder(RESULT) / "heart_fake.csv")
    assert kept.loc[kept["part"] == "count", "label"].item().startswith("30 of 30 cases have a belief from each of")
    for name, belief in (("verbalised", truth), ("token", truth**2)):
        rows = kept[kept["way"] == name]
        cases = rows[rows["part"] == "cases"]
        assert cases[["x", "y"]].to_numpy() == pytest.approx(np.column_stack([belief, truth]), abs=6e-5)
        assert (cases["label"] == "with the outcome").sum() == frame.groupby("case")["outcome"].first().sum()
        means = rows[rows["part"] == "mean"]
        assert (means["n"].sum(), len(means)) == (30, 5)
        assert np.average(means["y"], weights=means["n"]) == pytest.approx(truth.mean(), abs=1e-4)
        bars = rows[rows["part"] == "beliefs"]
        assert bars["n"].tolist() == np.histogram(belief, bins=20, range=(0, 1))[0].tolist()


def test_a_picture_of_nothing_says_so() -> None:
    figure = draw_ways(ways_rows(line_up({}, decisions(2)), "A title", "a source"))
    assert [text.get_text() for axes in figure.axes for text in axes.texts] == ["no answers"]


# --- from stored answers to the table -------------------------------------------------------------------------------


def answer(body: Mapping[str, Any], before: int, choice: int) -> str:
    """Answers to every way; the belief is read from the patient, and which order is named first matters."""
    prompt = body["messages"][-1]["content"]
    likely = "Sex=male" in prompt or "male" in prompt.split("female")[0]
    if "one word" in prompt:
        return "Yes" if (before + choice) % 5 < (4 if likely else 1) + ("Yes or No" in prompt) else "No"
    if "step by step" in prompt:
        return "Many have it.\n" + json.dumps({"No": 0.25, "Yes": 0.75})
    return right_answer(body, before, choice)


@pytest.fixture
def asked(home: Path, server: FakeServer) -> Path:
    """Six cases, the paper's prompts and all other ways."""
    server.answer = answer
    arguments = ["collect", "--quiet", "--model", "fake", "--dataset", "heart", "--repetitions"]
    assert main([*arguments, "3", "--prompts", "belief,decision"]) == 0
    assert main([*arguments, "1", "--elicitations", "token,reasoned"]) == 0
    assert main([*arguments, "7", "--elicitations", "frequency"]) == 0
    return home


@pytest.mark.usefixtures("asked")
def test_ways_are_loaded_with_as_many_answers_as_there_are() -> None:
    same = load_ways("heart", "fake")
    assert (same.n_cases, same.n_asked) == (6, 6)
    assert {way.name: way.answers for way in same.ways} == {
        "verbalised": 18, "token": 6, "frequency": 6 * 2 * 7, "reasoned": 6
    }  # fmt: skip
    assert named(same)["token"].beliefs["belief"].to_numpy() == pytest.approx(0.6)
    assert named(same)["frequency"].order_effect > 0
    assert [way.name for way in load_ways("heart", "fake", leave_out=["reasoned", "token"]).ways] == [
        "verbalised", "frequency"
    ]  # fmt: skip
    with pytest.raises(BeliefError, match=r"unknown way to ask 'tokens': did you mean 'token'\?"):
        load_ways("heart", "fake", leave_out=["tokens"])


@pytest.mark.usefixtures("asked")
def test_the_notebook_makes_picture_row_and_table_from_stored_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {}
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code":
            exec(cell.source, names)
            if "parameters" in cell.metadata.get("tags", []):
                names |= {"model": "fake", "dataset": "heart"}
    made = {path.relative_to(folder(RESULT)).as_posix() for path in folder(RESULT).rglob("*.*")}
    assert made == {"rows/heart_fake.json", "heart_fake.csv", "heart_fake.png", "heart_fake.pdf"}
    rows = measured(TABLES[RESULT].rules)
    assert [(row["label"], row["way"], row["source"]) for row in rows] == [
        ("Heart–Fake", way, "surrogate") for way in ("verbalised", "token", "frequency", "reasoned")
    ]
    assert {row["n_cases"] for row in rows} == {6}
    write_table(RESULT)
    shown = table_frame(RESULT).set_index("Way")
    assert shown["Answers read"].tolist() == ["100 %"] * 4
    assert shown.loc["token", "Standard error"] == shown.loc["verbalised", "Order effect [95 % CI]"] == "–"
    assert "| Heart–Fake | surrogate | frequency | 6 |" in (folder(RESULT) / "table.md").read_text(encoding="utf-8")


def test_answers_from_two_versions_are_told_below_its_table(asked: Path, server: FakeServer) -> None:
    server.fingerprint = "fp_new"
    assert main(["collect", "--quiet", "--model", "fake", "--dataset", "heart", "--elicitations", "reasoned"]) == 0
    same = load_ways("heart", "fake", leave_out=["frequency"])
    save_row(RESULT, "fake", "heart", ways_row(same, compare_ways(same, permutations=9, resamples=5)))
    write_table(RESULT)
    told = [line for line in (folder(RESULT) / "table.md").read_text(encoding="utf-8").splitlines() if "WARN" in line]
    version = "from fake-1-2026-01-01 / fp_"
    assert told == [
        f"- WARNING: Heart–Fake: the answers come from 2 versions of the model: 138 {version}fake, 24 {version}new"
    ]


# --- which pairs there are to run -----------------------------------------------------------------------------------


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Answers of two models about one dataset, and a notebook that compares ways to ask."""
    top = small_home.make(tmp_path, cases=3)
    monkeypatch.setenv("BELIEF_HOME", str(top))
    small_home.answer("candid", "fever")
    keep("small", "fever/0/belief", text="0.5")
    small_home.write_notebook(
        top / "notebooks" / "07_ways_to_ask.ipynb", "elicitations", 'model = "small"\ndataset = "fever"'
    )
    small_home.write_notebook(top / "notebooks" / "08_more.ipynb", "pairs", 'model = "small"\ndataset = "fever"')
    return top


def keep(model: str, item: str, **answered: str) -> None:
    store: Store = store_for(load_model(model), "fever")
    with store.writing():
        store.append({"key": f"{item}{answered}", "item": item, "repetition": 0, **answered})


@pytest.mark.usefixtures("repository")
def test_only_pairs_with_answers_to_other_ways_are_run() -> None:
    keep("small", "fever/0/token/yes-first", failure="no server")
    assert [job.name for job in jobs_for()] == ["08_more/fever_small", "08_more/fever_candid"]
    assert not has_elicitations("small", "fever")
    keep("small", "fever/0/token/yes-first", text="Yes")
    assert has_elicitations("small", "fever")
    assert not has_elicitations("candid", "fever")
    assert not has_elicitations("small", "heart")
    assert [job.name for job in jobs_for("07")] == ["07_ways_to_ask/fever_small"]
    assert len(jobs_for()) == 3


@pytest.mark.usefixtures("repository")
def test_if_no_other_way_was_asked_it_says_how_to() -> None:
    with pytest.raises(
        BeliefError, match=r"^no answers of candid .* 07_ways_to_ask .* --elicitations token,frequency,reasoned$"
    ) as raised:
        jobs_for("07", model="candid")
    assert "\n" not in str(raised.value)
    assert [job.name for job in jobs_for(model="candid")] == ["08_more/fever_candid"]


def test_a_notebook_of_elicitations_must_take_model_and_dataset(repository: Path) -> None:
    small_home.write_notebook(repository / "notebooks" / "07_ways_to_ask.ipynb", "elicitations", 'model = "small"')
    with pytest.raises(BeliefError, match="no parameter is called 'dataset'"):
        jobs_for()

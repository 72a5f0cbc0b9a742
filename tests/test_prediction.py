"""Predictive gain against known truths, published group averages, and information beyond calibrated beliefs."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from belief_utils.beliefs.prediction import (
    average_gain,
    calibrate_beliefs,
    calibrated_information,
    predictive_gain,
)
from belief_utils.errors import BeliefError

REFERENCE = Path(__file__).parent / "data" / "reference"
EXPECTED = json.loads((REFERENCE / "expected.json").read_text())


def simulated(seed, *, n_cases=200, repetitions=5, follows_outcome=0.0, decimals=None):
    """Judgments whose actions depend on the belief, or with some probability on the outcome itself."""
    rng = np.random.default_rng(seed)
    belief = rng.random(n_cases)
    outcome = (rng.random(n_cases) < belief).astype(int)
    case = np.repeat(np.arange(n_cases), repetitions)
    lean = np.where(rng.random(len(case)) < follows_outcome, outcome[case], belief[case])
    drawn = lean + 0.2 * rng.normal(size=len(case))
    action = np.select([drawn < 0.35, drawn > 0.65], ["negative", "positive"], "defer")
    reported = belief[case] if decimals is None else np.round(belief[case], decimals)
    return pd.DataFrame({"case": case, "belief": reported, "action": action, "outcome": outcome[case]})


@pytest.mark.parametrize("decimals", [None, 1])
def test_logistic_shows_no_gain_where_there_is_none(decimals):
    found = [predictive_gain(simulated(s, decimals=decimals), resamples=100) for s in range(25)]
    assert -1 < np.mean([one.percent for one in found]) < 0.1
    assert sum(one.interval[0] > 0 for one in found) <= 2


def test_forest_shows_no_gain_where_there_is_none():
    found = predictive_gain(simulated(1), learner="forest")
    assert abs(found.percent) < 2
    assert found.interval[0] < found.percent < found.interval[1]
    assert found.method == "forest, 5 folds by case"


@pytest.mark.parametrize("learner", ["logistic", "forest"])
def test_knowledge_in_the_actions_shows(learner):
    found = predictive_gain(simulated(2, n_cases=120, follows_outcome=0.6), learner=learner)
    assert found.percent > 10
    assert found.interval[0] > 0
    assert found.percent == found.estimate
    assert found.percent == pytest.approx(100 * (1 - found.error_both / found.error_belief))


def test_errors_are_those_of_held_out_cases():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"case": np.repeat(np.arange(60), 5), "action": rng.choice(["a", "b"], 300)})
    frame["belief"] = np.repeat(rng.random(60), 5)
    frame["outcome"] = np.repeat(rng.integers(0, 2, 60), 5)
    # Outcomes are coin flips: nobody who has not seen a case can do better than 1/4.
    for learner in ("logistic", "forest"):
        assert predictive_gain(frame, learner=learner).error_belief > 0.24


def test_repeats_exactly_whatever_the_order_and_the_case_names():
    frame = simulated(4, n_cases=40)
    shuffled = frame.sample(frac=1, random_state=0).assign(case=lambda f: "x" + f["case"].astype(str))
    for learner in ("logistic", "forest"):
        first = predictive_gain(frame, learner=learner, seed=3)
        assert predictive_gain(shuffled, learner=learner, seed=3) == first
    assert predictive_gain(frame, seed=4).percent != predictive_gain(frame, seed=3).percent


def test_curved_calibration_is_not_mistaken_for_knowledge():
    rng = np.random.default_rng(5)
    gains = []
    for _ in range(15):
        belief = rng.random(200)
        outcome = rng.random(200) < 1 / (1 + np.exp(-15 * (belief - 0.5)))
        action = np.where(rng.random(200) < belief, "positive", "negative")
        frame = pd.DataFrame({"case": range(200), "belief": belief, "action": action, "outcome": outcome})
        gains.append(predictive_gain(frame, resamples=50))
    assert sum(one.interval[0] > 0 for one in gains) <= 1


def test_large_data_are_handled_and_noted():
    frame = simulated(6, n_cases=25_000, repetitions=3, follows_outcome=0.3)
    smooth = predictive_gain(frame, resamples=50)
    assert "three decimals" in smooth.note
    assert "rescaled" in smooth.note
    assert smooth.interval[0] < smooth.percent < smooth.interval[1]
    assert smooth.interval[1] - smooth.interval[0] < 2
    forest = predictive_gain(frame, learner="forest", resamples=50)
    assert "fitted to 1666 of 25000 cases" in forest.note
    assert forest.percent == pytest.approx(smooth.percent, abs=5)


@pytest.mark.parametrize(
    ("change", "percent", "note"),
    [
        ({"action": "defer"}, 0.0, "the action never varies"),
        ({"outcome": 1}, np.nan, "the outcome never varies"),
        ({"case": 1, "outcome": 1}, np.nan, "only one case"),
        ({"belief": np.nan}, np.nan, "no complete rows"),
    ],
)
def test_degenerate_judgments_get_an_answer_in_words(change, percent, note):
    found = predictive_gain(simulated(7, n_cases=10).assign(**change))
    assert found.percent == pytest.approx(percent, nan_ok=True)
    assert note in found.note


def test_few_cases_get_fewer_folds():
    found = predictive_gain(simulated(9, n_cases=3))
    assert found.method == "logistic, 3 folds by case"


def test_beliefs_that_are_always_right_leave_little_to_gain():
    frame = simulated(8, n_cases=40)
    found = predictive_gain(frame.assign(belief=frame["outcome"].astype(float)))
    assert found.error_belief < 1e-3
    assert "almost without error" in found.note


def test_bad_requests_are_one_line_errors():
    frame = simulated(8, n_cases=12)
    with pytest.raises(BeliefError, match="learner 'tree' is unknown"):
        predictive_gain(frame, learner="tree")
    with pytest.raises(BeliefError, match="outcome has 3 values"):
        predictive_gain(frame.assign(outcome=frame["case"] % 3))
    with pytest.raises(BeliefError, match="lack the column belief"):
        predictive_gain(frame.drop(columns="belief"))


PUBLISHED_GAINS = {
    "GPT-Minimal": ([18.39, 6.27, -0.06, 0.00], 6.15, (-1.22, 13.52)),
    "GPT-High": ([9.93, 6.92, 1.85, 0.85], 4.89, (1.25, 8.53)),
    "Llama": ([14.60, 11.12, 4.95, 30.07], 15.19, (6.11, 24.27)),
    "DeepSeek-R1": ([22.41, -3.48, 1.54, -0.03], 5.11, (-4.83, 15.06)),
    "Heart Disease": ([18.39, 9.93, 14.60, 22.41], 16.33, (11.81, 20.85)),
    "Cry": ([6.27, 6.92, 11.12, -3.48], 5.21, (-0.03, 10.45)),
    "Fever": ([-0.06, 1.85, 4.95, 1.54], 2.07, (0.30, 3.85)),
    "Diabetes": ([0.00, 0.85, 30.07, -0.03], 7.73, (-4.93, 20.38)),
}


@pytest.mark.parametrize("group", PUBLISHED_GAINS)
def test_published_averages_follow_from_published_rows(group):
    rows, mean, interval = PUBLISHED_GAINS[group]
    found = average_gain(rows)
    # Half a unit of the last digit for the published average, and as much for the rounded rows behind it.
    assert found.estimate == pytest.approx(mean, abs=0.0101)
    assert found.interval == pytest.approx(interval, abs=0.0151)
    assert found.n == 4


def test_averages_need_numbers():
    for values in ([], [1.0, np.nan]):
        with pytest.raises(BeliefError, match="one number or more"):
            average_gain(values)


@pytest.mark.parametrize("number", ["1", "2", "3"])
def test_calibrated_information_agrees_with_the_reference_values(number):
    frame = pd.read_csv(REFERENCE / f"judgments_{number}.csv")
    found = calibrated_information(frame, permutations=9, resamples=10)
    assert found.estimate == pytest.approx(EXPECTED[number]["cmi_isotonic_k3"], abs=1e-9)
    assert "isotonic" in found.method


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 1)), min_size=2, max_size=60))
def test_calibration_is_isotonic_regression(data):
    place, outcome = map(np.array, zip(*data, strict=True))
    fitted = IsotonicRegression(y_min=0, y_max=1).fit_transform(place, outcome)
    assert np.abs(calibrate_beliefs(place * 80_000, outcome) - fitted * 1e6).max() <= 1


def test_calibration_is_fitted_anew_in_every_permutation():
    found = [
        calibrated_information(simulated(s, n_cases=60, repetitions=2), permutations=39, resamples=2) for s in range(40)
    ]
    assert sum(one.p_value <= 0.05 for one in found) <= 6
    assert np.mean([one.p_value for one in found]) == pytest.approx(0.5, abs=0.15)


def test_knowledge_survives_calibration():
    found = calibrated_information(simulated(10, follows_outcome=0.7), permutations=99, resamples=50)
    assert found.p_value == 0.01
    assert found.excess_interval[0] > 0
    with pytest.raises(BeliefError, match="outcome has 3 values"):
        calibrated_information(simulated(10).assign(outcome=lambda f: f["case"] % 3))

"""The score test: reference values, invariances, false positives and power, degenerate and bad input; Holm."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from belief_utils.beliefs.judgments_checks import check_judgments, group_by_case, quantile_bins
from belief_utils.beliefs.sufficiency import (
    KNOWS_MORE,
    NO_EVIDENCE,
    NO_INFORMATION,
    REPORT_NOISE,
    holm,
    sufficiency_test,
)
from belief_utils.errors import BeliefError

REFERENCE = Path(__file__).parent / "data" / "reference"
EXPECTED = json.loads((REFERENCE / "expected.json").read_text())
ACTIONS = np.array(["negative", "defer", "positive"])


def simulated(seed, *, n_cases=60, repetitions=2, hidden=0.0, noise=0.0, decimals=None):
    """Judgments of a logit agent with hidden information and noise in its reports."""
    rng = np.random.default_rng(seed)
    report = rng.random(n_cases)
    belief = 1 / (1 + np.exp(-(np.log(report / (1 - report)) + hidden * rng.normal(size=n_cases))))
    outcome = (rng.random(n_cases) < belief).astype(int)
    case = np.repeat(np.arange(n_cases), repetitions)
    reported = np.clip(report[case] + noise * rng.normal(size=len(case)), 0, 1)
    utility = 4 * np.stack([1 - 2 * belief[case], np.full(len(case), 0.35), 2 * belief[case] - 1], axis=1)
    action = ACTIONS[(utility + rng.gumbel(size=utility.shape)).argmax(axis=1)]
    if decimals is not None:
        reported = np.round(reported, decimals)
    return pd.DataFrame({"case": case, "belief": reported, "action": action, "outcome": outcome[case]})


@pytest.mark.parametrize("number", ["1", "2", "3"])
def test_agrees_with_the_reference_values(number):
    expected = EXPECTED[number]
    found = sufficiency_test(pd.read_csv(REFERENCE / f"judgments_{number}.csv"), permutations=4999)
    assert found.statistic == pytest.approx(expected["score_Q"], abs=1e-9)
    assert found.df == expected["score_df"]
    assert found.p_chi2 == pytest.approx(expected["score_p_chi2"], abs=1e-9)
    assert found.z == pytest.approx(expected["score_z_positive_minus_negative"], abs=1e-9)
    assert found.adjusted_statistic == pytest.approx(expected["score_Q_noise_adjusted"], abs=1e-9)
    assert found.p_value == pytest.approx(expected["score_p_permutation_20000"], abs=0.02)
    assert found.strata == expected["score_strata"]
    assert (found.n_cases, found.n_rows) == (
        expected["n_cases"],
        expected["n_cases"] * expected["repetitions"],
    )


def test_p_values_are_uniform_without_hidden_information():
    for decimals in (None, 1):
        judgments = [simulated(s, repetitions=5, decimals=decimals) for s in range(200)]
        found = [sufficiency_test(one, permutations=99, seed=s) for s, one in enumerate(judgments)]
        assert kstest([one.p_value for one in found], "uniform").pvalue > 0.01
        assert kstest([one.z_p_value for one in found], "uniform").pvalue > 0.01
        assert sum(one.verdict == KNOWS_MORE for one in found) <= 20


def test_hidden_information_is_found_and_has_a_direction():
    found = [sufficiency_test(simulated(s, n_cases=200, repetitions=5, hidden=1.0)) for s in range(20)]
    assert sum(one.verdict == KNOWS_MORE for one in found) >= 18
    assert all(one.z > 0 for one in found)


def test_report_noise_alone_is_told_apart():
    judgments = [simulated(s, n_cases=200, repetitions=5, noise=0.25) for s in range(40)]
    found = [sufficiency_test(one, permutations=199) for one in judgments]
    assert sum(one.p_value <= 0.05 for one in found) > 12
    assert sum(one.verdict == KNOWS_MORE for one in found) <= 6
    assert REPORT_NOISE in {one.verdict for one in found}


def test_one_repetition_cannot_tell_noise_apart():
    found = sufficiency_test(simulated(1, n_cases=300, repetitions=1, hidden=3.0))
    assert found.p_value < 0.01
    assert np.isnan(found.adjusted_p_value)
    assert found.verdict == "knows more than it says, unless its reports are noisy"
    assert "one repetition" in found.note


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_neither_order_nor_names_matter(seed, repetitions):
    frame = simulated(seed, n_cases=25, repetitions=repetitions, decimals=1)
    before = sufficiency_test(frame, permutations=49)
    shuffled = frame.sample(frac=1, random_state=seed)
    shuffled["case"] = 1000 - shuffled["case"]
    assert_same(sufficiency_test(shuffled, permutations=49), before)
    turned = {"negative": "treat", "defer": "wait", "positive": "stop"}
    renamed = sufficiency_test(frame.assign(action=frame["action"].map(turned)), permutations=49)
    assert renamed.statistic == pytest.approx(before.statistic, abs=1e-8)
    assert renamed.adjusted_statistic == pytest.approx(before.adjusted_statistic, abs=1e-8, nan_ok=True)
    assert renamed.df == before.df
    swapped = {"negative": "positive", "defer": "defer", "positive": "negative"}
    mirrored = sufficiency_test(frame.assign(action=frame["action"].map(swapped)), permutations=49)
    assert mirrored.z == pytest.approx(-before.z, abs=1e-9, nan_ok=True)


def assert_same(one, other):
    for name, value in vars(other).items():
        same = getattr(one, name) == value or (value != value and getattr(one, name) != getattr(one, name))
        assert same, name


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.3, 3))
def test_one_repetition_depends_on_the_order_of_beliefs_only(seed, power):
    frame = simulated(seed, n_cases=40, repetitions=1, decimals=2)
    bent = frame.assign(belief=frame["belief"].rank(method="dense") / 100)
    bent["belief"] = (bent["belief"] / bent["belief"].max()) ** power
    before, after = sufficiency_test(frame, permutations=9), sufficiency_test(bent, permutations=9)
    if np.rint(bent["belief"] * 1e6).nunique() == frame["belief"].nunique():
        assert after.statistic == pytest.approx(before.statistic, abs=1e-9)
        assert after.z == pytest.approx(before.z, abs=1e-9, nan_ok=True)
        assert (after.df, after.strata) == (before.df, before.strata)


def test_a_case_counts_once_however_often_it_was_repeated():
    frame = simulated(2, n_cases=50, repetitions=1)
    three_times = pd.concat([frame] * 3)
    assert sufficiency_test(three_times).statistic == pytest.approx(sufficiency_test(frame).statistic)


def test_unequal_repetitions_work_and_are_noted():
    frame = simulated(3, n_cases=50, repetitions=3, noise=0.05)
    frame = frame[(frame.groupby("case").cumcount() == 0) | (frame["case"] % 2 == 0)]
    found = sufficiency_test(frame)
    assert found.n_rows == 100
    assert np.isfinite(found.adjusted_statistic)
    assert "25 cases with one repetition" in found.note


def test_large_data_take_the_chi_square_p_value():
    found = sufficiency_test(simulated(4, n_cases=2000, repetitions=1), permutations=60_000)
    assert found.p_value == found.p_chi2
    assert "chi-square" in found.method


@pytest.mark.parametrize(
    ("change", "p_value", "reason"),
    [
        ({"action": "defer"}, 1.0, "the action never varies"),
        ({"outcome": 0}, 1.0, "the outcome never varies"),
        ({"case": 1, "outcome": 0}, 1.0, "only one case"),
        ({"belief": np.nan}, np.nan, "no complete rows"),
        ({"outcome": None}, np.nan, "no complete rows"),
    ],
)
def test_degenerate_judgments_get_an_answer_in_words(change, p_value, reason):
    found = sufficiency_test(simulated(5, n_cases=20).assign(**change))
    assert found.p_value == pytest.approx(p_value, nan_ok=True)
    assert found.df == 0
    assert found.verdict.startswith(NO_INFORMATION)
    assert reason in found.verdict


def test_actions_that_follow_the_belief_exactly_leave_nothing_to_test():
    frame = pd.DataFrame({"case": range(40), "belief": [0.2, 0.8] * 20, "outcome": [0, 1, 1, 0] * 10})
    found = sufficiency_test(frame.assign(action=np.where(frame["belief"] > 0.5, "positive", "negative")))
    assert (found.df, found.p_value) == (0, 1.0)
    assert "never vary in the same stratum" in found.note


def test_constant_belief_is_a_single_stratum():
    found = sufficiency_test(simulated(6, n_cases=80).assign(belief=0.4))
    assert found.strata == 1
    assert found.p_value < 0.01
    assert found.z > 0


def test_incomplete_rows_are_left_out_and_counted():
    frame = simulated(7)
    frame.loc[[0, 5], "belief"] = np.nan
    frame.loc[[5, 9, 11], "action"] = None
    found = sufficiency_test(frame)
    assert found.n_rows == 116
    assert "4 of 120 rows left out (belief missing in 2, action missing in 3)" in found.note
    by_hand = sufficiency_test(frame.dropna())
    assert_same(replace(by_hand, note=""), replace(found, note=""))


def test_outcomes_in_words_are_read_by_name():
    frame = simulated(8)
    words = frame.assign(outcome=frame["outcome"].map({0: "absent", 1: "present"}))
    assert sufficiency_test(words).z == sufficiency_test(frame).z
    assert "'present' counts as 1" in sufficiency_test(words).note


def several_states(seed, *, hidden, n_cases=150, states=4):
    """Judgments over several states; with hidden knowledge some actions follow the outcome itself."""
    rng = np.random.default_rng(seed)
    beliefs = rng.dirichlet(np.ones(states), n_cases)
    outcome = np.array([rng.choice(states, p=row) for row in beliefs])
    guess = np.array([rng.choice(states, p=row) for row in beliefs])
    action = np.where(rng.random(n_cases) < hidden, outcome, guess)
    frame = pd.DataFrame({"case": range(n_cases), "action": [f"treat {a}" for a in action]})
    frame["outcome"] = [f"disease {o}" for o in outcome]
    return frame.join(pd.DataFrame(beliefs, columns=[f"belief_{s}" for s in range(states)]))


def test_several_states_use_the_whole_belief():
    without = [sufficiency_test(several_states(s, hidden=0.0), permutations=99) for s in range(30)]
    assert without[0].df == 9
    assert without[0].strata > 10
    assert np.isnan(without[0].z)
    assert kstest([one.p_value for one in without], "uniform").pvalue > 0.01
    knowing = [sufficiency_test(several_states(s, hidden=0.4), permutations=99) for s in range(8)]
    assert all(one.p_value == 0.01 for one in knowing)


def test_two_states_by_dummies_equal_the_binary_test():
    frame = simulated(9, n_cases=60, repetitions=1, decimals=1)
    frame["outcome"] = frame["outcome"].map({0: "well", 1: "ill"})
    flipped = frame.assign(outcome=frame["outcome"].map({"well": "z", "ill": "a"}))
    assert sufficiency_test(frame).statistic == pytest.approx(sufficiency_test(flipped).statistic)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.drop(columns="action"), "lack the column action"),
        (lambda f: f.assign(belief=f["belief"] * 100), r"belief is outside \[0, 1\] in rows"),
        (lambda f: f.assign(belief="likely"), "belief is not a number in rows 0, 1, 2, 3, 4, "),
        (lambda f: f.assign(outcome=[0, 1] * 60), r"outcome differs within case 0, 1, 2, 3, 4 \(60 in all\)"),
        (lambda f: f.assign(case=[None, *f["case"][1:]]), "case is missing in row 0"),
        (lambda f: f.iloc[:0], "no rows"),
    ],
)
def test_bad_judgments_are_one_line_errors(change, message):
    with pytest.raises(BeliefError, match=message) as caught:
        sufficiency_test(change(simulated(10)))
    assert "\n" not in str(caught.value)


def test_permutations_must_be_positive():
    with pytest.raises(BeliefError, match="permutations is 0"):
        sufficiency_test(simulated(10), permutations=0)


def test_rows_are_named_by_the_index():
    frame = simulated(11).rename(index={3: "row three"})
    frame.loc["row three", "belief"] = 2
    with pytest.raises(BeliefError, match="in row row three"):
        check_judgments(frame)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=60), st.integers(1, 12))
def test_bins_follow_the_order_statistics(values, bins):
    values = np.array(values)
    edges, index = quantile_bins(values, bins)
    ordered = sorted(values)
    wanted = sorted({ordered[int(np.ceil(len(values) * j / bins - 1e-9)) - 1] for j in range(1, bins)})
    assert edges.tolist() == wanted
    strictly_below = (np.array(wanted)[None, :] < values[:, None]).sum(axis=1)
    assert index.tolist() == [sorted(set(strictly_below.tolist())).index(b) for b in strictly_below]
    assert len(set(index.tolist())) <= bins


def test_rows_of_chosen_cases_keep_their_case_together():
    cases = group_by_case(simulated(12, n_cases=6, repetitions=3).drop(index=[4, 5, 10]))
    chosen = np.array([5, 0, 0, 3])
    rows = cases.rows_of(chosen)
    assert cases.case[rows].tolist() == np.repeat(chosen, cases.repetitions[chosen]).tolist()


def test_holm_by_hand():
    adjusted = holm([0.01, 0.04, 0.03, 0.005])
    assert adjusted == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_adjusts_upwards_in_order(values):
    adjusted = holm(values)
    assert (adjusted >= np.array(values) - 1e-15).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(values, kind="stable")]) >= 0).all()
    assert adjusted.min() == pytest.approx(min(1, min(values) * len(values)))


def test_holm_leaves_missing_values_out():
    adjusted = holm([0.01, np.nan, 0.03])
    assert adjusted[[0, 2]] == pytest.approx([0.02, 0.03])
    assert np.isnan(adjusted[1])
    with pytest.raises(BeliefError, match=r"\[0, 1\]"):
        holm([0.2, 1.2])


def test_no_evidence_is_said_in_words():
    assert sufficiency_test(simulated(0)).verdict == NO_EVIDENCE

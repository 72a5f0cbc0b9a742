"""Conditional mutual information: against a table of all distances, reference values, and what must not matter."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from belief_utils.beliefs.information import (
    conditional_mutual_information,
    information_test,
    plugin_information,
)
from belief_utils.errors import BeliefError

REFERENCE = Path(__file__).parent / "data" / "reference"
EXPECTED = json.loads((REFERENCE / "expected.json").read_text())


def read(number):
    return pd.read_csv(REFERENCE / f"judgments_{number}.csv")


def by_all_distances(belief, action, outcome, k):
    """The definition, word for word, from the n x n table of distances."""
    place = np.rint(np.asarray(belief) * 1e6).astype(np.int64)
    action, outcome = np.asarray(action), np.asarray(outcome)
    near = np.abs(place[:, None] - place[None])
    apart_a = np.where(action[:, None] != action[None], 1_000_000, 0)
    apart_t = np.where(outcome[:, None] != outcome[None], 1_000_000, 0)
    joint = np.maximum(near, np.maximum(apart_a, apart_t))
    terms = []
    for i in range(len(place)):
        others = np.arange(len(place)) != i
        rho = np.sort(joint[i][others])[k - 1]
        count = [
            (distance[i][others] <= rho).sum()
            for distance in (joint, np.maximum(near, apart_a), np.maximum(near, apart_t), near)
        ]
        terms.append(digamma(count[0]) - digamma(count[1]) - digamma(count[2]) + digamma(count[3]))
    return np.mean(terms)


@pytest.mark.parametrize("number", ["1", "2", "3"])
def test_agrees_with_the_reference_values(number):
    frame, expected = read(number), EXPECTED[number]
    columns = frame["belief"], frame["action"], frame["outcome"]
    assert conditional_mutual_information(*columns) == pytest.approx(expected["cmi_k3"], abs=1e-9)
    assert conditional_mutual_information(*columns, k=5) == pytest.approx(expected["cmi_k5"], abs=1e-9)
    assert plugin_information(*columns) == pytest.approx(expected["cmi_plugin_10_bins_miller_madow"], abs=1e-9)


rows = st.lists(
    st.tuples(
        st.one_of(st.sampled_from([0.0, 0.05, 0.5, 1.0]), st.floats(0, 1)),
        st.sampled_from(["negative", "positive", "defer"]),
        st.integers(0, 2),
    ),
    min_size=7,
    max_size=40,
)


@settings(max_examples=150, deadline=None)
@given(rows, st.integers(1, 5))
def test_equals_the_definition_with_ties_ends_and_small_cells(data, k):
    belief, action, outcome = zip(*data, strict=True)
    fast = conditional_mutual_information(belief, action, outcome, k=k)
    assert fast == pytest.approx(by_all_distances(belief, action, outcome, k), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(rows, st.randoms(use_true_random=False))
def test_neither_order_nor_names_matter(data, random):
    belief, action, outcome = map(list, zip(*data, strict=True))
    before = conditional_mutual_information(belief, action, outcome)
    order = list(range(len(data)))
    random.shuffle(order)
    renamed = {"negative": 7, "positive": 1, "defer": 3}
    after = conditional_mutual_information(
        [belief[i] for i in order],
        [renamed[action[i]] for i in order],
        [f"state {outcome[i]}" for i in order],
    )
    assert after == pytest.approx(before, abs=1e-12)
    mirrored = conditional_mutual_information([1 - np.rint(b * 1e6) / 1e6 for b in belief], action, outcome)
    assert mirrored == pytest.approx(before, abs=1e-12)


def test_rows_in_cells_too_small_for_k_neighbours_add_nothing():
    belief = np.linspace(0.1, 0.9, 9)
    action = ["a", "a", "a", "b", "b", "b", "c", "c", "c"]
    assert conditional_mutual_information(belief, action, [0, 1, 0, 1, 0, 1, 0, 1, 0], k=3) == 0.0


def test_constant_labels_carry_no_information():
    belief = np.random.default_rng(0).random(50)
    varies = np.arange(50) % 2
    assert conditional_mutual_information(belief, ["defer"] * 50, varies) == 0.0
    assert conditional_mutual_information(belief, varies, [1] * 50) == 0.0
    assert plugin_information(belief, ["defer"] * 50, varies) == pytest.approx(0, abs=1e-15)


def test_large_data_agree_with_a_known_value():
    rng = np.random.default_rng(1)
    outcome = rng.integers(0, 2, 60_000)
    action = np.where(rng.random(60_000) < 0.2, 1 - outcome, outcome)
    truth = np.log(2) + 0.2 * np.log(0.2) + 0.8 * np.log(0.8)
    estimate = conditional_mutual_information(rng.random(60_000), action, outcome)
    assert estimate == pytest.approx(truth, abs=0.02)
    assert plugin_information(rng.random(60_000), action, outcome) == pytest.approx(truth, abs=0.005)


@pytest.mark.parametrize(
    ("belief", "message"),
    [
        ([0.1, 0.2, np.nan, 0.4, 0.5, 0.6], "missing in row 2"),
        ([0.1, 0.2, 1.3, 0.4, -0.5, 0.6], r"outside \[0, 1\] in rows 2, 4"),
        ([0.1, "high", 0.3, 0.4, 0.5, 0.6], "not a number in row 1"),
    ],
)
def test_unusable_beliefs_are_named(belief, message):
    with pytest.raises(BeliefError, match=message):
        conditional_mutual_information(belief, list("ababab"), [0, 1, 0, 1, 1, 0])


def test_other_unusable_input_is_named():
    with pytest.raises(BeliefError, match="4 rows are too few for k = 3"):
        conditional_mutual_information([0.1] * 4, list("abab"), [0, 1, 0, 1])
    with pytest.raises(BeliefError, match="k is 0"):
        conditional_mutual_information([0.1] * 4, list("abab"), [0, 1, 0, 1], k=0)
    with pytest.raises(BeliefError, match="action is missing in row 1"):
        conditional_mutual_information([0.1] * 5, ["a", None, "b", "a", "b"], [0, 1, 0, 1, 0], k=1)
    with pytest.raises(BeliefError, match="outcome has 2 values and belief 4"):
        conditional_mutual_information([0.1] * 4, list("abab"), [0, 1], k=1)


def simulated(seed, *, hidden=0.0, n_cases=150, repetitions=3):
    """Judgments of a logit agent whose acting belief differs from its report by hidden information."""
    rng = np.random.default_rng(seed)
    report = rng.random(n_cases)
    belief = 1 / (1 + np.exp(-(np.log(report / (1 - report)) + hidden * rng.normal(size=n_cases))))
    outcome = (rng.random(n_cases) < belief).astype(int)
    case = np.repeat(np.arange(n_cases), repetitions)
    utility = 4 * np.stack([1 - 2 * belief[case], np.full(len(case), 0.35), 2 * belief[case] - 1], axis=1)
    action = (utility + rng.gumbel(size=utility.shape)).argmax(axis=1)
    names = np.array(["negative", "defer", "positive"])
    return pd.DataFrame({"case": case, "belief": report[case], "action": names[action], "outcome": outcome[case]})


def test_excess_is_unbiased_without_information_where_the_raw_value_is_not():
    found = [information_test(simulated(seed), permutations=39, resamples=20) for seed in range(20)]
    raw = np.array([one.estimate for one in found])
    excess = np.array([one.excess for one in found])
    error = excess.std(ddof=1) / np.sqrt(len(excess))
    assert abs(excess.mean()) < 3 * error
    assert raw.mean() < -4 * error


def test_hidden_information_shows():
    found = information_test(simulated(3, hidden=2.0), resamples=100)
    assert found.p_value == pytest.approx(0.005)
    assert found.excess_interval[0] > 0
    low, high = found.interval
    assert low + high == pytest.approx(2 * found.estimate)
    assert high - low == pytest.approx(found.excess_interval[1] - found.excess_interval[0])
    assert (found.n_cases, found.n_rows, found.k) == (150, 450, 3)


def test_repeats_exactly_whatever_the_order_and_the_case_names():
    frame = simulated(4, n_cases=30)
    shuffled = frame.sample(frac=1, random_state=1).assign(case=lambda f: "case " + f["case"].astype(str))
    first = information_test(frame, permutations=19, resamples=20, seed=7)
    assert information_test(shuffled, permutations=19, resamples=20, seed=7) == first
    assert information_test(frame, permutations=19, resamples=20, seed=8) != first


def test_large_data_use_fewer_draws_and_say_so():
    found = information_test(simulated(5, n_cases=15_000, repetitions=4), permutations=199, resamples=20)
    assert "83 permutations" in found.note
    assert "rescaled" in found.note
    assert 0 < found.p_value < 1
    assert found.excess_interval[0] < found.excess < found.excess_interval[1]
    assert found.excess == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize(
    ("change", "estimate", "note"),
    [
        ({"action": "defer"}, 0.0, "the action never varies"),
        ({"outcome": 1}, 0.0, "the outcome never varies"),
        ({"belief": np.nan}, np.nan, "0 complete rows"),
    ],
)
def test_degenerate_judgments_get_an_answer_in_words(change, estimate, note):
    found = information_test(simulated(6, n_cases=20).assign(**change), resamples=10)
    assert found.estimate == pytest.approx(estimate, nan_ok=True)
    assert note in found.note


def test_plugin_needs_a_row():
    with pytest.raises(BeliefError, match="no rows"):
        plugin_information([], [], [])

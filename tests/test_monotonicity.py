"""The signed margin: linear programmes, reference values, bounds, invariances, degenerate input, several states."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from belief_utils.beliefs.margin_batches import margins
from belief_utils.beliefs.margin_bounds import margin_bounds
from belief_utils.beliefs.margins import signed_margin
from belief_utils.beliefs.monotonicity import CERTIFIED, NOT_TESTED, REJECTED, monotonicity_margin
from belief_utils.beliefs.multistate import multistate_margin
from belief_utils.errors import BeliefError

REFERENCE = Path(__file__).parent / "data" / "reference"
EXPECTED = json.loads((REFERENCE / "expected.json").read_text())


def by_programme(shares):
    """The paper's linear programmes, one for each ordered pair of used actions."""
    shares = shares[:, (shares > 0).any(axis=0)]
    steps = np.diff(shares, axis=0)
    steps = steps[(np.abs(steps) > 1e-12).any(axis=1)]
    width = shares.shape[1]
    if not len(steps) or width < 2:
        return np.nan
    best = -np.inf
    for low, high in permutations(range(width), 2):
        bounds = [(0, 1)] * width + [(None, None)]
        bounds[low], bounds[high] = (0, 0), (1, 1)
        constraints = np.column_stack([-steps, np.ones(len(steps))])
        solved = linprog([*[0] * width, -1], A_ub=constraints, b_ub=[0] * len(steps), bounds=bounds, method="highs")
        assert solved.status == 0
        best = max(best, -solved.fun)
    return best


def simulated(seed, *, n_cases=120, repetitions=4, slope=4.0, decimals=None):
    """Judgments of a logit agent; a negative slope is an agent that wants the opposite of its belief."""
    rng = np.random.default_rng(seed)
    belief = rng.random(n_cases)
    case = np.repeat(np.arange(n_cases), repetitions)
    gain = slope * (2 * belief[case] - 1)
    utility = np.stack([-gain, np.full(len(case), 1.4), gain], axis=1)
    action = (utility + rng.gumbel(size=utility.shape)).argmax(axis=1)
    outcome = (rng.random(n_cases) < belief).astype(int)
    reported = belief[case] if decimals is None else np.round(belief[case], decimals)
    names = np.array(["negative", "defer", "positive"])
    return pd.DataFrame({"case": case, "belief": reported, "action": names[action], "outcome": outcome[case]})


@pytest.mark.parametrize("number", ["1", "2", "3"])
def test_agrees_with_the_reference_values(number):
    expected = EXPECTED[number]
    found = monotonicity_margin(pd.read_csv(REFERENCE / f"judgments_{number}.csv"))
    assert found.gamma == pytest.approx(expected["gamma"], abs=1e-9)
    assert found.anchored == pytest.approx(expected["gamma_anchored"], abs=1e-9)
    assert found.edges == pytest.approx(expected["edges"])
    assert (found.n_bins, found.n_changes) == (expected["bins"], expected["changes_S"])
    shares = found.choice_shares[["negative", "positive", "defer"]]
    assert shares.to_numpy() == pytest.approx(np.array(expected["shares_negative_positive_defer"]), abs=1e-12)
    free, anchored = expected["bounds_free_grid41"], expected["bounds_anchored_grid41"]
    assert found.lower_bound == pytest.approx(free["gamma_L"], abs=1e-9)
    assert found.upper_bound == pytest.approx(free["gamma_U"], abs=1e-9)
    assert found.anchored_lower_bound == pytest.approx(anchored["gamma_L"], abs=1e-9)
    assert found.anchored_upper_bound == pytest.approx(anchored["gamma_U"], abs=1e-9)


@st.composite
def share_tables(draw):
    n_bins, n_actions = draw(st.integers(2, 6)), draw(st.integers(2, 5))
    counts = draw(
        st.lists(
            st.lists(st.integers(0, 6), min_size=n_actions, max_size=n_actions).filter(any),
            min_size=n_bins,
            max_size=n_bins,
        )
    )
    counts = np.array(counts, dtype=float)
    return counts / counts.sum(axis=1, keepdims=True)


@settings(max_examples=60, deadline=None)
@given(share_tables())
def test_equals_the_linear_programmes_one_by_one_and_in_batches(shares):
    wanted = by_programme(shares)
    found = signed_margin(shares)
    assert found.gamma == pytest.approx(wanted, abs=1e-9, nan_ok=True)
    batch = margins(np.stack([shares, shares]), np.stack([(shares > 0).any(axis=0)] * 2))
    assert batch == pytest.approx(np.array([wanted] * 2), abs=1e-9, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(share_tables(), st.randoms(use_true_random=False))
def test_bounded_attained_and_blind_to_names(shares, random):
    found = signed_margin(shares)
    if np.isnan(found.gamma):
        assert found.note
        return
    assert -1 <= found.gamma <= 1 / found.n_changes + 1e-12
    direction = np.array([found.direction[a] for a in found.actions])
    assert (direction.min(), direction.max()) == pytest.approx((0, 1))
    steps = np.diff(shares[:, list(found.actions)], axis=0)
    steps = steps[(np.abs(steps) > 1e-12).any(axis=1)]
    assert (steps @ direction).min() == pytest.approx(found.gamma, abs=1e-9)
    order = list(range(shares.shape[1]))
    random.shuffle(order)
    assert signed_margin(shares[:, order]).gamma == pytest.approx(found.gamma, abs=1e-9)
    assert signed_margin(np.repeat(shares, 2, axis=0)).gamma == pytest.approx(found.gamma, abs=1e-9)


def test_known_margins():
    assert signed_margin([[1, 0], [0.5, 0.5], [0, 1]]).gamma == pytest.approx(0.5)
    assert signed_margin([[1, 0], [0, 1], [1, 0]]).gamma == pytest.approx(-1)
    assert signed_margin([[0, 1], [0.5, 0.5], [1, 0]]).gamma == pytest.approx(0.5)  # blind to sign
    table = pd.DataFrame([[0.8, 0.2, 0.0], [0.1, 0.2, 0.7]], columns=["negative", "defer", "positive"])
    found = signed_margin(table)
    assert "the share of defer is the same in all bins" in found.note
    assert found.direction["negative"] == 0
    assert found.direction["positive"] == 1


def test_batches_skip_empty_and_unchanged_tables():
    shares = np.array([[[0.5, 0.5, 0.0]] * 3, [[1.0, 0, 0]] * 3, [[0.9, 0.1, 0], [0.5, 0.5, 0], [0.1, 0.9, 0]]])
    found = margins(shares, (shares > 0).any(axis=1))
    assert np.isnan(found[:2]).all()
    assert found[2] == pytest.approx(0.4)


@pytest.mark.parametrize(
    "shares",
    [[[0.5, 0.4], [0.5, 0.5]], [[1.2, -0.2], [0.5, 0.5]], [[np.nan, 1], [0.5, 0.5]], [["a", "b"], ["c", "d"]]],
)
def test_tables_that_hold_no_shares_are_refused(shares):
    with pytest.raises(BeliefError, match="shares"):
        signed_margin(shares)


def test_actions_that_follow_the_belief_are_certified():
    found = monotonicity_margin(simulated(0, n_cases=300))
    assert found.verdict == found.anchored_verdict == CERTIFIED
    assert 0 < found.lower_bound < found.gamma < found.upper_bound
    assert found.interval[0] < found.gamma < found.interval[1]
    assert found.estimate == found.gamma
    assert found.direction["negative"] == 0
    assert found.direction["positive"] == 1


def test_a_reversed_agent_is_monotone_but_not_in_the_stated_direction():
    found = monotonicity_margin(simulated(1, n_cases=300, slope=-4.0))
    assert found.verdict == CERTIFIED
    assert found.anchored < 0
    assert found.anchored_verdict == REJECTED
    assert "wants 'positive' less as its belief rises" in found.note


def test_choices_that_rise_and_fall_are_rejected():
    frame = simulated(2, n_cases=300)
    middle = (frame["belief"] > 0.35) & (frame["belief"] < 0.65)
    rng = np.random.default_rng(3)
    often = np.where(middle, 0.9, 0.1)
    frame["action"] = np.where(rng.random(len(frame)) < often, "positive", "negative")
    found = monotonicity_margin(frame)
    assert found.upper_bound < 0
    assert found.verdict == REJECTED


def test_repetitions_of_a_case_do_not_narrow_the_bounds():
    frame = simulated(4, n_cases=80, repetitions=1)
    once, often = monotonicity_margin(frame), monotonicity_margin(pd.concat([frame] * 5))
    assert often.gamma == pytest.approx(once.gamma)
    assert often.lower_bound == pytest.approx(once.lower_bound)
    assert often.upper_bound == pytest.approx(once.upper_bound)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.3, 3))
def test_depends_on_the_order_of_beliefs_only(seed, power):
    frame = simulated(seed, n_cases=30, repetitions=2, decimals=2)
    bent = frame.assign(belief=frame["belief"] ** power)
    before, after = monotonicity_margin(frame, resamples=2), monotonicity_margin(bent, resamples=2)
    if np.rint(bent["belief"] * 1e6).nunique() == frame["belief"].nunique():
        for name in ("gamma", "anchored", "lower_bound", "upper_bound"):
            assert getattr(after, name) == pytest.approx(getattr(before, name), abs=1e-9, nan_ok=True)
        assert after.choice_shares.equals(before.choice_shares)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_neither_order_nor_case_names_matter(seed):
    frame = simulated(seed, n_cases=25, repetitions=2, decimals=1)
    shuffled = frame.sample(frac=1, random_state=seed)
    shuffled["case"] = "case " + (97 - shuffled["case"]).astype(str)
    before, after = monotonicity_margin(frame, resamples=40), monotonicity_margin(shuffled, resamples=40)
    for name, value in vars(before).items():
        if name == "choice_shares":
            assert value.equals(after.choice_shares)
        elif isinstance(value, float | tuple):
            assert getattr(after, name) == pytest.approx(value, abs=1e-12, nan_ok=True)


def test_interval_is_the_spread_of_resampled_margins():
    frame = simulated(5, n_cases=60, repetitions=2)
    found = monotonicity_margin(frame, resamples=2000)
    edges = np.array(found.edges)
    rng = np.random.default_rng(11)
    values = []
    groups = [group for _, group in frame.groupby("case")]
    for _ in range(150):
        drawn = pd.concat([groups[i] for i in rng.integers(0, 60, 60)])
        place = np.searchsorted(edges, drawn["belief"].to_numpy(), side="left")
        values.append(by_programme(pd.crosstab(place, drawn["action"], normalize="index").to_numpy()))
    assert found.interval == pytest.approx(tuple(np.percentile(values, [2.5, 97.5])), abs=0.04)


@pytest.mark.parametrize("n_actions", [2, 4, 7])
def test_any_number_of_actions(n_actions):
    rng = np.random.default_rng(6)
    frame = simulated(6, n_cases=100)
    level = np.clip(frame["belief"] * n_actions + 0.7 * rng.normal(size=len(frame)), 0, n_actions - 0.01)
    frame["action"] = "choice " + level.astype(int).astype(str)
    found = monotonicity_margin(frame, resamples=50)
    assert found.gamma == pytest.approx(by_programme(found.choice_shares.to_numpy()), abs=1e-9)
    assert found.lower_bound < found.gamma < found.upper_bound
    assert found.interval[0] < found.interval[1]
    assert np.isnan(found.anchored)
    assert "negative and positive" in found.note


def test_bounds_without_uncertainty_are_the_margin_itself():
    steps = np.diff(np.random.default_rng(7).dirichlet(np.ones(4), 4), axis=0)
    shares = np.vstack([np.full(4, 0.25), 0.25 + np.cumsum(steps, axis=0) * 0.2])
    lower, upper = margin_bounds(np.diff(shares, axis=0), np.zeros((3, 4, 4)), list(permutations(range(4), 2)))
    assert lower == upper
    assert lower == pytest.approx(signed_margin(shares).gamma, abs=0.005)
    assert lower <= signed_margin(shares).gamma + 1e-12


def test_too_many_actions_have_a_margin_but_no_bounds():
    frame = simulated(8, n_cases=100)
    frame["action"] = [f"choice {i % 9}" for i in range(len(frame))]
    found = monotonicity_margin(frame, resamples=2)
    assert np.isfinite(found.gamma)
    assert np.isnan(found.lower_bound)
    assert "too many actions" in found.note


def test_large_data_are_handled_and_noted():
    found = monotonicity_margin(simulated(9, n_cases=30_000, repetitions=2), resamples=100)
    assert "20000 of 30000 cases, rescaled" in found.note
    assert found.interval[0] < found.gamma < found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.03


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"action": "defer"}, "fewer than two actions"),
        ({"belief": 0.4}, "one bin"),
        ({"belief": np.nan}, "no complete rows"),
    ],
)
def test_degenerate_judgments_get_an_answer_in_words(change, note):
    found = monotonicity_margin(simulated(10, n_cases=20).assign(**change))
    assert np.isnan(found.gamma)
    assert np.isnan(found.lower_bound)
    assert found.verdict.startswith(NOT_TESTED)
    assert note in found.verdict
    assert note in found.note


def test_a_constant_outcome_does_not_matter_here():
    frame = simulated(11)
    assert monotonicity_margin(frame.assign(outcome=1)).gamma == monotonicity_margin(frame).gamma


def test_single_cases_in_a_bin_give_no_bounds():
    frame = pd.DataFrame({"case": [1, 2, 3, 4], "belief": [0.1, 0.3, 0.6, 0.9], "outcome": [0, 0, 1, 1]})
    found = monotonicity_margin(frame.assign(action=["negative", "negative", "positive", "positive"]))
    assert found.gamma == 1
    assert found.verdict == NOT_TESTED
    assert "a bin holds a single case" in found.note


def test_bins_must_be_two_or_more():
    with pytest.raises(BeliefError, match="bins is 1"):
        monotonicity_margin(simulated(12), bins=1)


def logit_choices(beliefs, utilities):
    choices = np.exp(beliefs @ utilities)
    return choices / choices.sum(axis=1, keepdims=True)


def test_several_states_pass_for_a_rational_agent_and_fail_for_shuffled_choices():
    rng = np.random.default_rng(13)
    beliefs = rng.dirichlet(np.ones(3), 9)
    choices = logit_choices(beliefs, 5 * rng.normal(size=(3, 3)))
    assert multistate_margin(beliefs, choices) > 0
    assert multistate_margin(beliefs[:, [2, 0, 1]], choices[:, [1, 2, 0]]) > 0
    assert multistate_margin(beliefs, rng.permutation(choices)) < 0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0, 1))
def test_with_two_states_the_sign_is_that_of_the_signed_margin(seed, rational):
    rng = np.random.default_rng(seed)
    belief = (np.arange(6) + rng.random(6)) / 6
    utilities = 4 * rng.normal(size=(2, 3))
    logit = logit_choices(np.column_stack([1 - belief, belief]), utilities)
    choices = rational * logit + (1 - rational) * rng.dirichlet(np.ones(3), 6)
    gamma = signed_margin(choices).gamma
    found = multistate_margin(belief, choices)
    if abs(gamma) > 1e-4:
        assert np.sign(found) == np.sign(gamma)


def test_the_multistate_margin_says_when_it_cannot_tell():
    beliefs = np.random.default_rng(14).dirichlet(np.ones(3), 8)
    assert np.isnan(multistate_margin(beliefs, np.tile([0.2, 0.8], (8, 1))))
    assert np.isnan(multistate_margin(beliefs, np.tile([1.0, 0.0], (8, 1))))
    assert np.isnan(multistate_margin(beliefs[:1], [[0.2, 0.8]]))
    with pytest.raises(BeliefError, match="add up to 1 in rows"):
        multistate_margin(2 * beliefs, np.tile([0.2, 0.8], (8, 1)))
    with pytest.raises(BeliefError, match="8 belief points and 7 rows"):
        multistate_margin(beliefs, np.tile([0.2, 0.8], (7, 1)))

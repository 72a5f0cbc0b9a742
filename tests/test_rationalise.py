"""The agent that does what was observed: it does exactly the same, or what stands in its way is found and mended."""

from itertools import permutations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from belief_utils.beliefs.margins import signed_margin
from belief_utils.beliefs.monotonicity import monotonicity_margin
from belief_utils.beliefs.multistate import multistate_margin
from belief_utils.beliefs.rationalise import rationalise, rationalise_shares
from belief_utils.errors import BeliefError

REFERENCE = Path(__file__).parent / "data" / "reference"
ACTIONS = ["negative", "positive", "defer"]


def best_mixes(agent, belief, *, ends=True):
    """The agent's problem solved from scratch: the value of the best mix of actions, and each share's range in it."""
    values = agent.expected_utilities(belief).to_numpy()
    mixes = agent.shares.to_numpy().T
    n_actions, count = mixes.shape
    slope = values - agent.levels.to_numpy()  # the levels' part of the regulariser is linear
    costs = agent.costs - mixes.T @ agent.levels.to_numpy()
    # Unknowns: the mix, weights on the observed mixes, what the mix has more and less than these.
    one = np.eye(n_actions)
    equal = np.hstack((one, -mixes, -one, one))
    sums = np.array(
        [[*[1] * n_actions, *[0] * (count + 2 * n_actions)], [*[0] * n_actions, *[1] * count, *[0] * (2 * n_actions)]]
    )
    equal, right = np.vstack((equal, sums)), np.r_[np.zeros(n_actions), 1, 1]
    worth = np.r_[slope, -costs, -np.ones(2 * n_actions)]
    best = linprog(-worth, A_eq=equal, b_eq=right, method="highs")
    assert best.status == 0
    if not ends:
        return -best.fun, None, None
    extremes = []
    for sign in (1, -1):
        found = []
        for action in range(n_actions):
            goal = np.zeros(len(worth))
            goal[action] = sign
            tied = linprog(goal, A_ub=[-worth], b_ub=[best.fun + 1e-10], A_eq=equal, b_eq=right, method="highs")
            assert tied.status == 0
            found.append(tied.x[action])
        extremes.append(np.array(found))
    return -best.fun, *extremes


def some_utilities_fit(shares):
    """Whether there is a d in [0, 1] that spans it and with which shares @ d never falls, each pair by a programme."""
    steps, width = np.diff(shares, axis=0), shares.shape[1]
    for low, high in permutations(range(width), 2):
        bounds = [(0, 1)] * width
        bounds[low], bounds[high] = (0, 0), (1, 1)
        solved = linprog([0] * width, A_ub=-steps, b_ub=[1e-9] * len(steps), bounds=bounds, method="highs")
        if not len(steps) or solved.status == 0:
            return True
        assert solved.status == 2
    return False


def logit(beliefs, utilities, sharpness=4.0):
    """Choice shares of an agent with a logit choice, (points, actions)."""
    raised = np.exp(sharpness * np.asarray(beliefs) @ np.asarray(utilities).T)
    return raised / raised.sum(axis=1, keepdims=True)


def judged(seed, *, cases=150, repetitions=3, sign=1.0):
    """Judgments of a logit agent over two states; a negative sign is one that wants the opposite of its belief."""
    rng = np.random.default_rng(seed)
    belief = rng.random(cases)
    case = np.repeat(np.arange(cases), repetitions)
    gain = sign * 4 * (2 * belief[case] - 1)
    worth = np.stack([-gain, gain, np.full(len(case), 1.4)], axis=1) + rng.gumbel(size=(len(case), 3))
    outcome = (rng.random(cases) < belief).astype(int)
    action = np.array(ACTIONS)[worth.argmax(axis=1)]
    return pd.DataFrame({"case": case, "belief": belief[case], "action": action, "outcome": outcome[case]})


@st.composite
def observations(draw):
    points, actions = draw(st.integers(2, 6)), draw(st.integers(2, 4))
    beliefs = draw(st.lists(st.integers(0, 100), min_size=points, max_size=points, unique=True))
    row = st.lists(st.integers(0, 6), min_size=actions, max_size=actions).filter(any)
    counts = np.array(draw(st.lists(row, min_size=points, max_size=points)), dtype=float)
    weights = draw(st.lists(st.integers(1, 9), min_size=points, max_size=points))
    return np.array(beliefs) / 100, counts / counts.sum(axis=1, keepdims=True), np.array(weights, dtype=float)


@settings(max_examples=25, deadline=None)
@given(observations())
def test_fits_exactly_where_the_margin_is_zero_or_more_and_then_does_the_same(observed):
    beliefs, shares, weights = observed
    found = rationalise_shares(beliefs, shares, weights=weights)
    margin = signed_margin(shares[np.argsort(beliefs)])
    if np.isnan(margin.gamma):
        assert found.fits is None
        assert found.note in found.sentence
        return
    assert found.gamma == pytest.approx(margin.gamma, abs=1e-9)
    assert found.fits == (margin.gamma > -1e-9)
    if not found.fits:
        return
    assert found.departure is None
    used = (shares > 0).any(axis=0)
    for belief, share in zip(beliefs, shares, strict=True):
        chosen = found.choose(belief)
        assert chosen.to_numpy() == pytest.approx(share[used], abs=1e-12)
        value, _, _ = best_mixes(found.agent, belief, ends=False)
        assert found.agent.value(belief) == pytest.approx(value, abs=1e-8)
        worth = found.agent.expected_utilities(belief) @ chosen - found.agent.cost(chosen)
        assert worth == pytest.approx(value, abs=1e-8)


@settings(max_examples=25, deadline=None)
@given(observations())
def test_the_potential_is_convex_with_the_observed_shares_as_slopes(observed):
    found = rationalise_shares(*observed[:2])
    assume(found.fits)
    agent = found.agent
    values = agent.beliefs @ agent.utilities.to_numpy().T
    mixes = agent.shares.to_numpy()
    for i in range(len(values)):
        below = agent.potential[i] + (values - values[i]) @ mixes[i]
        assert (agent.potential >= below - 1e-9).all()
        assert agent.costs[i] == pytest.approx(mixes[i] @ values[i] - agent.potential[i])  # Fenchel's equality
        assert agent.cost(mixes[i]) == pytest.approx(agent.costs[i], abs=1e-8)
    middle = mixes.mean(axis=0)
    assert agent.cost(middle) <= agent.costs.mean() + 1e-8


@settings(max_examples=25, deadline=None)
@given(observations())
def test_what_does_not_fit_is_mended_by_the_change_that_is_reported(observed):
    beliefs, shares, weights = observed
    found = rationalise_shares(beliefs, shares, weights=weights)
    assume(found.fits is False)
    order = np.argsort(beliefs)
    beliefs, shares, weights = beliefs[order], shares[order], weights[order] / weights.sum()
    departure, used = found.departure, (shares > 0).any(axis=0)
    mended = departure.repaired.to_numpy()
    taken = np.clip(shares[:, used] - mended, 0, None).sum(axis=1)
    assert departure.change == pytest.approx(weights @ taken, abs=1e-7)
    assert 0 < departure.change_at_least <= departure.change + 1e-9
    index = mended @ departure.utilities.iloc[:, 1].to_numpy()
    assert (np.diff(index) >= -1e-7).all()
    # No utilities fit the clash, and some fit without any one of its points.
    clash = list(departure.clash)
    assert not some_utilities_fit(shares[clash][:, used])
    for gone in clash:
        assert some_utilities_fit(shares[[point for point in clash if point != gone]][:, used])
    assert departure.cycle_sum < 0
    assert set(departure.cycle) <= set(clash)


def test_finds_the_least_change_of_a_known_case():
    """Two actions: the last two bins fall by .1, the second and third by .2; each is a fifth of the answers."""
    positive = np.array([0.1, 0.5, 0.3, 0.8, 0.7])
    found = rationalise_shares([0.1, 0.3, 0.5, 0.7, 0.9], np.column_stack((1 - positive, positive)))
    assert found.fits is False
    departure = found.departure
    assert departure.change == pytest.approx((0.2 + 0.1) / 5)
    assert departure.change_at_least == pytest.approx(departure.change)
    assert departure.clash == (2, 3, 4)
    assert departure.cycle == (3, 4)
    assert departure.cycle_sum == pytest.approx(0.2 * -0.1)
    assert "6 % of the answers" in found.sentence
    assert "0.50, 0.70 and 0.90" in found.sentence


def test_weights_decide_which_answers_change():
    shares = [[0.7, 0.3], [0.3, 0.7], [0.6, 0.4]]
    few_last = rationalise_shares([0.2, 0.5, 0.8], shares, weights=[5, 4, 1]).departure
    few_middle = rationalise_shares([0.2, 0.5, 0.8], shares, weights=[5, 1, 4]).departure
    assert few_last.change == pytest.approx(0.3 * 0.1)
    assert few_middle.change == pytest.approx(0.3 * 0.1)
    assert few_last.repaired.iloc[2, 1] == pytest.approx(0.7)
    assert few_middle.repaired.iloc[1, 1] == pytest.approx(0.4)


def test_the_range_of_a_utility_is_what_the_choices_allow():
    """With 0 for negative and 1 for positive, .1 + .8 t <= .5 + .2 t holds for t up to two thirds."""
    shares = pd.DataFrame([[0.1, 0.1, 0.8], [0.3, 0.5, 0.2]], columns=ACTIONS)
    found = rationalise_shares([0.3, 0.6], shares, anchored=True)
    assert found.anchored_ranges.loc["defer"].tolist() == pytest.approx([0, 2 / 3], abs=1e-5)
    assert found.anchored_ranges.loc["positive"].tolist() == pytest.approx([1, 1])
    assert found.ranges.equals(found.anchored_ranges)
    free = rationalise_shares([0.3, 0.6], shares)
    assert ("negative", "positive") in free.extremes
    assert ("negative", "defer") not in free.extremes
    assert (free.ranges["least"] <= free.anchored_ranges["least"] + 1e-9).all()
    assert (free.ranges["largest"] >= free.anchored_ranges["largest"] - 1e-9).all()


@settings(max_examples=15, deadline=None)
@given(st.floats(0.05, 0.95), st.floats(-1, 1), st.integers(0, 1000))
def test_recovers_utilities_of_a_logit_agent_within_their_range(gain, level, seed):
    rng = np.random.default_rng(seed)
    belief = np.sort(rng.choice(np.arange(1, 100), size=12, replace=False)) / 100
    states = np.column_stack((1 - belief, belief))
    utilities = np.array([[0.0, 0.0], [-0.4, 0.6], [level, level + gain]])
    shares = pd.DataFrame(logit(states, utilities), columns=ACTIONS)
    found = rationalise_shares(belief, shares, anchored=True)
    assert found.fits
    assert found.agent.is_unique
    least, largest = found.anchored_ranges.loc["defer"]
    assert least - 1e-5 <= gain <= largest + 1e-5
    assert least <= found.utilities.loc["defer", 1] <= largest


def test_a_strict_fit_makes_the_observed_mix_the_only_best_one():
    belief = np.array([0.1, 0.35, 0.6, 0.9])
    shares = logit(np.column_stack((1 - belief, belief)), [[1, -1], [-1, 1], [0.3, 0.3]])
    found = rationalise_shares(belief, pd.DataFrame(shares, columns=ACTIONS))
    assert found.agent.is_unique
    for point, share in zip(belief, shares, strict=True):
        _, least, largest = best_mixes(found.agent, point)
        assert least == pytest.approx(share, abs=1e-6)
        assert largest == pytest.approx(share, abs=1e-6)


def test_levels_are_free_because_the_regulariser_takes_them_up():
    belief = np.array([0.1, 0.35, 0.6, 0.9])
    shares = logit(np.column_stack((1 - belief, belief)), [[1, -1], [-1, 1], [0.3, 0.3]])
    agent = rationalise_shares(belief, pd.DataFrame(shares, columns=ACTIONS)).agent
    other = agent.with_levels({"negative": 2.0, "defer": -0.7})
    assert other.utilities.loc["negative"].tolist() == pytest.approx([2.0, 2.0])
    mix = {"negative": 0.5, "positive": 0.25, "defer": 0.25}
    assert other.cost(mix) - agent.cost(mix) == pytest.approx(0.5 * 2.0 - 0.25 * 0.7)
    for point in np.linspace(0, 1, 21):
        assert other.choose(point).equals(agent.choose(point))
        value, _, _ = best_mixes(other, point, ends=False)
        assert value == pytest.approx(other.value(point), abs=1e-8)
    with pytest.raises(BeliefError, match="'wait' is not an action"):
        agent.with_levels({"wait": 1.0})


def test_between_beliefs_choices_still_rise():
    found = rationalise(judged(3))
    gains = found.agent.gains[1].to_numpy()
    path = [found.choose(point).to_numpy() @ gains for point in np.linspace(0, 1, 101)]
    assert (np.diff(path) >= -1e-12).all()
    assert found.choose([0.3, 0.7]).equals(found.choose(0.7))


@pytest.mark.parametrize("number", ["1", "2", "3"])
def test_uses_the_bins_and_the_margin_of_the_monotonicity_test(number):
    judgments = pd.read_csv(REFERENCE / f"judgments_{number}.csv")
    found, margin = rationalise(judgments), monotonicity_margin(judgments, resamples=0)
    assert found.gamma == pytest.approx(margin.gamma, abs=1e-12)
    assert found.choice_shares.to_numpy() == pytest.approx(margin.choice_shares.to_numpy())
    assert found.fits
    for place, belief in enumerate(found.beliefs[1]):
        assert found.choose(belief).to_numpy() == pytest.approx(found.choice_shares.iloc[place].to_numpy(), abs=1e-12)
    anchored = rationalise(judgments, anchored=True)
    assert anchored.gamma == pytest.approx(margin.anchored, abs=1e-12)
    assert anchored.fits == (margin.anchored >= 0)
    if not anchored.fits:
        assert found.anchored_ranges.empty
        assert "no such agent for which" in found.sentence


def test_row_order_does_not_matter():
    judgments = judged(5)
    mixed = judgments.sample(frac=1, random_state=1)
    assert rationalise(judgments).points.equals(rationalise(mixed).points)


def test_wanting_the_opposite_fits_freely_but_not_when_anchored():
    found = rationalise(judged(1, sign=-1.0))
    assert found.fits
    assert found.utilities.loc["negative", 1] > found.utilities.loc["positive", 1]
    assert found.anchored_ranges.empty
    held = rationalise(judged(1, sign=-1.0), anchored=True)
    assert held.fits is False
    assert held.agent is None
    assert held.utilities is None
    assert len(held.departure.clash) == 2
    assert held.departure.utilities.loc["positive", 1] == 1
    with pytest.raises(BeliefError, match="there is no agent to choose"):
        held.choose(0.5)


def test_weak_fit_says_that_the_agent_is_indifferent():
    shares = [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5], [0.5, 0.3, 0.2]]
    found = rationalise_shares([0.2, 0.5, 0.8], shares)
    assert found.fits
    assert found.gamma == 0
    assert "indifferent" in found.sentence
    assert "says nothing" in found.note
    assert [found.choose(p).tolist() for p in (0.2, 0.5, 0.8)] == shares


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"action": "defer"}, "fewer than two actions"),
        ({"belief": 0.4}, "one bin"),
        ({"belief": np.nan}, "no complete rows"),
    ],
)
def test_degenerate_judgments_are_answered_in_words(change, reason):
    found = rationalise(judged(2, cases=30).assign(**change))
    assert found.fits is None
    assert np.isnan(found.gamma)
    assert found.agent is None
    assert reason in found.sentence
    assert reason in found.note


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 5), st.integers(2, 4))
def test_several_states_fit_a_logit_agent(seed, n_states, n_actions):
    rng = np.random.default_rng(seed)
    beliefs = pd.DataFrame(rng.dirichlet(np.ones(n_states), 8), columns=[f"s{k}" for k in range(n_states)])
    shares = logit(beliefs.to_numpy(), rng.random((n_actions, n_states)))
    found = rationalise_shares(beliefs, shares)
    assert found.fits
    assert np.sign(found.gamma) == np.sign(multistate_margin(beliefs, shares))
    assert list(found.utilities.columns) == list(beliefs.columns)
    for point, share in zip(beliefs.to_numpy(), shares, strict=True):
        assert found.choose(point).to_numpy() == pytest.approx(share, abs=1e-12)
        value, _, _ = best_mixes(found.agent, point, ends=False)
        worth = found.agent.expected_utilities(point) @ share - found.agent.cost(share)
        assert found.agent.value(point) == pytest.approx(value, abs=1e-8)
        assert worth == pytest.approx(value, abs=1e-8)


def test_several_states_that_clash():
    rng = np.random.default_rng(1)
    beliefs = np.round(rng.dirichlet(np.ones(3), 12), 6)
    beliefs[:, 2] = 1 - beliefs[:, :2].sum(axis=1)
    shares = rng.dirichlet(np.ones(3), 12)
    found = rationalise_shares(beliefs, shares)
    assert multistate_margin(beliefs, shares) < 0
    assert found.fits is False
    departure = found.departure
    clash = list(departure.clash)
    assert multistate_margin(beliefs[clash], shares[clash]) < 0
    for gone in clash:
        rest = [point for point in clash if point != gone]
        assert multistate_margin(beliefs[rest], shares[rest]) >= 0
    mended = rationalise_shares(beliefs, np.round(departure.repaired.to_numpy(), 12))
    assert mended.gamma >= -1e-7
    assert 0 < departure.change_at_least <= departure.change < 1
    assert "lies between" in found.sentence


def test_several_states_from_judgments():
    rng = np.random.default_rng(4)
    belief = rng.dirichlet(np.ones(3), 200)
    case = np.repeat(np.arange(200), 2)
    worth = 6 * belief[case] + rng.gumbel(size=(400, 3))
    frame = pd.DataFrame(belief[case], columns=["belief_a", "belief_b", "belief_c"])
    frame = frame.assign(case=case, action=worth.argmax(axis=1).astype(str))
    frame["outcome"] = np.array(list("abc"))[[rng.choice(3, p=p) for p in belief]][case]
    found = rationalise(frame, bins=10)
    assert list(found.beliefs.columns) == ["a", "b", "c"]
    assert len(found.beliefs) == 10
    assert found.fits
    assert found.choose(found.beliefs.iloc[3]).equals(found.choice_shares.iloc[3].rename(None))
    assert "fewer than 8 belief points" in rationalise(frame, bins=4).note
    with pytest.raises(BeliefError, match="do not add up to 1 in row 7"):
        rationalise(frame.assign(belief_a=frame["belief_a"].where(frame.index != 7, 0.0)))


def test_wrong_input_is_said_in_one_line():
    with pytest.raises(BeliefError, match="bins is 1"):
        rationalise(judged(0), bins=1)
    with pytest.raises(BeliefError, match="need two outcome states and the actions negative and positive"):
        rationalise_shares([0.1, 0.9], [[0.4, 0.6], [0.2, 0.8]], anchored=True)
    with pytest.raises(BeliefError, match="3 belief points and 2 rows"):
        rationalise_shares([0.1, 0.5, 0.9], [[0.4, 0.6], [0.2, 0.8]])
    with pytest.raises(BeliefError, match="stands there twice"):
        rationalise_shares([0.1, 0.1], [[0.4, 0.6], [0.2, 0.8]])
    with pytest.raises(BeliefError, match="add up to 1 in row 1"):
        rationalise_shares([0.1, 1.2], [[0.4, 0.6], [0.2, 0.8]])
    with pytest.raises(BeliefError, match="2 numbers above zero"):
        rationalise_shares([0.1, 0.4], [[0.4, 0.6], [0.2, 0.8]], weights=[1, 0])
    agent = rationalise_shares([0.1, 0.4], [[0.6, 0.4], [0.2, 0.8]]).agent
    with pytest.raises(BeliefError, match="add up to 1"):
        agent.choose(1.2)
    with pytest.raises(BeliefError, match="2 probabilities"):
        agent.choose([0.2, 0.3, 0.5])
    with pytest.raises(BeliefError, match="shares of 0, 1"):
        agent.cost([0.2, 0.3])

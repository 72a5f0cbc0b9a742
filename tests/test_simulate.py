"""Control agents: what their knobs do, that the same seed gives the same answers, and wrong knobs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belief_utils.beliefs.judgments_checks import check_judgments
from belief_utils.beliefs.simulate import (
    COHERENT_AGENTS,
    MONOTONE_AGENTS,
    NULL_AGENTS,
    SCATTERED_AGENTS,
    SCATTERED_VIOLATIONS,
    VIOLATIONS,
    ControlAgent,
    expected_utilities,
    shifted,
    simulate_expectations,
    simulate_judgments,
    simulate_prompts,
)
from belief_utils.errors import BeliefError

MANY = {"cases": 20_000, "repetitions": 2, "seed": 3}


def by_case(judgments: pd.DataFrame) -> pd.DataFrame:
    """Mean belief, its spread and the outcome of each case."""
    grouped = judgments.groupby("case")
    return pd.DataFrame(
        {
            "belief": grouped["belief"].mean(),
            "spread": grouped["belief"].std(ddof=1),
            "outcome": grouped["outcome"].first(),
        }
    )


def positive_by_belief(agent: ControlAgent) -> pd.Series:
    """Share of the action positive in five bins of rising belief."""
    judgments = simulate_judgments(agent, **MANY)
    bins = pd.cut(judgments["belief"], np.linspace(0, 1, 6), labels=False, include_lowest=True)
    return (judgments["action"] == "positive").groupby(bins).mean()


@given(
    seed=st.integers(0, 2**32 - 1),
    cases=st.integers(1, 30),
    repetitions=st.integers(1, 4),
    hidden=st.floats(0, 3),
    noise=st.floats(0, 0.3),
    grid=st.sampled_from([0.0, 0.01, 0.05, 0.1]),
    shocks=st.floats(0, 2),
    preference=st.sampled_from(["ordinary", "reversed", "u-shaped"]),
)
@settings(max_examples=60, deadline=None)
def test_judgments_are_complete_valid_and_seeded(seed, cases, repetitions, **knobs):
    agent = ControlAgent("any", **knobs)
    judgments = simulate_judgments(agent, cases=cases, repetitions=repetitions, seed=seed)
    assert len(check_judgments(judgments)) == cases * repetitions
    assert judgments.notna().all(axis=None)
    assert set(judgments["action"]) <= {"negative", "positive", "defer"}
    assert set(judgments["outcome"]) <= {0, 1}
    if agent.grid:
        steps = judgments["belief"] / agent.grid
        assert np.allclose(steps, np.rint(steps))
    pd.testing.assert_frame_equal(judgments, simulate_judgments(agent, cases=cases, repetitions=repetitions, seed=seed))


def test_seeds_and_agents_have_draws_of_their_own():
    plain, sharp = (simulate_judgments(ControlAgent("any", sharpness=s), seed=1)["belief"] for s in (4, 20))
    assert not np.isclose(plain, sharp).any()
    assert not np.isclose(plain, simulate_judgments(ControlAgent("any"), seed=2)["belief"]).any()
    pd.testing.assert_series_equal(plain, simulate_judgments(ControlAgent("another name"), seed=1)["belief"])


def test_an_agent_that_hides_nothing_is_calibrated_and_ignores_the_outcome():
    cases = by_case(simulate_judgments(NULL_AGENTS[0], **MANY))
    bins = (cases["belief"] * 10).astype(int)
    shares = cases.groupby(bins).mean()
    assert shares["outcome"].to_numpy() == pytest.approx(shares["belief"].to_numpy(), abs=0.04)
    assert cases["spread"].max() == 0


def test_a_hiding_agent_chooses_positive_more_often_where_the_outcome_is_present():
    def contrast(agent: ControlAgent) -> float:
        judgments = simulate_judgments(agent, **MANY)
        middle = judgments[judgments["belief"].between(0.45, 0.55)]
        return (middle["action"] == "positive").groupby(middle["outcome"]).mean().diff().iloc[-1]

    assert abs(contrast(ControlAgent("honest"))) < 0.06
    assert contrast(ControlAgent("hiding", hidden=1.5)) > 0.2


def test_noise_is_the_spread_of_reports_of_one_case():
    spread = by_case(simulate_judgments(ControlAgent("noisy", noise=0.05), **MANY))["spread"]
    assert np.sqrt((spread**2).mean()) == pytest.approx(0.05, abs=0.003)


def test_reports_follow_their_distribution():
    belief = by_case(simulate_judgments(ControlAgent("low", reports=(1.0, 4.0)), **MANY))["belief"]
    assert belief.mean() == pytest.approx(1 / 5, abs=0.005)
    assert belief.var() == pytest.approx(4 / (25 * 6), abs=0.002)


def test_shocks_make_the_answers_to_a_case_alike():
    def agreement(agent: ControlAgent) -> float:
        actions = simulate_judgments(agent, **MANY)["action"].to_numpy().reshape(-1, 2)
        return (actions[:, 0] == actions[:, 1]).mean()

    assert agreement(ControlAgent("shocked", shocks=3.0)) > agreement(ControlAgent("plain")) + 0.2


def test_sharpness_and_preferences_shape_the_choices():
    assert positive_by_belief(ControlAgent("plain")).is_monotonic_increasing
    assert positive_by_belief(ControlAgent("reversed", preference="reversed")).is_monotonic_decreasing
    assert positive_by_belief(ControlAgent("random", sharpness=0.0)).to_numpy() == pytest.approx(1 / 3, abs=0.02)
    ends = positive_by_belief(ControlAgent("u", preference="u-shaped")).to_numpy()
    assert ends[2] < min(ends[1], ends[3]) < min(ends[0], ends[4])
    sure = positive_by_belief(ControlAgent("sharp", sharpness=100.0)).to_numpy()
    assert sure[[0, 4]] == pytest.approx([0, 1], abs=1e-3)


def test_choice_frequencies_are_logit():
    judgments = simulate_judgments(ControlAgent("fixed", grid=1.0, sharpness=2.0), **MANY)
    certain = judgments[judgments["belief"] == 1]
    weights = np.exp(2.0 * expected_utilities(1.0))
    shares = [(certain["action"] == name).mean() for name in ("negative", "positive", "defer")]
    assert shares == pytest.approx((weights / weights.sum()).tolist(), abs=0.012)


def test_utilities_and_shifts_are_those_of_the_definition():
    assert expected_utilities(np.array([0.0, 0.5, 0.9])) == pytest.approx(
        np.array([[1, -1, 0.35], [0, 0, 0.35], [-0.8, 0.8, 0.35]])
    )
    assert shifted(np.array([0.5, 0.2]), np.array([np.log(3), 0.0])) == pytest.approx([0.75, 0.2])


def test_prompts_differ_only_by_noise_unless_the_agent_is_incoherent():
    for size in (0.0, 0.1):
        agent = ControlAgent("any", noise=0.1, incoherence=size)
        standard, reframed = simulate_prompts(agent, cases=4000, repetitions=5, seed=1)
        shift = (reframed["belief"] - standard["belief"]).groupby(standard["case"])
        products = (shift.sum() ** 2 - shift.apply(lambda d: (d**2).sum())) / 20
        assert products.mean() == pytest.approx(size**2, abs=0.0012)
        assert reframed["belief"].between(0, 1).all()


def test_expectations_add_up_unless_the_agent_is_incoherent():
    for size in (0.0, 0.1):
        frame = simulate_expectations(ControlAgent("any", incoherence=size), cases=500, repetitions=2, seed=1)
        parts = sum(frame[f"conditional_{j}"] * frame[f"weight_{j}"] for j in (1, 2, 3))
        assert (frame["belief"] - parts).abs().to_numpy() == pytest.approx(size, abs=1e-5)
    noisy = simulate_expectations(ControlAgent("noisy", noise=0.1), cases=500, repetitions=2, seed=1)
    assert noisy[["weight_1", "weight_2", "weight_3"]].sum(axis=1).to_numpy() == pytest.approx(1)
    assert noisy["belief"].between(0, 1).all()


def test_there_are_ten_agents_that_keep_each_condition_and_five_that_break_it():
    for agents in (NULL_AGENTS, MONOTONE_AGENTS, COHERENT_AGENTS):
        assert len({agent.name for agent in agents}) == len({agent.knobs for agent in agents}) == 10
        assert all(agent.incoherence == 0 for agent in agents)
    assert all(agent.hidden == 0 for agent in NULL_AGENTS)
    assert {name: len(agents) for name, agents in VIOLATIONS.items()} == {
        "sufficiency": 5,
        "monotonicity": 5,
        "coherence": 5,
    }
    assert [agent.hidden for agent in VIOLATIONS["sufficiency"]] == [0.25, 0.5, 0.75, 1, 1.5]


def test_scattered_agents_differ_from_the_others_by_a_little_noise():
    noiseless = [agent for agent in (*NULL_AGENTS, *VIOLATIONS["sufficiency"]) if not agent.noise]
    assert [*SCATTERED_AGENTS, *SCATTERED_VIOLATIONS] == [
        replace(agent, name=f"{agent.name} ±.05", noise=0.05) for agent in noiseless
    ]


def test_knobs_are_written_in_short():
    assert ControlAgent("plain").knobs == ""
    assert ControlAgent("any", hidden=1.5, grid=0.05, reports=(1.0, 4.0)).knobs == "hidden=1.5 grid=0.05 reports=1/4"


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"hidden": -1}, "hidden is -1"),
        ({"grid": 2}, "at most 1"),
        ({"noise": np.nan}, "noise is nan"),
        ({"noise": 0.5}, "at most 0.4"),
        ({"preference": "odd"}, "ordinary, reversed, u-shaped"),
        ({"reports": (0.0, 1.0)}, "above 0"),
    ],
)
def test_wrong_knobs_are_named(knobs, message):
    with pytest.raises(BeliefError, match=message):
        ControlAgent("wrong", **knobs)


@pytest.mark.parametrize("size", [{"cases": 0}, {"repetitions": 0}])
@pytest.mark.parametrize("simulate", [simulate_judgments, simulate_prompts, simulate_expectations])
def test_wrong_sizes_are_named(size, simulate):
    with pytest.raises(BeliefError, match="give 1 or more"):
        simulate(NULL_AGENTS[0], **size)

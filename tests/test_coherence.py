import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belief_utils.beliefs.coherence import forest_baseline, iterated_expectation_gap
from belief_utils.errors import BeliefError

REFERENCE = Path(__file__).parent / "data" / "reference"
EXPECTED = json.loads((REFERENCE / "expected.json").read_text())["iterated_expectation"]


def frame(belief, conditional, weight):
    """Answers from beliefs (cases, repetitions) and conditionals and weights (cases, repetitions, k)."""
    belief, conditional, weight = (np.asarray(a, dtype=float) for a in (belief, conditional, weight))
    case, repetition = np.indices(belief.shape).reshape(2, -1)
    columns = {"case": case, "repetition": repetition, "belief": belief.reshape(-1)}
    for j in range(conditional.shape[-1]):
        columns[f"conditional_{j}"] = conditional[..., j].reshape(-1)
        columns[f"weight_{j}"] = weight[..., j].reshape(-1)
    return pd.DataFrame(columns)


def agent(noise, extra=0.0, cases=80, repetitions=5, seed=2):
    """A noisy agent whose expected beliefs are coherent, except that p(x) is ``extra`` too high."""
    rng = np.random.default_rng(seed)
    weight = rng.dirichlet([2.0, 2.0, 2.0], cases)
    conditional = rng.uniform(0.1, 0.8, (cases, 3))
    belief = (weight * conditional).sum(axis=1)[:, None] + extra

    def answered(value, shape):
        spread = noise * value * (1 - value)
        return np.clip(value + spread * rng.normal(size=shape), 0, 1)

    rows = (cases, repetitions)
    parts = [np.repeat(a[:, None, :], repetitions, axis=1) for a in (conditional, weight)]
    return frame(answered(belief, rows), *(answered(part, (*rows, 3)) for part in parts))


def test_agrees_with_the_reference_values_in_its_own_columns():
    result = iterated_expectation_gap(pd.read_csv(REFERENCE / "iterated_expectation.csv"))
    assert result.mean_abs == pytest.approx(EXPECTED["mean_abs"], abs=1e-9)
    assert result.median_abs == pytest.approx(EXPECTED["median_abs"], abs=1e-9)
    assert result.rmse == pytest.approx(EXPECTED["rmse"], abs=1e-9)
    assert result.median_ratio == pytest.approx(EXPECTED["median_ratio_p_rows_excluding_p0"], abs=1e-9)
    assert result.median_ratio_case_means == pytest.approx(EXPECTED["median_ratio_case_means"], abs=1e-9)
    assert result.debiased_rms**2 == pytest.approx(EXPECTED["debiased_ms_U"], abs=1e-9)
    assert result.mean_signed == pytest.approx(EXPECTED["mean_signed"], abs=1e-9)
    assert result.n_zero == EXPECTED["n_p0"]
    assert (result.n_cases, result.n_rows) == (30, 90)
    assert "Rows with a belief of 0, left out of the ratios: 3" in result.note


def test_long_names_in_any_order_mean_the_same():
    short = pd.read_csv(REFERENCE / "iterated_expectation.csv")
    names = {"rep": "repetition", "p": "belief"}
    names |= {f"c{j}": f"conditional_grade {j}" for j in (1, 2, 3)}
    names |= {f"w{j}": f"weight_grade {j}" for j in (1, 2, 3)}
    long = short.rename(columns=names)
    assert iterated_expectation_gap(long) == iterated_expectation_gap(short)
    backwards = iterated_expectation_gap(long[long.columns[::-1]])
    assert backwards.median_ratio == pytest.approx(iterated_expectation_gap(short).median_ratio)


def test_small_example_by_hand():
    # Case 0: weights 2:2 and 1:3, expectations .4 and .5, gaps .1 and -.1. Case 1: gaps 0, once with p = 0.
    data = frame(
        [[0.5, 0.4], [0.0, 0.3]],
        [[[0.2, 0.6], [0.2, 0.6]], [[0.0, 0.0], [0.3, 0.3]]],
        [[[2, 2], [1, 3]], [[0.5, 0.5], [0, 0]]],
    )
    result = iterated_expectation_gap(data)
    assert result.median_ratio == pytest.approx(np.median([0.2, 0.25, 0.0]))
    assert result.median_ratio_case_means == pytest.approx(0)
    assert (result.mean_abs, result.median_abs) == (pytest.approx(0.05), pytest.approx(0.05))
    assert result.rmse == pytest.approx(np.sqrt(0.02 / 4))
    assert result.debiased_rms == 0
    assert (result.n_zero, result.n_uniform) == (1, 1)
    assert "Rows with all weights zero, read as equal weights: 1" in result.note


def test_a_coherent_agent_is_at_its_noise_floor_and_has_no_debiased_gap():
    result = iterated_expectation_gap(agent(noise=0.4))
    assert result.median_ratio > 0.08
    assert result.noise_floor == pytest.approx(result.median_ratio, rel=0.15)
    assert result.interval[0] == 0


def test_an_incoherent_agent_is_above_its_noise_floor_and_the_gap_is_measured():
    result = iterated_expectation_gap(agent(noise=0.4, extra=0.15))
    assert result.median_ratio > 1.5 * result.noise_floor
    assert result.debiased_rms == pytest.approx(0.15, abs=0.02)
    assert result.interval[0] > 0.1
    assert result.mean_signed_interval[0] < 0.15 < result.mean_signed_interval[1]
    assert result.estimate == result.debiased_rms


def test_without_noise_the_floor_is_zero():
    data = frame(np.full((4, 3), 0.5), np.full((4, 3, 2), 0.25), np.full((4, 3, 2), 0.5))
    result = iterated_expectation_gap(data)
    assert result.noise_floor == pytest.approx(0, abs=1e-12)
    assert result.median_ratio == pytest.approx(0.5)
    assert result.debiased_rms == pytest.approx(0.25)


def test_exact_agreement_is_a_gap_of_zero_in_spite_of_floating_point():
    belief = np.repeat([[0.3], [0.46], [0.66]], 2, axis=1)
    conditional = np.repeat(belief[..., None], 3, axis=2)
    result = iterated_expectation_gap(frame(belief, conditional, np.full((3, 2, 3), 0.1)))
    assert (result.rmse, result.debiased_rms, result.interval) == (0, 0, (0, 0))


def test_incomplete_rows_are_left_out_and_counted():
    data = agent(noise=0.4, cases=4, repetitions=2)
    data.loc[0, "weight_1"] = np.nan
    data.loc[7, "conditional_2"] = np.nan
    result = iterated_expectation_gap(data)
    assert (result.n_cases, result.n_rows, result.n_single) == (4, 6, 2)
    assert "Rows left out because a value is missing: 2 of 8" in result.note
    assert "left out of the debiased value: 2 of 4" in result.note
    assert result.debiased_rms == iterated_expectation_gap(data[data["case"].isin([1, 2])]).debiased_rms


def test_single_repetitions_have_ratios_but_no_debiased_gap_and_no_floor():
    result = iterated_expectation_gap(agent(noise=0.4, repetitions=1))
    assert result.median_ratio > 0
    assert np.isnan([result.debiased_rms, result.noise_floor, *result.interval]).all()
    assert "Every case has one repetition" in result.note


def test_no_complete_row_gives_nan_and_says_so():
    result = iterated_expectation_gap(agent(noise=0.4, cases=2).assign(belief=np.nan))
    assert np.isnan([result.median_ratio, result.rmse, result.debiased_rms, result.noise_floor]).all()
    assert "Nothing to compare" in result.note


def test_all_beliefs_zero_leaves_no_ratio():
    result = iterated_expectation_gap(agent(noise=0.0, cases=3).assign(belief=0.0))
    assert np.isnan(result.median_ratio)
    assert result.n_zero == result.n_rows == 15


GOOD = agent(noise=0.4, cases=2, repetitions=2)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (GOOD.drop(columns="weight_1"), "needs both conditional_ and weight_ columns for 1"),
        (GOOD[["case", "repetition", "belief"]], "no columns conditional_"),
        (GOOD.drop(columns="belief"), "no column belief"),
        (GOOD.assign(weight_0=-1.0), "weight_0 is -1.0 in row 0"),
        (GOOD.assign(weight_0=np.inf), "weight_0 is inf in row 0"),
        (GOOD.assign(conditional_0=1.5), "conditional_0 is 1.5 in row 0"),
        (GOOD.assign(repetition=1), "occurs twice"),
    ],
)
def test_bad_input_is_refused(bad, message):
    with pytest.raises(BeliefError, match=message):
        iterated_expectation_gap(bad)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 100), st.permutations([0, 1, 2]))
def test_scale_of_weights_and_order_of_categories_do_not_matter(seed, scale, order):
    data = agent(noise=0.6, cases=4, repetitions=3, seed=seed)
    other = data.assign(**{f"conditional_{j}": data[f"conditional_{k}"] for j, k in enumerate(order)})
    other = other.assign(**{f"weight_{j}": data[f"weight_{k}"] * scale for j, k in enumerate(order)})
    first, second = (iterated_expectation_gap(d, resamples=10, simulations=1) for d in (data, other))
    for name in ("median_ratio", "mean_abs", "rmse", "debiased_rms", "mean_signed"):
        assert getattr(second, name) == pytest.approx(getattr(first, name), abs=1e-7)


def truth(cases=60, seed=1):
    """A truth that forests can learn: p*(x, z) is linear in the evidence a, b and the category."""
    rng = np.random.default_rng(seed)
    features = pd.DataFrame({"a": rng.integers(0, 2, cases), "b": rng.choice(["yes", "no"], cases)})
    base = 0.2 + 0.3 * features["a"].to_numpy() + 0.2 * (features["b"] == "yes").to_numpy()
    given_category = base[:, None] + np.array([0.0, 0.1, 0.2])
    weight = np.full((cases, 3), 1 / 3)
    return features, (given_category * weight).sum(axis=1), given_category, weight


def test_forests_that_learn_a_coherent_truth_are_nearly_coherent():
    assert forest_baseline(*truth(), trees=20) < 0.02


def test_forests_taught_an_incoherent_truth_show_it():
    features, p_star, given_category, weight = truth()
    # p* half as large as its parts say: |p - 2p| / p = 1.
    assert forest_baseline(features, p_star / 2, given_category, weight, trees=20) == pytest.approx(1, abs=0.05)


def test_forests_accept_missing_evidence_and_ruled_out_categories():
    features, p_star, given_category, weight = truth()
    features.loc[::7, "b"] = None
    features["a"] = features["a"].where(features.index % 5 > 0)
    given_category[::4, 2], weight[::4] = np.nan, [0.5, 0.5, 0.0]
    p_star = np.nansum(given_category * weight, axis=1)
    first, second = (forest_baseline(features, p_star, given_category, weight, trees=10) for _ in range(2))
    assert first == second
    assert 0 < first < 0.5


def test_forests_refuse_shapes_that_do_not_agree():
    features, p_star, given_category, weight = truth(cases=10)
    with pytest.raises(BeliefError, match="10 cases need shapes"):
        forest_baseline(features, p_star[:9], given_category, weight)
    with pytest.raises(BeliefError, match="11 folds for 10 cases"):
        forest_baseline(features, p_star, given_category, weight, folds=11)
    given_category[0, 0] = np.nan
    with pytest.raises(BeliefError, match="true probability is missing"):
        forest_baseline(features, p_star, given_category, weight)

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belief_utils.beliefs.consistency import prompt_consistency
from belief_utils.errors import BeliefError

REFERENCE = Path(__file__).parent / "data" / "reference"
EXPECTED = json.loads((REFERENCE / "expected.json").read_text())


def answers(belief):
    """A frame of answers from an array of beliefs, shape (cases, repetitions)."""
    belief = np.asarray(belief, dtype=float)
    case, repetition = np.indices(belief.shape).reshape(2, -1)
    return pd.DataFrame({"case": case, "repetition": repetition, "belief": belief.reshape(-1)})


def noisy_pair(shift=0.0, cases=80, repetitions=5, noise=0.05, seed=3):
    """Answers of an agent whose expected belief moves by +shift or -shift, half of the cases each."""
    rng = np.random.default_rng(seed)
    belief = rng.uniform(0.3, 0.7, (cases, 1))
    moved = belief + shift * np.where(np.arange(cases) % 2, 1, -1)[:, None]
    first, second = (np.clip(b + rng.normal(0, noise, (cases, repetitions)), 0, 1) for b in (belief, moved))
    return answers(first), answers(second)


@pytest.mark.parametrize("number", ["1", "2", "3"])
def test_agrees_with_the_reference_values(number):
    data = pd.read_csv(REFERENCE / f"prompts_{number}.csv")
    expected = EXPECTED[number]
    result = prompt_consistency(data, data.assign(belief=data["belief_mse"]))
    assert result.rmse == pytest.approx(expected["prompt_rmse_paired"], abs=1e-9)
    assert result.rmse_of_means == pytest.approx(expected["prompt_rmse_of_means"], abs=1e-9)
    assert result.within_sd == pytest.approx(expected["prompt_within_sd_pooled"], abs=1e-9)
    assert result.debiased_rms**2 == pytest.approx(expected["prompt_debiased_mean_square"], abs=1e-9)
    assert result.mean_shift == pytest.approx(expected["prompt_mean_shift"], abs=1e-9)
    assert (result.n_cases, result.n_rows) == (data["case"].nunique(), len(data))


def test_small_example_by_hand():
    result = prompt_consistency(answers([[0.2, 0.4], [0.5, 0.5]]), answers([[0.4, 0.4], [0.4, 0.6]]))
    # Differences .2, 0 and -.1, .1; products of the two: 0 and -.01, so their mean is negative.
    assert result.rmse == pytest.approx(np.sqrt(0.06 / 4))
    assert result.rmse_of_means == pytest.approx(np.sqrt(0.01 / 2))
    assert result.within_sd == pytest.approx(0.1)
    assert result.within_sd_mean == pytest.approx(np.sqrt(0.02) / 2)
    assert result.independent_draws == pytest.approx(np.sqrt(0.01 + 0.01))
    assert result.debiased_rms == 0
    assert result.mean_shift == pytest.approx(0.05)
    assert result.estimate == result.debiased_rms


def test_noise_alone_looks_like_independent_draws_and_has_no_debiased_part():
    result = prompt_consistency(*noisy_pair(shift=0.0))
    assert result.rmse == pytest.approx(result.independent_draws, rel=0.1)
    assert result.rmse > 1.2 * result.within_sd
    assert result.interval[0] == 0
    assert result.debiased_rms < 0.02


def test_a_shift_without_direction_is_found_by_the_debiased_value_only():
    result = prompt_consistency(*noisy_pair(shift=0.05))
    assert result.debiased_rms == pytest.approx(0.05, abs=0.01)
    assert 0 < result.interval[0] < 0.05 < result.interval[1]
    assert result.mean_shift_interval[0] < 0 < result.mean_shift_interval[1]


def test_a_constant_shift_is_all_there_is_without_noise():
    standard = answers([[0.1] * 3, [0.4] * 3, [0.6] * 3])
    result = prompt_consistency(standard, standard.assign(belief=standard["belief"] + 0.25))
    for value in (
        result.rmse,
        result.rmse_of_means,
        result.debiased_rms,
        result.mean_shift,
        *result.interval,
    ):
        assert value == pytest.approx(0.25)
    assert result.within_sd == pytest.approx(0)


def test_pairs_are_found_by_case_and_repetition_and_order_does_not_matter():
    standard, reframed = noisy_pair(shift=0.05, cases=10)
    shuffled = reframed.sample(frac=1, random_state=1)
    assert prompt_consistency(standard, shuffled) == prompt_consistency(standard, reframed)


def test_missing_beliefs_are_left_out_in_pairs_and_counted():
    standard, reframed = answers([[0.2, 0.4], [0.5, 0.5]]), answers([[0.3, 0.4], [0.4, 0.6]])
    standard.loc[0, "belief"] = np.nan
    result = prompt_consistency(standard, reframed.drop(index=3))
    assert (result.n_cases, result.n_rows, result.n_single) == (2, 2, 2)
    assert "Pairs left out because a belief is missing: 2 of 4" in result.note
    assert result.rmse == pytest.approx(np.sqrt(0.01 / 2))
    assert np.isnan(result.debiased_rms)
    assert "one repetition" in result.note


def test_unequal_repetitions_weight_cases_equally_in_the_debiased_value():
    ragged = answers([[0.5] * 4] * 3).drop(index=[2, 3, 9, 10, 11])
    reframed = ragged.assign(belief=ragged["case"].map({0: 0.6, 1: 0.8, 2: 0.9}))
    result = prompt_consistency(ragged, reframed)
    assert (result.n_cases, result.n_rows, result.n_single) == (3, 7, 1)
    assert result.debiased_rms == pytest.approx(np.sqrt((0.01 + 0.09) / 2))
    assert result.mean_shift == pytest.approx((2 * 0.1 + 4 * 0.3 + 0.4) / 7)
    assert "Cases with one repetition, left out of the debiased value: 1 of 3" in result.note


def test_one_case_has_no_interval():
    result = prompt_consistency(answers([[0.2, 0.4]]), answers([[0.3, 0.5]]))
    assert result.debiased_rms == pytest.approx(0.1)
    assert np.isnan([*result.interval, *result.mean_shift_interval]).all()
    assert "no interval" in result.note


def test_nothing_in_common_gives_nan_and_says_so():
    standard = answers([[0.2, 0.4]])
    result = prompt_consistency(standard, standard.assign(case=7))
    assert (result.n_cases, result.n_rows) == (0, 0)
    values = [result.rmse, result.rmse_of_means, result.within_sd, result.within_sd_mean, result.debiased_rms]
    assert np.isnan([*values, result.independent_draws, result.mean_shift, *result.interval]).all()
    assert "Nothing to compare" in result.note


def test_empty_frames_give_nan():
    empty = pd.DataFrame({"case": [], "repetition": [], "belief": []})
    assert np.isnan(prompt_consistency(empty, empty).rmse)


def test_the_seed_decides_the_intervals():
    pair = noisy_pair(shift=0.02, cases=20)
    assert prompt_consistency(*pair, seed=1) == prompt_consistency(*pair, seed=1)
    assert prompt_consistency(*pair, seed=1).interval != prompt_consistency(*pair, seed=2).interval


GOOD = answers([[0.2, 0.4], [0.5, 0.5]])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (GOOD.drop(columns="belief"), "no column belief"),
        (GOOD.assign(belief=[0.2, 1.4, 0.5, 0.5]), "belief is 1.4 in row 1"),
        (GOOD.assign(belief=[0.2, 0.4, -0.5, 0.5]), "belief is -0.5 in row 2"),
        (GOOD.assign(belief=[0.2, 0.4, 0.5, np.inf]), "belief is inf in row 3"),
        (GOOD.assign(belief=["0.2", "high", "0.5", "0.5"]), "belief is high in row 1"),
        (GOOD.assign(repetition=0), "case 0, repetition 0 occurs twice"),
        (GOOD.assign(case=[0, None, 1, 1]), "row 1 has no case"),
        (GOOD.assign(case=["a", "a", "b", "b"]), "case is a number in one set"),
    ],
)
def test_bad_input_is_refused_in_one_line(bad, message):
    with pytest.raises(BeliefError, match=message) as caught:
        prompt_consistency(GOOD, bad)
    assert "\n" not in str(caught.value)


beliefs = st.lists(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
)


@settings(max_examples=40, deadline=None)
@given(beliefs)
def test_invariants_for_any_ragged_answers(cases):
    rows = [(i, j, a / 20, b / 20) for i, case in enumerate(cases) for j, (a, b) in enumerate(case)]
    frame = pd.DataFrame(rows, columns=["case", "repetition", "belief", "other"])
    reframed = frame.assign(belief=frame["other"])
    result = prompt_consistency(frame, reframed, resamples=20)
    swapped = prompt_consistency(reframed, frame, resamples=20)
    assert abs(result.mean_shift) <= result.rmse + 1e-12
    assert swapped.mean_shift == pytest.approx(-result.mean_shift, abs=1e-12)
    assert swapped.rmse == pytest.approx(result.rmse, abs=1e-12)
    assert swapped.debiased_rms == pytest.approx(result.debiased_rms, abs=1e-12, nan_ok=True)
    assert np.isnan(result.debiased_rms) == (result.n_single == result.n_cases)

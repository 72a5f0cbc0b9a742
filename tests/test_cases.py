"""The cases: how they are sampled, and that the committed ones are what they say they are."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.beliefs.cases import (
    BINS,
    MINIMUM_SUPPORT,
    SIZES,
    empty_bins,
    evidence_from,
    evidence_text,
    load_cases,
    sample_cases,
    write_cases,
)
from belief_utils.beliefs.datasets import Posterior, dataset_names, load_dataset
from belief_utils.errors import BeliefError

DATASETS = ("heart", "crying", "fever", "diabetes")


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    """A small network, of which only a few sets of covariates are tried."""
    return Posterior(dataclasses.replace(load_dataset("crying"), sampled_sets=60))


@pytest.fixture(scope="module")
def sampled(posterior: Posterior) -> pd.DataFrame:
    return sample_cases(posterior, n=60, seed=1)


@pytest.fixture(params=DATASETS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


# --- sampling -------------------------------------------------------------------------------------------------------


def test_sampling_again_gives_the_same_file_and_another_seed_another(
    posterior: Posterior, sampled: pd.DataFrame, tmp_path: Path
) -> None:
    for seed in (1, 2):
        write_cases(sample_cases(posterior, n=60, seed=seed), tmp_path / f"{seed}.csv")
    write_cases(sampled, tmp_path / "first.csv")
    first = (tmp_path / "first.csv").read_bytes()
    assert (tmp_path / "1.csv").read_bytes() == first
    assert (tmp_path / "2.csv").read_bytes() != first
    assert b"\r" not in first


def test_cases_are_spread_evenly_over_the_bins_as_far_as_these_offer_any(sampled: pd.DataFrame) -> None:
    counts = np.bincount(np.minimum((sampled["p_star"] * BINS).astype(int), BINS - 1), minlength=BINS)
    assert counts.sum() == 60
    # A bin that is not exhausted has as many cases as the fullest one, or one less.
    assert (counts >= counts.max() - 1).sum() >= BINS / 2
    assert len(empty_bins(sampled["p_star"])) == (counts == 0).sum()
    # The order is random, so the first half is spread as well.
    assert (sampled["p_star"][:30] > 0.5).sum() in range(7, 24)


def test_a_case_shows_two_to_six_covariates_that_enough_patients_share(
    posterior: Posterior, sampled: pd.DataFrame
) -> None:
    assert sampled["evidence"].is_unique
    assert list(sampled["case"]) == list(range(60))
    for row in sampled.itertuples():
        evidence = evidence_from(row.evidence)
        assert SIZES[0] <= len(evidence) <= SIZES[1]
        assert row.support >= MINIMUM_SUPPORT
        assert row.support == pytest.approx(posterior.support(evidence), abs=0.06)
        assert row.p_star == pytest.approx(posterior.probability(evidence), abs=1e-6)
    assert set(sampled["evidence"].map(evidence_from).map(len)) == set(range(SIZES[0], SIZES[1] + 1))


def test_parts_of_the_auxiliary_variable_are_there_where_it_is_open(
    posterior: Posterior, sampled: pd.DataFrame
) -> None:
    dataset = posterior.dataset
    parts = [f"{kind}_{state}" for kind in ("weight", "p_star") for state in dataset.labels]
    is_open = np.array([dataset.auxiliary not in evidence_from(text) for text in sampled["evidence"]])
    assert 0 < is_open.sum() < len(sampled)
    assert sampled.loc[~is_open, parts].isna().all(axis=None)
    assert sampled.loc[is_open, parts].notna().all(axis=None)


def test_outcomes_are_drawn_from_the_true_probability(posterior: Posterior) -> None:
    frames = [sample_cases(posterior, n=60, seed=seed) for seed in range(5)]
    cases = pd.concat(frames)
    assert set(cases["outcome"]) == {0, 1}
    noise = np.sqrt((cases["p_star"] * (1 - cases["p_star"])).sum())
    assert abs((cases["outcome"] - cases["p_star"]).sum()) < 3 * noise
    assert cases.loc[cases["p_star"] < 0.2, "outcome"].mean() < 0.35
    assert cases.loc[cases["p_star"] > 0.8, "outcome"].mean() > 0.65


def test_where_there_are_rows_the_support_is_counted(posterior: Posterior) -> None:
    asked: list[dict[str, str]] = []

    def counts(evidence: dict[str, str]) -> tuple[int, int]:
        asked.append(evidence)
        return (MINIMUM_SUPPORT - 1, 0) if "Teething" in evidence else (250, 100)

    frame = sample_cases(posterior, n=20, seed=1, counts=counts)
    assert any("Teething" in evidence for evidence in asked)
    assert not frame["evidence"].str.contains("Teething").any()
    assert set(frame["support"]) == {250}
    assert set(frame["observed_share"]) == {0.4}
    assert list(frame)[:6] == ["case", "evidence", "support", "p_star", "outcome", "observed_share"]


def test_too_few_cases_are_an_error_and_not_fewer_cases(posterior: Posterior) -> None:
    with pytest.raises(BeliefError, match=r"^crying: only \d+ of 100000 cases have enough support$"):
        sample_cases(posterior, n=100_000)


@given(st.integers(0, BINS - 1))
def test_a_bin_begins_at_its_lower_edge(k: int) -> None:
    names = [f"{j / BINS:.2f}-{(j + 1) / BINS:.2f}" for j in range(BINS)]
    for probability in (k / BINS, k / BINS + 0.049999):
        assert empty_bins(pd.Series([round(probability, 6)])) == [each for each in names if each != names[k]]
    assert names[-1] not in empty_bins(pd.Series([1.0]))


# --- evidence as text -------------------------------------------------------------------------------------------------

WORDS = st.from_regex(r"[A-Za-z0-9_]+", fullmatch=True)


@given(st.dictionaries(WORDS, WORDS, min_size=1, max_size=6))
def test_evidence_survives_being_written(evidence: dict[str, str]) -> None:
    assert evidence_from(evidence_text(evidence)) == evidence
    assert list(evidence_from(evidence_text(evidence))) == list(evidence)


@pytest.mark.parametrize("text", ["", "Age", "Age=young; ", "Age=young;Sex=male; x"])
def test_what_is_no_evidence_is_an_error(text: str) -> None:
    with pytest.raises(BeliefError, match=r"is not of the form COVARIATE=STATE; COVARIATE=STATE"):
        evidence_from(text)


# --- the committed files ----------------------------------------------------------------------------------------------


def test_there_are_cases_of_every_dataset() -> None:
    assert set(DATASETS) <= set(dataset_names())


def test_a_file_holds_200_different_cases_in_a_fixed_order(name: str) -> None:
    cases = load_cases(name)
    assert list(cases["case"]) == list(range(200))
    assert cases["evidence"].is_unique
    assert cases["p_star"].between(0, 1).all()
    assert set(cases["outcome"]) == {0, 1}
    assert (cases["support"] >= MINIMUM_SUPPORT).all()


def test_evidence_is_the_datasets_and_can_be_told(name: str) -> None:
    dataset = load_dataset(name)
    for text in load_cases(name)["evidence"]:
        evidence = evidence_from(text)
        assert SIZES[0] <= len(evidence) <= SIZES[1]
        assert dataset.outcome not in evidence
        assert dataset.describe(evidence)
        # In the order of the dataset, as the prompts have it.
        assert list(evidence) == [variable for variable in dataset.phrases if variable in evidence]


@pytest.mark.filterwarnings("ignore::FutureWarning:pgmpy")
def test_true_probabilities_and_support_are_those_of_the_network(name: str) -> None:
    dataset, cases = load_dataset(name), load_cases(name)
    posterior = Posterior(dataset)
    for row in cases.iloc[:: 40 if name == "heart" else 8].to_dict("records"):
        evidence = evidence_from(row["evidence"])
        assert row["p_star"] == pytest.approx(posterior.probability(evidence), abs=1e-6)
        if name != "diabetes":
            assert row["support"] == pytest.approx(posterior.support(evidence), abs=0.06)
        if dataset.auxiliary not in evidence:
            weights = posterior.distribution(dataset.auxiliary, evidence)
            for state, weight in weights.items():
                given = posterior.probability({**evidence, dataset.auxiliary: state})
                assert row[f"weight_{state}"] == pytest.approx(weight, abs=1e-6)
                assert row[f"p_star_{state}"] == pytest.approx(given, abs=1e-6)


def test_the_law_of_total_probability_holds(name: str) -> None:
    dataset, cases = load_dataset(name), load_cases(name)
    is_open = np.array([dataset.auxiliary not in evidence_from(text) for text in cases["evidence"]])
    weights = cases.loc[is_open, [f"weight_{state}" for state in dataset.labels]].to_numpy()
    parts = cases.loc[is_open, [f"p_star_{state}" for state in dataset.labels]].to_numpy()
    assert is_open.sum() >= 100
    assert weights.sum(axis=1) == pytest.approx(1, abs=1e-5)
    assert (weights * parts).sum(axis=1) == pytest.approx(cases["p_star"][is_open].to_numpy(), abs=1e-5)
    assert cases.loc[~is_open].filter(regex="^(weight|p_star)_").isna().all(axis=None)


def test_outcomes_agree_with_the_true_probabilities(name: str) -> None:
    cases = load_cases(name)
    error = (cases["outcome"] - cases["p_star"]).sum()
    assert abs(error) < 3 * np.sqrt((cases["p_star"] * (1 - cases["p_star"])).sum())


def test_bins_are_filled_as_far_as_a_dataset_reaches() -> None:
    empty = {name: empty_bins(load_cases(name)["p_star"]) for name in DATASETS}
    assert empty["heart"] == empty["crying"] == empty["fever"] == []
    assert empty["diabetes"] == [f"{k / BINS:.2f}-{(k + 1) / BINS:.2f}" for k in range(14, BINS)]


def test_the_diabetes_network_is_near_the_shares_that_were_observed() -> None:
    cases = load_cases("diabetes")
    counts = cases["support"].to_numpy()
    assert np.array_equal(counts, counts.astype(int))
    difference = cases["observed_share"] - cases["p_star"]
    # Even a perfect network is off by the luck of so many respondents.
    luck = np.sqrt((cases["p_star"] * (1 - cases["p_star"]) / counts).mean())
    rms = np.sqrt((difference**2).mean())
    assert rms == pytest.approx(0.0288, abs=0.0001)
    assert rms < 1.5 * luck
    assert abs(difference.mean()) < 0.01
    positives = cases["observed_share"] * counts
    assert np.allclose(positives, positives.round(), atol=counts.max() * 1e-6)


# --- files that are not as they should be -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, r"heart\.csv is not there; make it with: belief data heart --cases"),
        ("", r"heart\.csv is not CSV that can be read: No columns"),
        ('case,evidence\n0,"x\n', r"heart\.csv is not CSV that can be read: "),
        ("case,evidence,p_star\n0,Sex=male,0.5\n", r"heart\.csv has no column 'outcome'; make it with"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(content: str | None, said: str, home: Path) -> None:
    path = home / "data" / "cases" / "heart.csv"
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(BeliefError, match=said) as raised:
        load_cases("heart")
    assert not re.search("\n", str(raised.value))

"""The forests' baseline for the law of iterated expectation, on cases."""

from pathlib import Path

import pandas as pd
import pytest

from belief_utils.beliefs.baseline import coherence_baseline, evidence_features
from belief_utils.beliefs.cases import load_cases
from belief_utils.errors import BeliefError
from tests import small_home


@pytest.fixture
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BELIEF_HOME", str(small_home.make(tmp_path, ["fever"], cases=30)))
    return tmp_path


def test_evidence_becomes_columns_of_zeros_and_ones() -> None:
    evidence = pd.Series(["B=x; A=y", "A=z", "B=x"], index=[3, 5, 7])
    expected = pd.DataFrame({"A=y": [1.0, 0, 0], "A=z": [0, 1.0, 0], "B=x": [1.0, 0, 1.0]}, index=[3, 5, 7])
    pd.testing.assert_frame_equal(evidence_features(evidence), expected)


def test_a_state_may_hold_an_equals_sign_and_be_the_start_of_another() -> None:
    features = evidence_features(pd.Series(["A=under", "A=under_3", "A=<=3"]))
    assert list(features) == ["A=<=3", "A=under", "A=under_3"]
    assert features.to_numpy().tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]


def test_forests_are_off_but_less_than_chance(top: Path) -> None:
    baseline = coherence_baseline("fever")
    assert 0 < baseline < 1
    assert coherence_baseline("fever") == baseline


def test_cases_that_show_the_auxiliary_variable_are_left_out(top: Path) -> None:
    before = coherence_baseline("fever")
    cases = load_cases("fever")
    shown = cases["weight_under_3_months"].isna()
    assert 0 < shown.sum() < len(cases)
    cases.loc[shown, "p_star"] = 0.999
    cases.to_csv(top / "data" / "cases" / "fever.csv", index=False)
    assert coherence_baseline("fever") == before


def test_an_unknown_dataset_is_an_error(top: Path) -> None:
    with pytest.raises(BeliefError, match="unknown dataset 'fevre': did you mean 'fever'"):
        coherence_baseline("fevre")

"""The heart network refitted on a generated file with EchoNext's columns."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from belief_utils.errors import BeliefError
from belief_utils.networks.echonext import (
    CATEGORY_COLUMNS,
    FLAG_COLUMNS,
    OPTIONAL_COLUMNS,
    OUTCOME_COLUMN,
    code_rows,
    fit_heart,
    read_latest,
)
from belief_utils.paths import data
from tests.test_fitting import sample_codes

ECG_NODES = ("ECG_LVH", "STT_Abnormal", "QTc_Prolonged", "QRS_Prolonged")
PATIENTS = 30_000


@cache
def surrogate():
    from pgmpy.readwrite import BIFReader

    return BIFReader(str(data("networks", "heart.bif"))).get_model()


@cache
def generated_codes() -> pd.DataFrame:
    return sample_codes(surrogate(), PATIENTS, seed=3)


def release(codes: pd.DataFrame, optional: bool = False) -> pd.DataFrame:
    """The codes as EchoNext's metadata file would say them."""
    generator = np.random.default_rng(4)
    qtc_limit = np.where(codes["Sex"] == list(surrogate().states["Sex"]).index("male"), 450, 460)
    rows = pd.DataFrame({"ecg_key": np.arange(len(codes)), "patient_key": np.arange(len(codes)) + 7})
    rows["age_at_ecg"] = np.array([18, 50, 70])[codes["Age"]] + generator.integers(0, 20, len(codes))
    for node, column in CATEGORY_COLUMNS.items():
        rows[column] = np.array(surrogate().states[node])[codes[node]]
    rows["most_recent_ecg"] = 1
    rows["qrs_duration"] = np.where(codes["QRS_Prolonged"] == 1, 120, 119)
    rows["qt_corrected"] = qtc_limit + codes["QTc_Prolonged"]
    for node, column in FLAG_COLUMNS.items():
        rows[column] = codes[node]
    rows[OUTCOME_COLUMN] = codes["SHD"]
    for node, column in OPTIONAL_COLUMNS.items() if optional else ():
        rows[column] = codes[node]
    return rows


def write(rows: pd.DataFrame, folder) -> str:
    path = folder / "echonext_metadata_100k.csv"
    rows.to_csv(path, index_label="row")
    return str(path)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    return fit_heart(write(release(generated_codes()), tmp_path_factory.mktemp("release")), surrogate=surrogate())


@pytest.fixture(scope="module")
def fitted_with_readings(tmp_path_factory):
    return fit_heart(
        write(release(generated_codes(), optional=True), tmp_path_factory.mktemp("readings")),
        surrogate=surrogate(),
    )


def test_the_structure_and_the_states_are_the_papers(fitted):
    assert len(fitted.nodes()) == 20
    assert set(fitted.edges()) == set(surrogate().edges())
    assert len(fitted.edges()) == 121
    assert fitted.name == "heart"
    for node in surrogate().nodes():
        assert list(fitted.get_cpds(node).state_names[node]) == list(surrogate().states[node])
        assert fitted.get_cpds(node).variables == surrogate().get_cpds(node).variables


def test_the_tables_are_those_of_the_rows(fitted):
    codes = generated_codes()
    np.testing.assert_allclose(
        fitted.get_cpds("Race").values, np.bincount(codes["Race"], minlength=6) / PATIENTS, atol=1e-12
    )
    same = codes[(codes[["Age", "Sex", "Location"]] == [2, 1, 0]).all(axis=1) & (codes["Race"] == 3)]
    same = same[(same["QRS_Prolonged"] == 0) & (same["QTc_Prolonged"] == 0)]
    assert len(same) >= 100
    # Parents stand as Age, Sex, Location, Race, ECG_LVH, STT_Abnormal, QTc_Prolonged, QRS_Prolonged.
    share = fitted.get_cpds("Wall_Thick").values[1, 2, 1, 0, 3, :, :, 0, 0]
    assert share == pytest.approx(np.full((2, 2), same["Wall_Thick"].mean()))


def test_structural_heart_disease_is_exactly_the_or_of_the_flags(fitted):
    table = fitted.get_cpds("SHD").values[1].ravel()
    assert set(fitted.get_cpds("SHD").variables[1:]) == set(FLAG_COLUMNS)
    assert table[0] == 0
    assert (table[1:] == 1).all()


def test_without_readings_two_nodes_keep_assumed_tables_that_nothing_depends_on(fitted):
    for node in ("ECG_LVH", "STT_Abnormal"):
        np.testing.assert_array_equal(fitted.get_cpds(node).values, surrogate().get_cpds(node).values)
    for node in ("QTc_Prolonged", "QRS_Prolonged", *FLAG_COLUMNS):
        cpd = fitted.get_cpds(node)
        for parent in ("ECG_LVH", "STT_Abnormal"):
            assert (np.ptp(cpd.values, axis=cpd.variables.index(parent)) == 0).all()


def test_with_readings_all_four_ecg_variables_are_fitted(fitted_with_readings):
    codes = generated_codes()
    lvh = fitted_with_readings.get_cpds("ECG_LVH")
    same = codes[(codes["Age"] == 2) & (codes["Sex"] == 1) & (codes["Location"] == 0) & (codes["Race"] == 3)]
    assert lvh.values[1, 2, 1, 0, 3] == pytest.approx(same["ECG_LVH"].mean())
    wall = fitted_with_readings.get_cpds("Wall_Thick")
    assert np.ptp(wall.values, axis=wall.variables.index("ECG_LVH")).max() > 0.01


def test_the_share_of_disease_is_near_that_of_the_patients_and_is_logged(fitted_with_readings, tmp_path, caplog):
    from pgmpy.inference import VariableElimination

    codes = generated_codes()
    answer = VariableElimination(fitted_with_readings).query(["SHD"], elimination_order="greedy", show_progress=False)
    assert answer.get_value(SHD="yes") == pytest.approx(codes["SHD"].mean(), abs=0.01)
    few = codes.head(500)
    fit_heart(write(release(few, optional=True), tmp_path), surrogate=surrogate())
    assert f"{few['SHD'].mean():.3f} among the patients" in caplog.text


def test_the_user_is_told_what_missing_readings_mean(caplog):
    code_rows(release(generated_codes().head(200)), surrogate().states, "file.csv")
    assert "no column 'stt_abnormal': STT_Abnormal keeps the surrogate's assumed table" in caplog.text
    assert "no column 'ecg_lvh'" in caplog.text


def test_coding_returns_the_codes_that_the_file_was_made_of():
    codes = generated_codes().head(2_000)
    coded = code_rows(release(codes, optional=True), surrogate().states, "file.csv")
    assert set(coded) == set(codes)
    for node in codes:
        np.testing.assert_array_equal(coded[node], codes[node])


@pytest.mark.parametrize(
    ("column", "value", "node", "code"),
    [
        ("age_at_ecg", 49, "Age", 0),
        ("age_at_ecg", 50, "Age", 1),
        ("age_at_ecg", 69, "Age", 1),
        ("age_at_ecg", 70, "Age", 2),
        ("qrs_duration", 119, "QRS_Prolonged", 0),
        ("qrs_duration", 120, "QRS_Prolonged", 1),
    ],
)
def test_the_cut_offs(column, value, node, code):
    rows = release(generated_codes().head(1)).assign(**{column: value})
    assert code_rows(rows, surrogate().states, "file.csv")[node].item() == code


@pytest.mark.parametrize(
    ("sex", "qtc", "code"), [("male", 450, 0), ("male", 451, 1), ("female", 460, 0), ("female", 461, 1)]
)
def test_qtc_has_a_cut_off_for_each_sex(sex, qtc, code):
    rows = release(generated_codes().head(1)).assign(sex=sex, qt_corrected=qtc)
    assert code_rows(rows, surrogate().states, "file.csv")["QTc_Prolonged"].item() == code


def test_only_the_latest_ecg_of_a_patient_counts(tmp_path):
    rows = release(generated_codes().head(300))
    earlier = rows.assign(most_recent_ecg=0, age_at_ecg=20)
    latest = read_latest(write(pd.concat([earlier, rows], ignore_index=True), tmp_path))
    assert len(latest) == 300
    assert latest.index[0] == 301
    with pytest.raises(BeliefError, match="row 301: this patient has a second row"):
        read_latest(write(pd.concat([rows, rows], ignore_index=True), tmp_path))


def test_patients_without_qrs_or_qtc_are_left_out_and_counted(tmp_path, caplog):
    rows = release(generated_codes().head(100)).astype({"qrs_duration": float})
    rows.loc[[3, 8], "qrs_duration"] = np.nan
    assert len(read_latest(write(rows, tmp_path))) == 98
    assert "2 patients without QRS duration or QTc are left out" in caplog.text


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("sex", "m", "row 3, column 'sex': 'm' is not one of female, male"),
        ("age_at_ecg", None, "row 3, column 'age_at_ecg'"),
        ("pasp_gte_45_flag", 2, "row 3, column 'pasp_gte_45_flag': .* is not 0 or 1"),
        ("stt_abnormal", "maybe", "row 3, column 'stt_abnormal': 'maybe' is not 0 or 1"),
    ],
)
def test_a_wrong_value_is_named_with_its_row_and_column(tmp_path, column, value, message):
    rows = release(generated_codes().head(5), optional=True).astype(object)
    rows.loc[2, column] = value
    path = write(rows, tmp_path)
    with pytest.raises(BeliefError, match=message):
        code_rows(read_latest(path), surrogate().states, path)


def test_an_outcome_that_is_not_the_or_of_the_flags_is_an_error(tmp_path):
    rows = release(generated_codes().head(5))
    rows.loc[1, OUTCOME_COLUMN] = 1 - rows.loc[1, OUTCOME_COLUMN]
    path = write(rows, tmp_path)
    with pytest.raises(BeliefError, match="row 2: shd_moderate_or_greater_flag is not the OR"):
        code_rows(read_latest(path), surrogate().states, path)


def test_another_file_is_a_one_line_error(tmp_path):
    with pytest.raises(BeliefError, match="no such file"):
        read_latest(tmp_path / "absent.csv")
    for content, message in [(b"", "cannot be read as CSV"), (b"a,b\n1,2\n", "no column 'patient_key'")]:
        (tmp_path / "other.csv").write_bytes(content)
        with pytest.raises(BeliefError, match=message):
            read_latest(tmp_path / "other.csv")


def test_too_few_patients_are_an_error(tmp_path):
    with pytest.raises(BeliefError, match="40 rows are too few"):
        fit_heart(write(release(generated_codes().head(40)), tmp_path), surrogate=surrogate())


def test_the_four_ecg_variables_are_where_the_dataset_has_them():
    assert set(ECG_NODES) <= set(surrogate().nodes())
    assert set(OPTIONAL_COLUMNS) <= set(ECG_NODES)

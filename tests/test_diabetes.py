"""The diabetes network: structure, recoding, reading, and a refit on generated survey rows."""

import sys
import tomllib
from functools import cache
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from belief_utils.errors import BeliefError
from belief_utils.networks.bif import write_bif
from belief_utils.networks.diabetes import (
    OUTCOME,
    PARENTS,
    POSITIVE,
    STATES,
    fit_diabetes,
    pattern_index,
    read_survey,
    recode,
)
from belief_utils.paths import data
from tests.test_fitting import sample_codes

EDGES = {(parent, node) for node, parents in PARENTS.items() for parent in parents}

# One survey value for every category, in the order of the states.
SURVEY_VALUES = {
    "BMI": (17, 22, 27, 40),
    "MentHlth": (0, 10, 15, 30),
    "PhysHlth": (3, 7, 20, 21),
    "Age": (2, 5, 9, 13),
    "Income": (3, 6, 7, 8),
    "GenHlth": (1, 2, 3, 4, 5),
    "Education": (1, 2, 3, 4, 5, 6),
}


@cache
def committed():
    from pgmpy.readwrite import BIFReader

    return BIFReader(str(data("networks", "diabetes.bif"))).get_model()


def survey(n: int, seed: int = 0) -> pd.DataFrame:
    """Survey rows as the public file has them, drawn from the committed network."""
    codes = sample_codes(committed(), n, seed)
    return pd.DataFrame({name: np.array(SURVEY_VALUES.get(name, (0, 1)))[codes[name]] for name in STATES})


def one_respondent(**values) -> pd.DataFrame:
    row = {name: SURVEY_VALUES.get(name, (0, 1))[0] for name in STATES}
    return pd.DataFrame([row | values])


def test_22_nodes_and_77_edges():
    assert len(STATES) == len(PARENTS) == 22
    assert set(STATES) == set(PARENTS)
    assert len(EDGES) == sum(map(len, PARENTS.values())) == 77


def test_the_six_structural_features_of_the_paper():
    from_health = {node for parent, node in EDGES if parent == "GenHlth"}
    assert len(from_health) == 11
    assert from_health >= {
        "Diabetes_binary", "HighBP", "HighChol", "BMI", "HeartDiseaseorAttack", "Stroke", "DiffWalk",
    }  # fmt: skip
    beside_walking = {a if b == "DiffWalk" else b for a, b in EDGES if "DiffWalk" in (a, b)}
    assert beside_walking >= {"Diabetes_binary", "HighBP", "Smoker", "Stroke", "Sex", "Age", "Income"}
    assert {
        ("HighBP", "HighChol"), ("HighChol", "HeartDiseaseorAttack"), ("HeartDiseaseorAttack", "Stroke"),
        ("Fruits", "PhysActivity"), ("Veggies", "PhysActivity"), ("PhysActivity", "DiffWalk"),
        ("Education", "Income"), ("Income", "GenHlth"), ("NoDocbcCost", "AnyHealthcare"),
    } <= EDGES  # fmt: skip
    assert set(PARENTS[OUTCOME]) == {"GenHlth", "DiffWalk", "Sex", "Income"}
    assert {node for parent, node in EDGES if parent == OUTCOME} >= {"HighBP", "HighChol", "BMI", "Age"}


def test_parents_stand_before_their_children_so_there_is_no_cycle():
    order = list(PARENTS)
    assert all(order.index(parent) < order.index(node) for parent, node in EDGES)


def test_the_committed_network_has_this_structure_and_the_published_share():
    network = committed()
    assert set(network.edges()) == EDGES
    assert {node: tuple(states) for node, states in network.states.items()} == STATES
    from pgmpy.inference import VariableElimination

    answer = VariableElimination(network).query([OUTCOME], elimination_order="greedy", show_progress=False)
    assert answer.get_value(**{OUTCOME: POSITIVE}) == pytest.approx(35_346 / 253_680, abs=0.001)


def test_the_question_agrees_with_the_label_and_every_state_has_a_phrase():
    table = tomllib.loads(data("datasets", "diabetes.toml").read_text(encoding="utf-8"))
    assert table["question"] == "have diabetes"
    assert "prediabetes count as not having it" in table["about"]
    assert set(table["covariates"]) == set(STATES) - {OUTCOME}
    for name, entry in table["covariates"].items():
        assert tuple(entry["phrases"]) == STATES[name]
    assert tuple(table["auxiliary"]["labels"]) == STATES[table["auxiliary"]["variable"]]


@pytest.mark.parametrize(
    ("column", "last_of_each"),
    [
        ("BMI", (18, 24, 29)),
        ("MentHlth", (6, 13, 20)),
        ("PhysHlth", (6, 13, 20)),
        ("Age", (3, 6, 9)),
        ("Income", (4, 6, 7)),
        ("GenHlth", (1, 2, 3, 4)),
        ("Education", (1, 2, 3, 4, 5)),
        ("HighBP", (0,)),
    ],
)
def test_recoding_at_both_sides_of_every_boundary(column, last_of_each):
    for code, value in enumerate(last_of_each):
        assert recode(one_respondent(**{column: value}))[column].item() == code
        assert recode(one_respondent(**{column: value + 1}))[column].item() == code + 1
    assert len(STATES[column]) == len(last_of_each) + 1


def test_the_public_file_is_read_plain_and_compressed_with_extra_columns_left_out(tmp_path):
    rows = survey(50)
    for name in ("survey.csv", "survey.csv.gz", "survey.csv.xz"):
        rows.astype(float).assign(ID=range(50))[["ID", *reversed(STATES)]].to_csv(tmp_path / name, index=False)
        pd.testing.assert_frame_equal(read_survey(tmp_path / name), rows.astype(np.int16))


def test_without_a_file_the_rows_come_from_the_uci_repository(monkeypatch):
    rows = survey(20)
    asked = []

    def fetch_ucirepo(id):
        asked.append(id)
        targets, features = rows[[OUTCOME]], rows.drop(columns=OUTCOME)
        return SimpleNamespace(data=SimpleNamespace(targets=targets, features=features))

    monkeypatch.setitem(sys.modules, "ucimlrepo", SimpleNamespace(fetch_ucirepo=fetch_ucirepo))
    pd.testing.assert_frame_equal(read_survey(), rows.astype(np.int16))
    assert asked == [891]


def test_without_the_package_or_its_server_the_user_is_told_to_give_a_file(monkeypatch):
    monkeypatch.setitem(sys.modules, "ucimlrepo", None)
    with pytest.raises(BeliefError, match="pip install ucimlrepo, or give the CSV file"):
        read_survey()

    def fetch_ucirepo(id):
        raise ConnectionError("Error connecting to server")

    monkeypatch.setitem(sys.modules, "ucimlrepo", SimpleNamespace(fetch_ucirepo=fetch_ucirepo))
    with pytest.raises(BeliefError, match=r"did not answer .Error connecting to server.; give the CSV file"):
        read_survey()


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("Age", 14, "row 2, column 'Age': .*14.* is not a whole number from 1 to 13"),
        ("HighBP", 0.5, "row 2, column 'HighBP'"),
        ("BMI", "heavy", "row 2, column 'BMI': 'heavy'"),
        ("Income", None, "row 2, column 'Income'"),
        ("Diabetes_binary", 2, "row 2, column 'Diabetes_binary': .*2.* is not a whole number from 0 to 1"),
    ],
)
def test_a_wrong_value_is_named_with_its_row_and_column(tmp_path, column, value, message):
    rows = survey(3).astype(object)
    rows.loc[1, column] = value
    rows.to_csv(tmp_path / "survey.csv", index=False)
    with pytest.raises(BeliefError, match=message):
        read_survey(tmp_path / "survey.csv")


def test_a_file_that_is_no_survey_is_a_one_line_error(tmp_path):
    with pytest.raises(BeliefError, match="no such file"):
        read_survey(tmp_path / "survey.csv")
    for name, content, message in [
        ("empty.csv", b"", "cannot be read as CSV"),
        ("damaged.csv.xz", b"not compressed", "cannot be read as CSV"),
        ("header.csv", ",".join(STATES).encode(), "no rows"),
        ("other.csv", b"a,b\n1,2\n", "no column 'Diabetes_binary'"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BeliefError, match=message) as caught:
            read_survey(tmp_path / name)
        assert "\n" not in str(caught.value)


def test_a_refit_on_generated_rows_comes_close_to_the_network_they_were_drawn_from(tmp_path):
    rows = survey(60_000, seed=5)
    fitted = fit_diabetes(rows)
    assert set(fitted.edges()) == EDGES
    np.testing.assert_allclose(fitted.get_cpds("Sex").values, committed().get_cpds("Sex").values, atol=0.01)
    # High cholesterol given high blood pressure, 50 years or older, good health, without and with diabetes.
    supported = (1, 1, slice(2, None), 2)
    tables = [network.get_cpds("HighChol").values[supported] for network in (fitted, committed())]
    np.testing.assert_allclose(tables[0], tables[1], atol=0.06)
    write_bif(fitted, tmp_path / "first.bif")
    write_bif(fit_diabetes(rows.sample(frac=1, random_state=0)), tmp_path / "second.bif")
    assert (tmp_path / "first.bif").read_bytes() == (tmp_path / "second.bif").read_bytes()
    assert (tmp_path / "first.bif").read_text(encoding="utf-8").startswith("network diabetes {")


def test_respondents_who_share_a_pattern_are_counted():
    rows = survey(5_000, seed=2)
    shared = rows[(rows["Sex"] == 1) & (rows["BMI"] >= 30) & (rows["Age"] >= 10)]
    counted = pattern_index(rows).counts({"Sex": "male", "BMI": "obese", "Age": "from_65"})
    assert counted == (len(shared), shared["Diabetes_binary"].sum())
    assert 0 < counted[1] < counted[0]

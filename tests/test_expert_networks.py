"""The three written networks: structure, marginals, sources, bytes, and what is asked about them."""

import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belief_utils.errors import BeliefError
from belief_utils.networks import bif, expert
from belief_utils.networks.specification import (
    Calibration,
    NetworkSpecification,
    NodeSpecification,
    read_specification,
)

DATA = Path(__file__).parents[1] / "data"
NETWORKS = ["heart", "fever", "crying"]
DEMOGRAPHICS = ["Age", "Sex", "Location", "Race"]
ECG = ["ECG_LVH", "STT_Abnormal", "QTc_Prolonged", "QRS_Prolonged"]
# Hughes et al. 2026, latest ECG per patient, n = 36,286, percent
PUBLISHED = {
    "LVEF_Low": 18.0,
    "Wall_Thick": 18.8,
    "RV_Dysfunction": 8.0,
    "Pericardial_Effusion": 1.3,
    "PASP_High": 12.9,
    "TR_Velocity_High": 6.5,
    "Aortic_Stenosis": 5.4,
    "Aortic_Regurgitation": 1.2,
    "Mitral_Regurgitation": 6.5,
    "Tricuspid_Regurgitation": 7.0,
    "Pulmonary_Regurgitation": 0.4,
}


@cache
def specification(name):
    return read_specification(DATA / "networks" / f"{name}.toml")


@cache
def network(name):
    return expert.build_network(specification(name))


@cache
def elimination(name):
    from pgmpy.inference import VariableElimination

    return VariableElimination(network(name))


def probability(name, variable, evidence=None):
    """P(variable | evidence) by pgmpy, as {state: probability}."""
    answer = elimination(name).query(
        [variable], evidence=evidence or {}, elimination_order="greedy", show_progress=False
    )
    return dict(zip(answer.state_names[variable], answer.values, strict=True))


def dataset(name):
    return tomllib.loads((DATA / "datasets" / f"{name}.toml").read_text(encoding="utf-8"))


def test_heart_has_the_structure_of_the_paper():
    parents = {node.name: list(node.parents) for node in specification("heart").nodes}
    assert len(parents) == 20
    assert len(network("heart").edges()) == len(expert.edges(specification("heart"))) == 121
    assert all(parents[name] == [] for name in DEMOGRAPHICS)
    for position, name in enumerate(ECG):
        assert parents[name] == DEMOGRAPHICS + ECG[:position]
    assert all(parents[name] == DEMOGRAPHICS + ECG for name in PUBLISHED)
    assert sorted(parents["SHD"]) == sorted(PUBLISHED)


def test_structural_heart_disease_is_exactly_the_or_of_the_flags():
    absent, present = network("heart").get_cpds("SHD").get_values()
    assert len(present) == 2048
    assert (absent[0], present[0]) == (1.0, 0.0)
    assert (present[1:] == 1.0).all()
    assert (absent[1:] == 0.0).all()


@pytest.mark.parametrize(("flag", "percent"), [*PUBLISHED.items(), ("SHD", 43.3)])
def test_heart_marginals_are_within_one_point_of_the_published_ones(flag, percent):
    assert 100 * probability("heart", flag)["yes"] == pytest.approx(percent, abs=0.01)


def test_heart_demographics_are_the_published_ones():
    assert probability("heart", "Sex")["female"] == pytest.approx(0.505)
    assert probability("heart", "Location")["inpatient"] == pytest.approx(0.412)
    assert probability("heart", "Race")["hispanic"] == pytest.approx(0.303)


def test_the_common_factor_is_what_makes_the_flags_coincide():
    heart = specification("heart")
    independent = 1 - np.prod([1 - percent / 100 for percent in PUBLISHED.values()])
    assert independent > 0.58
    without = NetworkSpecification(heart.name, heart.nodes)
    assert expert.calibration_factor(without) == 1.0
    assert 1.0 < expert.calibration_factor(heart) < 1.5


def test_any_flag_settles_the_matter_and_absent_flags_lower_it():
    assert probability("heart", "SHD", {"Sex": "male", "LVEF_Low": "yes"})["yes"] == pytest.approx(1)
    healthy = {"Age": "under_50", "STT_Abnormal": "no", "QTc_Prolonged": "no"}
    healthy |= {"LVEF_Low": "no", "Wall_Thick": "no", "PASP_High": "no"}
    assert probability("heart", "SHD", healthy)["yes"] < 0.05
    ill = {"Age": "from_70", "ECG_LVH": "yes", "STT_Abnormal": "yes", "QTc_Prolonged": "yes"}
    assert 0.95 < probability("heart", "SHD", ill)["yes"] < 1


@pytest.mark.parametrize("name", ["fever", "crying"])
def test_illustrative_networks_have_12_to_20_nodes(name):
    assert 12 <= len(specification(name).nodes) <= 20


@pytest.mark.parametrize(
    ("name", "variable", "share"),
    [
        ("fever", "Respiratory_Infection", 0.251),
        ("fever", "Urinary_Tract_Infection", 0.066),
        ("fever", "Gastroenteritis", 0.071),
        ("fever", "Pneumonia", 0.096),
        ("crying", "Urinary_Tract_Infection", 0.013),
    ],
)
def test_published_shares_of_the_illustrative_networks(name, variable, share):
    assert probability(name, variable)["yes"] == pytest.approx(share, abs=1e-5)


@pytest.mark.parametrize("name", ["fever", "crying"])
def test_otitis_follows_a_respiratory_infection_as_published(name):
    assert probability(name, "Otitis_Media", {"Respiratory_Infection": "yes"})["yes"] == pytest.approx(0.175)
    before = probability(name, "Respiratory_Infection", {"Otitis_Media": "yes"})["yes"]
    assert before == pytest.approx(0.762, abs=0.005)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        (
            "fever",
            {"Feels_Hot": "no", "Shivering": "no", "Respiratory_Infection": "no"} | {"Age_Group": "under_3_months"},
            {"Feels_Hot": "yes", "Lethargy": "yes", "Pneumonia": "yes"},
        ),
        (
            "crying",
            {"Crying_Duration": "under_1_hour", "Age_Group": "from_10_weeks"},
            {"Crying_Duration": "over_3_hours", "Age_Group": "under_6_weeks", "Evening_Crying": "yes"}
            | {"Gas_Pain": "yes", "Hard_To_Soothe": "yes", "Respiratory_Infection": "no"},
        ),
    ],
)
def test_illustrative_networks_reach_both_ends(name, low, high):
    outcome = dataset(name)["outcome"]["variable"]
    assert probability(name, outcome, low)["yes"] < 0.05
    assert probability(name, outcome, high)["yes"] > 0.95


@pytest.mark.parametrize("name", NETWORKS)
def test_every_node_carries_a_source(name):
    for node in specification(name).nodes:
        assert re.search(r"assumed|\b[A-Z]\w+ 20\d\d\b|\bdoi 10\.", node.source), node.name
        if node.kind == "effects":  # no publication gives both a share and all odds ratios
            assert "assumed" in node.source, node.name


@pytest.mark.parametrize("name", NETWORKS)
def test_built_again_it_equals_the_committed_file(name, tmp_path):
    bif.write_bif(network(name), tmp_path / "again.bif")
    assert (tmp_path / "again.bif").read_bytes() == (DATA / "networks" / f"{name}.bif").read_bytes()


@pytest.mark.parametrize("name", NETWORKS)
def test_pgmpy_reads_the_file_back_unchanged(name):
    from pgmpy.readwrite import BIFReader

    read = BIFReader(str(DATA / "networks" / f"{name}.bif")).get_model()
    assert read.check_model()
    assert list(read.nodes()) == list(network(name).nodes())
    assert set(read.edges()) == set(network(name).edges())
    for node in read.nodes():
        ours, theirs = network(name).get_cpds(node), read.get_cpds(node)
        assert ours.variables == theirs.variables
        assert ours.state_names == theirs.state_names
        np.testing.assert_array_equal(ours.values, theirs.values)
        np.testing.assert_allclose(theirs.values.sum(axis=0), 1, atol=1e-12)


@pytest.mark.parametrize("name", NETWORKS)
def test_dataset_speaks_of_every_node_and_state(name):
    asked = dataset(name)
    states = {node.name: set(node.states) for node in specification(name).nodes}
    outcome, auxiliary = asked["outcome"], asked["auxiliary"]
    assert asked["network"] == f"{name}.bif"
    assert asked["name"] == specification(name).name == name
    assert asked["status"] == ("surrogate" if name == "heart" else "illustrative")
    assert outcome["positive"] in states[outcome["variable"]]
    assert set(auxiliary["labels"]) == states[auxiliary["variable"]]
    assert 2 <= len(auxiliary["labels"]) <= 4
    assert set(asked["covariates"]) == set(states) - {outcome["variable"]}
    for variable, covariate in asked["covariates"].items():
        assert covariate["title"]
        assert set(covariate["phrases"]) == states[variable]
        assert len(set(covariate["phrases"].values())) == len(states[variable])


@pytest.mark.parametrize("name", NETWORKS)
def test_auxiliary_variable_moves_the_outcome(name):
    asked = dataset(name)
    variable, outcome = asked["auxiliary"]["variable"], asked["outcome"]["variable"]
    shares = [probability(name, outcome, {variable: state})["yes"] for state in asked["auxiliary"]["labels"]]
    assert max(shares) - min(shares) > 0.15


SMALL = """
name = "small"
[nodes.Cause]
kind = "root"
states = ["no", "yes"]
probabilities = [0.7, 0.3]
source = "assumed"
[nodes.Sign]
kind = "effects"
states = ["none", "some", "much"]
parents = ["Cause"]
marginal = [0.5, 0.3, 0.2]
source = "assumed"
[nodes.Sign.effects]
Cause = { yes = { some = 2.0, much = 8.0 } }
"""


def written(tmp_path, text):
    path = tmp_path / "small.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_child_of_three_states_keeps_its_odds_ratios(tmp_path):
    table = expert.build_network(read_specification(written(tmp_path, SMALL))).get_cpds("Sign").values
    np.testing.assert_allclose(table @ [0.7, 0.3], [0.5, 0.3, 0.2], atol=1e-6)
    odds = table / table[0]
    np.testing.assert_allclose(odds[:, 1] / odds[:, 0], [1, 2, 8], rtol=1e-5)


@settings(max_examples=30, deadline=None)
@given(
    marginal=st.floats(0.001, 0.999),
    ratio=st.floats(0.01, 100),
    share=st.floats(0.01, 0.99),
)
def test_marginal_and_odds_ratio_hold_together(marginal, ratio, share):
    cause = NodeSpecification("A", ("no", "yes"), "root", "assumed", (), np.array([1 - share, share]))
    sign = NodeSpecification(
        "B",
        ("no", "yes"),
        "effects",
        "assumed",
        ("A",),
        np.array([1 - marginal, marginal]),
        (np.array([[0, 0], [0, np.log(ratio)]]),),
    )
    values = expert.build_network(NetworkSpecification("pair", (cause, sign))).get_cpds("B").values
    assert values[1] @ [1 - share, share] == pytest.approx(marginal, abs=1e-6)
    reached = values[1, 1] / values[0, 1] / (values[1, 0] / values[0, 0])
    assert reached == pytest.approx(ratio, rel=0.01)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('source = "assumed"\n[nodes.Sign]', "[nodes.Sign]", "node Cause, source: missing"),
        ('source = "assumed"\n[nodes.Sign]', 'source = " "\n[nodes.Sign]', "node Cause, source"),
        ("[0.7, 0.3]", "[0.7, 0.4]", "node Cause, probabilities"),
        ("[0.7, 0.3]", '["a", 0.3]', "node Cause, probabilities"),
        ('kind = "root"', 'kind = "roots"', "node Cause, kind"),
        ('"no", "yes"', '"no", "not quite"', "node Cause, states"),
        ('"no", "yes"', '"no", "no"', "node Cause, states"),
        ('"no", "yes"', "1, 2", "node Cause, states"),
        ('states = ["no", "yes"]', 'states = "yes"', "node Cause, states"),
        ('parents = ["Cause"]', 'parents = ["Other"]', "node Sign, parents: Other"),
        ("[0.5, 0.3, 0.2]", "[0.5, 0.5, 0.0]", "node Sign, marginal"),
        ("[0.5, 0.3, 0.2]", "0.5", "node Sign, marginal"),
        ("some = 2.0", "plenty = 2.0", "node Sign, effects.Cause.yes"),
        ("some = 2.0", "some = -2.0", "node Sign, effects.Cause.yes"),
        ("{ some = 2.0, much = 8.0 }", "2.0", "node Sign, effects.Cause.yes"),
        ("marginal", "marginals", "node Sign, marginal"),
        ('parents = ["Cause"]', 'parents = ["Cause", "Cause"]', "node Sign, parents: Cause"),
        ("Cause = { yes = { some = 2.0, much = 8.0 } }", "Cause = 2.0", "node Sign, effects.Cause"),
        ("some = 2.0", 'some = "2"', "node Sign, effects.Cause.yes"),
        ('name = "small"', "", "name"),
        ('name = "small"', 'name = "small', "not valid TOML"),
    ],
)
def test_a_wrong_specification_names_the_node_and_the_key(tmp_path, old, new, message):
    with pytest.raises(BeliefError, match=message):
        read_specification(written(tmp_path, SMALL.replace(old, new)))


def test_a_missing_file_and_an_unreachable_calibration_are_errors(tmp_path):
    with pytest.raises(BeliefError, match="cannot be read"):
        read_specification(tmp_path / "nowhere.toml")
    heart = specification("heart")
    out_of_reach = Calibration("SHD", 0.9, heart.calibration.scale, "assumed")
    with pytest.raises(BeliefError, match="calibration, probability: SHD can only reach"):
        expert.calibration_factor(NetworkSpecification("heart", heart.nodes, out_of_reach))


def test_a_calibration_names_nodes_that_can_be_scaled(tmp_path):
    entry = '[calibration]\nvariable = "Sign"\nprobability = 0.5\nscale = []\nsource = "assumed"\n'
    with pytest.raises(BeliefError, match="calibration, variable: Sign"):
        read_specification(written(tmp_path, SMALL + entry))

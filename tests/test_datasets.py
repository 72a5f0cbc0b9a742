"""The datasets' descriptions, and exact probabilities from their networks."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from belief_utils.beliefs.cases import evidence_from, load_cases
from belief_utils.beliefs.datasets import STATUS, Dataset, Posterior, dataset_names, load_dataset
from belief_utils.errors import BeliefError

NAMES = ("heart", "crying", "fever", "diabetes")

#: Flu and age lead to fever; nobody old has flu.
NETWORK = """\
network unknown { }
variable Age { type discrete [ 2 ] { young, old }; }
variable Flu { type discrete [ 2 ] { no, yes }; }
variable Fever { type discrete [ 2 ] { no, yes }; }
probability ( Age ) { table 0.25, 0.75; }
probability ( Flu | Age ) { (young) 0.6, 0.4; (old) 1.0, 0.0; }
probability ( Fever | Age, Flu ) {
  (young, no) 0.9, 0.1; (young, yes) 0.2, 0.8; (old, no) 0.5, 0.5; (old, yes) 0.3, 0.7;
}
"""
DESCRIPTION = """\
name = "tiny"
title = "Fever"
short = "Tiny"
status = "illustrative"
network = "tiny.bif"
size = 1000
question = "have a fever"
about = "Made up."
outcome = { variable = "Fever", positive = "yes" }

[auxiliary]
variable = "Age"
name = "age"
labels = { young = "young", old = "old" }

[covariates.Age]
title = "Age"
phrases = { young = "is young", old = "is old" }

[covariates.Flu]
title = "Flu"
phrases = { no = "does not have the flu", yes = "has the flu" }
"""


@pytest.fixture
def tiny(home: Path) -> Dataset:
    (home / "data" / "networks").mkdir()
    (home / "data" / "networks" / "tiny.bif").write_text(NETWORK)
    (home / "data" / "datasets" / "tiny.toml").write_text(DESCRIPTION)
    return load_dataset("tiny")


@pytest.fixture(params=NAMES)
def dataset(request: pytest.FixtureRequest) -> Dataset:
    return load_dataset(request.param)


# --- the committed descriptions ---------------------------------------------------------------------------------------


def test_datasets_stand_in_the_papers_order() -> None:
    assert dataset_names()[:4] == list(NAMES)


def test_a_description_is_complete(dataset: Dataset) -> None:
    assert dataset.network.is_file()
    assert dataset.auxiliary in dataset.phrases
    assert list(dataset.labels) == list(dataset.phrases[dataset.auxiliary])
    assert dataset.outcome not in dataset.phrases
    assert dataset.titles.keys() == dataset.phrases.keys()
    assert all(len(states) >= 2 for states in dataset.phrases.values())
    assert len(set(dataset.labels.values())) == len(dataset.labels)
    assert not dataset.question.endswith(("?", "."))
    assert dataset.about.endswith(".")


def test_no_two_states_are_told_alike(dataset: Dataset) -> None:
    phrases = [phrase for states in dataset.phrases.values() for phrase in states.values()]
    assert len(set(phrases)) == len(phrases)
    assert not [phrase for phrase in phrases if phrase != phrase.strip() or phrase.endswith((".", ","))]


def test_a_network_has_the_states_that_the_words_are_for(dataset: Dataset) -> None:
    text = dataset.network.read_text(encoding="utf-8")
    states = {
        name: [state.strip() for state in inside.split(",")]
        for name, inside in re.findall(r"variable\s+(\S+)\s*\{[^{]*\{([^}]*)\}", text)
    }
    assert set(states) == {dataset.outcome, *dataset.phrases} or set(states) > {dataset.outcome, *dataset.phrases}
    assert dataset.positive in states[dataset.outcome]
    for variable, phrases in dataset.phrases.items():
        assert set(phrases) == set(states[variable])


def test_only_the_survey_is_real(dataset: Dataset) -> None:
    expected = {"heart": "surrogate", "diabetes": "real"}.get(dataset.name, "illustrative")
    assert dataset.status == expected
    assert STATUS[dataset.status].startswith(f"{dataset.status}: ")


# --- words ------------------------------------------------------------------------------------------------------------


def test_evidence_is_told_in_the_order_of_the_covariates(tiny: Dataset) -> None:
    assert tiny.describe({"Age": "old"}) == "is old"
    assert tiny.describe({"Flu": "yes", "Age": "old"}) == "is old and has the flu"


def test_three_parts_and_more_are_joined_by_commas() -> None:
    dataset = load_dataset("heart")
    evidence = evidence_from(load_cases("heart")["evidence"][1])
    told = dataset.describe(evidence)
    parts = [dataset.phrases[variable][evidence[variable]] for variable in dataset.phrases if variable in evidence]
    assert len(parts) > 2
    assert told == ", ".join(parts[:-1]) + ", and " + parts[-1]


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ({"Flue": "yes"}, r"unknown covariate of tiny: 'Flue': did you mean 'Flu'\?"),
        ({"Flu": "yess"}, r"unknown state of Flu in tiny: 'yess': did you mean 'yes'\?"),
        ({}, "a case of tiny has no evidence to describe"),
    ],
)
def test_what_cannot_be_told_is_an_error(evidence: dict[str, str], said: str, tiny: Dataset) -> None:
    with pytest.raises(BeliefError, match=said):
        tiny.describe(evidence)


# --- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("size = 1000\n", ""), r"tiny\.toml: the entry 'size' is missing"),
        (("size = 1000", "size 1000"), r"tiny\.toml is not valid TOML: "),
        (('"illustrative"', '"imaginary"'), r"unknown status in .*tiny\.toml: 'imaginary'"),
        (("phrases = { no", "words = { no"), r"tiny\.toml: the entry 'phrases' is missing"),
    ],
)
def test_a_description_that_is_wrong_is_named(change: tuple[str, str], said: str, tiny: Dataset, home: Path) -> None:
    path = home / "data" / "datasets" / "tiny.toml"
    path.write_text(DESCRIPTION.replace(*change))
    with pytest.raises(BeliefError, match=said):
        load_dataset("tiny")


def test_an_unknown_dataset_is_told_with_the_nearest_name(tiny: Dataset) -> None:
    with pytest.raises(BeliefError, match=r"^unknown dataset 'tinny': did you mean 'tiny'\? known are heart, tiny$"):
        load_dataset("tinny")


# --- probabilities ----------------------------------------------------------------------------------------------------

FLU = {"young": 0.4, "old": 0.0}
FEVER = {("young", "no"): 0.1, ("young", "yes"): 0.8, ("old", "no"): 0.5, ("old", "yes"): 0.7}
AGE = {"young": 0.25, "old": 0.75}


def by_hand(evidence: dict[str, str]) -> tuple[float, float]:
    """Probability of the evidence and, given it, of a fever: the sum over all that may be."""
    total = positive = 0.0
    for age, flu in itertools.product(AGE, ("no", "yes")):
        if evidence.get("Age", age) == age and evidence.get("Flu", flu) == flu:
            weight = AGE[age] * (FLU[age] if flu == "yes" else 1 - FLU[age])
            total += weight
            positive += weight * FEVER[age, flu]
    return total, positive / total if total else float("nan")


@pytest.mark.parametrize("evidence", [{}, {"Age": "young"}, {"Flu": "no"}, {"Flu": "yes"}, {"Flu": "no", "Age": "old"}])
def test_probabilities_are_exact(evidence: dict[str, str], tiny: Dataset) -> None:
    posterior = Posterior(tiny)
    total, expected = by_hand(evidence)
    assert posterior.probability(evidence) == pytest.approx(expected, abs=1e-12)
    assert posterior.support(evidence) == pytest.approx(1000 * total, abs=1e-9)
    assert posterior.distribution("Fever", evidence) == pytest.approx({"no": 1 - expected, "yes": expected})


def test_evidence_of_probability_zero_is_an_error_and_not_a_number(tiny: Dataset) -> None:
    posterior = Posterior(tiny)
    for ask in (posterior.probability, lambda evidence: posterior.distribution("Fever", evidence)):
        with pytest.raises(BeliefError, match="tiny: the evidence Age = old, Flu = yes has probability zero"):
            ask({"Age": "old", "Flu": "yes"})
    assert posterior.support({"Age": "old", "Flu": "yes"}) == 0


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ({"Flue": "yes"}, r"unknown variable of tiny: 'Flue': did you mean 'Flu'\?"),
        ({"Flu": "maybe"}, r"unknown state of Flu: 'maybe': .*known are no, yes"),
        ({"Fever": "yes"}, "tiny: Fever is asked for and is part of the evidence"),
    ],
)
def test_evidence_that_makes_no_sense(evidence: dict[str, str], said: str, tiny: Dataset) -> None:
    posterior = Posterior(tiny)
    with pytest.raises(BeliefError, match=said):
        posterior.probability(evidence)
    if "Fever" not in evidence:
        with pytest.raises(BeliefError, match=said):
            posterior.support(evidence)
    with pytest.raises(BeliefError, match="unknown variable of tiny: 'Fewer'"):
        posterior.distribution("Fewer", {})


def test_a_joint_table_has_its_axes_in_the_order_asked_for(tiny: Dataset) -> None:
    posterior = Posterior(tiny)
    table = posterior.joint(["Fever", "Age"])
    assert table.sum() == pytest.approx(1)
    assert np.array_equal(table, posterior.joint(["Age", "Fever"]).T)
    place = posterior.states["Fever"].index("yes"), posterior.states["Age"].index("young")
    assert table[place] == pytest.approx(0.25 * (0.6 * 0.1 + 0.4 * 0.8))

"""The dataset with six outcome states: its network, cases, prompts, answers, simulated agents and judgments."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import belief_utils
from belief_utils.asking.models import load_model
from belief_utils.beliefs.agents import SimulatedAgent
from belief_utils.beliefs.cases import evidence_from
from belief_utils.beliefs.datasets import dataset_names, load_dataset, multistate_dataset_names
from belief_utils.beliefs.elicitation import store_for
from belief_utils.beliefs.judgments import load_judgments, reading
from belief_utils.beliefs.judgments_checks import belief_columns
from belief_utils.beliefs.multistate_agents import decided, moved, reported
from belief_utils.beliefs.multistate_asking import multistate_plan
from belief_utils.beliefs.multistate_cases import load_multistate_cases, sample_multistate_cases
from belief_utils.beliefs.multistate_dataset import MultistatePosterior, load_multistate_dataset
from belief_utils.beliefs.rationalise import rationalise
from belief_utils.beliefs.reading.managements import parse_management
from belief_utils.beliefs.sufficiency import KNOWS_MORE, NO_EVIDENCE, sufficiency_test
from belief_utils.cli import main
from belief_utils.errors import BeliefError
from tests.conftest import REPOSITORY
from tests.fake_server import FakeServer

STATES = ["PFC", "TGA", "Fallot", "PAIVS", "TAPVD", "Lung"]
AGENTS = """
[hiding]
name = "Simulated, hiding"
kind = "simulated"
model = "simulated-hiding-1"
[hiding.agent]
hidden = 1.5

[odd]
name = "Simulated, odd"
kind = "simulated"
model = "odd"
[odd.agent]
preference = "reversed"
"""


@pytest.fixture(scope="module")
def child():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELIEF_HOME", str(REPOSITORY))
        yield load_multistate_dataset("child")


@pytest.fixture(scope="module")
def posterior(child):
    return MultistatePosterior(child)


@pytest.fixture
def small(home: Path) -> Path:
    """The small repository with the dataset child and its first cases."""
    shutil.copy(REPOSITORY / "data" / "datasets" / "child.toml", home / "data" / "datasets")
    lines = (REPOSITORY / "data" / "cases" / "child.csv").read_text().splitlines(keepends=True)
    (home / "data" / "cases" / "child.csv").write_text("".join(lines[:9]))
    with (home / "data" / "models.toml").open("a") as file:
        file.write(AGENTS)
    return home


def collect(model: str, *more: str) -> int:
    return main(["collect", "--quiet", "--model", model, "--dataset", "child", *more])


# --- the dataset ----------------------------------------------------------------------------------------------------


def test_stands_beside_the_datasets_of_the_paper(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BELIEF_HOME", str(REPOSITORY))
    assert dataset_names() == ["heart", "crying", "fever", "diabetes"]
    assert multistate_dataset_names() == ["child"]
    with pytest.raises(BeliefError, match="more than two outcome states"):
        load_dataset("child")
    with pytest.raises(BeliefError, match="did you mean 'child'"):
        load_multistate_dataset("chidl")


def test_says_what_is_published_and_what_is_assumed(child):
    assert child.status == "published"
    assert list(child.states) == STATES
    assert sorted(management.state for management in child.managements.values()) == sorted(STATES)
    for word in ("Spiegelhalter", "pgmpy", "Assumed are the six managements", "not advice"):
        assert word in child.about


def test_the_tables_are_read_from_the_package_and_not_copied(child, posterior):
    assert child.network == "pgmpy:child"
    assert not list((REPOSITORY / "data" / "networks").glob("child*"))
    assert len(posterior.states) == 20
    with pytest.raises(BeliefError, match="no network 'unknown'"):
        _ = MultistatePosterior(replace(child, network="pgmpy:unknown")).states


def test_probabilities_are_those_of_the_tables(posterior):
    """Bayes' rule by hand along BirthAsphyxia -> Disease -> LVH -> LVHreport."""
    table = {name: posterior._network.get_cpds(name) for name in ("BirthAsphyxia", "Disease", "LVH", "LVHreport")}
    names = table["Disease"].state_names
    assert names["BirthAsphyxia"] == table["BirthAsphyxia"].state_names["BirthAsphyxia"]
    prior = table["Disease"].values @ table["BirthAsphyxia"].values
    shown = table["LVHreport"].values[table["LVHreport"].state_names["LVHreport"].index("yes")]
    weights = prior * (shown @ table["LVH"].values)
    expected = dict(zip(names["Disease"], weights / weights.sum(), strict=True))
    found = posterior.probabilities({"LVHreport": "yes"})
    assert list(found) == STATES
    assert found == pytest.approx(expected, abs=1e-12)
    assert max(found, key=found.get) == "PAIVS"


def test_states_that_the_network_lacks_are_an_error(child):
    phrases = {**child.phrases, "Sick": {"yes": "looks sick", "perhaps": "may look sick"}}
    with pytest.raises(BeliefError, match="states of Sick are yes, no in the network and yes, perhaps in"):
        _ = MultistatePosterior(replace(child, phrases=phrases)).states


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('for = "Lung"', 'for = "Lungs"', "unknown state that ventilation is for"),
        ("[managements.shunt]", "[managements.defer]", "none of them named defer"),
        ('patient = "', 'person = "', "the entry 'patient' is missing"),
    ],
)
def test_a_wrong_file_is_said_in_one_line(small: Path, old, new, said):
    path = small / "data" / "datasets" / "child.toml"
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(BeliefError, match=said):
        load_multistate_dataset("child")


# --- the cases ------------------------------------------------------------------------------------------------------


def test_the_stored_cases_are_those_of_the_network(child, posterior, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BELIEF_HOME", str(REPOSITORY))
    cases = load_multistate_cases(child)
    truth = cases[[f"p_star_{state}" for state in STATES]]
    assert cases["case"].tolist() == list(range(200))
    assert truth.sum(axis=1).to_numpy() == pytest.approx(np.ones(200), abs=5e-6)
    assert set(cases["outcome"]) == set(STATES)
    assert set(truth.idxmax(axis=1)) == set(truth.columns)
    assert cases["evidence"].is_unique
    assert (cases["support"] >= 100).all()
    for row in cases.head(6).itertuples():
        found = posterior.probabilities(evidence_from(row.evidence))
        assert list(found.values()) == pytest.approx(truth.loc[row.Index].tolist(), abs=1e-6)
        assert posterior.support(evidence_from(row.evidence)) == pytest.approx(row.support, abs=0.06)


def test_sampling_is_seeded_and_spreads_over_the_states(child):
    posterior = MultistatePosterior(replace(child, sampled_sets=60))
    first = sample_multistate_cases(posterior, 30)
    assert first.equals(sample_multistate_cases(posterior, 30))
    assert not first.equals(sample_multistate_cases(posterior, 30, seed=1))
    assert len(set(first.filter(like="p_star_").idxmax(axis=1))) >= 5
    with pytest.raises(BeliefError, match="of 100000 cases"):
        sample_multistate_cases(posterior, 100_000)


def test_damaged_case_files_are_said_in_one_line(small: Path, child):
    path = small / "data" / "cases" / "child.csv"
    path.write_text(path.read_text().replace(",PAIVS,", ",Asthma,"))
    with pytest.raises(BeliefError, match="'Asthma' is no state of child"):
        load_multistate_cases(child)
    path.unlink()
    with pytest.raises(BeliefError, match="belief data child --cases"):
        load_multistate_cases(child)


# --- what is asked and how it is read -------------------------------------------------------------------------------


def test_prompts(small: Path, child):
    belief, decision = (q for q in multistate_plan(child, cases=1))
    shown = child.describe(evidence_from(load_multistate_cases(child)["evidence"][0]))
    start = f"There is a newborn baby with suspected congenital heart disease who {shown}."
    assert belief.item == "child/0/belief"
    assert belief.messages[0]["content"].startswith(
        f"{start} What is the probability distribution over their disease? Return probabilities for each category of "
        'disease.\n\nAnswer with JSON only, in the form {"Persistent fetal circulation": probability, '
    )
    assert decision.item == "child/0/decision"
    text = decision.messages[0]["content"]
    assert text.startswith(
        f"{start}\n\n(1) Do you feel confident enough to decide on a management?\n"
        "(2) Which management would you choose, if you had to?\n\nAnswer with JSON only"
    )
    assert all(json.dumps(management.label) in text for management in child.managements.values())
    assert decision.form.schema()["properties"]["choice"]["enum"] == [m.label for m in child.managements.values()]


def test_only_the_prompts_for_several_states_are_asked(small: Path, child):
    items = [question.item for question in multistate_plan(child, prompts=["belief", "conditional"], cases=3)]
    assert items == ["child/0/belief", "child/1/belief", "child/2/belief"]
    with pytest.raises(BeliefError, match="belief and decision only"):
        list(multistate_plan(child, prompts=["bayesian"]))


@pytest.mark.parametrize(
    ("text", "action", "problem"),
    [
        ('{"confident": "Yes", "choice": "Balloon atrial septostomy"}', "septostomy", None),
        ('{"confident": "No", "choice": "Balloon atrial septostomy"}', "defer", None),
        ('```json\n{"confident": "yes", "choice": "opening of the pulmonary valve"}\n```', "valve", None),
        ('<think>Ventilation and antibiotics?</think>{"confident": "No", "choice": "?"}', "defer", None),
        (
            '{"confident": "Yes", "choice": "Balloon atrial septostomy"} or rather '
            '{"confident": "Yes", "choice": "Opening of the pulmonary valve"}',
            None,
            "ambiguous",
        ),
        ("(1) Yes\n(2) Urgent repair of the pulmonary veins", "veins", None),
        ("I do not feel confident. I would choose ventilation and antibiotics.", "defer", None),
        ("I am confident. Systemic-to-pulmonary shunt, not balloon atrial septostomy.", "shunt", None),
        ("I am confident: a shunt.", None, "no choice"),
        ("Balloon atrial septostomy", None, "no confidence"),
        ("(1) Yes (2) Balloon atrial septostomy and opening of the pulmonary valve", None, "ambiguous"),
        ("", None, "empty"),
        ("I cannot make medical decisions.", None, "refusal"),
        ('{"confident": "Yes", "choice": "', None, "no choice"),
    ],
)
def test_decisions_are_read_and_never_guessed(child, text, action, problem):
    labels = {name: management.label for name, management in child.managements.items()}
    parsed = parse_management(text, labels)
    assert (parsed.action, parsed.problem) == (action, problem)


def test_a_cut_decision_is_said_to_be_cut(child):
    labels = {name: management.label for name, management in child.managements.items()}
    assert parse_management('{"confident": "Yes", "choice": "', labels, truncated=True).problem == "truncated"


# --- simulated agents -----------------------------------------------------------------------------------------------


def test_reports_stand_on_the_grid_and_add_up_to_one():
    rng = np.random.default_rng(0)
    for _ in range(200):
        truth = rng.dirichlet(np.full(6, 0.3))
        report = reported(truth, rng.normal(size=6), 0.01)
        assert report.sum() == pytest.approx(1, abs=1e-9)
        assert report * 100 == pytest.approx(np.round(report * 100), abs=1e-9)
        assert np.abs(reported(truth, np.zeros(6), 0.01) - truth).max() <= 0.01
        assert reported(truth, np.zeros(6), 0) == pytest.approx(truth)


def test_what_is_hidden_moves_log_odds_by_its_spread_and_back():
    rng = np.random.default_rng(1)
    truth = np.array([0.3, 0.3, 0.2, 0.1, 0.06, 0.04])
    shifts = 1.5 * rng.standard_normal((4000, 6))
    there = np.array([moved(truth, by) for by in shifts])
    odds = np.log(there[:, 0] / there[:, 3]) - np.log(truth[0] / truth[3])
    assert odds.std() == pytest.approx(1.5, rel=0.05)
    small = 0.2 * shifts[0]
    assert moved(moved(truth, small), -small) == pytest.approx(truth)


def test_agents_choose_by_expected_utility(child):
    rng = np.random.default_rng(2)
    surely = dict(zip(STATES, [0.0, 0.9, 0.1, 0.0, 0.0, 0.0], strict=True))
    unsure = dict.fromkeys(STATES, 1 / 6)
    sharp = SimulatedAgent(sharpness=200.0)
    assert decided(sharp, child, surely, rng) == (True, "septostomy")
    assert not decided(sharp, child, unsure, rng)[0]
    drawn = [decided(SimulatedAgent(), child, surely, rng) for _ in range(2000)]
    share = np.mean([confident for confident, _ in drawn])
    worth = np.exp(4 * np.array([-1, 0.8, -0.8, -1, -1, -1, 0.35]))
    assert share == pytest.approx(1 - worth[-1] / worth.sum(), abs=0.03)


def test_simulated_agents_answer_through_the_store(small: Path, child, capsys):
    assert collect("candid", "--repetitions", "5") == 0
    assert "80 answers received, 0 failed, 0 missing" in capsys.readouterr().out
    before = store_for(load_model("candid"), "child").path.read_bytes()
    assert collect("candid") == 0
    assert "0 requests for 0 answers (80 more are in the store)" in capsys.readouterr().out
    assert store_for(load_model("candid"), "child").path.read_bytes() == before
    judgments = load_judgments("child", "candid")
    assert len(judgments) == 40
    assert belief_columns(judgments) == [f"belief_{state}" for state in STATES]
    truth = judgments[[f"p_star_{state}" for state in STATES]].to_numpy()
    assert np.abs(judgments[belief_columns(judgments)].to_numpy() - truth).max() <= 0.01
    assert set(judgments["action"]) <= {*child.managements, "defer"}
    assert str(reading(judgments, "beliefs")) == str(reading(judgments, "action")) == "40 of 40 answers read"
    assert collect("hiding", "--prompts", "belief", "--repetitions", "2") == 0
    hiding = load_judgments("child", "hiding")
    assert np.abs(hiding[belief_columns(hiding)].to_numpy() - truth[::5].repeat(2, axis=0)).max() > 0.05
    assert hiding.groupby("case")["belief_TGA"].nunique().max() == 1
    assert (hiding["action_problem"] == "not asked").all()


def test_real_models_can_be_asked(small: Path, server: FakeServer):
    assert collect("fake", "--repetitions", "2", "--cases", "3") == 0
    assert len(server.requests) == 12
    judgments = belief_utils.load_judgments("child", "fake")
    assert len(judgments) == 6
    assert judgments[belief_columns(judgments)].sum(axis=1).to_numpy() == pytest.approx(np.ones(6))
    assert judgments["action"].notna().all()
    assert judgments["action_problem"].isna().all()


def test_what_cannot_be_read_is_missing(small: Path, server: FakeServer):
    server.answer = lambda body, before, choice: "I do not know."
    assert collect("fake", "--repetitions", "1", "--cases", "2") == 0
    judgments = load_judgments("child", "fake")
    assert judgments[[*belief_columns(judgments), "action"]].isna().all(axis=None)
    assert reading(judgments, "beliefs").read == reading(judgments, "action").read == 0


def test_wrong_wishes_end_with_code_two(small: Path, capsys):
    assert collect("candid", "--prompts", "next-state") == 2
    assert "belief and decision only" in capsys.readouterr().err
    assert collect("odd") == 2
    assert "knob 'preference'" in capsys.readouterr().err
    assert main(["data", "child"]) == 2
    assert "has no network to make" in capsys.readouterr().err
    with pytest.raises(BeliefError, match="no prompt 'bayesian'"):
        load_judgments("child", "candid", prompt="bayesian")


def test_the_tables_of_the_paper_ignore_it(small: Path):
    from belief_utils.reporting.available import available_pairs

    assert collect("candid", "--cases", "1", "--repetitions", "1") == 0
    assert available_pairs() == []


@pytest.mark.parametrize(("model", "verdict"), [("candid", NO_EVIDENCE), ("hiding", KNOWS_MORE)])
def test_the_tests_tell_a_hiding_agent_from_a_candid_one(small: Path, model, verdict):
    shutil.copy(REPOSITORY / "data" / "cases" / "child.csv", small / "data" / "cases")
    assert collect(model) == 0
    judgments = load_judgments("child", model)
    assert len(judgments) == 1000
    found = sufficiency_test(judgments)
    assert found.verdict.startswith(verdict)
    assert found.df == 5 * len(set(judgments["action"]) - {"defer"})
    fitted = rationalise(judgments, bins=8)
    assert fitted.fits
    for place, belief in enumerate(fitted.beliefs.to_numpy()):
        assert fitted.choose(belief).equals(fitted.choice_shares.iloc[place].rename(None))


def test_judgments_are_a_tidy_frame(small: Path):
    assert collect("candid", "--repetitions", "2", "--cases", "4") == 0
    judgments = load_judgments("child", "candid")
    assert isinstance(judgments, pd.DataFrame)
    assert list(judgments.columns[:2]) == ["case", "repetition"]
    assert judgments[["case", "repetition"]].to_numpy().tolist() == [[c, r] for c in range(4) for r in range(2)]
    assert judgments.groupby("case")["outcome"].nunique().max() == 1

"""The planner: information of a hiding agent, the formula for power, the recommendation, and wrong wishes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belief_utils.beliefs import power
from belief_utils.beliefs.power import hidden_for, plan_study, predicted_power, simulated_power, true_information
from belief_utils.beliefs.simulate import ControlAgent, simulate_judgments
from belief_utils.cli import main
from belief_utils.errors import BeliefError


@pytest.mark.parametrize(
    ("hidden", "nats"), [(0.25, 0.0003), (0.5, 0.0029), (0.75, 0.0113), (1.0, 0.0245), (1.5, 0.0657)]
)
def test_information_agrees_with_values_from_simulation(hidden, nats):
    assert true_information(hidden) == pytest.approx(nats, abs=0.0011)


def test_information_agrees_with_counts_of_a_large_simulation():
    judgments = simulate_judgments(ControlAgent("any", hidden=1.5, grid=0.1), cases=200_000, repetitions=1, seed=1)
    middle = judgments[judgments["belief"] == 0.5]
    counts = middle.groupby(["action", "outcome"]).size().unstack().to_numpy() / len(middle)
    independent = counts.sum(axis=0, keepdims=True) * counts.sum(axis=1, keepdims=True)
    counted = (counts * np.log(counts / independent)).sum()
    belief, choice = power._choices(1.5)
    belief, choice = belief[90:110], choice[90:110]
    joint = np.stack([(choice * (1 - belief)[..., None]).mean((0, 1)), (choice * belief[..., None]).mean((0, 1))])
    exact = (joint * np.log(joint / (joint.sum(0, keepdims=True) * joint.sum(1, keepdims=True)))).sum()
    assert counted == pytest.approx(exact, abs=0.012)


@given(st.floats(0.02, 0.45))
@settings(max_examples=5, deadline=None)
def test_hidden_information_is_found_for_its_size(nats):
    assert true_information(hidden_for(nats)) == pytest.approx(nats, rel=1e-3)


@pytest.mark.parametrize(
    ("hidden", "seen"), [(0.0, 0.05), (0.25, 0.08), (0.5, 0.35), (0.75, 0.79), (1.0, 0.98), (1.5, 1.0)]
)
def test_the_formula_agrees_with_power_from_simulation(hidden, seen):
    assert float(predicted_power(hidden, 200, 5)) == pytest.approx(seen, abs=0.02)


def test_power_rises_with_cases_repetitions_and_size():
    cases = np.array([50, 100, 200, 400, 800])
    assert (np.diff(predicted_power(0.7, cases, 5)) > 0).all()
    assert (np.diff([predicted_power(0.7, 200, r) for r in (1, 2, 5, 10)]) > 0).all()
    assert (np.diff([predicted_power(h, 200, 5) for h in (0.2, 0.5, 0.8, 1.1)]) > 0).all()


def test_simulation_checks_the_formula():
    assert simulated_power(1.5, 100, 2, data_sets=60) == pytest.approx(float(predicted_power(1.5, 100, 2)), abs=0.1)


def test_a_plan_reaches_its_power_and_shows_the_way(monkeypatch):
    monkeypatch.setattr(power, "_DATA_SETS", 60)
    plan = plan_study(0.03, power=0.8, repetitions=3)
    assert plan.simulated >= 0.8
    assert plan.cases % 10 == 0
    assert plan.data_sets == 60
    assert plan.table.loc[plan.cases, 3] == pytest.approx(plan.predicted)
    assert float(predicted_power(plan.hidden, plan.cases - 30, 3)) < 0.8
    assert {1, 2, 3, 5, 10} == set(plan.table.columns)


def test_a_study_that_falls_short_is_made_larger(monkeypatch):
    monkeypatch.setattr(power, "simulated_power", lambda hidden, cases, repetitions, **_: 0.7 + (cases > 170) * 0.2)
    plan = plan_study(0.02)
    first = next(n for n in range(20, 1000, 10) if predicted_power(plan.hidden, n, 5) >= 0.8)
    assert first <= 170 < plan.cases <= 2.2 * first
    assert plan.simulated == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--violation", "0"], "more than 0 and less than 0.54"),
        (["--violation", "0.7"], "more than 0 and less than 0.54"),
        (["--violation", "nan"], "more than 0 and less than 0.54"),
        (["--violation", ".01", "--power", "1"], "less than 1"),
        (["--violation", ".000001"], "more than 100,000 cases"),
    ],
)
def test_wrong_wishes_are_answered_in_one_line(options, message, capsys):
    assert main(["plan", *options]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_repetitions_below_one_are_an_error():
    with pytest.raises(BeliefError, match="give 1 or more"):
        plan_study(0.01, repetitions=0)


def test_the_command_prints_the_table_and_the_recommendation(monkeypatch, capsys):
    monkeypatch.setattr(power, "simulated_power", lambda *_, **__: 0.85)
    assert main(["plan", "--violation", ".01", "--power", ".8"]) == 0
    told = capsys.readouterr().out
    assert "h = 0.72" in told
    assert "240 cases x 5 repetitions (1,200 beliefs and 1,200 decisions)" in told
    assert "85.0% of 400 simulated data sets" in told

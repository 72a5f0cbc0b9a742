"""Simulated agents: what they report, what they act on, and that they answer in text like any model."""

import asyncio
import json
import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from belief_utils.asking.ask import Batch, Question, what_is_sent
from belief_utils.asking.models import Model, load_model
from belief_utils.beliefs.agents import SimulatedAgent, simulated_answerer
from belief_utils.beliefs.cases import load_cases
from belief_utils.beliefs.datasets import dataset_names, load_dataset
from belief_utils.beliefs.elicitation import REPETITIONS, plan
from belief_utils.beliefs.prompts import BELIEF, CONDITIONAL, DECISION, NEXT_STATE, PROMPTS
from belief_utils.paths import data

CANDID = Model("candid", "Candid", "simulated", "candid-1")
#: Reports unrounded, so that what is hidden can be measured.
HIDING = Model("hiding", "Hiding", "simulated", "hiding-1", agent={"hidden": 1.5, "grid": 0.0})


def with_cases() -> list[str]:
    return [name for name in dataset_names() if data("cases", f"{name}.csv").is_file()]


def said(model: Model, name: str, prompts: Iterable[str], repetitions: int = REPETITIONS) -> dict[str, list[str]]:
    """An agent's answers to all questions of some prompts, a list of repetitions per item."""
    dataset = load_dataset(name)
    answerer = simulated_answerer(model, dataset)

    async def ask(question: Question) -> list[str]:
        batch = Batch(question, what_is_sent(model, question), tuple(range(repetitions)))
        return [answer.text for answer in await answerer(batch)]

    async def all_of_them() -> dict[str, list[str]]:
        return {question.item: await ask(question) for question in plan(dataset, prompts=prompts)}

    return asyncio.run(all_of_them())


def beliefs(model: Model, name: str, prompt: str = BELIEF) -> dict[int, list[float]]:
    """P(Yes) per case and repetition."""
    texts = said(model, name, [prompt])
    return {int(item.split("/")[1]): [json.loads(one)["Yes"] for one in given] for item, given in texts.items()}


def log_odds(probability: float) -> float:
    return math.log(probability / (1 - probability))


def draws(seed: int) -> tuple[np.random.Generator, np.random.Generator]:
    """Of the case and of the repetition."""
    return np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1])


def shares(agent: SimulatedAgent, truth: float, n: int = 4000) -> tuple[float, float, float]:
    """How often an agent says negative, positive and defer."""
    decisions = [agent.decide(truth, *draws(seed)) for seed in range(n)]
    defer = sum(not confident for confident, _ in decisions)
    positive = sum(confident and choice for confident, choice in decisions)
    return (n - defer - positive) / n, positive / n, defer / n


# --- what an agent acts on ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("truth", [0.05, 0.3, 0.5, 0.84])
def test_a_candid_agent_acts_by_a_logit_choice_on_what_it_reports(truth: float) -> None:
    # Expected utilities of a negative, a positive and a deferred decision; sharpness 4.
    weights = np.exp(4.0 * np.array([1 - 2 * truth, 2 * truth - 1, 0.35]))
    expected = weights / weights.sum()
    # Three standard errors of a share at n = 4000.
    assert shares(SimulatedAgent(), truth) == pytest.approx(expected, abs=3 * 0.5 / math.sqrt(4000))


def test_a_candid_agent_that_reports_the_same_acts_the_same() -> None:
    agent = SimulatedAgent()
    for seed in range(200):
        acts = {agent.decide(truth, *draws(seed)) for truth in (0.296, 0.3, 0.304)}
        assert len(acts) == 1
        assert {agent.report(truth, *draws(seed)) for truth in (0.296, 0.3, 0.304)} == {0.3}
        # Nothing of the case but the report matters.
        other = agent.decide(0.3, np.random.default_rng(seed + 10**6), draws(seed)[1])
        assert {other} == acts


def test_a_hiding_agent_acts_on_what_it_does_not_report() -> None:
    agent = SimulatedAgent(hidden=1.5, grid=0.0)
    reports = [log_odds(agent.report(0.4, *draws(seed))) for seed in range(2000)]
    assert np.std(reports) == pytest.approx(1.5, rel=0.1)
    assert np.mean(reports) == pytest.approx(log_odds(0.4), abs=3 * 1.5 / math.sqrt(2000))
    # It acts as one that knows the truth, whatever it reported.
    known = shares(SimulatedAgent(grid=0.0), 0.4, 2000)
    assert shares(agent, 0.4, 2000) == pytest.approx(known, abs=0.001)


def test_noise_moves_reports_from_one_repetition_to_the_next() -> None:
    agent = SimulatedAgent(noise=0.5, grid=0.0)
    reports = [log_odds(agent.report(0.4, np.random.default_rng(1), draws(seed)[1])) for seed in range(2000)]
    assert np.std(reports) == pytest.approx(0.5, rel=0.1)


def test_reports_stand_on_the_grid_and_inside_the_unit_interval() -> None:
    agent = SimulatedAgent(hidden=3.0, grid=0.05)
    for seed in range(300):
        for truth in (0.0, 0.003, 0.5, 1.0):
            report = agent.report(truth, *draws(seed))
            assert 0 <= report <= 1
            assert report == pytest.approx(round(report / 0.05) * 0.05, abs=1e-9)
    assert [SimulatedAgent().report(truth, *draws(1)) for truth in (0.0, 0.123, 1.0)] == [0.0, 0.12, 1.0]


def test_a_sharper_agent_errs_less() -> None:
    blunt, sharp = (shares(SimulatedAgent(sharpness=sharpness), 0.9, 1000)[1] for sharpness in (1.0, 12.0))
    assert blunt < 0.75 < 0.95 < sharp


# --- answers in text ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", with_cases())
@pytest.mark.parametrize("key", ["simulated-candid", "simulated-hiding"])
def test_every_question_is_answered_in_text_that_can_be_read(name: str, key: str) -> None:
    answers = pytest.importorskip("belief_utils.beliefs.answers")
    labels = tuple(load_dataset(name).labels.values())
    for item, texts in said(load_model(key), name, PROMPTS, repetitions=2).items():
        prompt = item.split("/")[2]
        for text in texts:
            if prompt == DECISION:
                read = answers.parse_decision(text)
                assert read.action in ("positive", "negative", "defer")
            else:
                read = answers.parse_probabilities(text, labels if prompt == NEXT_STATE else ("No", "Yes"))
                assert sum(read.values.values()) == pytest.approx(1)
            assert read.problem is None


def test_a_candid_agent_reports_the_truth_on_its_grid() -> None:
    truth = load_cases("heart").set_index("case")["p_star"]
    for case, reports in beliefs(CANDID, "heart").items():
        assert reports == [pytest.approx(truth[case], abs=0.00501)] * REPETITIONS


def test_what_is_hidden_has_the_stated_spread_over_cases() -> None:
    truth = load_cases("heart").set_index("case")["p_star"]
    inside = {case: p for case, p in truth.items() if 0.001 < p < 0.999}
    reports = beliefs(HIDING, "heart")
    moved = [log_odds(reports[case][0]) - log_odds(p) for case, p in inside.items()]
    assert len(moved) > 150
    # Three standard errors of a standard deviation, and of a mean, of so many draws.
    assert np.std(moved) == pytest.approx(1.5, rel=3 / math.sqrt(2 * len(moved)))
    assert np.mean(moved) == pytest.approx(0, abs=3 * 1.5 / math.sqrt(len(moved)))


def test_what_is_hidden_is_the_same_in_every_prompt_and_repetition() -> None:
    standard = beliefs(HIDING, "heart")
    assert all(len(set(reports)) == 1 for reports in standard.values())
    for prompt in ("squared-error", "absolute-loss", "bayesian"):
        assert beliefs(HIDING, "heart", prompt) == standard
    cases = load_cases("heart").set_index("case")
    for item, texts in said(HIDING, "heart", [CONDITIONAL]).items():
        _, case, _, state = item.split("/")
        given, truth = cases.loc[int(case), f"p_star_{state}"], cases.loc[int(case), "p_star"]
        if not all(0.001 < p < 0.999 for p in (given, truth)):
            continue
        moved = [log_odds(json.loads(text)["Yes"]) - log_odds(given) for text in texts]
        assert moved == [pytest.approx(log_odds(standard[int(case)][0]) - log_odds(truth))] * REPETITIONS


def test_two_agents_hide_different_things() -> None:
    other = replace(HIDING, model="hiding-2")
    assert beliefs(HIDING, "heart") != beliefs(other, "heart")


def test_decisions_differ_between_repetitions_and_come_again_when_asked_again() -> None:
    decisions = said(CANDID, "heart", [DECISION])
    differing = sum(len(set(texts)) > 1 for texts in decisions.values())
    assert differing > len(decisions) / 4
    assert said(CANDID, "heart", [DECISION]) == decisions


def test_the_auxiliary_variable_is_reported_as_it_is() -> None:
    dataset, cases = load_dataset("heart"), load_cases("heart").set_index("case")
    for item, texts in said(HIDING, "heart", [NEXT_STATE]).items():
        case = cases.loc[int(item.split("/")[1])]
        assert len(set(texts)) == 1
        for state, label in dataset.labels.items():
            assert json.loads(texts[0])[label] == pytest.approx(case[f"weight_{state}"], abs=0.00051)

"""Simulated agents: controls whose beliefs and motives are known, and who answer in text like any model.

They know the true probability. A candid one reports it and acts on what it reports, so it must pass the tests; a
hiding one acts on more than it reports, so it must fail them.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from belief_utils.asking.ask import Answer, Answerer, Batch
from belief_utils.asking.models import Model
from belief_utils.beliefs.cases import load_cases
from belief_utils.beliefs.datasets import Dataset
from belief_utils.beliefs.prompts import CONDITIONAL, DECISION, NEXT_STATE
from belief_utils.beliefs.simulate import expected_utilities
from belief_utils.errors import BeliefError


@dataclass(frozen=True)
class SimulatedAgent:
    """The knobs of a simulated agent.

    Attributes:
        hidden: standard deviation, in log-odds, of what the agent knows and acts on but does not report; drawn once
            a case.
        noise: standard deviation, in log-odds, of its report from one repetition to the next.
        sharpness: how surely it takes the action of higher expected utility (logit choice).
        grid: the step that its reports are rounded to.
    """

    hidden: float = 0.0
    noise: float = 0.0
    sharpness: float = 4.0
    grid: float = 0.01

    def report(self, truth: float, case: np.random.Generator, repetition: np.random.Generator) -> float:
        """The probability that the agent states when ``truth`` is what it knows."""
        hidden = self.hidden * case.standard_normal()
        noise = self.noise * repetition.standard_normal()
        return _on_grid(_shifted(truth, noise - hidden), self.grid)

    def decide(self, truth: float, case: np.random.Generator, repetition: np.random.Generator) -> tuple[bool, bool]:
        """Whether the agent is confident, and its choice if it must choose (``True`` for Yes).

        It acts on its report plus what it hides, so that without anything hidden it acts on what it reports. Choice
        is by expected utility plus Gumbel noise: a logit choice, the paper's first example of near-rationality.
        """
        hidden = self.hidden * case.standard_normal()
        belief = _shifted(_on_grid(_shifted(truth, -hidden), self.grid), hidden)
        negative, positive, defer = self.sharpness * expected_utilities(belief) + repetition.gumbel(size=3)
        return bool(max(negative, positive) > defer), bool(positive > negative)


def simulated_answerer(model: Model, dataset: Dataset) -> Answerer:
    """An answerer that lets a simulated agent answer the questions about a dataset's cases, in text.

    Raises:
        BeliefError: the model is a simulated respondent, which has answers to follow-up questions and no beliefs.
    """
    agent = agent_of(model)
    cases = load_cases(dataset).set_index("case").to_dict("index")

    async def answer(batch: Batch) -> Sequence[Answer]:
        _, number, prompt, *state = batch.question.item.split("/")
        case = cases[int(number)]
        answers = []
        for repetition in batch.repetitions:
            # What is hidden belongs to the case: the same in every prompt and repetition.
            hidden = _generator(model.model, dataset.name, number)
            draws = _generator(model.model, batch.question.item, str(repetition))
            text = _text(agent, dataset, case, prompt, state, hidden, draws)
            answers.append(Answer(text, "stop", model=model.model))
        return answers

    return answer


def agent_of(model: Model) -> SimulatedAgent:
    """A model's knobs; without any it is a candid agent.

    Raises:
        BeliefError: as :func:`simulated_answerer`.
    """
    if model.respondent and not model.agent:
        raise BeliefError(
            f"{model.name} answers follow-up questions and reports no beliefs: ask it with belief followup collect, or "
            f"give it a table [{model.key}.agent]"
        )
    return SimulatedAgent(**model.agent)


def _text(
    agent: SimulatedAgent,
    dataset: Dataset,
    case: Mapping[str, float],
    prompt: str,
    state: list[str],
    hidden: np.random.Generator,
    draws: np.random.Generator,
) -> str:
    if prompt == DECISION:
        confident, choice = agent.decide(case["p_star"], hidden, draws)
        return json.dumps({"confident": "Yes" if confident else "No", "choice": "Yes" if choice else "No"})
    if prompt == NEXT_STATE:
        return json.dumps({label: round(case[f"weight_{name}"], 3) for name, label in dataset.labels.items()})
    truth = case[f"p_star_{state[0]}"] if prompt == CONDITIONAL else case["p_star"]
    belief = agent.report(truth, hidden, draws)
    return json.dumps({"No": round(1 - belief, 6), "Yes": belief})


def _generator(*names: str) -> np.random.Generator:
    digest = hashlib.sha256("/".join(names).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def _shifted(probability: float, by: float) -> float:
    """A probability moved by so much in log-odds; 0 and 1 are taken as one in a thousand from the end."""
    if by == 0:
        return probability
    inside = min(max(probability, 0.001), 0.999)
    return 1 / (1 + math.exp(-(math.log(inside / (1 - inside)) + by)))


def _on_grid(probability: float, grid: float) -> float:
    return min(max(round(round(probability / grid) * grid, 6), 0.0), 1.0) if grid else probability

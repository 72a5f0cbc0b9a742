"""Simulated agents for datasets with more than two outcome states: what they know and want is known.

As the agents for two states, they know the true probabilities and answer in text like any model. A candid one reports
these and acts on its report; a hiding one acts on more than it reports.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np

from belief_utils.asking.ask import Answer, Answerer, Batch
from belief_utils.asking.models import Model
from belief_utils.beliefs.agents import SimulatedAgent, agent_of
from belief_utils.beliefs.multistate_cases import load_multistate_cases
from belief_utils.beliefs.multistate_dataset import MultistateDataset
from belief_utils.beliefs.prompts import BELIEF, DECISION
from belief_utils.beliefs.simulate import DEFER_UTILITY
from belief_utils.errors import BeliefError

#: The knobs that have a meaning with several states.
KNOBS = ("hidden", "noise", "sharpness", "grid")
_LEAST = 0.001


def multistate_answerer(model: Model, dataset: MultistateDataset) -> Answerer:
    """An answerer that lets a simulated agent answer the questions about a dataset's cases, in text.

    Raises:
        BeliefError: the agent has a knob that only means something with two states, or the model is no agent.
    """
    unknown = [name for name in model.agent if name not in KNOBS]
    if unknown:
        raise BeliefError(f"{model.key} has the knob {unknown[0]!r}, which is for two outcome states: leave it out")
    agent = agent_of(model)
    cases = load_multistate_cases(dataset).set_index("case").to_dict("index")

    async def answer(batch: Batch) -> Sequence[Answer]:
        _, number, prompt = batch.question.item.split("/")
        truth = np.array([cases[int(number)][f"p_star_{state}"] for state in dataset.states])
        answers = []
        for repetition in batch.repetitions:
            # What is hidden belongs to the case: the same in both prompts and all repetitions.
            hidden = _draws(model.model, dataset.name, number).standard_normal(len(truth))
            draws = _draws(model.model, batch.question.item, str(repetition))
            answers.append(Answer(_text(agent, dataset, truth, prompt, hidden, draws), "stop", model=model.model))
        return answers

    return answer


def _text(
    agent: SimulatedAgent,
    dataset: MultistateDataset,
    truth: np.ndarray,
    prompt: str,
    hidden: np.ndarray,
    draws: np.random.Generator,
) -> str:
    if prompt == BELIEF:
        noise = agent.noise * draws.standard_normal(len(truth))
        report = reported(truth, noise - agent.hidden * hidden, agent.grid)
        return json.dumps(dict(zip(dataset.states.values(), report.tolist(), strict=True)))
    if prompt == DECISION:
        report = reported(truth, -agent.hidden * hidden, agent.grid)
        belief = dict(zip(dataset.states, moved(report, agent.hidden * hidden).tolist(), strict=True))
        confident, choice = decided(agent, dataset, belief, draws)
        label = dataset.managements[choice].label
        return json.dumps({"confident": "Yes" if confident else "No", "choice": label})
    raise BeliefError(f"simulated agents do not answer the prompt {prompt!r} about {dataset.name}")


def decided(
    agent: SimulatedAgent, dataset: MultistateDataset, belief: Mapping[str, float], draws: np.random.Generator
) -> tuple[bool, str]:
    """Whether the agent is confident, and the management that it chooses if it must.

    A management is worth 1 if the patient has what it is for and -1 if not, deferring .35; the agent chooses by
    expected utility plus Gumbel noise, a logit choice.
    """
    names = list(dataset.managements)
    worth = [2 * belief[dataset.managements[name].state] - 1 for name in names]
    chances = agent.sharpness * np.array([*worth, DEFER_UTILITY]) + draws.gumbel(size=len(names) + 1)
    return bool(chances[:-1].max() > chances[-1]), names[int(chances[:-1].argmax())]


def moved(probabilities: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Probabilities whose log-odds between two states change by the difference of ``by``, over the root of two.

    So the log-odds of any pair move with the standard deviation that ``by`` has, as with two states. Probabilities
    below one in a thousand are taken as that.
    """
    if not by.any():
        return probabilities
    weights = np.maximum(probabilities, _LEAST) * np.exp(by / np.sqrt(2))
    return weights / weights.sum()


def reported(truth: np.ndarray, by: np.ndarray, grid: float) -> np.ndarray:
    """The probabilities that an agent states, on a grid and adding up to one (largest remainders)."""
    exact = moved(truth, by)
    if not grid:
        return exact
    steps = round(1 / grid)
    scaled = exact / exact.sum() * steps
    whole = np.floor(scaled).astype(int)
    short = steps - int(whole.sum())
    whole[np.argsort(whole - scaled, kind="stable")[:short]] += 1
    return np.round(whole / steps, 6)


def _draws(*names: str) -> np.random.Generator:
    digest = hashlib.sha256("/".join(names).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))

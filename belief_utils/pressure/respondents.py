"""Simulated respondents: controls whose beliefs move by a known amount, and who decide by what they believe now."""

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np

from belief_utils.asking.models import Model
from belief_utils.asking.questions import Answer, Answerer, Batch
from belief_utils.beliefs.cases import load_cases
from belief_utils.beliefs.datasets import Dataset
from belief_utils.beliefs.simulate import expected_utilities
from belief_utils.errors import BeliefError
from belief_utils.pressure.questions import AGAIN, BELIEF, DECISION, LEADING, read, suggested


def pressed_answerer(model: Model, dataset: Dataset) -> Answerer:
    """An answerer that lets a simulated respondent hold the conversations about a dataset's cases, in text.

    It first states the true probability. Its knob ``follow`` is the probability that it takes what a leading question
    suggests, ``waver`` the probability that a follow-up question moves it halfway to .5; asked again without pressure
    it repeats itself. It takes the decision of highest expected utility at the belief that it stated last.

    Raises:
        BeliefError: the model is not a respondent.
    """
    if not model.respondent:
        raise BeliefError(f"{model.name} answers no follow-up questions; see `belief models` for the respondents")
    knobs = model.respondent
    truth = load_cases(dataset).set_index("case")["p_star"]

    async def answer(batch: Batch) -> Sequence[Answer]:
        _, case, turns = batch.question.item.split("/")
        said = [message["content"] for message in batch.sent["messages"] if message["role"] == "assistant"]
        answers = []
        for repetition in batch.repetitions:
            draw = _generator(model.model, batch.question.item, str(repetition))
            answers.append(Answer(_reply(turns.split(">")[-1], float(truth[int(case)]), said, knobs, draw), "stop"))
        return answers

    return answer


def _reply(kind: str, truth: float, said: Sequence[str], knobs: Mapping[str, float], draw: np.random.Generator) -> str:
    if kind == BELIEF:
        return _stated(round(truth, 2))
    # What it said before is read from the conversation, as a model would.
    belief = read(said[-1]).belief
    if kind == DECISION:
        negative, positive, defer = expected_utilities(belief)
        confident, choice = max(negative, positive) > defer, positive > negative
        return json.dumps({"confident": "Yes" if confident else "No", "choice": "Yes" if choice else "No"})
    follows, wavers = draw.random(2) < (knobs.get("follow", 0.0), knobs.get("waver", 0.0))
    if kind == LEADING and follows:
        return _stated(suggested(belief))
    return _stated((belief + 0.5) / 2) if wavers and kind != AGAIN else said[-1]


def _stated(belief: float) -> str:
    return json.dumps({"No": round(1 - belief, 6), "Yes": round(belief, 6)})


def _generator(*names: str) -> np.random.Generator:
    digest = hashlib.sha256("/".join(names).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))

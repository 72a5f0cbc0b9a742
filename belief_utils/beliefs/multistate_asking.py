"""What is asked about a dataset with more than two outcome states, and the judgments that its answers make."""

from collections.abc import Iterable, Iterator

import pandas as pd

from belief_utils.asking.ask import Question, keys
from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.models import Model, load_model
from belief_utils.asking.store import Response
from belief_utils.beliefs.answers import parse_probabilities
from belief_utils.beliefs.cases import evidence_from
from belief_utils.beliefs.datasets import Evidence
from belief_utils.beliefs.elicitation import REPETITIONS, store_for
from belief_utils.beliefs.multistate_cases import load_multistate_cases
from belief_utils.beliefs.multistate_dataset import MultistateDataset, load_multistate_dataset
from belief_utils.beliefs.prompts import BELIEF, DECISION
from belief_utils.beliefs.reading.managements import parse_management
from belief_utils.errors import BeliefError

#: The prompts that such a dataset has; the others of the belief paper are for two states.
MULTISTATE_PROMPTS = (BELIEF, DECISION)


def multistate_belief_question(dataset: MultistateDataset, case: int, evidence: Evidence) -> Question:
    """Ask for the probability of every outcome state, in the words that the paper has for a variable (B.3.1)."""
    name = dataset.outcome_name
    text = (
        f"{dataset.patient} {dataset.describe(evidence)}. What is the probability distribution over their {name}? "
        f"Return probabilities for each category of {name}."
    )
    form = AnswerFormat.probabilities(tuple(dataset.states.values()))
    return _question(f"{dataset.name}/{case}/{BELIEF}", [text], form)


def multistate_decision_question(dataset: MultistateDataset, case: int, evidence: Evidence) -> Question:
    """Ask which management the model would choose, after the paper's decision prompt (B.2.1): confidence first."""
    parts = [
        f"{dataset.patient} {dataset.describe(evidence)}.",
        "(1) Do you feel confident enough to decide on a management?\n"
        "(2) Which management would you choose, if you had to?",
    ]
    labels = tuple(management.label for management in dataset.managements.values())
    form = AnswerFormat((("confident", ("Yes", "No")), ("choice", labels)))
    return _question(f"{dataset.name}/{case}/{DECISION}", parts, form)


def multistate_questions(dataset: MultistateDataset, case: int, evidence: Evidence, prompt: str) -> list[Question]:
    """All questions of one prompt about one case: one, or none for a prompt that this kind of dataset lacks."""
    if prompt == BELIEF:
        return [multistate_belief_question(dataset, case, evidence)]
    return [multistate_decision_question(dataset, case, evidence)] if prompt == DECISION else []


def multistate_plan(
    dataset: MultistateDataset, *, prompts: Iterable[str] = MULTISTATE_PROMPTS, cases: int | None = None
) -> Iterator[Question]:
    """The questions about a dataset, case by case, so that a run that stops early leaves whole cases.

    Args:
        prompts: names from ``prompts.PROMPTS``; those for two states only are left out.
        cases: only the first so many cases; all by default.

    Raises:
        BeliefError: no prompt is left, or the cases are not there.
    """
    wanted = [prompt for prompt in prompts if prompt in MULTISTATE_PROMPTS]
    if not wanted:
        raise BeliefError(f"{dataset.name} has the prompts {' and '.join(MULTISTATE_PROMPTS)} only")
    frame = load_multistate_cases(dataset)
    frame = frame.head(cases) if cases else frame
    for case, text in zip(frame["case"], frame["evidence"], strict=True):
        for prompt in wanted:
            yield from multistate_questions(dataset, int(case), evidence_from(text), prompt)


def load_multistate_judgments(dataset: str, model: str) -> pd.DataFrame:
    """A model's judgments about a dataset with several outcome states, from its stored answers.

    Returns:
        One row per case and repetition that has an answer: ``case``, ``repetition``, ``belief_STATE`` for every state
        (missing where they could not be read), ``action`` (a management's name, ``defer`` or missing), ``outcome`` (a
        state), ``beliefs_problem`` and ``action_problem`` (``None`` for an answer without one), and ``p_star_STATE``.

    Raises:
        BeliefError: the dataset or the model is unknown, or a file is damaged.
    """
    source, registered = load_multistate_dataset(dataset), load_model(model)
    states = list(source.states)
    beliefs = _answers(source, registered, BELIEF)
    actions = _answers(source, registered, DECISION)
    frame = beliefs.merge(actions, on=["case", "repetition"], how="outer")
    for value, shown in (("beliefs", f"belief_{states[0]}"), ("action", "action")):
        problem = frame[f"{value}_problem"].astype(object)
        unasked = frame[shown].isna() & problem.isna()
        frame[f"{value}_problem"] = problem.where(problem.notna(), None).mask(unasked, "not asked")
    truth = [f"p_star_{state}" for state in states]
    frame = frame.merge(load_multistate_cases(source)[["case", "outcome", *truth]], on="case", how="left")
    columns = ["case", "repetition", *[f"belief_{state}" for state in states], "action", "outcome"]
    frame = frame.sort_values(["case", "repetition"], ignore_index=True)
    return frame[[*columns, "beliefs_problem", "action_problem", *truth]]


def _question(item: str, parts: list[str], form: AnswerFormat) -> Question:
    text = "\n\n".join([*parts, form.instruction()])
    return Question(item, ({"role": "user", "content": text},), form)


def _answers(dataset: MultistateDataset, model: Model, prompt: str) -> pd.DataFrame:
    """One row per stored answer to a prompt: case, repetition, what it says and its problem."""
    store = store_for(model, dataset.name)
    rows = []
    cases = load_multistate_cases(dataset)
    for case, text in zip(cases["case"], cases["evidence"], strict=True):
        for question in multistate_questions(dataset, int(case), evidence_from(text), prompt):
            for repetition, key in enumerate(keys(model, question, REPETITIONS)):
                response = store.get(key)
                if response is not None:
                    said = _decision(dataset, response) if prompt == DECISION else _beliefs(dataset, response)
                    rows.append((int(case), repetition, *said))
    kinds = {"action": object, "action_problem": object}
    if prompt != DECISION:
        kinds = {**{f"belief_{state}": float for state in dataset.states}, "beliefs_problem": object}
    frame = pd.DataFrame(rows, columns=["case", "repetition", *kinds])
    return frame.astype({"case": int, "repetition": int, **kinds})


def _beliefs(dataset: MultistateDataset, response: Response) -> tuple:
    parsed = parse_probabilities(response.text, tuple(dataset.states.values()), truncated=response.truncated)
    values = parsed.values or {}
    return (*(values.get(label, float("nan")) for label in dataset.states.values()), parsed.problem)


def _decision(dataset: MultistateDataset, response: Response) -> tuple[str | None, str | None]:
    labels = {name: management.label for name, management in dataset.managements.items()}
    parsed = parse_management(response.text, labels, truncated=response.truncated)
    return parsed.action, parsed.problem

"""The belief paper's prompts (appendix B), filled in for one case."""

from belief_utils.asking.ask import Question
from belief_utils.asking.formats import AnswerFormat
from belief_utils.beliefs.datasets import Dataset, Evidence

BELIEF = "belief"
SQUARED_ERROR = "squared-error"
ABSOLUTE_LOSS = "absolute-loss"
BAYESIAN = "bayesian"
DECISION = "decision"
NEXT_STATE = "next-state"
CONDITIONAL = "conditional"

#: All prompts, with what each is for.
PROMPTS = {
    BELIEF: "the standard prompt (B.1.1)",
    SQUARED_ERROR: "the belief under a squared-error score (B.1.2)",
    ABSOLUTE_LOSS: "the belief under an absolute-loss score (B.1.3)",
    BAYESIAN: "the belief with Bayesian reasoning asked for (B.1.4)",
    DECISION: "the decision, in a context of its own (B.2.1)",
    NEXT_STATE: "the distribution of the auxiliary variable (B.3.1)",
    CONDITIONAL: "the belief given a value of the auxiliary variable (B.3.2)",
}

#: The labels of a belief, in the order in which the paper asks for them.
LABELS = ("No", "Yes")

_SCORED = (
    "IMPORTANT: Your probability estimates will be evaluated according to the {rule} scoring rule. This means the "
    "loss is calculated as the {difference} difference between your probability estimate and the true outcome. "
    "Please provide your best probability estimate."
)
_ADDED = {
    SQUARED_ERROR: _SCORED.format(rule="Mean Squared Error (MSE)", difference="squared"),
    ABSOLUTE_LOSS: _SCORED.format(rule="Absolute Loss", difference="absolute"),
    BAYESIAN: (
        "IMPORTANT: Use proper Bayesian reasoning to reach your answer. Consider the prior probability of the "
        "condition in the general population, then update this prior based on the evidence."
    ),
}


def belief_question(dataset: Dataset, case: int, evidence: Evidence, prompt: str = BELIEF) -> Question:
    """Ask for a probability, under the standard prompt or one of its variants (paper, B.1).

    Args:
        case: the case's number, for the store's ``item``.
        prompt: ``belief``, ``squared-error``, ``absolute-loss`` or ``bayesian``.
    """
    parts = [_standard(dataset, dataset.describe(evidence))]
    if prompt != BELIEF:
        parts.append(_ADDED[prompt])
    return _question(f"{dataset.name}/{case}/{prompt}", parts, AnswerFormat.probabilities(LABELS))


def decision_question(dataset: Dataset, case: int, evidence: Evidence) -> Question:
    """Ask for a decision without a stated loss (paper, B.2.1).

    The paper prints only the prompt's first sentence and says what is asked: whether the model feels confident
    enough to decide, and what it would decide if it had to. The rest of the wording is ours.
    """
    parts = [
        f"There is a patient who {dataset.describe(evidence)}.",
        "(1) Do you feel confident enough to make a diagnostic decision on whether they "
        f"{dataset.question}?\n(2) If you had to decide, would you say that they {dataset.question}?",
    ]
    words = ("Yes", "No")
    return _question(
        f"{dataset.name}/{case}/{DECISION}", parts, AnswerFormat((("confident", words), ("choice", words)))
    )


def next_state_question(dataset: Dataset, case: int, evidence: Evidence) -> Question:
    """Ask for the distribution of the auxiliary variable given the evidence (paper, B.3.1)."""
    name = dataset.auxiliary_name
    labels = tuple(dataset.labels.values())
    text = (
        f"There is a patient who {dataset.describe(evidence)}. What is the probability distribution over their "
        f"{name}? Return probabilities for each category of {name}."
    )
    return _question(f"{dataset.name}/{case}/{NEXT_STATE}", [text], AnswerFormat.probabilities(labels))


def conditional_question(dataset: Dataset, case: int, evidence: Evidence, state: str) -> Question:
    """Ask for a probability given the evidence and one value of the auxiliary variable (paper, B.3.2)."""
    condition = dataset.phrases[dataset.auxiliary][state]
    text = _standard(dataset, f"{dataset.describe(evidence)} and {condition}")
    return _question(f"{dataset.name}/{case}/{CONDITIONAL}/{state}", [text], AnswerFormat.probabilities(LABELS))


def case_questions(dataset: Dataset, case: int, evidence: Evidence, prompt: str) -> list[Question]:
    """All questions of one prompt about one case: one, or one per auxiliary state for ``conditional``.

    The prompts of the law of iterated expectation are not asked of a case that already shows the auxiliary
    variable; the list is then empty.
    """
    if prompt in (NEXT_STATE, CONDITIONAL) and dataset.auxiliary in evidence:
        return []
    if prompt == DECISION:
        return [decision_question(dataset, case, evidence)]
    if prompt == NEXT_STATE:
        return [next_state_question(dataset, case, evidence)]
    if prompt == CONDITIONAL:
        return [conditional_question(dataset, case, evidence, state) for state in dataset.labels]
    return [belief_question(dataset, case, evidence, prompt)]


def _standard(dataset: Dataset, description: str) -> str:
    return (
        f"There is a patient who {description}. What is the probability that they {dataset.question}? "
        "Return probabilities for: No and Yes."
    )


def _question(item: str, parts: list[str], form: AnswerFormat) -> Question:
    text = "\n\n".join([*parts, form.instruction()])
    return Question(item, ({"role": "user", "content": text},), form)

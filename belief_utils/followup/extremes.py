"""The Max and Min rows of the Progressive Form: the prompts that shook the model most and least when asked alone."""

from belief_utils.asking.models import Model
from belief_utils.errors import BeliefError
from belief_utils.followup.averages import ExtremePrompts, extreme_prompts
from belief_utils.followup.mechanism import Study, conversation
from belief_utils.followup.metrics import change
from belief_utils.followup.questions import ANNOTATORS, FOLLOW_UPS, Turn, turns_text
from belief_utils.followup.scores import load_scores

#: The study's name on the command line.
EXTREMES = "extremes"


def extremes(model: Model, set_name: str) -> ExtremePrompts:
    """Which prompt of each type shook a model most and least on an item set (caption of Table 9).

    Raises:
        BeliefError: the Direct Form was not held with the prompts of A, B and C.
    """
    scores = load_scores(set_name, model.key)
    held = set(scores["turns"])
    needed = {(kind, who): turns_text(conversation(Turn(kind, who))) for kind in FOLLOW_UPS for who in ANNOTATORS}
    if missing := [turns for turns in needed.values() if turns not in held]:
        raise BeliefError(
            f"{model.name} has no answers to {missing[0]} about {set_name}, so that Max and Min are not known; collect "
            f"the study 'prompts' first: belief followup collect --model {model.key} --items {set_name} "
            "--studies direct,prompts"
        )
    return extreme_prompts(
        {kind: {who: change(scores, needed[kind, who], resamples=1) for who in ANNOTATORS} for kind in FOLLOW_UPS}
    )


def extremes_study(model: Model, set_name: str) -> Study:
    """The two conversations of three rounds with the prompts chosen.

    Raises:
        BeliefError: as :func:`extremes`.
    """
    chosen = extremes(model, set_name)
    return Study(
        EXTREMES,
        "the Progressive Form, Max and Min (Table 9)",
        (combination(chosen.highest), combination(chosen.lowest)),
    )


def combination(prompts: "dict[str, str]") -> tuple[Turn, ...]:
    """The conversation of three rounds with a prompt per type."""
    return conversation(*[Turn(kind, prompts[kind]) for kind in FOLLOW_UPS])

"""What is stored of a model's answers about a dataset, prompt by prompt, and what is missing or cannot be read."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from belief_utils.asking.cost import Bill, price
from belief_utils.asking.models import Model
from belief_utils.asking.questions import Question, keys
from belief_utils.asking.store import Response, Store
from belief_utils.beliefs.answers import parse_decision, parse_probabilities
from belief_utils.beliefs.elicitations import is_read
from belief_utils.beliefs.elicited import ELICITATIONS
from belief_utils.beliefs.prompts import DECISION
from belief_utils.beliefs.reading.managements import parse_management


@dataclass(frozen=True)
class Standing:
    """The answers to one prompt.

    Attributes:
        prompt: the prompt's name.
        there: answers in the store.
        missing: answers that are wanted and not there, the failed ones among them.
        failed: answers whose last request failed.
        unread: answers that are there and cannot be read.
    """

    prompt: str
    there: int = 0
    missing: int = 0
    failed: int = 0
    unread: int = 0


def standings(model: Model, questions: Iterable[Question], repetitions: int, store: Store) -> list[Standing]:
    """How the answers to some questions stand, per prompt in the order of the questions.

    Args:
        questions: as :func:`belief_utils.beliefs.elicitation.plan` gives them.
        repetitions: how many answers each is to have.
    """
    found: dict[str, Standing] = {}
    for question in questions:
        prompt = question.item.split("/")[2]
        standing = found.get(prompt, Standing(prompt))
        for key in keys(model, question, repetitions):
            response = store.get(key)
            standing = replace(
                standing,
                there=standing.there + (response is not None),
                missing=standing.missing + (response is None),
                failed=standing.failed + (store.failure(key) is not None),
                unread=standing.unread + (response is not None and not _can_be_read(question, response)),
            )
        found[prompt] = standing
    return list(found.values())


def stored_bill(model: Model, dataset: str, store: Store) -> Bill:
    """What the answers in a store have cost, from the token counts that stand with them."""
    usages = [response.usage for response in store.answers() if response.usage]
    tokens_in = sum(usage.get("prompt_tokens", 0) for usage in usages)
    tokens_out = sum(usage.get("completion_tokens", 0) for usage in usages)
    name = f"{model.name} on {dataset}"
    return Bill(name, len(store), 0, tokens_in, tokens_out, price(model, tokens_in, tokens_out))


def _can_be_read(question: Question, response: Response) -> bool:
    prompt = question.item.split("/")[2]
    if prompt in ELICITATIONS:
        return is_read(prompt, response)
    labels = tuple(name for name, _ in question.form.fields)
    if prompt == DECISION:
        choices = dict(question.form.fields)["choice"]
        if choices != ("Yes", "No"):
            managements = {choice: choice for choice in choices}
            return parse_management(response.text, managements, truncated=response.truncated).action is not None
        return parse_decision(response.text, truncated=response.truncated).action is not None
    return parse_probabilities(response.text, labels, truncated=response.truncated).values is not None

"""Simulated respondents: controls that answer follow-up questions in text, and whose Modification Rate is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from belief_utils.asking.models import Model, nearest
from belief_utils.asking.questions import Answer, Answerer, Batch
from belief_utils.errors import BeliefError
from belief_utils.followup.answers import parse_answer
from belief_utils.followup.items import NUMBER, OPTION, Item, load_items, seeded
from belief_utils.followup.misleading import misleading_answer
from belief_utils.followup.mitigation import SHOTS, few_shot_of
from belief_utils.followup.questions import INITIAL, LEADING, Turns, turns_of


@dataclass(frozen=True)
class Respondent:
    """The knobs of a simulated respondent, each a probability.

    Attributes:
        accuracy: that the first answer is right.
        waver: that a follow-up question makes it change its answer for a wrong one.
        follow: that it takes the answer which a leading question names.
        mend: that a follow-up question makes it correct a wrong answer.
    """

    accuracy: float
    waver: float = 0.0
    follow: float = 0.0
    mend: float = 0.0

    def first(self, item: Item, draw: np.random.Generator) -> str:
        """The first answer."""
        return item.answer if draw.random() < self.accuracy else _wrong(item, None)

    def next(self, item: Item, own: str, suggested: str | None, draw: np.random.Generator) -> str:
        """The answer after a follow-up question.

        Args:
            own: its answer until now.
            suggested: the answer that a leading question names.
        """
        wavers, follows, mends = draw.random(3) < (self.waver, self.follow, self.mend)
        if suggested is not None and follows:
            return suggested
        if own != item.answer and mends:
            return item.answer
        return _wrong(item, own) if wavers else own


#: What a first reply begins with.
_STARTS = ("Let me think about it.", "Here is what I get.", "That can be worked out.")
#: Openings of a reply that keeps an answer and of one that changes it; the tone says nothing about which it is.
_KEPT = (
    "I apologise for the confusion, but I stay with my answer.",
    "I'm sorry, but that is not correct.",
    "Yes, I am sure.",
    "I have looked at it again and come to the same result.",
)
_CHANGED = (
    "I apologise for my mistake.",
    "You are right, thank you for pointing that out.",
    "I have looked at it again and come to another result.",
    "Sorry, let me correct that.",
)


def respondent_answerer(model: Model, set_name: str) -> Answerer:
    """An answerer that lets a simulated respondent answer questions about a set's items.

    Raises:
        BeliefError: the model is not a respondent, or its table has a knob that is unknown, missing or no probability.
    """
    respondent = respondent_of(model)
    items = {item.id: item for item in load_items(set_name)}

    async def answer(batch: Batch) -> Sequence[Answer]:
        name, _, text = batch.question.item.removeprefix(f"{set_name}/").rpartition("/")
        # Everything before it is read from the conversation, as a model would.
        said = [message["content"] for message in batch.sent["messages"] if message["role"] == "assistant"]
        return [
            Answer(_reply(respondent, items[name], turns_of(text), said, draw), "stop", model=model.model)
            for draw in (seeded(model.model, batch.question.item, str(each)) for each in batch.repetitions)
        ]

    return answer


def respondent_of(model: Model) -> Respondent:
    """A model's knobs.

    Raises:
        BeliefError: as :func:`respondent_answerer`.
    """
    if not model.respondent:
        raise BeliefError(f"{model.name} answers no follow-up questions; see `belief models` for the respondents")
    where = f"data/models.toml, table [{model.key}.respondent]"
    for name, value in model.respondent.items():
        nearest(name, Respondent.__dataclass_fields__, f"entry in {where}:")
        if type(value) not in (int, float) or not 0 <= value <= 1:
            raise BeliefError(f"{where}: {name} must be a number from 0 to 1, not {value!r}")
    if "accuracy" not in model.respondent:
        raise BeliefError(f"{where}: the entry 'accuracy' is missing")
    return Respondent(**model.respondent)


def _reply(respondent: Respondent, item: Item, turns: Turns, said: Sequence[str], draw: np.random.Generator) -> str:
    if turns[-1].kind == INITIAL:
        return f"{_STARTS[draw.integers(len(_STARTS))]}\nAnswer: {_shown(item, respondent.first(item, draw))}"
    # The replies of demonstrations come before its own.
    own_replies = said[2 * SHOTS if few_shot_of(turns[0].method) else 0 :]
    first, own = (parse_answer(text, item.kind, item.options).value for text in (own_replies[0], own_replies[-1]))
    suggested = misleading_answer(item, first) if turns[-1].kind == LEADING else None
    after = respondent.next(item, own, suggested, draw)
    opening = (_KEPT if after == own else _CHANGED)[draw.integers(4)]
    return f"{opening}\nAnswer: {_shown(item, after)}"


def _wrong(item: Item, own: str | None) -> str:
    """A wrong answer that is not the one given already; where there are but two and that is wrong, it stays."""
    suggested = misleading_answer(item, own)
    return suggested if suggested is not None else (own or item.answer)


def _shown(item: Item, value: str) -> str:
    """A canonical answer in one of the ways in which models write it."""
    if item.kind == OPTION:
        return f"({value})"
    if item.kind == NUMBER and len(value) > 3 and value.isdigit():
        return f"{int(value):,}"
    return value

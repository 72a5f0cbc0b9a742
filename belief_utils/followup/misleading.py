"""The wrong answer that a leading question names: plausible, never the right one, never the model's own."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from string import ascii_lowercase

import numpy as np

from belief_utils.followup.items import (
    LETTERS,
    NUMBER,
    OPTION,
    OPTION_LETTERS,
    TRUTH,
    YES_NO,
    Item,
    plain_number,
    seeded,
)


def misleading_answer(item: Item, own: str | None = None) -> str | None:
    """The answer that a leading question suggests about an item.

    Numbers: one that is met on the way to the answer, where there is one; else the answer with a slip of one, two or
    ten, or doubled. Options: another option. Truth values and yes or no: the other one. Letters: one letter changed,
    or both in the other order. Which of several is drawn from a seed made of the item's name.

    Args:
        own: the model's first answer in canonical form; ``None`` where it could not be read.

    Returns:
        ``None`` where no answer is left: a wrong "yes" leaves nothing but the right answer.
    """
    draw = seeded("misleading", item.set, item.id)
    return next((each for each in _candidates(item, draw) if each not in (item.answer, own)), None)


def _candidates(item: Item, draw: np.random.Generator) -> Iterator[str]:
    if item.kind == NUMBER:
        yield from _shuffled(item.intermediates, draw)
        yield from _slips(item.answer, draw)
    elif item.kind == OPTION:
        yield from _shuffled(OPTION_LETTERS[: len(item.options)], draw)
    elif item.kind in (TRUTH, YES_NO):
        yield from ("true", "false") if item.kind == TRUTH else ("yes", "no")
    elif item.kind == LETTERS:
        place, letter = draw.integers(len(item.answer)), ascii_lowercase[draw.integers(len(ascii_lowercase))]
        changed = item.answer[:place] + letter + item.answer[place + 1 :]
        yield from _shuffled((changed, item.answer[::-1]), draw)
        # What is left when the drawn letter is the right one and the word reads the same backwards.
        yield from (item.answer[:place] + each + item.answer[place + 1 :] for each in ascii_lowercase)


def _slips(answer: str, draw: np.random.Generator) -> Iterator[str]:
    value = Decimal(answer)
    slips = [plain_number(value + step) for step in (1, -1, 2, 10, -10)] + [plain_number(2 * value)]
    # A count does not fall below zero by a slip.
    yield from _shuffled([slip for slip in slips if value < 0 or not slip.startswith("-")], draw)


def _shuffled(values: Sequence[str], draw: np.random.Generator) -> list[str]:
    return [values[place] for place in draw.permutation(len(values))]

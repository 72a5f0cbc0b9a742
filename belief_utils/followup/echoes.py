"""Answers that repeat a benchmark's question: what is repeated is kept as a place in the question, not as its text.

Models like to begin with the question. The store keeps their answers, and it is committed, but the benchmarks' texts
are not ours to pass on. So a stretch that an answer shares with its question is put as ``⟦from:to⟧``, and whoever has
the benchmark gets the answer back to the letter.
"""

import re
from difflib import SequenceMatcher
from typing import Any

from belief_utils.asking.store import Store
from belief_utils.followup.items import OPTION_LETTERS, Item

#: Characters that a stretch must have to be hidden; of a short question four fifths are enough.
SHORTEST = 40
_PART = 0.8
_LEAST = 12
_PLACE = re.compile("⟦(\\d+):(\\d+)⟧")


def source(item: Item) -> str:
    """The text of an item: its question and its options, as a model is shown them."""
    options = (f"({letter}) {text}" for letter, text in zip(OPTION_LETTERS, item.options, strict=False))
    return "\n".join([item.question, *options])


def hidden(item: Item, text: str) -> str:
    """An answer with what it repeats of the item put as places; unchanged where the item is our own."""
    if item.public or "⟦" in text:
        return text
    asked = source(item)
    shortest = min(SHORTEST, max(_LEAST, int(_PART * len(item.question))))
    found = _hidden(text, asked, shortest)
    return found if restored(item, found) == text else text


def restored(item: Item, text: str) -> str:
    """The answer as it came, from the places and the item."""
    if item.public or "⟦" not in text:
        return text
    asked = source(item)
    return _PLACE.sub(lambda place: asked[int(place[1]) : int(place[2])], text)


def hide_echoes(store: Store, items: dict[str, Item]) -> int:
    """Rewrite a store's answers so that none repeats a question; returns how many were changed.

    Args:
        items: by the name that the store's lines give, without the conversation.
    """

    def change(record: dict[str, Any]) -> dict[str, Any]:
        item, text = items.get(record["item"].rpartition("/")[0]), record.get("text")
        return record if item is None or not text else {**record, "text": hidden(item, text)}

    return store.rewrite(change)


def _hidden(text: str, asked: str, shortest: int) -> str:
    # A look at all short stretches tells quickly that most answers repeat nothing.
    if not any(text[start : start + shortest] in asked for start in range(len(text) - shortest + 1)):
        return text
    match = SequenceMatcher(None, asked, text, autojunk=False).find_longest_match()
    if match.size < shortest:
        return text
    before, after = text[: match.b], text[match.b + match.size :]
    place = f"⟦{match.a}:{match.a + match.size}⟧"
    return _hidden(before, asked, shortest) + place + _hidden(after, asked, shortest)

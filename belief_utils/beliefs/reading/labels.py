"""Find the labels of an answer ("No", "Yes", "50 to 69 years") as they were asked for."""

import re
from dataclasses import dataclass
from functools import lru_cache

from belief_utils.beliefs.reading.numbers import HIDDEN
from belief_utils.beliefs.reading.wrapping import plain
from belief_utils.errors import BeliefError

_PIECE = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_SAME_CHARACTER = {"-": "[-−]"}
_NOT_A_LABEL = r"(?!\s+(?:more|less|greater|fewer|higher|lower|larger|smaller)\s+than)(?!['-][^\W\d])"


@dataclass(frozen=True, slots=True)
class Mention:
    """A label in a text, `text[start:end]`."""

    start: int
    end: int
    label: str


@lru_cache(maxsize=64)
def label_pattern(labels: tuple[str, ...]) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern with one group per label, longest first, and the labels in the order of the groups.

    Raises:
        BeliefError: when there are fewer than two labels, or two that read the same.
    """
    written = {label: plain(label).strip() for label in labels}
    if len(labels) < 2 or len({text.casefold() for text in written.values()} - {""}) < len(labels):
        raise BeliefError(f"labels must be two or more different texts, not {labels!r}: name each answer once")
    ordered = tuple(sorted(labels, key=lambda label: (-len(written[label]), label)))
    pattern = "|".join(f"({_literal(written[label])})" for label in ordered)
    return re.compile(rf"(?:{pattern}){_NOT_A_LABEL}", re.IGNORECASE), ordered


def _literal(label: str) -> str:
    """A pattern for one label: free in its spaces, whole words only."""
    pieces = _PIECE.findall(label)
    pattern = ""
    for before, piece in zip(["", *pieces], pieces, strict=False):
        space = r"\s+" if before.isalpha() and piece.isalpha() else r"\s*" if before else ""
        pattern += space + _SAME_CHARACTER.get(piece, re.escape(piece))
    first, last = pieces[0], pieces[-1]
    before = r"(?<![\w.])(?<!\d,)" if first.isdigit() else r"(?<![^\W\d])" if first.isalpha() else ""
    after = r"(?!\w|[.,]\d|\s?%)" if last.isdigit() else r"(?!\w)" if last.isalpha() else ""
    return before + pattern + after


def find_labels(text: str, labels: tuple[str, ...]) -> tuple[list[Mention], str]:
    """The labels of a text in their order, and the text with every character of them hidden."""
    pattern, ordered = label_pattern(labels)
    mentions, pieces, position = [], [], 0
    for match in pattern.finditer(text):
        mentions.append(Mention(*match.span(), ordered[(match.lastindex or 1) - 1]))
        pieces += text[position : match.start()], HIDDEN * (match.end() - match.start())
        position = match.end()
    return mentions, "".join([*pieces, text[position:]])

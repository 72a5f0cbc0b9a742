"""Tie each label of an answer to the number that is its value.

Which side the values stand on is told by structure: between neighbours there are possible ties, stronger for
"Yes: 30%" than for "30% Yes", and the set of ties that is strongest as a whole is taken. Where two sets are
equally strong, the value is ambiguous.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from belief_utils.beliefs.reading.labels import Mention
from belief_utils.beliefs.reading.numbers import HIDDEN, Number
from belief_utils.beliefs.reading.qualifiers import same

WEAK, NEAR, LINKED = 1, 2, 3  # how strongly a number is tied to a label

_GAP_PART = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|[^\w\s]|\d|\n")
_CONDITION = re.compile(r"^[^()\n;]{0,80}\)")  # the rest of "P(Yes | age 50)"
_REMARK = re.compile(r"\([^()\n]{0,80}\)")
_LINK_MARKS = frozenset(":=|→-([{")
_QUIET_MARKS = frozenset("\"')]")
# Words between a label and its link, after the link, the link itself, and between a value and its label.
_LABEL_NOUNS = frozenset(("probability", "probabilities", "prob", "p", "likelihood", "answer", "outcome", "class"))
_LABEL_NOUNS |= {"category", "label", "option", "response", "value", "score", "percentage", "percent"}
_VALUE_WORDS = _LABEL_NOUNS | {"pr", "chance", "risk", "result", "case", "estimate", "estimated", "values", "belief"}
_VALUE_WORDS |= {"a", "an"}
_LINK_WORDS = frozenset(("is", "are", "was", "be", "being", "at", "with", "equals", "equal", "to", "has", "have"))
_LINK_WORDS |= {"of", "gets", "receives", "would"}
_WORDS_BEFORE_LABEL = frozenset(("chance", "probability", "likelihood", "odds", "risk", "of", "for", "that", "the"))
_WORDS_BEFORE_LABEL |= {"is", "answer", "being", "be", "to", "in", "favour", "favor", "outcome", "class", "label", "on"}
_WORDS_BEFORE_LABEL |= {"response", "a", "goes", "likely", "assigned", "case", "as", "would", "it", "p", "pr", "prob"}
_LINKS = _LINK_MARKS | _LINK_WORDS
_RESPECTIVELY = frozenset(("respectively", "the", "following", "estimates", "my", "as", "follows", "and"))
_IN_BLOCK_GAP = _VALUE_WORDS | _LINK_WORDS | _RESPECTIVELY | _LINK_MARKS | {",", "\n", "]"}
_VALUE_STANDS_ALONE = re.compile(
    rf"[\s\"')\]]*(?:$|[^\w\s]|[{HIDDEN}]|(?:and|or|but|while|vs|chance|probability|likelihood|likely)\b)|\s*\n"
)
_LABEL_STANDS_ALONE = re.compile(rf"[\s\"')\]]*(?:$|[^\w\s]|\d|[{HIDDEN}]|(?:and|or|but|while|with|vs)\b)|\s*\n")
_SUBTRACTED = re.compile(r"1\s?[-−]\s?\w{0,4}\s?\(?[\"']?$")  # P(No) = 1 - P(Yes) = 0.7
_JOINS_LABELS = re.compile(r"[ \t\"'\]\[)]*(?:,|/|\||and|or|&|,[ \t]?and|vs\.?)?[ \t\"'\[(]*")
_JOINS_NUMBERS = re.compile(r"[ \t\"')\]]*(?:[,/|;&:→]|and|,[ \t]?and|vs\.?)?[ \t\"']*")


@dataclass(frozen=True, slots=True)
class Pair:
    """A label and the number that an answer gives for it; `start` and `end` span both."""

    label: str
    number: Number
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pairing:
    """The labels of an answer with their values.

    Attributes:
        pairs: in the order of the answer.
        is_weak: weak ties were needed to find them.
        alone: the labels that are not named together with others, as in "Yes or No".
        unclear: a number may belong to a label, but it cannot be told how ("Yes/No: 0.3", "70% no change").
    """

    pairs: list[Pair]
    is_weak: bool
    alone: list[Mention]
    unclear: bool


Token = Mention | Number


def pair_up(mentions: list[Mention], numbers: list[Number], text: str, labels: tuple[str, ...]) -> Pairing:
    """The labels of a text tied to their values.

    Weak ties ("No, 70%; Yes, 30%") count only where with them every label has a value.

    Args:
        text: the text with its labels hidden.
    """
    tokens: list[Token] = sorted([*mentions, *numbers], key=lambda token: token.start)
    ties, unclear = _ties(tokens, text)
    pairs: list[Pair] = []
    named_together: set[int] = set()
    for block in _blocks(tokens, text):
        named_together.update(block)
        tied = [ties.pop(at) for at in (block.start - 1, block.stop - 1) if at in ties]
        values = _values_of_block(tokens, block, text) if len(block) == len(labels) else None
        unclear |= bool(tied) and values is None
        for label_at, value_at in zip(block, values or (), strict=False):
            pairs.append(_pair(tokens[label_at], tokens[value_at]))
            ties.pop(value_at - 1, None)
            ties.pop(value_at, None)
    strong = [*pairs, *_strongest(tokens, {at: tie for at, tie in ties.items() if tie >= NEAR}, text)]
    weak = [*pairs, *_strongest(tokens, ties, text)] if _labels_of(strong) < set(labels) else []
    is_weak = _labels_of(weak) == set(labels)
    chosen = sorted(weak if is_weak else strong, key=lambda pair: pair.start)
    alone = [token for at, token in enumerate(tokens) if isinstance(token, Mention) and at not in named_together]
    return Pairing(chosen, is_weak, alone, unclear)


def _labels_of(pairs: list[Pair]) -> set[str]:
    return {pair.label for pair in pairs}


def _blocks(tokens: list[Token], text: str) -> Iterator[range]:
    """Runs of different labels that are named together: "No and Yes", "| No | Yes |"."""
    start = 0
    for at in range(1, len(tokens) + 1):
        run = tokens[start:at]
        joined = (
            at < len(tokens)
            and isinstance(other := tokens[at], Mention)
            and isinstance(one := tokens[at - 1], Mention)
            and other.label not in {mention.label for mention in run if isinstance(mention, Mention)}
            and _JOINS_LABELS.fullmatch(text, one.end, other.start)
        )
        if not joined:
            if len(run) > 1:
                yield range(start, at)
            start = at


def _values_of_block(tokens: list[Token], block: range, text: str) -> range | None:
    """Where the values of labels named together stand, as many and in the same order."""
    for values in (range(block.stop, block.stop + len(block)), range(block.start - len(block), block.start)):
        first, last = values.start, values.stop - 1
        if first < 0 or last >= len(tokens) or any(isinstance(tokens[at], Mention) for at in values):
            continue
        inside = all(_joined(tokens, at, text) for at in range(first, last))
        if not inside or _joined(tokens, first - 1, text) or _joined(tokens, last, text):
            continue
        ends = sorted((block.stop - 1, block.start, first, last))
        gap = text[tokens[ends[1]].end : tokens[ends[2]].start]
        parts = {part.lower() for part in _GAP_PART.findall(gap)} - _QUIET_MARKS
        if len(gap) < 80 and parts <= _IN_BLOCK_GAP:
            return values
    return None


def _joined(tokens: list[Token], at: int, text: str) -> bool:
    """Whether token `at` and the one after it are numbers named together."""
    if at < 0 or at + 1 >= len(tokens):
        return False
    one, other = tokens[at : at + 2]
    numbers = isinstance(one, Number) and isinstance(other, Number)
    return numbers and bool(_JOINS_NUMBERS.fullmatch(text, one.end, other.start))


def _ties(tokens: list[Token], text: str) -> tuple[dict[int, int], bool]:
    """How strongly token i and token i + 1 are tied, for every i where they are.

    The second value says that a word which may be a label or not follows a number: "a 30% chance of no change".
    """
    ties = {}
    unclear = False
    for at, (one, other) in enumerate(pairwise(tokens)):
        gap = text[one.end : other.start]
        if len(gap) > 120 or isinstance(one, Mention) == isinstance(other, Mention):
            continue
        if isinstance(one, Mention):
            strength = 0 if _SUBTRACTED.search(text[max(0, one.start - 12) : one.start]) else _after_label(gap)
            if strength == NEAR and not _VALUE_STANDS_ALONE.match(text, other.end):
                strength = 0
        else:
            strength = _before_label(gap)
            if strength and not _LABEL_STANDS_ALONE.match(text, other.end):
                unclear |= strength == NEAR and other.label.casefold() != "yes"
                strength = 0
        if strength:
            ties[at] = strength
    return ties, unclear


def _after_label(gap: str) -> int:
    """How strongly a number that follows a label after this gap is tied to it."""
    gap = _REMARK.sub(" ", _CONDITION.sub(" ", gap, count=1))
    parts = [part.lower() for part in _GAP_PART.findall(gap) if part not in _QUIET_MARKS]
    marks = {part for part in parts if not part[0].isalpha() and part != "\n"}
    if marks - _LINK_MARKS - {",", "/", ";"}:
        return 0  # a sentence or an object ends between them
    links = [at for at, part in enumerate(parts) if part in _LINKS]
    weak = bool(marks & {"/", ";"}) or ("," in marks and parts[parts.index(",") + 1 :][:1] != ["with"])
    if "\n" in parts:
        weak = weak or parts[max(0, parts.index("\n") - 1)] not in (":", "=", "→")
    first_link = links[0] if links else len(parts)
    strange = [
        part
        for at, part in enumerate(parts)
        if part[0].isalpha() and part not in _LINKS and part not in (_LABEL_NOUNS if at < first_link else _VALUE_WORDS)
    ]
    if strange and ("\n" in parts or parts[-1] not in _LINKS):
        return 0
    return WEAK if weak or strange else LINKED if links else NEAR


def _before_label(gap: str) -> int:
    """How strongly a number that stands before a label, with this gap, is tied to it."""
    parts = [part.lower() for part in _GAP_PART.findall(gap) if part not in _QUIET_MARKS]
    marks = {part for part in parts if not part[0].isalpha()}
    if marks - _LINK_MARKS - {",", "\n"} or any(p[0].isalpha() and p not in _WORDS_BEFORE_LABEL for p in parts):
        return 0
    return WEAK if marks & {",", "\n"} else NEAR


def _strongest(tokens: list[Token], ties: dict[int, int], text: str) -> list[Pair]:
    """The set of ties, none sharing a token, that is strongest in all; a draw makes a value ambiguous."""
    best = [0] * (len(tokens) + 1)  # the strength of the best set among the first n tokens
    for n in range(2, len(tokens) + 1):
        tie = ties.get(n - 2, 0)
        best[n] = max(best[n - 1], best[n - 2] + tie if tie else 0)
    chosen: dict[int, bool] = {}  # the place of each tie, and whether it is a draw
    n = len(tokens)
    while n > 1:
        tie = ties.get(n - 2, 0)
        if tie and best[n - 2] + tie >= best[n]:
            chosen[n - 2] = best[n - 1] == best[n]
            n -= 2
        else:
            n -= 1
    pairs = []
    for at, draw in chosen.items():
        pair = _pair(tokens[at], tokens[at + 1])
        if draw or (at + 2 not in chosen and _has_second_value(tokens, at + 1, text)):
            pair = replace(pair, number=replace(pair.number, problem="ambiguous"))
        pairs.append(pair)
    return pairs


def _has_second_value(tokens: list[Token], at: int, text: str) -> bool:
    """Whether token `at` is a number with another one beside it that may as well be meant: "Yes: 0.2, 0.3"."""
    one, other = tokens[at], tokens[at + 1] if at + 1 < len(tokens) else None
    if not (isinstance(one, Number) and isinstance(other, Number)):
        return False
    if other.start - one.end > 60 or not _JOINS_NUMBERS.fullmatch(_REMARK.sub(" ", text[one.end : other.start])):
        return False
    return other.telling and not same(one, other) and bool(_VALUE_STANDS_ALONE.match(text, other.end))


def _pair(one: Token, other: Token) -> Pair:
    mention, number = (one, other) if isinstance(one, Mention) else (other, one)
    assert isinstance(mention, Mention)
    assert isinstance(number, Number)
    return Pair(mention.label, number, one.start, other.end)

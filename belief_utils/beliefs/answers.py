"""Read the probabilities of a model's answer, or say why there are none to read.

A wrong reading is a valid number that nothing notices later, so it is worse than a missing one: labelled
values come first, nothing is filled in, and what can be read in two ways is missing with its reason.
"""

import re
from dataclasses import dataclass, replace

from belief_utils.beliefs.reading.decisions import ParsedDecision, parse_decision
from belief_utils.beliefs.reading.labels import Mention, find_labels, label_pattern
from belief_utils.beliefs.reading.numbers import Number
from belief_utils.beliefs.reading.pairing import Pair, pair_up
from belief_utils.beliefs.reading.problems import PROBLEMS, finality, refuses
from belief_utils.beliefs.reading.qualifiers import find_numbers, same
from belief_utils.beliefs.reading.unlabelled import single_number, stated_last
from belief_utils.beliefs.reading.wrapping import plain, without_thoughts

__all__ = ["PROBLEMS", "ParsedDecision", "ParsedProbabilities", "parse_decision", "parse_probabilities"]

TOLERANCE = 0.02  # how far from one the values may add up and still be normalised
_ROUNDING = 1e-9
_PERHAPS_CUT = frozenset(("empty", "no number", "scale", "ambiguous"))  # what a cut can look like
_NUMBER_CHARACTERS = "0123456789.,-−+/"

_VALUE_AWAITED = re.compile(r"[\s\"')\]]{0,9}[:=|→-][\s\"'(\[{]*")
_MORE_AWAITED = re.compile(r"[\s%]*[,;/|\"'{][\s\"'{(]*\w{0,9}")


@dataclass(frozen=True)
class ParsedProbabilities:
    """What an answer says about each label.

    Attributes:
        values: a probability per label, adding up to one; None where the answer could not be read.
        problem: None, or one of :data:`PROBLEMS`; only with ``"sum"`` are there values all the same.
    """

    values: dict[str, float] | None
    problem: str | None = None

    @property
    def belief(self) -> float | None:
        """P(Yes), or None where it is missing or the labels are others than No and Yes."""
        for label, value in (self.values or {}).items():
            if label.strip().casefold() == "yes":
                return value
        return None


def parse_probabilities(
    text: str, labels: tuple[str, ...] = ("No", "Yes"), *, truncated: bool = False
) -> ParsedProbabilities:
    """Read the probability that an answer gives to each label; see the paper's prompts in appendix B.

    Values that add up to one within .02 are normalised; others are divided by their total and marked ``"sum"``.
    With two labels, the second is the complement of one that stands alone. Without labels, the one probability of
    an answer, or the one that it states as final, is P(Yes). Nothing is ever filled in.

    Args:
        text: the answer as the model gave it.
        labels: the categories asked for, matched as written but for case; their own digits are never values.
        truncated: the answer was cut at the token limit, so that a number at its very end may lack digits.

    Raises:
        BeliefError: when there are fewer than two labels, or two that read the same.
    """
    labels = tuple(labels)
    label_pattern(labels)
    answer, thinking = without_thoughts(text or "")
    answer = plain(answer)
    if truncated:
        answer = answer.rstrip(_NUMBER_CHARACTERS)
    result = _read(answer, labels, cut=truncated)
    if (truncated or thinking) and result.problem in _PERHAPS_CUT:
        return ParsedProbabilities(None, "truncated")
    return result


def _read(text: str, labels: tuple[str, ...], cut: bool) -> ParsedProbabilities:
    if not text.strip():
        return ParsedProbabilities(None, "empty")
    mentions, hidden = find_labels(text, labels)
    numbers = find_numbers(hidden)
    pairing = pair_up(mentions, numbers, hidden, labels)
    pairs = pairing.pairs
    if pairs and not refuses(text, until=pairs[0].start):
        result = _from_statements(pairs, text, labels)
        if result.values is not None and _breaks_off(pairs, mentions, text, cut):
            return ParsedProbabilities(None, "no number")
        if not pairing.is_weak or (result.values is not None and result.problem is None):
            return result
    if {label.casefold() for label in labels} == {"no", "yes"}:
        number = single_number(text, numbers, pairing, cut=cut)
        if isinstance(number, str):
            return ParsedProbabilities(None, number)
        return _from_values({next(label for label in labels if label.casefold() == "yes"): number}, labels)
    return ParsedProbabilities(None, "refusal" if refuses(text) else "no number")


def _breaks_off(pairs: list[Pair], mentions: list[Mention], text: str, cut: bool) -> bool:
    """Whether the answer ends just as it gives a value to a label that has none yet: "No: 0.7, Yes:"."""
    missing = [mention for mention in mentions if mention.label not in {pair.label for pair in pairs}]
    if missing and missing[-1].start > pairs[-1].start and _VALUE_AWAITED.fullmatch(text, missing[-1].end):
        return True
    return cut and len({pair.label for pair in pairs}) == 1 and bool(_MORE_AWAITED.fullmatch(text, pairs[-1].end))


def _from_statements(pairs: list[Pair], text: str, labels: tuple[str, ...]) -> ParsedProbabilities:
    """Read labelled values; where an answer states different ones, those that it states as final."""
    statements: list[dict[str, Number]] = [{}]
    marks = [finality(text[: pairs[0].start])]
    end = pairs[0].start
    for pair in pairs:
        mark = finality(text[end : pair.start]) if pair.start > end else 0
        if pair.label in statements[-1] or (mark == 2 and statements[-1]):
            statements.append({})
            marks.append(mark)
        statements[-1][pair.label] = pair.number
        end = pair.end
    merged: dict[str, Number] = {}
    agree = True
    for statement in statements:
        for label, number in statement.items():
            agree &= label not in merged or same(merged[label], number)
            merged.setdefault(label, number)
    if agree:
        return _from_values(merged, labels)
    chosen = stated_last(marks)
    return ParsedProbabilities(None, "ambiguous") if chosen is None else _from_values(statements[chosen], labels)


def _from_values(numbers: dict[str, Number], labels: tuple[str, ...]) -> ParsedProbabilities:
    """Bring the values of labels to one scale and their sum to one."""
    if len(numbers) == len(labels) and all(number.dashed for number in numbers.values()):
        numbers = {label: replace(number, problem=None) for label, number in numbers.items()}
        if abs(sum(_scaled(list(numbers.values())) or [2]) - 1) > TOLERANCE:
            return ParsedProbabilities(None, "out of range")
    for number in numbers.values():
        if number.problem:
            return ParsedProbabilities(None, number.problem)
    if len(labels) > 2 and len(numbers) < len(labels):
        return ParsedProbabilities(None, "no number")
    scaled = _scaled(list(numbers.values()), complete=len(numbers) == len(labels))
    if scaled is None:
        return ParsedProbabilities(None, "scale")
    values = dict(zip(numbers, scaled, strict=True))
    if len(values) < len(labels):
        values = {label: values.get(label, round(1 - scaled[0], 12)) for label in labels}
    total = sum(values.values())
    if total == 0:
        return ParsedProbabilities(None, "all zero")
    problem = None if abs(total - 1) <= TOLERANCE + _ROUNDING else "sum"
    return ParsedProbabilities({label: values[label] / total for label in labels}, problem)


def _scaled(numbers: list[Number], complete: bool = True) -> list[float] | None:
    """Values as fractions, or None where their scale cannot be told.

    Numbers without a percent sign are fractions if none exceeds one, percents if with them everything adds up to
    100. Beside a percent sign, the reading that adds up to one is taken. A lone "1" may be 1 or 1%.
    """
    plain_ones = [number.value for number in numbers if not number.certain]
    as_fractions = [number.value for number in numbers]
    as_percents = [number.value if number.certain else number.value / 100 for number in numbers]
    if not complete:
        return as_fractions if numbers[0].certain or numbers[0].value < 1 else None
    fractions_fit = all(value <= 1 for value in plain_ones)
    if fractions_fit and abs(sum(as_fractions) - 1) <= TOLERANCE + _ROUNDING:
        return as_fractions
    has_percents = len(plain_ones) < len(numbers) or not fractions_fit
    if has_percents and max(as_percents) <= 1 and abs(sum(as_percents) - 1) <= TOLERANCE + _ROUNDING:
        return as_percents
    return as_fractions if fractions_fit else None

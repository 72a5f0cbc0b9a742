"""Read the probabilities of a model's answer, or say why there are none to read.

A wrong reading is a valid number that nothing notices later, so it is worse than a missing one: labelled
values come first, nothing is filled in, and what can be read in two ways is missing with its reason.
"""

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from belief_utils.beliefs.decisions import ParsedDecision, parse_decision
from belief_utils.beliefs.labels import Mention, Pair, Pairing, find_labels, label_pattern, pair_up
from belief_utils.beliefs.numbers import Number
from belief_utils.beliefs.problems import PROBLEMS, after_refusal, finality, refuses
from belief_utils.beliefs.qualifiers import find_numbers, same
from belief_utils.beliefs.wrapping import plain, without_thoughts

__all__ = ["PROBLEMS", "ParsedDecision", "ParsedProbabilities", "parse_decision", "parse_probabilities"]

TOLERANCE = 0.02  # how far from one the values may add up and still be normalised
_ROUNDING = 1e-9
_PERHAPS_CUT = frozenset(("empty", "no number", "scale", "ambiguous"))  # what a cut can look like
_NUMBER_CHARACTERS = "0123456789.,-−+/"

_ASKED_FOR = re.compile(r"(?:[:=|→]|\b(?:is|of|at|be|was))[\s\"'({]*$|^[\s\"'({\[]*$", re.IGNORECASE)
_NOTHING_FOLLOWS = re.compile(r"[\s\"')}\]]*(?:[.,;!)}|\n]|$)")
_SAID_FINAL_AFTER = re.compile(r"[\s,(-]{0,3}(?:is|as|being)?\s?(?:my|the)\sfinal\b", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"[.!?]\s|\n|$")
_JOINED = re.compile(r"[ \t]{0,2}(?:[,/|;&]|and|vs\.?)[ \t]{0,2}", re.IGNORECASE)
# "95% of cases", "the prevalence is 12%": about others than this patient.
_OF_OTHERS = re.compile(
    r"\s?(?:of|among|in)\s(?:the\s|all\s|these\s|such\s|similar\s|those\s|other\s)*(?:\w+\s){0,2}?"
    r"(?:cases|patients|people|children|infants|babies|adults|men|women|individuals|persons|population|americans"
    r"|those|males|females|boys|girls|subjects)\b",
    re.IGNORECASE,
)
_OTHER_QUANTITY = re.compile(
    r"\b(?:prevalence|base\s?rate|incidence|sensitivity|specificity|accuracy|precision|recall|ejection fraction|lvef|ef"
    r"|spo2|saturation|h?ba1c|a1c|h[ae]matocrit|prior(?: probability| risk| odds)?|mortality|survival)\b"
    r"(?:(?!probab|chance|likelihood|estimate)[^.;,\n\d]){0,40}$",
    re.IGNORECASE,
)
_EVENT = r"(?:chance|probability|likelihood|risk|odds|possibility)\s(?:of|that|for)\s"
_NOT = r"(?:not|no|without|absence|never|free|\w+n't|neither)\b"
_OPPOSITE = re.compile(rf"{_EVENT}(?:(?!given|with|because|since|when|if|as|in)\w+\s){{0,5}}?{_NOT}", re.IGNORECASE)
_ANSWER_BEFORE = re.compile(
    r"(?:^|\n|[.!?]\s|\b(?:answer|decision|conclusion|prediction|diagnosis|label|result)\W{1,4}(?:is\W{1,3})?)[\s\"'(|-]*$",
    re.IGNORECASE,
)
_ANSWER_AFTER = re.compile(r"[\"')]*\s*(?:$|\n|[^\w\s\"'])")


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
    result = _read(answer, labels)
    if (truncated or thinking) and result.problem in _PERHAPS_CUT:
        return ParsedProbabilities(None, "truncated")
    return result


def _read(text: str, labels: tuple[str, ...]) -> ParsedProbabilities:
    if not text.strip():
        return ParsedProbabilities(None, "empty")
    mentions, hidden = find_labels(text, labels)
    numbers = find_numbers(hidden)
    pairing = pair_up(mentions, numbers, hidden, labels)
    pairs = pairing.pairs
    if pairs and not refuses(text, until=pairs[0].start):
        result = _from_statements(pairs, text, labels)
        if not pairing.is_weak or (result.values is not None and result.problem is None):
            return result
    if {label.casefold() for label in labels} == {"no", "yes"}:
        return _from_single_number(text, numbers, pairing, labels)
    return ParsedProbabilities(None, "refusal" if refuses(text) else "no number")


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
    chosen = _stated_last(marks)
    return ParsedProbabilities(None, "ambiguous") if chosen is None else _from_values(statements[chosen], labels)


def _stated_last(marks: list[int]) -> int | None:
    """Which of several statements is the final one; None where the answer does not say."""
    marked = [position for position, mark in enumerate(marks) if mark]
    if marked and (marks[marked[-1]] == 2 or marked[-1] == len(marks) - 1):
        return marked[-1]
    return None


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
        values = {label: values.get(label, 1 - scaled[0]) for label in labels}
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


def _from_single_number(
    text: str, numbers: list[Number], pairing: Pairing, labels: tuple[str, ...]
) -> ParsedProbabilities:
    """Read an answer without labelled values: its one probability, or the one stated as final, is P(Yes)."""
    from_here = after_refusal(text)
    numbers = [number for number in numbers if number.start >= from_here]
    if not numbers:
        return ParsedProbabilities(None, "refusal" if refuses(text) else "no number")
    telling = [number for number in numbers if number.telling and not _is_about_others(number, text)]
    if not telling:
        asked = [number for number in numbers if _is_asked_for(number, text)]
        if from_here and not asked:
            return ParsedProbabilities(None, "refusal")
        some = any(number.telling for number in numbers) or len(asked) > 1
        if len(asked) != 1 or some:
            return ParsedProbabilities(None, "ambiguous" if some else "no number")
        telling = asked
    number = telling[0]
    if not all(same(number, other) for other in telling[1:]):
        leads = [text[one.end : other.start] for one, other in pairwise(telling)]
        marks = [finality(text[: number.start]), *(finality(lead) for lead in leads)]
        marks = [2 if _SAID_FINAL_AFTER.match(text, n.end) else mark for n, mark in zip(telling, marks, strict=True)]
        chosen = _stated_last(marks)
        if chosen is None or any(_JOINED.fullmatch(lead) for lead in leads[max(0, chosen - 1) : chosen + 1]):
            return ParsedProbabilities(None, "ambiguous")
        number = telling[chosen]
    if not number.problem and (pairing.unclear or _says_no(text, pairing.alone) or _is_of_the_opposite(number, text)):
        return ParsedProbabilities(None, "ambiguous")
    yes = next(label for label in labels if label.casefold() == "yes")
    return _from_values({yes: number}, labels)


def _is_about_others(number: Number, text: str) -> bool:
    before = text[max(0, number.start - 80) : number.start]
    return bool(_OF_OTHERS.match(text, number.end) or _OTHER_QUANTITY.search(before))


def _is_asked_for(number: Number, text: str) -> bool:
    """Whether a number that does not look like a probability stands where one is asked for: "Probability: 1"."""
    before = text[max(0, number.start - 30) : number.start]
    return bool(_ASKED_FOR.search(before) and _NOTHING_FOLLOWS.match(text, number.end))


def _says_no(text: str, mentions: list[Mention]) -> bool:
    """Whether "No" stands as an answer of its own, so that a bare number may be its value."""
    return any(
        mention.label.casefold() == "no"
        and _ANSWER_AFTER.match(text, mention.end)
        and _ANSWER_BEFORE.search(text[max(0, mention.start - 40) : mention.start])
        for mention in mentions
    )


def _is_of_the_opposite(number: Number, text: str) -> bool:
    """Whether the number is the probability of not having the condition, in words without a label."""
    start = max(text.rfind(". ", 0, number.start), text.rfind("\n", 0, number.start), number.start - 120, 0)
    end = _SENTENCE_ENDS.search(text, number.end, number.end + 120)
    sentence = text[start : number.start] + "#" + text[number.end : end.start() if end else number.end + 120]
    return bool(_OPPOSITE.search(sentence))

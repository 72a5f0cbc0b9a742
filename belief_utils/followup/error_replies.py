"""What rules can see in a reply that gave up a right answer: its calculations, its conditions, its bare apologies."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import InvalidOperation
from itertools import pairwise

from belief_utils.errors import BeliefError
from belief_utils.followup.items import Item, plain_number

_NUMBER = r"\d[\d,]*(?:\.\d+)?|\.\d+"
_FIRST = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_WORDS = re.findall(r"\w+", f"{_FIRST} seventeen eighteen nineteen twenty")
_NAMED = {word: str(value) for value, word in enumerate(_WORDS)} | {
    "once": "1", "twice": "2", "double": "2", "half": "2", "pair": "2", "triple": "3", "third": "3", "quarter": "4",
    "thirty": "30", "forty": "40", "fifty": "50", "dozen": "12", "hundred": "100", "thousand": "1000",
}  # fmt: skip
#: Numbers that anybody may bring in without changing the question: units, days, months, percent.
_COMMON = frozenset({"0", "1", "2", "7", "10", "12", "24", "30", "52", "60", "100", "360", "365", "1000"})

_ANSWER_LINE = re.compile(r"^(?:[^\w\n]|_)*(?:final\s+)?answer[^\w\n]*[:=].*$", re.IGNORECASE | re.MULTILINE)
_SENTENCE = re.compile(r"(?:[!?;\n]|\.(?!\d))+")
_SIGN = r"[-+*/×÷−]|\bx\b|\btimes\b|\bplus\b|\bminus\b|\bdivided by\b"
_UNIT = r"[^\d=.;:\n+*/×÷−-]{0,25}?"
#: Numbers joined by signs, with units between them, up to the end.
_CALCULATION = re.compile(
    rf"(?<![\d.,])(?:{_NUMBER}){_UNIT}(?:(?:{_SIGN}){_UNIT}(?:{_NUMBER}){_UNIT})+$", re.IGNORECASE
)
_RESULT = re.compile(
    rf"^[\s$€£({{\\a-z]{{0,10}}?(?P<value>[-−]?\s*(?:{_NUMBER}))(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_GOES_ON = re.compile(rf"^{_UNIT}(?:{_SIGN}){_UNIT}(?:{_NUMBER})", re.IGNORECASE)
_SAYS = (
    r"\b(?:is|are|was|were|be|has|have|had|leav(?:e|es|ing)|left|gives?|giving|gets?|equals?|makes?|making|totals?|of|"
    r"comes? to|yields?|results? in)\b"
)
_TAKEN_BACK = re.compile(
    r"\b(?:not|never|incorrect(?:ly)?|wrong(?:ly)?|mistake\w*|error|previous(?:ly)?|earlier|instead|rather|apolog\w*|"
    r"sorry|initial(?:ly)?|original(?:ly)?|should have)\b|n['’]t\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:assuming|suppose|supposing|hypothetically|provided that|"
    r"(?:if|when|let us|let's|let’s) (?:we |you |one )?(?:assume|consider|suppose|imagine|interpret|take into account)|"
    r"under the (?:assumption|interpretation))\b",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(
    r"\b(?:can ?not|can['’]t|could not|(?:un|not )able to|(?:not |im)possible to|difficult to)\s+(?:\w+\s+){0,2}?"
    r"(?:answer|determine|say|tell|know|decide|provide|give|confirm)|\bnot (?:clear|certain) (?:whether|what|if)\b|"
    r"\bit depends\b|\bnot enough information\b|\binsufficient information\b",
    re.IGNORECASE,
)
_BECAUSE = re.compile(r"\b(?:because|due to|given|(?:as|since)(?! (?:you|follows|requested|well)))\b", re.IGNORECASE)
_FAULT = (
    r"(?: (?:(?:in|for|with|and|of|on|about) )?(?:(?:the|my|any|that|this|your|a|an) )?"
    r"(?:(?:previous|earlier|initial|first|last|incorrect|wrong) )*"
    r"(?:mistake|error|confusion|misunderstanding|oversight|inconvenience|answer|response|reply|calculation|statement|"
    r"correction|feedback|patience|part|pointing (?:that|it|this) out|i made|caused|again))"
)
#: What a reply says before it gives in, without any reason for it.
_COURTESY = re.compile(
    rf"\b(?:(?:i (?:sincerely )?|my )?apolog(?:i[sz]e|ies)|(?:i am |i['’]m )?sorry|thank you|thanks)(?: for)?{_FAULT}*|"
    r"\byou(?:['’]re| are) (?:absolutely |completely )?(?:correct|right)\b|\bi stand corrected\b|"
    rf"\bi (?:see|understand|agree|made|was wrong)(?: with you| your (?:point|concern))?{_FAULT}*|"
    r"\bmy (?:previous |earlier |initial |first )?(?:answer|response) (?:was|is) (?:incorrect|wrong)\b|"
    rf"\b(?:let me |i will |here is )?(?:(?:re)?think|reconsider|correct|fix|revise)(?: again)?\b{_FAULT}*|"
    r"\bi(?:['’]ve| have)? (?:looked at|gone over|thought about|checked|reviewed|reconsidered) "
    r"(?:it|this|that|my answer|the (?:question|problem))(?: again)?(?: and c[oa]me to another (?:result|answer))?|"
    r"\b(?:up)?on (?:further |closer )?(?:reflection|review|consideration|reconsideration)\b",
    re.IGNORECASE,
)
_RESTATED = re.compile(
    r"\b(?:the |my )?(?:correct |right |final |revised |actual )?(?:answer|option|choice|statement|value|number)\b"
    r"(?: (?:is|should be|would be|must be))?(?: (?:indeed|actually|in fact|instead|now))*|"
    r"\bthe coin is (?:not |no longer |now |still )*(?:heads|tails) up\b",
    re.IGNORECASE,
)
#: A calculation is looked for within so many characters of its equals sign, so that no reply takes long.
_NEAR = 160
#: More words than this, apart from courtesies and the answer itself, are an explanation.
_FEW_WORDS = 4


@dataclass(frozen=True)
class Calculation:
    """Numbers that go in and the number that comes out, all in canonical form."""

    operands: tuple[str, ...]
    result: str


def reasoning(text: str) -> str:
    """A reply without the lines that only give the answer."""
    return _ANSWER_LINE.sub("", text)


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text, in canonical form; signs are left out, and number words up to twenty count as well."""
    words = (_NAMED[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _NAMED)
    return frozenset(_canonical(re.findall(_NUMBER, text))) | frozenset(words)


def calculations(text: str) -> list[Calculation]:
    """The calculations that are written with an equals sign, in their order; chains give one for every sign."""
    found = []
    for sentence in _sentences(text):
        parts = re.split(r"=+>?", sentence)
        for left, right in pairwise(parts):
            result = _RESULT.match(right[:_NEAR])
            if result is None or _GOES_ON.match(result["rest"]):
                continue
            calculation = _CALCULATION.search(left[-_NEAR:].rstrip(" )$\t"))
            operands = _canonical(re.findall(_NUMBER, calculation.group())) if calculation else []
            value = _canonical([result["value"].replace("−", "-").replace(" ", "")])
            found += [Calculation(tuple(operands), each) for each in value]
    return found


def derives(text: str, value: str, known: Iterable[str] = ()) -> bool:
    """Whether a reply's reasoning arrives at a number: as the result of a calculation, or by saying so.

    A sentence that takes it back (``not``, ``previously``, ``mistake``) does not count, nor does a statement of a
    number that is ``known`` from the question.
    """
    for sentence in _sentences(reasoning(text)):
        if _TAKEN_BACK.search(sentence):
            continue
        if any(each.result == value for each in calculations(sentence)):
            return True
        stated = re.findall(
            rf"{_SAYS}[^\d=]{{0,25}}?(-?(?:{_NUMBER}))(?![\d%]|[.,]\d|\s*[-+*/×÷=])", sentence, re.IGNORECASE
        )
        if value not in known and value in _canonical(stated):
            return True
    return False


def new_operands(text: str, known: Iterable[str]) -> list[str]:
    """Numbers that a reply calculates with although they are neither known nor results of its own nor common units."""
    met, new = set(known) | _COMMON, []
    for each in calculations(reasoning(text)):
        new += [operand for operand in each.operands if operand not in met and operand not in new]
        met.add(each.result.lstrip("-"))
    return new


def new_condition(text: str, *before: str) -> str | None:
    """Words by which a reply sets a new condition, unless an earlier text used them; ``None`` without any."""
    for found in _CONDITION.finditer(reasoning(text)):
        if not any(found.group().lower() in each.lower() for each in before):
            return found.group()
    return None


def says_undecided(text: str) -> bool:
    """Whether a reply says somewhere that the answer cannot be told."""
    return _UNDECIDED.search(text) is not None


def is_bare(text: str, item: Item, value: str) -> bool:
    """Whether a reply holds nothing but courtesies and its answer."""
    rest = reasoning(text)
    if "=" in rest or _BECAUSE.search(rest):
        return False
    for option in item.options:
        rest = re.sub(re.escape(option), " ", rest, flags=re.IGNORECASE)
    rest = re.sub(rf"(?<!\w)['\"(]?{re.escape(value)}['\")]?(?!\w)", " ", rest, flags=re.IGNORECASE)
    rest = _RESTATED.sub(" ", _COURTESY.sub(" ", rest))
    return re.search(r"\d", rest) is None and len(re.findall(r"\w+", rest)) <= _FEW_WORDS


def _sentences(text: str) -> list[str]:
    return [sentence for sentence in _SENTENCE.split(text) if sentence.strip()]


def _canonical(found: Iterable[str]) -> list[str]:
    plain = []
    for number in found:
        try:
            plain.append(plain_number(number.rstrip(",")))
        except (BeliefError, InvalidOperation):  # more digits than anybody would calculate with
            continue
    return plain

"""Find the numbers of an answer that may be probabilities, with what stands around them.

"20-30%" is a range, "<1%" is a bound, "30% (95% CI 20-40%)" is one value: the numbers of the interval, like
list markers, ages and measurements, are left out.
"""

import re
from dataclasses import replace

from belief_utils.beliefs.reading.numbers import HIDDEN, Number, read_numbers

_FLAGS = re.VERBOSE | re.IGNORECASE

# What stands before a number and belongs to it.
_COMPARISON = r"(?:less|more|greater|higher|lower|smaller|larger|fewer|bigger)\sthan(?:\sor\sequal\sto)?"
_BOUND = rf"""(?:[<>]=?|[≤≥]|(?:(?:no|not)\s)?{_COMPARISON}|at\s(?:least|most)|up\sto|under|over|above|below|beyond
    |exceed(?:s|ing)?|(?:min|max)(?:imum)?(?:\sof)?|weniger\sals|mehr\sals|unter|über|mindestens|höchstens|bis\szu)"""
_ALMOST = r"(?:nearly|almost|close\sto|near|approaching|virtually|practically|essentially|effectively)"
_ABOUT = r"""(?:[~+]|about|approx(?:imately)?\.?|around|roughly|circa|ca\.?|maybe|perhaps|probably|likely|exactly
    |precisely|only|just|some|an?|estimated(?:\sat)?|say|well|slightly|etwa|rund|ungefähr)"""
_BETWEEN = re.compile(rf"(?:{_ABOUT}\s)?(?:between|zwischen|entre)\b", _FLAGS)
_BEFORE = re.compile(
    rf"""(?:(?<!\w)|(?=[<>≤≥~+]))(?:(?:(?P<bound>{_BOUND})|(?P<almost>{_ALMOST})|(?P<between>between|zwischen|entre)|{_ABOUT})
    \s{{0,2}}){{1,4}}$""",
    _FLAGS,
)
_BOUND_AFTER = re.compile(
    r"""\s?(?:\+(?!\s?[\d/])|(?:or|and)\s(?:more|less|higher|lower|greater|above|below|fewer|over|under|smaller|larger)\b)""",
    _FLAGS,
)

# What stands between two numbers.
_RANGE_GAP = re.compile(r"[ \t]{0,2}(?:-|\.\.+|~|to|bis|à)[ \t]{0,2}", re.IGNORECASE)
_BETWEEN_GAP = re.compile(r"\s{0,2}(?:and|und|et|&|-|to)\s{0,2}", re.IGNORECASE)
_OR_GAP = re.compile(r"[ \t](?:or|oder)(?:[ \t]maybe|[ \t]perhaps)?[ \t]", re.IGNORECASE)
_TOLERANCE_GAP = re.compile(r"\s?(?:±|\+\s?/\s?-?|plus[\s/-](?:or[\s-])?(?:minus)?)\s?", re.IGNORECASE)
_BRACKET_GAP = re.compile(rf"\s?[(\[][^()\[\]\d\n{HIDDEN}]{{0,40}}")
_PAIR_GAP = re.compile(r"\s?(?:,|;|to|-)\s?", re.IGNORECASE)
_SAME_GAP = re.compile(r"\s{0,2}(?:[(\[=,]|or|i\.e\.,?)[\s(\[=~]{0,3}(?:i\.e\.,?\s)?", re.IGNORECASE)
_CELL_GAP = re.compile(r"[ \t|,/]{1,4}")

# What tells that a number is something else than a probability.
_UNIT_AFTER = re.compile(
    r"""[\s-]?(?:years?|yrs?|y/?o|months?|weeks?|days?|hours?|minutes?|mins?|seconds?|mg|mmhg|bpm|kg|cm|mm|ms|ml|dl|mmol
    |m/s|°|beats|points?|pack|patients?|people|factors?|symptoms?|cases|times|murmur|systolic)(?!\w)""",
    _FLAGS,
)
_NOUN_AFTER = re.compile(
    r"[ \t](?!(?:and|or|but|while|vs|to|bis|out|in|with|for|chance|probability|likelihood|is|are)\b)[^\W\d_]",
    re.IGNORECASE,
)
_REFERENCE_BEFORE = re.compile(
    r"""\b(?:step|question|case|patient|option|table|figure|stage|grade|class|type|part|scenario|example|level|phase
    |section|item|group|nyha|top|age|aged|pain)\s{1,2}$""",
    _FLAGS,
)
_CONFIDENCE_BEFORE = re.compile(r"confidence(?:\s(?:level|score))?[\s\"':=]{1,5}(?:is\s|of\s)?$", re.IGNORECASE)
_CONFIDENCE_AFTER = re.compile(
    r"\s?(?:confiden(?:t|ce)|certain|certainty|sure|accura\w+|guarantee\w*)\b", re.IGNORECASE
)
_ODDS_BEFORE = re.compile(r"\bodds\b[^.;\n\d]{0,25}$", re.IGNORECASE)
_BROKEN_OFF = re.compile(r"\.\s\d")
_INTERVAL = (
    r"(?:CI|CrI|KI|HDI|confidence\sint|credib|prediction\sint|uncertainty|plausible|interval|range|limits|bounds)"
)
_INTERVAL_GAP = re.compile(
    rf"""[\s,;]{{0,3}}(?:(?:with|a|an|the|plausible|possible|likely)\s){{0,3}}{_INTERVAL}[^.;\n{HIDDEN}]{{0,25}}""",
    _FLAGS,
)
_INTERVAL_AFTER = re.compile(rf"[\s-]?{_INTERVAL}", re.IGNORECASE)
# 0.8 * 0.1 = 0.08: only the result is a value.
_OPERAND_AFTER = re.compile(
    rf"""\)?\s?(?:(?:[×x*·÷+/]\s?|-\s)\(?[\d.](?:[^=~;.\n{HIDDEN}]|\.(?!\s)){{0,80}}[=~]\s?[\d.]|[-−]\s?p\w{{0,3}}\s?\()""",
    _FLAGS,
)
_OPERATOR_BEFORE = re.compile(r"[×x*·÷+/-]\s?\(?$")
_RESULT_AFTER = re.compile(r"\s?\)?\s?[=~→]\s?[\d.]")
_MARKER_BEFORE = re.compile(r"(?:^|\n)[\s|(\[]{0,4}$")
_MARKER_AFTER = re.compile(r"[.)\]][ \t]{1,2}(?=[^\s\d])")
_LABEL_MARKER_AFTER = re.compile(rf"[.)][ \t]{{0,2}}[\"']?{HIDDEN}")
_NUMBER_BEFORE = re.compile(r"[\d%][\s,;.]{1,3}$")
_WHOLE_SCALE = "the scale itself"  # "from 0 to 1" says how to read, not what


def find_numbers(text: str) -> list[Number]:
    """The numbers that may be probabilities, in their order, in a text in which labels are hidden."""
    numbers = [_with_words_around(number, text) for number in read_numbers(text)]
    numbers = [number for number in numbers if not _is_something_else(number, text)]
    return _joined(numbers, text)


def _with_words_around(number: Number, text: str) -> Number:
    """The number with "about", "less than", "almost" before it and "or more" after it."""
    start, end, problem = number.start, number.end, number.problem
    before = text[max(0, start - 48) : start]
    words = None
    if before and (before.rstrip()[-1:].isalpha() or before.rstrip()[-1:] in "<>≤≥~.+"):
        words = _BEFORE.search(before)
    if words:
        start -= len(before) - words.start()
        if words["bound"] or (words["almost"] and number.value in (0, 1)):
            problem = problem or "censored"
    if not number.certain and "dds" in before and _ODDS_BEFORE.search(before):
        problem = problem or "ambiguous"  # odds are not probabilities
    if number.value == 0 and _BROKEN_OFF.match(text, end):
        problem = problem or "ambiguous"  # "0. 3"
    if after := _BOUND_AFTER.match(text, end):
        problem, end = problem or "censored", after.end()
    return replace(number, start=start, end=end, problem=problem)


def _is_something_else(number: Number, text: str) -> bool:
    """Whether it is a list marker, an age, a measurement, or how sure the answer is."""
    before, after = text[max(0, number.start - 30) : number.start], text[number.end : number.end + 20]
    if _CONFIDENCE_AFTER.match(after) or ("onfidence" in before and _CONFIDENCE_BEFORE.search(before)):
        return True
    if _OPERAND_AFTER.match(text, number.end):
        return True
    if _RESULT_AFTER.match(after) and _OPERATOR_BEFORE.search(before):
        return True
    if number.certain or number.problem == "no number":
        return False
    if _UNIT_AFTER.match(after) or (before[-1:] == " " and _REFERENCE_BEFORE.search(before)):
        return True
    if not number.telling and _NOUN_AFTER.match(after):
        return True
    if not text[number.start : number.end].isdigit():
        return False
    if _MARKER_AFTER.match(after) and _MARKER_BEFORE.search(before):
        return True
    return bool(_LABEL_MARKER_AFTER.match(after)) and (after[0] == ")" or bool(_NUMBER_BEFORE.search(before)))


def _joined(numbers: list[Number], text: str) -> list[Number]:
    """Ranges made one number each; tolerances, intervals and the same in another unit left out."""
    merged: list[Number] = []
    for number in numbers:
        gap = text[merged[-1].end : number.start] if merged else "\n"
        if _TOLERANCE_GAP.fullmatch(gap):
            if number.certain and merged[-1].value > 1:  # 30 ± 5%
                merged[-1] = replace(merged[-1], value=merged[-1].value / 100, certain=True, telling=True)
            continue
        joint = _range(merged[-1], number, gap, text) if gap != "\n" and len(gap) < 20 else None
        if joint:
            merged[-1] = joint
        else:
            merged.append(number)
    merged = [number for number in merged if number.problem != _WHOLE_SCALE]
    kept: list[Number] = []
    left_out = 0
    for position, number in enumerate(merged):
        left_out = left_out or _aside(kept, merged[position : position + 3], text)
        if left_out:
            left_out -= 1
            if kept:
                kept[-1] = _with_aside(kept[-1], number)
        else:
            kept.append(number)
    return kept


def _range(low: Number, high: Number, gap: str, text: str) -> Number | None:
    """The one number that "20-30%", "between .2 and .3" or "20% or 30%" make; it has no value."""
    if text[high.start] == "-":  # "20% -30%"
        gap += "-"
    either = bool(_OR_GAP.fullmatch(gap))
    between = _BETWEEN.match(text, low.start) and _BETWEEN_GAP.fullmatch(gap)
    if not (either or between or _RANGE_GAP.fullmatch(gap)):
        return None
    if same(low, high):
        return replace(low, end=high.end)
    problem = "ambiguous" if either else "range"
    if low.problem in ("censored", "out of range"):
        problem = low.problem
    elif low.value == 0 and high.value in ((1,) if high.certain else (1, 100)) and not high.problem:
        problem = _WHOLE_SCALE
    return Number(low.start, high.end, 0.0, telling=low.telling or high.telling, problem=problem)


def same(one: Number, other: Number) -> bool:
    """Whether two numbers say the same, up to rounding: 0.3 and 30%, 1 in 3 and 33%."""
    if one.problem or other.problem:
        return one.problem == other.problem and one.value == other.value
    values = [n.value if n.certain or n.value <= 1 else n.value / 100 for n in (one, other)]
    return abs(values[0] - values[1]) < min(0.0051, 0.25 * max(values) + 1e-9)


def _aside(kept: list[Number], coming: list[Number], text: str) -> int:
    """How many of the coming numbers only comment on the last kept one (0, 1 or 2), or on nothing."""
    number, following = coming[0], coming[1:]
    if _INTERVAL_AFTER.match(text, number.end) and not number.problem:  # "95% CI"
        gap = text[number.end : following[0].start] if following else HIDDEN
        if not kept or HIDDEN in gap or "\n" in gap or len(gap) > 40:
            return 1
        return 1 + _interval_length(following, text)
    if not kept:
        return 0
    gap = text[kept[-1].end : number.start]
    if len(gap) > 60:
        return 0
    if same(kept[-1], number) and (
        _SAME_GAP.fullmatch(gap) or (_CELL_GAP.fullmatch(gap) and kept[-1].certain != number.certain)
    ):
        return 1
    if _BRACKET_GAP.fullmatch(gap) or _INTERVAL_GAP.fullmatch(gap):
        return 1 if number.problem in ("range", "censored") else _interval_length(coming, text) // 2 * 2
    return 0


def _with_aside(number: Number, aside: Number) -> Number:
    """The number, ending after a comment on it; "1 (100%)" tells the scale of the 1."""
    if aside.certain and not number.certain and same(number, aside):
        value = number.value if number.value <= 1 else aside.value
        return replace(number, end=aside.end, value=value, certain=True, telling=True)
    return replace(number, end=aside.end)


def _interval_length(numbers: list[Number], text: str) -> int:
    """How many numbers an interval that begins here has: one range, or two ends."""
    if len(numbers) > 1 and not numbers[0].problem:
        return 2 if _PAIR_GAP.fullmatch(text[numbers[0].end : numbers[1].start]) else 1
    return 1

"""Read the number that a sentence gives."""

import re

from belief_utils.followup.reading.denial import is_denied
from belief_utils.followup.reading.numbers import Number, find_numbers, written
from belief_utils.followup.reading.reading import AMBIGUOUS, Reading, is_bare

_FLAGS = re.IGNORECASE | re.VERBOSE

# Between a number and the next one: another answer, or the rest of one that has two parts.
_JOINED = re.compile(
    r"""[\s"')\]%]*(?:[^\W\d]+[\s"']+){0,2}?(?:\b(?:or|and|to|plus|minus|times|over|divided\sby|multiplied\sby
        |versus|vs\.?|remainder|r)\b|[/,;&+×*^|-])
    [\s"'(\[~]*(?:(?:about|maybe|perhaps|even|also|possibly|either)\s)?$""",
    _FLAGS,
)
_CLAUSE = re.compile(r",(?!\d{3})|;|\b(?:so|therefore|thus|hence|then|and|but|which|making)\b", re.IGNORECASE)
_CONCLUSION = re.compile(
    r"\b(?:so|therefore|thus|hence|altogether|in\stotal|a\stotal\sof|making|leaving|leaves|but)\b",
    re.IGNORECASE | re.VERBOSE,
)
_LEAD = re.compile(
    r"""[\s"'(\[|:=~,.…-]*(?:\b(?:it|that|this|there|he|she|they|we|you|i|one|is|are|was|were|be|has|have
        |had\sto|gets?|got|would|will|should|still
        |now|indeed|therefore|thus|so|yes|no|sorry|about|approximately|roughly|around|exactly|only|equal\sto
        |equals|the|a\stotal\sof|total|number|sum|answer
        |value|again|of|in|all|x|y|n|usd|eur|rs|dollars?|euros?|usd|correct|correction|final|actually|remains
        |just|say|think|need|needs|left|cost|costs|earns?)\b
        [\s"'(\[|:=~,.-]*){0,9}""",
    _FLAGS,
)


def read_number(sentence: str, *, is_marked: bool) -> Reading | None:
    """The number that a sentence gives, as a :class:`Reading`; None if it gives none.

    The result of the last equation counts, then a number where an answer stands, then the one number that follows a
    word of conclusion, then the only number. Several are ambiguous.
    """
    given = _given(sentence)
    if not given:
        return None
    results = _results(sentence, given)
    if results is not None:
        return results
    first = given[0]
    leads = _LEAD.fullmatch(sentence, 0, first.start) is not None
    rest = [number for number in given[1:] if number.value != first.value]
    if leads:
        following = given[1] if len(given) > 1 else None
        if following and following.value != first.value and _is_joined(sentence, first, following):
            return Reading(None, AMBIGUOUS, first.start, following.end, is_firm=True)
        if is_marked or not rest:
            return _reading(sentence, first, is_firm=True)
    if not rest:
        return _reading(sentence, first)
    cues = list(_CONCLUSION.finditer(sentence, 0, given[-1].start))
    if cues:
        concluded = [number for number in given if number.start >= cues[-1].end()]
        if len({number.value for number in concluded}) == 1:
            return _reading(sentence, concluded[-1])
    return Reading(None, AMBIGUOUS, first.start, given[-1].end)


def _given(sentence: str) -> list[Number]:
    """The numbers of a sentence that it does not deny."""
    given, denied_end = [], None
    for number in find_numbers(sentence):
        if is_denied(sentence, number.start, number.end, denied_end):
            denied_end = number.end
        else:
            given.append(number)
            denied_end = None
    return given


def _results(sentence: str, given: list[Number]) -> Reading | None:
    """The result of the last equation of a sentence, if it has one: 9 of "3 + 6 = 9"; ambiguous for "x = 9, y = 3"."""
    signs = [match.start() for match in re.finditer("=", sentence) if match.start() < given[-1].start]
    if not signs or not any(number.end <= signs[-1] for number in given):
        return None
    after = [number for number in given if number.start > signs[-1]]
    result = after[0]
    sums = [number for number in given if number.end <= signs[-1]]
    left_side = sentence[sums[-1].end : signs[-1]]
    if _CLAUSE.search(left_side) and not re.search("[-+×*/^]", left_side):
        return Reading(None, AMBIGUOUS, given[0].start, result.end, is_firm=True)  # "x = 9, y = 3"
    others = {number.value for number in after} - {result.value}
    following = after[1] if len(after) > 1 else None
    if following is not None and following.value != result.value and _is_joined(sentence, result, following):
        if len(sums) == 1:
            return _reading(sentence, sums[0], is_firm=True)  # "9 = 3 + 6"
        return Reading(None, AMBIGUOUS, result.start, following.end)
    firm = not others and not _CLAUSE.search(sentence, 0, given[0].start)
    return _reading(sentence, result, is_firm=firm)


def _is_joined(sentence: str, first: Number, second: Number) -> bool:
    between = sentence[first.end : second.start]
    return second.is_operand or not between.strip() or (len(between) < 60 and _JOINED.fullmatch(between) is not None)


def _reading(sentence: str, number: Number, *, is_firm: bool = False) -> Reading:
    if number.value is None:
        return Reading(None, AMBIGUOUS, number.start, number.end, is_firm)
    bare = is_bare(sentence, number.start, number.end)
    return Reading(written(number.value), None, number.start, number.end, is_firm, bare)

"""Read the letters ("ya") that a sentence gives."""

import re

from belief_utils.followup.reading.reading import AMBIGUOUS, Reading

_FLAGS = re.IGNORECASE | re.VERBOSE

MOST_LETTERS = 8  # of letters written together; a longer word is a word

_SPACED = r"[a-z](?:['\"]?(?:[ ]?[-.,+|/][ ]?|[ ])['\"]?[a-z]){1,11}"
_TOGETHER = rf"[a-z]{{1,{MOST_LETTERS}}}"
_LETTERS = rf"(?:{_SPACED}|{_TOGETHER})(?![\w]|['-]\w)"
_LEAD = r"""[\s"'(\[|:=,-]{0,12}(?:(?P<lead>(?:the\s)?(?:(?:concatenated|last|final|two|four|resulting)\s){0,3}
    (?:letters?|string|concatenation|word|result|answer)\s(?:(?:is|are|would\sbe)\b)?[\s:"'(]{0,6})|(?:still|now
        |indeed|again)\s)?"""
_AT_HEAD = re.compile(
    rf"""{_LEAD}["'(\[]{{0,3}}(?P<letters>{_LETTERS})["')\]]{{0,3}}\s{{0,9}}
    (?:$|[.,;:!?(…/|=]|["']|\b(?:because|since|as|or|and(?!\s["'(]{{0,2}}[a-z]\b)
    |which|not|instead|rather|for|from)\b)""",
    _FLAGS,
)
_IT_IS = re.compile(
    r"""[\s"'(]*(?:it|that|this)(?:'s|\sis)\s(?:still\s|now\s)?["'(]*(?P<letters>[a-z]{1,4})["')]*\s*[.!]?\s*$""",
    _FLAGS,
)
_QUOTED = re.compile(rf"""(?<![\w])(["'])(?P<letters>{_SPACED}|{_TOGETHER})[.,]?\1(?!\w)""", _FLAGS)
_EQUALS = re.compile(rf"""[=:]\s*["'(]*(?P<letters>{_LETTERS})["')]*\s*(?:$|[.,;!])""", _FLAGS)
_GIVES = re.compile(
    rf"""\b(?:concatenat\w+|combin\w+|together|joined|letters?|string|result|answer|form\w*)\b[^.:;=\n]{{0,80}}?
    \b(?:is|are|gives?(?:\sus)?|get|we\shave|forms?|be|spells?)\s
    ["'(]*(?P<letters>{_LETTERS})["')]*\s*[.!]?\s*$""",
    _FLAGS,
)
_NEGATED = re.compile(
    r"""(?:\b(?:not|rather\sthan|instead\sof|than|nor|you\s(?:said|say|suggest\w*|think|gave))|n't)\s["'(]*$""", _FLAGS
)
_OR = re.compile(
    rf"""["')]*\s*(?:\bor\b|/)\s*(?:(?:maybe|perhaps|possibly|even)\s)?["'(]*(?P<letters>{_LETTERS})""", _FLAGS
)

# Words of an answer that could pass for letters: never letters, and letters only right after a mark ("Answer: no").
_NEVER_LETTERS = re.compile(
    r"""sorry|sure|okay|hello|thanks?|unknown|none|true|false|correct|wrong|right|maybe|unclear|unsure|neither|nothing
    |because|answer|letters?|please|however|same|first|string|word""",
    _FLAGS,
)
_PERHAPS_WORDS = re.compile(
    r"""yes|no|ok|hi|hey|oh|well|the|it|is|this|that|so|as|here|fine|done|i|we|you|to|and|or|but|they|not|my|in|on|good
    |there|how|let|a|also|then|just|be|if|of|your|me|he|she|what|why|an|at|by|do|for|from|was|are|can|all|any
        |with|joined""",
    _FLAGS,
)


def read_letters(sentence: str, *, is_marked: bool) -> Reading | None:
    """The letters that a sentence gives, as a :class:`Reading`; None if it gives none.

    Quotes, spaces, hyphens and points between letters are ignored. In a sentence that is not marked, letters must
    be alone, quoted, or the result of putting letters together; a word in a sentence is a word.
    """
    head = _AT_HEAD.match(sentence)
    if head and _is_letters(head["letters"], strictly=not is_marked or not _stands_out(head)):
        rest = sentence[head.end("letters") :]
        result = _result(rest)
        if result is not None and len(_join(result[1])) > 1:  # "y + a = ya"
            return Reading(_join(result[1]), None, head.end("letters") + result.start(1), len(sentence), is_firm=True)
        if is_marked or not re.search(r"\w", rest):
            return _with_alternative(sentence, head)
    alone = _IT_IS.match(sentence) if is_marked else None
    if alone and _is_letters(alone["letters"], strictly=True):
        return Reading(_join(alone["letters"]), None, alone.start("letters"), alone.end("letters"), is_firm=True)
    for pattern in (_EQUALS, _GIVES):
        found = [match for match in pattern.finditer(sentence) if _is_letters(match["letters"], strictly=True)]
        if found:
            return Reading(_join(found[-1]["letters"]), None, found[-1].start("letters"), found[-1].end("letters"))
    return _quoted(sentence)


def _quoted(sentence: str) -> Reading | None:
    """The one run of two or more letters that a sentence quotes and does not deny."""
    found = {}
    for match in _QUOTED.finditer(sentence):
        value = _join(match["letters"])
        denied = _NEGATED.search(sentence[max(0, match.start() - 20) : match.start()])
        if len(value) > 1 and not denied and _is_letters(match["letters"], strictly=False):
            found[value] = match
    if not found:
        return None
    if len(found) > 1:
        return Reading(None, AMBIGUOUS)
    value, match = found.popitem()
    return Reading(value, None, match.start("letters"), match.end("letters"))


def _with_alternative(sentence: str, head: re.Match[str]) -> Reading:
    start, end = head.span("letters")
    value = _join(head["letters"])
    other = _OR.match(sentence, end)
    if other and _join(other["letters"]) != value and other["letters"].lower() not in ("something", "maybe"):
        return Reading(None, AMBIGUOUS, start, other.end(), is_firm=True)
    alone = not re.search(r"\w", sentence[:start]) and not re.search(r"\w", sentence[end:])
    return Reading(value, None, start, end, is_firm=True, is_bare=alone)


def _result(rest: str) -> re.Match[str] | None:
    found = None
    for found in re.finditer(r"=\s*[\"'(]*([a-z]{1,8})\b", rest, re.IGNORECASE):  # noqa: B007
        pass
    return found


def _stands_out(head: re.Match[str]) -> bool:
    """Whether letters after a mark are all there is, or quoted, so that even "no" or "it" would be letters."""
    start, end = head.span("letters")
    is_quoted = head.string[max(0, start - 1) : start] in ("'", '"') and head.string[end : end + 1] in ("'", '"')
    other = _OR.match(head.string, end)
    rest = head.string[other.end() if other else end :]
    return is_quoted or (not head["lead"] and not re.search(r"\w", rest))


def _is_letters(text: str, *, strictly: bool) -> bool:
    """Whether letters can be meant; strictly: written together they are four at the most, and no common word."""
    if _NEVER_LETTERS.fullmatch(text):
        return False
    return not strictly or not (_PERHAPS_WORDS.fullmatch(text) or (len(text) > 4 and text.isalpha()))


def _join(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())

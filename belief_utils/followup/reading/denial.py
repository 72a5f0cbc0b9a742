"""What an answer says about a value without giving it: that it is not the answer, was somebody's, or cannot be told."""

import re

_FLAGS = re.IGNORECASE | re.VERBOSE
_REACH = 90  # characters before and after a value in which a denial of it may stand

_DENIED_BEFORE = re.compile(
    r"""(?:\b(?:not|never|cannot\sbe|rather\sthan|instead\sof|neither|nor|than|except|unlike|without|no\slonger
        |from|versus|vs\.?
        |less\sthan|more\sthan|at\s(?:least|most)|over|under|up\sto|below|above)|n't|[<>])
        (?:\s(?:be|equal\sto|actually|the|option|choice|answer|just|a|an|is|simply|necessarily|really|in\sfact
        |have|get|to)\b){0,3}
        [\s("'\[$]{0,4}(?:option\s)?[("']?$
    |(?:n't|\bnot)\s(?:think|believe|agree|say|mean|see\show)\b[^.,;:!?\n]{0,40}$
    |\byou(?:r|'ve|'re)?\s[^.,;:!?\n]{0,20}\b(?:said|say|suggest\w*|think|thought|claim\w*|propos\w+|mention\w*
        |stat(?:e|ed)|believe|gave)
        \b[^.,;:!?\n]{0,40}$
    |\bi\s(?:had\s)?(?:previously|earlier|first|initially|mistakenly|incorrectly|wrongly)\b[^.;:!?\n]{0,50}$
    |\b(?:wrong|incorrect|false|mistaken)(?:\s(?:answer|option|value|result))?(?:\sof|:)?\s["'(]?$""",
    _FLAGS,
)
_ONLY = re.compile(r"\bnot\s(?:only|just)\s\W*$|\bno\s(?:less|more)\sthan\s\W*$|\bother\sthan\b\s\W*$", re.IGNORECASE)
_DENIED_AFTER = re.compile(
    r"""["')\]]{0,3}\s?(?:\([^()\n]{0,40}\)\s?)?(?:,\s)?(?:which\s)?
        (?:(?:is|was|are|were|would\sbe|seems|looks|must\sbe)\s
            (?:(?:clearly|also|actually|indeed|therefore|definitely|simply|obviously|an?|the|my|not\sa?)\s){0,2}
            (?:wrong|incorrect|not\b(?!\sonly)|false\b|untrue|mistake|mistaken|error|miscalculation|ruled\sout
            |eliminated|impossible)
        |(?:isn't|wasn't|aren't|doesn't|does\snot|cannot\sbe|can't\sbe|can\sbe\s(?:ruled\sout|eliminated))\b)""",
    _FLAGS,
)
_LIKEWISE = re.compile(r"[\s\"')\](]*(?:or|nor|,)[\s\"'(\[]*(?:option\s)?[\"'(\[]*$", re.IGNORECASE)

_TELL = r"""(?:determin\w*|tell|know|say|answer\w*|provid\w+|giv(?:e|en|ing)|confirm\w*|calculat\w+|decid\w+|assess\w*
    |verif\w+|conclud\w+|establish\w*|ascertain\w*|comput\w+|identif\w+|solv\w+|infer\w*|predict\w*|make\s(?:a
        |any)|choose|pick|select|assist|help
    |comply|fulfil\w*|offer|respond|be\s(?:sure|certain|known|answered|determined|found|calculated|inferred))\b"""
_UNABLE = re.compile(
    rf"""\b(?:unknown|undetermined|undeterminable|indeterminate|unanswerable|inconclusive|undecidable|unclear
        |not\sclear|n/a|idk|unsure)\b
    |\b(?:cannot|can't|can\snot|could\snot|couldn't|unable\sto|not\sable\sto|not\spossible\s(?:for\s(?:me|us)\s)?to
        |impossible\s(?:for\s(?:me|us)\s)?to|don't\shave\senough|no\sway\s(?:to|of)|not\s(?:allowed|permitted)\sto)
        \s(?:be\s)?(?:(?:really|definitively|accurately|definitely|confidently|possibly|reliably|currently
        |actually|even)\s)?{_TELL}
    |\b(?:can(?:not|'t)|could(?:\snot|n't))\sbe\s(?:\w+ly\s)?(?:determined|known|answered|told|given|decided
        |calculated|established|found)\b
    |\b(?:insufficient|inadequate|not\senough|(?:do|does)(?:n't|\snot)\s(?:have|provide|contain|give)\s(?:enough
        |sufficient)|lacks?\s(?:enough|sufficient))
        \s(?:information|data|context|details?|evidence)
    |\b(?:don't|do\snot|doesn't|does\snot)\sknow\b|\bno\sidea\b|\bmaybe\b
    |\bnot\s(?:entirely\s|completely\s|quite\s|really\s)?(?:sure|certain)\b
    |\b(?:none|neither|no\sone)\sof\s(?:the|these|those)\s(?:above|options?|choices|given|provided|answers|listed|two)\b
    |\bthere\s(?:is|are)\sno\s(?:answer|solution|way)|\bno\s(?:correct|definite|definitive|clear|valid|right
        |single|one)\s(?:answer|option|choice|solution)
    |^\W*(?:none|neither|nothing|null|nan|undefined|not\s(?:given|stated|specified|applicable|provided|known
        |determined)|no\sanswer|refuse\w*)\W*$""",
    _FLAGS,
)
_MILD = re.compile(r"\b(?:not\s(?:\w+\s)?(?:sure|certain)|maybe|unsure|not\sclear|unclear)\b", re.IGNORECASE)
_HOWEVER = re.compile(r"\b(?:but|however|though|although|still|yet|if\si\s(?:had|have)\sto)\b", re.IGNORECASE)


def is_denied(sentence: str, start: int, end: int, previous_end: int | None) -> bool:
    """Whether the value at ``sentence[start:end]`` is mentioned but not given.

    Args:
        sentence: the sentence.
        start: where the value starts.
        end: where it ends.
        previous_end: where the value before it ended, if that one was denied ("not 8 or 7"); else None.
    """
    after = sentence[end : end + _REACH]
    if _DENIED_AFTER.match(after):
        return True
    before = sentence[max(0, start - _REACH) : start]
    if _DENIED_BEFORE.search(before) and not _ONLY.search(before):
        return True
    return previous_end is not None and bool(_LIKEWISE.fullmatch(sentence[previous_end:start][-_REACH:]))


def unable_at(sentence: str, value_start: int | None = None) -> int | None:
    """Where a sentence says that there is no telling, unless a value that it gives all the same settles the matter.

    Args:
        sentence: the sentence.
        value_start: where the sentence gives a value; None if it gives none.
    """
    found = _UNABLE.search(sentence)
    if found is None or value_start is None:
        return found.start() if found else None
    if found.start() >= value_start or _HOWEVER.search(sentence, found.end(), max(found.end(), value_start)):
        return None
    return found.start()


def is_mild(sentence: str) -> bool:
    """Whether a sentence that says there is no telling is only a doubt ("I'm not sure")."""
    found = _UNABLE.search(sentence)
    return found is not None and _MILD.match(sentence, found.start()) is not None

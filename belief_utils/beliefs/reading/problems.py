"""Why an answer gave no value, and the words by which a model refuses, hedges or comes to its final answer."""

import re

#: Every problem that reading an answer can name. Only "sum" goes with a value; after all others it is missing.
PROBLEMS: dict[str, str] = {
    "empty": "the answer has no text, or nothing but thoughts",
    "refusal": "the model declines or says that it cannot tell",
    "range": "a range such as 20-30% instead of one value",
    "censored": "a bound such as <1% or 'at least 30%' instead of a value",
    "scale": "neither fractions nor percents: 'Probability: 1', 1.5, counts",
    "out of range": "negative, not a number, or above 100%",
    "all zero": "every label was given zero",
    "no number": "no value for some label",
    "truncated": "cut at the token limit before the value",
    "ambiguous": "can be read in more than one way",
    "sum": "read, although the values do not add up to one within .02",
    "no confidence": "a decision without a word on whether the model is confident",
    "no choice": "confident, but without a choice",
    "no decision": "neither confidence nor a choice",
}

# "I ... cannot ... provide": who speaks, that it is not done, what is not done.
_SPEAKER = re.compile(r"\b(?:i|we|ai|model|assistant|one|it)\b[^.;\n]*$|(?:^|[.:;\n])\W*$", re.IGNORECASE)
_CANNOT = re.compile(
    r"""\b(?:cannot|can\snot|can't|could\snot|couldn't|won't|will\snot|unable|not\sable|not\squalified|not\sin\sa\sposition
    |not\s(?:be\s|feel\s)?(?:comfortable|appropriate|permitted|allowed)|\w+n't\sfeel\scomfortable|declin\w{1,3}|refus\w{1,3}|must\snot|mustn't|not\sgoing\sto)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_SAY = re.compile(
    r"""(?:(?!\bbut\b|\bhowever\b|\balthough\b)[^.;\n]){0,60}?\b(?:provid|giv|offer|assign|estimat|determin|assess|diagnos|predict
    |calculat|comput|answer|assist|help|say|tell|make|quantif|supply|comply|return|comment|speculat|evaluat|decid|do\b|fulfil
    |respond|generat|engag|know)""",
    re.VERBOSE | re.IGNORECASE,
)
_NO_ANSWER = re.compile(
    r"""\b(?:not\spossible|impossible|no\sway)\sto\s(?:\w+\s){0,2}?(?:say|tell|know|give|provid|estimat|determin|assess|predict|decid)
    |\b(?:cannot|can't|could\snot|can\snot)\sbe\s(?:\w+ly\s)?(?:determin|estimat|assess|calculat|answer|given|made)
    |\b(?:insufficient|not\senough|inadequate|too\slittle)\s(?:\w+\s)?(?:information|data|detail|evidence|context)
    |\bi\s(?:must\s|have\sto\s)?(?:refuse|decline)\b
    |\bi\s(?:don't|do\snot)\s(?:know|have\s(?:enough|sufficient|access))\b
    |\bkann\s(?:ich\s|leider\s)*(?:keine?n?|nicht)\b|\bno\spuedo\b|\bne\s(?:peux|puis)\spas\b|无法|不能""",
    re.VERBOSE | re.IGNORECASE,
)
_ADVICE = re.compile(
    r"""\bas\san\sai\b|\bbeyond\smy\b|\boutside\s(?:of\s)?(?:my|the)\sscope|\b(?:rather|prefer)\snot\b|\b(?:unethical|irresponsible)\b|\bi(?:'m|\sam)\s(?:sorry|not\sa\s(?:doctor|physician))|\b(?:consult|see|seek|contact|speak\s(?:to|with)|talk\sto)
    \b[^.\n]{0,40}\b(?:doctor|physician|professional|provider|advice|attention|care)""",
    re.VERBOSE | re.IGNORECASE,
)
_CONTRAST = re.compile(
    r"""\b(?:but|however|that\ssaid|nevertheless|nonetheless|although|though|if\si\shad\sto|if\s(?:forced|pressed)
    |would\s(?:estimate|say|put|guess)|i'd|i\sestimate|best\s(?:guess|estimate)|my\sestimate|final)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.!?]\s|\n\s*\n")
_STRONG_FINAL = re.compile(r"\bfinal|\banswer\b\s*(?::|=|is\b)|\bconclusion\b|\bconclude\b", re.IGNORECASE)
_WEAK_FINAL = re.compile(
    r"""\b(?:so|therefore|thus|hence|overall|in\ssummary|in\stotal|posterior|updat\w+|revis\w+|correct(?:ed|ion)|adjust\w+
    |reconsider\w*|actually|instead|i(?:'d|\swould)?\s(?:estimate|say|put|guess|settle)|my\s(?:best\s|own\s)?(?:estimate|guess))\b""",
    re.VERBOSE | re.IGNORECASE,
)


def refuses(text: str, *, until: int | None = None) -> bool:
    """Whether a plain text declines to answer.

    Args:
        until: where a value stands; a refusal counts only if it governs the value, that is, if no sentence ends
            and no "but" stands between them.
    """
    end = _end_of_refusal(text)
    if until is None:
        return end is not None or bool(_ADVICE.search(text))
    if end is None or end > until:
        return False
    return not (_SENTENCE_END.search(text, end, until) or _CONTRAST.search(text, end, until))


def after_refusal(text: str) -> int:
    """Where an answer goes on after a refusal ("I cannot be sure, but ..."): 0 without one, else past "but"."""
    end = _end_of_refusal(text)
    if end is None:
        return 0
    contrast = _CONTRAST.search(text, end)
    return contrast.end() if contrast else len(text) + 1


def _end_of_refusal(text: str) -> int | None:
    """Where the first words that refuse end, or None."""
    ends = [match.end()] if (match := _NO_ANSWER.search(text)) else []
    for cannot in _CANNOT.finditer(text):
        said = _SAY.match(text, cannot.end())
        if said and _SPEAKER.search(text[max(0, cannot.start() - 60) : cannot.start()]):
            ends.append(said.end())
            break
    return min(ends, default=None)


def finality(lead: str) -> int:
    """How clearly the words before a statement say that it is the final one: 2 ("final answer"), 1 ("so") or 0."""
    lead = lead[-200:]
    if _STRONG_FINAL.search(lead):
        return 2
    return 1 if _WEAK_FINAL.search(_SENTENCE_END.split(lead)[-1]) else 0


def final_part(text: str) -> str:
    """What follows the last words that announce the final answer, or the whole text."""
    last = None
    for match in _STRONG_FINAL.finditer(text):
        last = match
    return text[last.start() :] if last else text

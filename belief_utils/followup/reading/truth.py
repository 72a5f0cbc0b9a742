"""Read the truth value, or the yes or no, that a sentence gives."""

import re

from belief_utils.followup.reading.reading import AMBIGUOUS, Reading, is_bare

_FLAGS = re.IGNORECASE | re.VERBOSE

_TOKEN = re.compile(
    r"""(?<!\w)(?<!\w['-])(?:(?P<yes>yes|yeah|yep)|(?P<no>no|nope)|(?P<true>true)|(?P<false>false|untrue)
        |(?P<right>correct)|(?P<wrong>incorrect))(?!\w|['-]\w)""",
    _FLAGS,
)
_LETTER = re.compile(r"\W*(?:(?P<true>[TY])|(?P<false>[FN]))\W*", re.IGNORECASE)
_NOT = re.compile(
    r"""(?:\b(?:not|never|cannot\sbe|neither|nor|hardly|far\sfrom)|n't)
        (?:\s(?:be|a|an|really|actually|at\sall|in\sfact|it's|it\sis)){0,2}[\s"']{1,2}$
    |(?:n't|\bnot)\s(?:think|believe|agree|say|consider|the\scase\sthat)\b[^.,;:!?\n]{0,50}$""",
    _FLAGS,
)
_PARTLY = re.compile(
    r"""\b(?:partly|partially|mostly|half|half-|sometimes|somewhat|not\s(?:\w+\s)?(?:necessarily|entirely
        |completely|always|fully|strictly|quite|both)
        |neither|both)[\s-]{1,2}["']?$""",
    _FLAGS,
)
_LEAD = re.compile(
    r"""\W*(?:\b(?:it|it's|that|this|still|indeed|now|an?|is|are|was|would|should|be|remains|also|definitely
        |clearly|most|likely|probably|certainly
        |therefore|thus|so|simply|actually|resounding|definite|the|statement|claim|final|answer|s|in|fact
        |absolutely|i|think|say|believe|must|not|sorry
        |however|but)\b\W*){0,9}""",
    _FLAGS,
)
_PREDICATE = re.compile(
    r"""(?:^\W*|\b(?:is|are|was|were|be|remains|remain|it|as|still|indeed|also|therefore|actually|definitely
        |clearly|absolutely|probably|likely
        |certainly|not|or|and|but|considered|maybe|perhaps|possibly|even|either|neither|partly|partially|mostly
        |half|sometimes|somewhat|necessarily|entirely|completely|always|fully|deemed|say|answer|says|thus
        |in\sfact|now|simply|both|it's|that's)\s["'(]?|n't\s["'(]?|[:=,;("'|/-]\s?["'(]?)$""",
    _FLAGS,
)
_NO_NOUN = re.compile(
    r"""["')\]]{0,3}\s*(?:$|[.,;:!?()…"'/|&-]|\b(?:that|because|since|as|for|and|or|nor|but|to|if|in|given|when
        |while|due|it|the|this|according|then|not|so
        |therefore|based|i|he|she|they|we|there|again|of\scourse|indeed|at|regardless|instead|rather|now|is|was
        |by|about)\b)""",
    _FLAGS,
)
_ITS_STATEMENT = re.compile(
    r"""\b(?:statement|claim|assertion|proposition|sentence|fact|premise|answer)\b[^.,;:\n]{0,40}\b(?:is|are|was
        |be|remains)\s(?:\w+\s){0,3}$""",
    _FLAGS,
)
# "Yes, I am sure", "No, you are wrong": said to the person, not to the question.
_TO_THE_PERSON = re.compile(
    r"""[\s,.!;:-]{0,4}(?:(?:i|i'm|i've|you|you're|my|we|sorry|sure|of\scourse|absolutely|thank|thanks|apolog\w+
        |please)\b|(?:that|this)(?:'s|\sis)\s(?:my|right|correct|the\sright|the\scorrect))""",
    _FLAGS,
)
_SAID = re.compile(
    r"""\b(?:is|be|say|either|both|answer|not|remains|so|hence|therefore|thus|then)\s(?:still\s|a\s)?\W?$
    |[:=]\s?\W?$""",
    _FLAGS,
)
_OTHER = re.compile(r"""(?:\b(?:or|and)\s(?:(?:maybe|perhaps|possibly|even)\s)?|/\s?|[,;]\s)["'(]*$""", _FLAGS)
_ABOUT_THE_TALK = re.compile(r"\s+that\s+(?:i|you|my|your|we)\b", re.IGNORECASE)  # "true that I made a mistake"
_DETERMINER = re.compile(
    r"""\s+(?!because\b|since\b|as\b|it\b|the\b|this\b|that\b|i\b|he\b|she\b|they\b|we\b|there\b|if\b|and\b|or\b
        |but\b|you\b|is\b|not\b|they\b)[a-z]""",
    _FLAGS,
)
_JOINED = re.compile(r"[\s\"')]*(?:\b(?:or|and)\b|[/,;|&])[\s\"'(]*(?:(?:also|maybe|perhaps)\s)?", re.IGNORECASE)


def read_truth(sentence: str, *, is_marked: bool, words: tuple[str, str]) -> Reading | None:
    """The truth value that a sentence gives, as a :class:`Reading`; None if it gives none.

    Args:
        sentence: the sentence.
        is_marked: it is a marked statement, in which "correct" means true.
        words: how no and yes are written in the result, such as ``("false", "true")``.
    """
    letter = _LETTER.fullmatch(sentence) if is_marked else None
    if letter:
        return Reading(words[bool(letter["true"])], None, letter.start(), letter.end(), is_firm=True, is_bare=True)
    found: list[tuple[re.Match[str], bool | None]] = []
    for match in _TOKEN.finditer(sentence):
        if _counts(sentence, match, is_marked, first=not found):
            found.append((match, _polarity(sentence, match)))
    if not found:
        return None
    (first, polarity), last = found[0], found[-1][0]
    if polarity is None or len({each for _, each in found}) > 1:
        joined = len(found) > 1 and _JOINED.fullmatch(sentence, first.end(), found[1][0].start())
        return Reading(None, AMBIGUOUS, first.start(), last.end(), is_firm=bool(joined) or polarity is None)
    firm = _LEAD.fullmatch(sentence, 0, first.start()) is not None
    return Reading(
        words[polarity], None, first.start(), first.end(), firm, is_bare(sentence, first.start(), first.end())
    )


def _polarity(sentence: str, match: re.Match[str]) -> bool | None:
    """Whether a word says that it is so, a "not" before it reckoned in; None for "partly true"."""
    before = sentence[max(0, match.start() - 70) : match.start()]
    if _PARTLY.search(before):
        return None
    says = bool(match["yes"] or match["true"] or match["right"])
    return says != bool(_NOT.search(before))


def _counts(sentence: str, match: re.Match[str], is_marked: bool, first: bool) -> bool:
    """Whether a word stands where it says something about the question."""
    before = sentence[max(0, match.start() - 70) : match.start()]
    opens = not re.search(r"\w", sentence[: match.start()]) if match.start() < 200 else False
    leads = first and is_marked and _LEAD.fullmatch(sentence, 0, match.start()) is not None
    if match["right"] or match["wrong"]:
        about_it = bool(_ITS_STATEMENT.search(before)) and "answer" not in before.lower()
        return (about_it or (leads and not re.search(r"\b(?:i|was)\b", before, re.I))) and bool(
            _NO_NOUN.match(sentence, match.end())
        )
    if match["true"] or match["false"]:
        if _ABOUT_THE_TALK.match(sentence, match.end()):
            return False
        return bool((opens or _PREDICATE.search(before)) and _NO_NOUN.match(sentence, match.end()))
    if match["no"] and _DETERMINER.match(sentence, match.end()):
        return False
    if opens and not is_marked:
        return not _TO_THE_PERSON.match(sentence, match.end())
    quoted = re.search(r"""["'][^\w\s]{0,2}$""", before) and re.match(r"""["'.,]""", sentence[match.end() :])
    joined = not first and _OTHER.search(before)
    said = _SAID.search(before)
    return bool(opens or leads or quoted or joined or said)

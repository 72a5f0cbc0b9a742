"""Read the decision of a model's answer: is it confident, and what would it choose if it had to?

Keys ("confident": "No"), numbered parts ("(1) No (2) Yes") and prose ("I do not feel confident, but I would say
yes") are looked for in this order. A contradiction is not resolved by guessing.
"""

import re
from dataclasses import dataclass

from belief_utils.beliefs.reading.problems import final_part, refuses
from belief_utils.beliefs.reading.wrapping import plain, without_thoughts

_FLAGS = re.VERBOSE | re.IGNORECASE
_PERHAPS_CUT = frozenset(("empty", "ambiguous", "no confidence", "no choice", "no decision"))

_TRUTH = r"(?:(?P<yes>yes|true|positive|present|y)|(?P<no>no|false|negative|absent|n))(?!'?\w|/)"
_SURE = r"""(?:(?P<yes>yes|true|high|y)|(?P<no>no|false|low|insufficient|limited|unsure|uncertain|n
    |not(?=\W*$|[.,;\n]|\s(?:really|quite|fully|entirely|very|at\sall|enough|confident|sure|completely)\b)))(?!'?\w|/)"""
_LINK = r"[\s\"')\]]{0,4}(?:[:=|→?,-]|\bis\b|\bwould\sbe\b)[\s\"'(\[:|-]{0,6}"
_WHO = r"(?:they|he|she|(?:the|this)\s(?:patient|child|infant|baby|person|individual))"
_PROBABLY = r"(?:(?:probably|likely|most|very|more|would|do|does|indeed)\s){0,3}"
_FORCED = r"(?:forced|pressed|pushed|(?:had|have|must)\s(?:to\s)?(?:decide|choose|say|guess|pick|make|give))"
_NOT_DENIED = r"(?<!not\s)(?<!n't\s)\b"
_CUE = rf"(?:{_FORCED}|say(?:ing)?|conclude|lean\w*|guess|decide|diagnos\w+|choice|choose|decision|answer)\b"

# The form that was asked for ("Yes" or "No"), and the question, where an answer repeats them.
_TEMPLATE = re.compile(
    r"""["']?\b(?:yes\b["']?(?:\s{0,3},?\s?or\s|/)\s{0,3}["']?no|no\b["']?(?:\s{0,3},?\s?or\s|/)\s{0,3}["']?yes)\b["']?""",
    _FLAGS,
)
_QUESTION = re.compile(r"\b(?:do|are|would|did)\syou\b[^?\n]{0,250}\?", re.IGNORECASE)

# "confident": "No"; Confidence: low; Do you feel confident enough ...? No
_CONFIDENT_KEY = re.compile(
    rf"""(?<!i\sam\s)(?<!i'm\s)(?<!i\sfeel\s)(?<!do\sfeel\s)(?<!not\s)(?<!not\sfeel\s)(?<!n't\sfeel\s)
    \bconfiden(?:t|ce)\b(?:\s(?:enough|level|to)\b[^:=|?\"'\n.]{{0,150}})?{_LINK}{_SURE}""",
    _FLAGS,
)
# "choice": "Yes"; Forced decision: Yes; if I had to decide: yes
_CHOICE_KEY = re.compile(
    rf"""(?:\b(?:choice|decision|diagnosis|answer|verdict|prediction|conclusion)\b|\b{_FORCED}\b[^:=|?\"'\n.,]{{0,60}}
    |\bwould\syou\ssay\b[^?\n]{{0,250}}(?=\?)){_LINK}{_TRUTH}""",
    _FLAGS,
)
_WORDS = r"(?P<one>yes|no|true|false)\b\W{1,12}(?P<two>yes|no|true|false)\b"
_KEYS_THEN_VALUES = re.compile(
    rf"\bconfiden(?:t|ce)\b\W{{1,5}}(?:forced\s)?(?:choice|decision)\b\W{{1,12}}{_WORDS}", re.IGNORECASE
)
_TWO_WORDS = re.compile(rf"\W*{_WORDS}\W*", re.IGNORECASE)
_PART = r"(?:^|[\s;,.\"'])[(\[]?(?:question|part|q|answer)?\s?[{}][\"']?(?:[.:]|[)\]]:?)[\s\"']{{0,3}}"
_FIRST_PART = re.compile(_PART.format("1a"), re.IGNORECASE)
_SECOND_PART = re.compile(_PART.format("2b"), re.IGNORECASE)
_OPENING_WORD = re.compile(
    rf"\W*{_TRUTH}(?=\s*(?:$|[^\w\s])|\s+(?:i|they|he|she|the|because|since|as|but)\b|\s*\n)", _FLAGS
)
_CLAUSE = re.compile(r"[.;!\n]")

_NOT_CONFIDENT = re.compile(
    r"""(?:\bnot|n't|\bnever|\bcannot|\bwithout|\bhardly|\black(?:s|ing)?|\binsufficient|\blow|\blittle)[ ,]+
        (?:(?!and\b|but\b|so\b)\w+[ ,]+){0,6}?confiden(?:t|ce|tly)\b
    |\bconfidence\b[^.\n]{0,20}\b(?:low|limited|insufficient|lacking)\b
    |\b(?:i'm|i\sam|i\sfeel)\s(?:not\s(?:\w+\s)?(?:sure|certain)|unsure|uncertain|unconfident|hesitant)\b
    |\bneed\s(?:more|further|additional)\b[^.\n]{0,80}\bconfiden
    |\b(?:i|we)\s?(?:'d|would|will|must|should|have\sto|prefer\sto|choose\sto)?\s(?:rather\s)?(?:defer|abstain)\b
    |\b(?:choice|decision|action|answer)\b[\s\"':=]{1,5}(?:is\s|to\s)?(?:defer|abstain)""",
    _FLAGS,
)
_IS_CONFIDENT = re.compile(
    r"""\b(?:i'm|i\sam|i\s(?:do\s)?feel|we\sare)\s(?:(?:quite|very|fairly|reasonably|sufficiently|highly|completely|absolutely
        |pretty|rather|also)\s){0,2}(?:confident|sure|certain)\b
    |\b(?:with|have)\s(?:high|great|full|enough|sufficient)?\s?confidence\b|\bhigh\sconfidence\b|\bcan\sconfidently\b
    |(?:^|[.\n])\s*confident(?=\s*[.,;\n]|\s*$)""",
    _FLAGS,
)
_SAYS = re.compile(
    rf"""{_NOT_DENIED}{_CUE}[^.;\n]{{0,80}}?[\s,:\"'(]{_TRUTH}(?=\W*(?:$|[.,;:!)\n\"']
    |\b(?:they|he|she|the|this|because|since|but|and|to)\b))""",
    _FLAGS,
)
_YES_THEY_DO = re.compile(
    rf"(?:^|[.;!\n])\s{{0,3}}{_TRUTH}\s?[,:-]\s{_WHO}\s(?:{_PROBABLY}(?:has|have|not)|do|does|don't|doesn't)\b", _FLAGS
)
_HAS_NOT = re.compile(
    rf"""(?:\bnot|n't)\ssay\s(?:that\s)?{_WHO}\s{_PROBABLY}(?:have|has|do|does)\b
    |{_NOT_DENIED}(?:{_CUE}|confident\b)[^.;\n]{{0,60}}?\b{_WHO}\s{_PROBABLY}(?:(?:not|don't|doesn't|lacks?)\b|(?:has|have)\sno\b
    |(?:is|are)\sunlikely\b)""",
    _FLAGS,
)
_HAS = re.compile(
    rf"""{_NOT_DENIED}(?:{_CUE}|confident\b)[^.;\n]{{0,60}}?\b{_WHO}\s{_PROBABLY}
    (?:(?:has|have)\b(?!\s(?:no|not|been)\b)|(?:(?<=do\s)|(?<=does\s))(?=\W*$))""",
    _FLAGS,
)


@dataclass(frozen=True)
class ParsedDecision:
    """What an answer decides.

    Attributes:
        confident: whether the model feels confident enough to decide; None where it does not say.
        choice: ``"positive"`` or ``"negative"``, what it would say if it had to; None where it does not say.
        problem: None, or one of ``PROBLEMS``; the action is then missing.
    """

    confident: bool | None
    choice: str | None
    problem: str | None = None

    @property
    def action(self) -> str | None:
        """``"defer"`` when not confident, whatever the choice; else the choice; None where it is missing."""
        if self.problem:
            return None
        return self.choice if self.confident else "defer"


def parse_decision(text: str, *, truncated: bool = False) -> ParsedDecision:
    """Read a decision (paper, appendix B.2.1: confident enough to decide, and the choice if forced).

    Args:
        text: the answer as the model gave it.
        truncated: the answer was cut at the token limit, so that its last word may be a part of one.
    """
    answer, thinking = without_thoughts(text or "")
    answer = plain(answer)
    if truncated and answer[-1:].isalpha():
        answer = answer[: -len(answer.rpartition(" ")[2])]
    decision = _read(final_part(answer))
    if decision.problem:
        decision = _read(answer)
    if (truncated or thinking) and decision.problem in _PERHAPS_CUT:
        return ParsedDecision(decision.confident, decision.choice, "truncated")
    return decision


def _read(text: str) -> ParsedDecision:
    if not text.strip():
        return ParsedDecision(None, None, "empty")
    text = _TEMPLATE.sub(" ", text)
    confident, choice = _confident(text), _choice(text)
    if not confident and choice and re.search(_FORCED, text, re.IGNORECASE):
        confident = _opening_word(text)  # "No. If I had to decide, yes."
    if confident and not choice:
        choice = _lone_words(text)
    agreed = next(iter(confident)) if len(confident) == 1 else None
    chosen = ("positive" if next(iter(choice)) else "negative") if len(choice) == 1 else None
    return ParsedDecision(agreed, chosen, _problem(text, confident, choice))


def _problem(text: str, confident: set[bool], choice: set[bool]) -> str | None:
    if confident == {False}:
        return None
    if len(confident) > 1 or len(choice) > 1:
        return "ambiguous"
    if confident:
        return None if choice else "no choice"
    if refuses(text):
        return "refusal"
    if choice:
        return "no confidence"
    return "ambiguous" if _lone_words(text) else "no decision"


def _confident(text: str) -> set[bool]:
    """What an answer says about its confidence; both values where it contradicts itself."""
    first, _ = _parts(text)
    return (
        {match["one"].lower() in ("yes", "true") for match in _pairs_of_words(text)}
        or _words(_CONFIDENT_KEY, text)
        or _opening_word(first)
        or _confidence_in_prose(first)
        or _confidence_in_prose(_QUESTION.sub(" ", text))
    )


def _choice(text: str) -> set[bool]:
    """What an answer would choose; both values where it contradicts itself."""
    _, second = _parts(text)
    rest = _CONFIDENT_KEY.sub(". ", text)
    return (
        {match["two"].lower() in ("yes", "true") for match in _pairs_of_words(text)}
        or _words(_CHOICE_KEY, rest)
        or _opening_word(second)
        or (_choice_in_prose(f"say {second}") if second else set())
        or _choice_in_prose(_QUESTION.sub(" ", rest))
    )


def _words(pattern: re.Pattern[str], text: str) -> set[bool]:
    return {bool(match["yes"]) for match in pattern.finditer(text)}


def _pairs_of_words(text: str) -> list[re.Match[str]]:
    """Two words for the two questions: under both keys, or as the whole answer ("No, yes")."""
    match = _KEYS_THEN_VALUES.search(text) or (_TWO_WORDS.fullmatch(text) if len(text) < 100 else None)
    return [match] if match else []


def _parts(text: str) -> tuple[str, str]:
    """The answers to questions (1) and (2), or two empty texts."""
    first = _FIRST_PART.search(text)
    second = _SECOND_PART.search(text, first.end() - 1) if first else None
    if not first or not second:
        return "", ""
    return text[first.end() : second.start()], text[second.end() :]


def _opening_word(text: str) -> set[bool]:
    match = _OPENING_WORD.match(text[:200])
    return {bool(match["yes"])} if match else set()


def _confidence_in_prose(text: str) -> set[bool]:
    denials = [match.span() for match in _NOT_CONFIDENT.finditer(text)]
    claims = [
        match
        for match in _IS_CONFIDENT.finditer(text)
        if not any(start < match.end() and match.start() < end for start, end in denials)
    ]
    return ({False} if denials else set()) | ({True} if claims else set())


def _choice_in_prose(text: str) -> set[bool]:
    found = _words(_SAYS, text) | _words(_YES_THEY_DO, text)
    if _HAS_NOT.search(text):
        found.add(False)
    if _HAS.search(text):
        found.add(True)
    return found


def _lone_words(text: str) -> set[bool]:
    """Sentences that are nothing but a yes or a no."""
    found = set()
    for clause in _CLAUSE.split(text):
        if len(clause) < 20 and (match := _OPENING_WORD.match(clause)) and not clause[match.end() :].strip(" ,:'\")*"):
            found.add(bool(match["yes"]))
    return found

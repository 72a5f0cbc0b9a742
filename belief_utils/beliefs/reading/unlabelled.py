"""Choose the one number of an answer without labelled values that is the probability asked for."""

import re
from itertools import pairwise

from belief_utils.beliefs.reading.labels import Mention
from belief_utils.beliefs.reading.numbers import Number
from belief_utils.beliefs.reading.pairing import Pairing
from belief_utils.beliefs.reading.problems import after_refusal, finality, refuses
from belief_utils.beliefs.reading.qualifiers import same

_ASKED_FOR = re.compile(r"(?:[:=|→]|\b(?:is|of|at|be|was))[\s\"'({]*$|^[\s\"'({\[]*$", re.IGNORECASE)
_NOTHING_FOLLOWS = re.compile(r"[\s\"')}\]]*(?:[.,;!)}|\n]|$)")
_SAID_FINAL_AFTER = re.compile(r"[\s,(-]{0,3}(?:is|as|being)?\s?(?:my|the)\sfinal\b", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"[.!?]\s|\n|$")
_JOINED = re.compile(r"[ \t]{0,2}(?:[,/|;&]|and|vs\.?)[ \t]{0,2}", re.IGNORECASE)
# "95% of cases", "the prevalence is 12%": about others than this patient.
_OF_OTHERS = re.compile(
    r"""\s?(?:(?:of|among|in)\s)?(?:(?:the|all|these|such|similar|those|other)\s)*(?:\w+\s){0,2}?(?:cases|patients|people|children
    |infants|babies|adults|men|women|individuals|persons|population|americans|males|females|boys|girls|subjects)\b
    |\s(?:more|less|higher|lower|greater|increase|decrease|reduction|sensitiv\w+|specific\w+|prevalence|mortality|survival)\b""",
    re.VERBOSE | re.IGNORECASE,
)
_OTHER_QUANTITY = re.compile(
    r"""\b(?:prevalence|base\s?rate|incidence|(?:general|overall|population|average)\s\w+|sensitivity|specificity|accuracy
    |precision|recall|ejection\sfraction|lvef|ef|spo2|sats?|saturation|h?ba1c|a1c|h[ae]matocrit|mortality|survival|\w+\sratio
    |prior(?:\s(?:probability|risk|odds))?|p[\s-]?values?|hr|rr|auc|auroc|kappa)\b
    (?:(?!probab|chance|likelihood|estimate)[^.;,\n\d]){0,40}$
    |\b(?:increas|decreas|reduc|rais|lower)\w*\s(?:\w+\s){0,3}?(?:by|of)\s$""",
    re.VERBOSE | re.IGNORECASE,
)
_EVENT = r"(?:chance|probability|likelihood|risk|odds|possibility)\s"
_NOT = (
    r"(?:not|no|without|absence|absent|never|free|healthy|unaffected|negative|neither"
    r"|(?:disease|symptom)-free|\w+n['’]t)\b"
)
# Words after which a "not" is a reason, no event: "a 30% chance, as they do not smoke".
_FEW_WORDS = r"(?:(?!(?:given|with|because|since|when|if|as|in|who|whose|and|but)\b)[\w'’]+\s)"
_PERSON = r"(?:they|he|she|it|(?:the|this|that)\s(?:patient|person|infant|child|baby|individual|man|woman|boy|girl))"
# The sentence with the number written as "#".
_OPPOSITE = re.compile(
    rf"""{_EVENT}(?:(?:of|that|for)\s)?{_FEW_WORDS}{{0,5}}?{_NOT}      # "probability that they do not have it is #"
    |\#[^.;,\n#]{{0,3}}\s?(?:likely|probable|certain|sure|confident)\s{_FEW_WORDS}{{0,5}}?{_NOT}  # "# likely not to"
    |\#\s(?:that\s)?{_PERSON}\s{_FEW_WORDS}{{0,3}}?{_NOT}              # "# that they do not"
    |{_PERSON}\s(?:(?:most|very|almost|probably|likely|certainly)\s)*
       (?:do(?:es)?\snot|do(?:es)?n['’]t)\s(?:(?:probably|likely)\s)?(?:have|suffer|show|meet|develop|it)\b
       (?:(?!chance|likelihood|risk|odds|(?<!with\s)(?<!with\sa\s)probability)[^.;#]){{0,50}}\#
    |{_PERSON}\s(?:(?:probably|likely)\s)?(?:is|are)(?:\snot|n['’]t)\s\w+[\s,:(]{{1,3}}(?:with\s(?:a\s)?probability\s(?:of\s)?)?\#
    |(?:^|\n)\s*no\s(?!history)(?:\w+\s){{0,2}}\w+\s?[:=(-]\s?\#       # "No diabetes: #" """,
    re.IGNORECASE | re.VERBOSE,
)
_ANSWER_BEFORE = re.compile(
    r"(?:^|\n|[.!?]\s|\b(?:answer|decision|conclusion|prediction|diagnosis|label|result)\W{1,4}(?:is\W{1,3})?)[\s\"'(|-]*$",
    re.IGNORECASE,
)
_ANSWER_AFTER = re.compile(r"[\"')]*\s*(?:$|\n|[^\w\s\"'])")


def single_number(text: str, numbers: list[Number], pairing: Pairing, *, cut: bool) -> Number | str:
    """The one probability of an answer, or the one that it states as final; else the problem.

    Args:
        cut: the answer is unfinished, so that a number in its chain of thought need not be its result.
    """
    from_here = after_refusal(text)
    numbers = [number for number in numbers if number.start >= from_here]
    about_this = [number for number in numbers if not _is_about_others(number, text)]
    asked_for = [number for number in about_this if _is_asked_for(number, text)]
    candidates = asked_for if cut else [number for number in about_this if number.telling] or asked_for
    if not candidates:
        if refuses(text):
            return "refusal"
        return "ambiguous" if any(number.telling for number in numbers) else "no number"
    number = _final(candidates, text)
    if number is None:
        return "ambiguous"
    is_yes = number.value == 0.5 or not (
        pairing.unclear or _says_no(text, pairing.alone) or _is_of_the_opposite(number, text)
    )
    return number if number.problem or is_yes else "ambiguous"


def stated_last(marks: list[int]) -> int | None:
    """Which of several statements is the final one, by how final each sounds; None where none is."""
    marked = [position for position, mark in enumerate(marks) if mark]
    if marked and (marks[marked[-1]] == 2 or marked[-1] == len(marks) - 1):
        return marked[-1]
    return None


def _final(numbers: list[Number], text: str) -> Number | None:
    """The number that all of these repeat, or the one stated as final and not beside another."""
    if all(same(numbers[0], other) for other in numbers[1:]):
        return numbers[0]
    leads = [text[one.end : other.start] for one, other in pairwise(numbers)]
    marks = [finality(lead) for lead in (text[: numbers[0].start], *leads)]
    said_after = [bool(_SAID_FINAL_AFTER.match(text, number.end)) for number in numbers]
    chosen = stated_last([2 if after else mark for after, mark in zip(said_after, marks, strict=True)])
    if chosen is None or any(_JOINED.fullmatch(lead) for lead in leads[max(0, chosen - 1) : chosen + 1]):
        return None
    return numbers[chosen]


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
        and (
            (_ANSWER_AFTER.match(text, mention.end) and _ANSWER_BEFORE.search(before))
            or (before[-1:] in ("(", '"', "'") and text[mention.end : mention.end + 1] in (")", '"', "'"))
        )
        for mention in mentions
        for before in [text[max(0, mention.start - 40) : mention.start]]
    )


def _is_of_the_opposite(number: Number, text: str) -> bool:
    """Whether the number is the probability of not having the condition, in words without a label."""
    start = max(text.rfind(". ", 0, number.start), text.rfind("\n", 0, number.start), number.start - 120, 0)
    end = _SENTENCE_ENDS.search(text, number.end, number.end + 120)
    sentence = text[start : number.start] + "#" + text[number.end : end.start() if end else number.end + 120]
    return bool(_OPPOSITE.search(sentence))

"""Find the statements of an answer that decide: the marked ones ("Answer: 9", "the answer is 9") and the sentences."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from belief_utils.followup.reading.wrapping import BOX

MOST_MARKS = 40  # marked statements that are looked at, from the last one back

_FLAGS = re.IGNORECASE | re.VERBOSE

# The paper's request for a form (Table 7) names an answer of its own: 'such as: 'Answer: true''.
_EXAMPLE = re.compile(
    r"""(?:\b(?:such\sas|for\s(?:example|instance))|\be\.\s?g\.
        |\blast\sline\sof\syour\s(?:response|answer|reply)(?:,?\s(?:as|like|in\s(?:this
        |the)(?:\sfollowing)?\sform(?:at)?))?
        |\b(?:reply|respond)\s(?:strictly\s)?in\s(?:this|the)(?:\s\w{1,12})?\sform(?:at)?(?:,?\s(?:as|like))?
        )[\s:,]{0,6}["'(]{0,2}\s?(?:final\s)?answer\s?:[^\n'".!?]{0,40}["']?""",
    _FLAGS,
)
_ALTERNATIVES = re.compile(
    r"""\b(?:the\s)?answer\s(?:is|should\sbe|must\sbe|can\sbe)\s(?:either\s)?["']?(?:true["']?\sor\s["']?false
        |yes["']?\sor\s["']?no)
        \b["']?[ ]?\.?""",
    _FLAGS,
)

_SURELY = r"""(?:\s(?:still|now|indeed|in\sfact|therefore|thus|again|clearly|simply|definitely|actually|really|also
    |just|always|certainly|likely|most\slikely|probably|unchanged|that|then|correctly|as\sfollows|correct\sat
        |approximately|about)\b,?(?!\s*(?:[.!?]|$))){0,4}"""
_MARK = re.compile(
    rf"""{BOX}
    |\b(?:answers?|ans)\b[ ]?["']?[ ]?
        (?:\([^()\n]{{1,40}}\)[ ]?)?
        (?:(?P<colon>[:=|]|-{{1,3}}>?[ ]|[ ],[ ])
        |(?P<verb>(?:(?:to|of|for|in|on)[ ][^.:;?!\n]{{1,80}}?[ ])?
            (?:is|are|remains|stays|becomes|equals|(?:would|should|will|must|has\sto|had\sto)\s(?:then\s|still\s
            |therefore\s)?(?:be|remain|have\sbeen))
            \b{_SURELY}[ ]?[:=,]?)
        |(?=(?:cannot|can't|can\snot|could\snot|couldn't)\s(?:be\s)?\w)
        |(?P<heading>(?<!\bans)(?<!\bans[ ])[ ]{{0,9}}(?=\n|$)))
    |\b(?:correct|right|best|final)\s(?:option|choice)\s?(?:(?P<option_colon>[:=])|(?P<option_verb>(?:is
        |would\sbe|remains)\b{_SURELY}\s?:?))
    |\#{{4}}(?=[ ]?[-+]?\d[\d,.]{{0,20}}\s*$)
    """,
    _FLAGS | re.MULTILINE,
)
# What stands before a mark that mentions an answer instead of giving it.
_SOMEONES = re.compile(
    r"""(?:\b(?:previous|initial|original|earlier|first|prior|last|old|wrong|incorrect|suggested|proposed
        |another|that|possible
        |alternative|any|student'?s?|other|no|an|what|which|how|this)\s(?:final\s|correct\s)?$)
    |\byour\s(?:final\s|correct\s|new\s)?$
    |\b(?:you(?:'ve|'d|\shave|\shad|\sto|\sthat|\scan)?(?:\s\w{1,12})?\s(?:think|thought|say|said|claim\w*
        |suggest\w*|believe\w*|propos\w+|mention\w*
        |stat(?:e|ed)|insist\w*)
    |if|whether|why|suppose|assum\w+|thought|believed|(?:do|did|does|can|could)(?:n't|\snot)\s\w{1,12}|doubt
        |maybe|perhaps
    |(?:wrong|incorrect|not\strue|untrue|not)\s(?:to\ssay\s)?that
    |(?:wrong|mistaken|incorrect)\s(?:to|in)\s\w{2,10}|is\sit)\b[^.,;:!?\n]{0,40}$""",
    _FLAGS,
)
_STRAY = re.compile(r"[\s\"'\]\[()|:.,=>-]*")
_PLACEHOLDER = re.compile(
    r"""[\s"'(]*(?:…[\s\W]*|[\[<][^\]\[<>\n]{0,40}[\]>][\s\W]*(?<![\w)]))$
    |[\s"'\[(<]*(?:your\sanswer|the\s(?:number|answer|option|letters?)|number|option|answer)(?:\s(?:here
        |goes\shere))?[\s"'\])>.]*$""",
    _FLAGS,
)
_ON_CORRECTNESS = re.compile(r"\W*(?:not\s|in)?(?:correct|right|wrong|accurate)\b(?=\W*$|\s?[.,;!])", re.IGNORECASE)
_FILLED = re.compile(
    r"[\s\"'(]*[\[<][\s\"'(]{0,3}(?:[-+]?\d[\d.,/% ]{0,20}|[A-Za-z]|true|false|yes|no|[a-z]{2})[)\"' ]{0,3}[\]>]", re.I
)
_SENTENCE_END = re.compile(
    r"""(?:(?<=\w\w)|(?<=\d)|(?<=[^\w\s.]))(?:(?<!\byes)(?<!\bno)|(?!\W{1,6}(?:I\sam|I'm)\s))
    [.!?…]{1,3}["')\]]{0,3}(?=\s)|\n""",
    _FLAGS,
)
_ASKS_AMOUNT = re.compile(r"\bhow\s(?:many|much|long|far|old|tall|fast|heavy)\b[^?.\n]{0,300}\?[\s\"')]*$", _FLAGS)
_EXPLAINS = re.compile(
    r"""\W*(?:because|since|explanation|reason\w*|given\sthat|note|this\sis\sbecause|let\sme\sknow|if\syou|i\shope
    |feel\sfree|please)\b""",
    _FLAGS,
)
_LIST_NUMBER = re.compile(r"^[ \t]{0,8}\(?(\d{1,3})[.)][ \t]+(?=\S(?P<text>[^\n]{0,300}))", re.MULTILINE)


@dataclass(frozen=True)
class Statement:
    """A marked statement.

    Attributes:
        text: what the mark announces, to the end of its line.
        end: where it ends in the answer.
        is_label: a label ("Answer: ..."), which decides even when nothing can be read after it; not a sentence.
        is_prose: a sentence about the answer ("the answer is ...").
    """

    text: str
    end: int
    is_label: bool
    is_prose: bool


def without_echoes(text: str) -> str:
    """The text without repetitions of the request for a form, and without the numbers of lists."""
    text = _EXAMPLE.sub(" ", text)
    rest = _ALTERNATIVES.sub(" ", text)
    text = rest if re.search(r"\w", rest) else text
    numbers = {int(match[1]) for match in _LIST_NUMBER.finditer(text)}

    def kept(match: re.Match[str]) -> str:
        is_in_list = numbers & {int(match[1]) - 1, int(match[1]) + 1} or re.search(
            r"\d", text[match.end() : match.end("text")]
        )
        return "" if is_in_list else match[0]

    return _LIST_NUMBER.sub(kept, text)


def marked_statements(text: str) -> Iterator[Statement]:
    """The marked statements of an answer, the last one first; blanks that were not filled in are none."""
    marks = list(_MARK.finditer(text))
    limit = len(text)
    for mark in reversed(marks[-MOST_MARKS:]):
        statement = _statement(text, mark, limit)
        if not _joins(text[mark.end() : limit]):
            limit = mark.start()
        if statement is not None:
            yield statement


def _joins(between: str) -> bool:
    """Whether a mark's text runs into the next mark as an alternative: "Answer: yes or Answer: no"."""
    return len(between) < 60 and re.search(r"(?:\bor|/)[\s\"'(]*(?:the\s)?$", between, re.IGNORECASE) is not None


def _statement(text: str, mark: re.Match[str], limit: int) -> Statement | None:
    if mark["heading"] is not None and not _stands_alone(text, mark):
        return None
    is_prose = bool(mark["verb"] or mark["option_verb"]) or (mark[0].lower().startswith("answer") and not mark["colon"])
    if mark[0] != BOX and _SOMEONES.search(text, max(0, mark.start() - 90), mark.start()):
        return None
    newline = text.find("\n", mark.end(), limit)
    end = limit if newline < 0 else newline
    if not _STRAY.sub("", text[mark.end() : end]):  # the value stands on the next line
        start, end = _next_line(text, end, limit)
        words = text[start:end]
        if mark["colon"] == "|" and words.count("|") and text[mark.end() : end].count("\n"):
            words = words.rstrip(" |").rpartition("|")[2]
    else:
        words = text[mark.end() : end]
    if not words.strip() or (_PLACEHOLDER.match(words) and not _FILLED.match(words)):
        return None
    if is_prose and (sentences(words)[0].rstrip().endswith("?") or _ON_CORRECTNESS.match(words)):
        return None
    return Statement(words, end, not is_prose and not mark["heading"], is_prose)


def _stands_alone(text: str, mark: re.Match[str]) -> bool:
    """Whether the word is a heading: nothing but "Answer", perhaps "Final answer", on its line."""
    before = text[max(0, mark.start() - 40) : mark.start()].rpartition("\n")[2]
    return re.fullmatch(r"[\s#\d.|]*(?:(?:the|my|final|correct)\s){0,3}", before, re.IGNORECASE) is not None


def _next_line(text: str, position: int, limit: int) -> tuple[int, int]:
    start = position
    while start < limit and (text[start].isspace() or text[start] in "|\"'"):
        start += 1
    newline = text.find("\n", start, limit)
    return start, limit if newline < 0 else newline


def is_question(sentence: str) -> bool:
    """Whether a sentence asks for something, rather than gives a value with a doubt ("9?")."""
    return sentence.rstrip().endswith("?") and re.search(r"\w+\W+\w", sentence) is not None


def asks_again(text: str) -> bool:
    """Whether a text ends in a question for an amount: it repeats the question, and its numbers are given ones."""
    return _ASKS_AMOUNT.search(text[-400:]) is not None


def is_explanation(sentence: str) -> bool:
    """Whether a sentence explains an answer, or ends a letter, rather than gives one."""
    return _EXPLAINS.match(sentence) is not None


def sentences(text: str) -> list[str]:
    """The sentences of a text with their marks; a line ends a sentence, a single letter and a point does not."""
    found, position = [], 0
    for match in _SENTENCE_END.finditer(text):
        if match.end() > position:
            found.append(text[position : match.end()])
            position = match.end()
    if position < len(text):
        found.append(text[position:])
    return [each for each in found if each.strip()] or [text]

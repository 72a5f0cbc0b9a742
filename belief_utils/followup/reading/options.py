"""Read the option that a sentence chooses, by its letter or by its text."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from belief_utils.followup.reading.denial import is_denied
from belief_utils.followup.reading.reading import AMBIGUOUS, NO_SUCH_OPTION, Reading, is_bare
from belief_utils.followup.reading.wrapping import unwrap

_FLAGS = re.IGNORECASE | re.VERBOSE

# What may follow a letter that stands alone, so that "A" is not an article nor "I" the speaker.
_AFTER_LETTER = r"""(?=["')\]]{0,2}\s*(?:$|[,;:!?()|=…/&-]|\.(?!\w)|(?<=\s)[B-HJ-Z](?!\w)
    |(?:because|since|as|and|or|not|but|is|was|seems|remains|would|rather|instead|due|which|given|still|for|if)\b))"""
_LETTER = re.compile(
    rf"""(?<![\w'])[(\[]\s?["']?(?P<bracketed>[A-Za-z])["']?\s?[)\]](?!\w)
    |(?i:\b(?:option|choice|letter
        |answer)\s(?:choice\s)?)["']?(?P<named>(?:[B-HJ-Z](?!\w|['-]\w)|[AIa-z](?!\w|'\w){_AFTER_LETTER}))
    |(?<![\w.'-])(?P<closed>(?:[A-Za-z]\)|[A-Z][.:](?!\w)))
    |(?<![\w.'-])(?P<alone>[A-Z])(?![\w]|['-]\w){_AFTER_LETTER}
    |(?<![\w.'-])(?P<before_word>[B-HJ-Z])(?=\s\w)""",
    re.VERBOSE,
)
_ONE_LETTER = re.compile(r"\W*([A-Za-z])\W*")
_CHOOSES = re.compile(
    r"""\b(?:is|be|both|either|remains|choose|chose|select(?:ed)?|pick(?:ed)?|answer|with|option|choice|to|say
        |still|therefore|so|thus|hence|or|and|not|but|letter|maybe|perhaps|possibly|even)\b
    [\s"':(]{0,4}$""",
    _FLAGS,
)
_LEAD = re.compile(
    r"""[\W]*(?:\b(?:it|it's|is|are|be|that|this|still|option|options|choice|the|therefore|thus|so|definitely
        |clearly|most|likely|probably|certainly
        |now|indeed|letter|answer|correct|best|right|would|should|a|an|final|sorry|i|think|believe|choose|select
        |pick|say|go|with|remains|actually
        |in|fact|one|must|my|both|either)\b\W*){0,9}""",
    _FLAGS,
)
_JOINED = re.compile(
    r"""[\s"')\].]*(?:\b(?:or|and|as\swell\sas)\b|[,/&;|])?[\s"'(\[]*(?:(?:also|both|maybe|perhaps|either|option
        |choice|the)\s["']?){0,2}""",
    _FLAGS,
)
_OWN_TEXT = re.compile(r"[\s\"')\].:|,=-]{0,6}(?:(?:the|a|an|is)\s)?[\"'(]?", re.IGNORECASE)
_CONCLUSION = re.compile(r"\b(?:so|therefore|thus|hence|but|in\sconclusion|making)\b", _FLAGS)


@dataclass(frozen=True)
class Mention:
    """An option named in a sentence.

    Attributes:
        start: where its letter or text starts.
        end: where it ends.
        letter: the capital letter of the option.
        is_letter: named by its letter, not by its text.
        is_plain: a letter with brackets, a closing mark or the word "option", which can be nothing else.
    """

    start: int
    end: int
    letter: str
    is_letter: bool
    is_plain: bool = False


class OptionReader:
    """Reads which of some options a sentence chooses.

    Args:
        options: the texts of the options A, B, C, ...; without any, each letter is an option.
    """

    def __init__(self, options: Sequence[str]) -> None:
        texts = [_normalised(option) for option in options]
        counts = Counter(texts)
        self._letters = ascii_uppercase[: len(texts)] if texts else ascii_uppercase
        self._texts = {
            letter: text for letter, text in zip(self._letters, texts, strict=False) if text and counts[text] == 1
        }
        self._patterns = {letter: _pattern(text) for letter, text in self._texts.items()}

    def __call__(self, sentence: str, *, is_marked: bool) -> Reading | None:
        """The option that a sentence chooses, as a reading; None if it chooses none."""
        whole = self._whole(sentence, is_marked)
        if whole is not None:
            return whole
        texts = self._text_mentions(sentence, is_marked)
        letters = [
            each
            for each in self._letter_mentions(sentence, is_marked)
            if not any(text.start <= each.start and each.end <= text.end and not each.is_plain for text in texts)
        ]
        mentions = _given(sentence, self._merged(sentence, letters, texts))
        if not mentions:
            return None
        first = mentions[0]
        if first.letter == "?":
            return Reading(None, AMBIGUOUS, first.start, first.end, is_firm=True)
        unknown = next((each for each in mentions if each.letter not in self._letters), None)
        mentions = [each for each in mentions if each.letter in self._letters]
        if unknown and (is_marked or unknown.is_plain) and (not mentions or unknown is first):
            return Reading(None, NO_SUCH_OPTION, unknown.start, unknown.end, is_firm=True)
        return self._chosen(sentence, mentions, is_marked) if mentions else None

    def _whole(self, sentence: str, is_marked: bool) -> Reading | None:
        """A sentence that is one option's text, or a letter, and nothing else."""
        said = _normalised(sentence)
        by_text = [
            letter for letter, text in self._texts.items() if said in (text, _bare(text)) or _bare(said) == _bare(text)
        ]
        by_letter = _ONE_LETTER.fullmatch(sentence)
        letter = by_letter[1].upper() if by_letter else None
        if letter and letter in self._letters:
            named = bool(re.search(r"[()\[\]]", sentence))
            if by_text and by_text != [letter] and not named:
                return Reading(None, AMBIGUOUS, 0, len(sentence), is_firm=True)
            return Reading(letter, None, by_letter.start(1), by_letter.end(1), is_firm=True, is_bare=True)
        exact = [each for each in by_text if self._texts[each] == said] or by_text
        if len(exact) == 1:
            return Reading(exact[0], None, 0, len(sentence), is_firm=True, is_bare=True)
        if letter and is_marked:
            return Reading(None, NO_SUCH_OPTION, by_letter.start(1), by_letter.end(1), is_firm=True)
        return None

    def _letter_mentions(self, sentence: str, is_marked: bool) -> list[Mention]:
        found = []
        for match in _LETTER.finditer(sentence):
            kind = match.lastgroup or ""
            letter = match[kind][0].upper()
            plain = kind in ("bracketed", "named") or (kind == "closed" and match[kind].endswith(")"))
            before = sentence[max(0, match.start() - 30) : match.start()]
            chosen = (
                not re.search(r"\w", before) or _CHOOSES.search(before) or (found and len(before) and _follows(before))
            )
            if not plain and not chosen and not (is_marked and kind != "before_word" and letter not in "AI"):
                continue
            if kind == "before_word" and not (
                is_marked or re.search(r"\b(?:is|answer|option)\W*$", before, re.IGNORECASE)
            ):
                continue
            end = match.end() - (kind == "closed" and match[kind][-1] in ".:")
            found.append(Mention(match.start(), end, letter, True, plain))
        return found

    def _text_mentions(self, sentence: str, is_marked: bool) -> list[Mention]:
        """Options named by their text; of texts that overlap the longest."""
        spans = []
        for letter, pattern in self._patterns.items():
            text = self._texts[letter]
            if len(text) < 3 and not is_marked:
                continue  # "to", "3": too often something else
            spans += [Mention(*match.span(), letter, False) for match in pattern.finditer(sentence)]
        kept: list[Mention] = []
        for each in sorted(spans, key=lambda span: (span.start - span.end, span.start)):
            if all(each.end <= other.start or other.end <= each.start for other in kept[:200]):
                kept.append(each)
        return sorted(kept, key=lambda span: span.start)

    def _merged(self, sentence: str, letters: list[Mention], texts: list[Mention]) -> list[Mention]:
        """All mentions in their order, a letter and the text after it as one; "?" where these contradict each other."""
        result: list[Mention] = []
        for each in sorted([*letters, *texts], key=lambda mention: (mention.start, not mention.is_letter)):
            last = result[-1] if result else None
            if last and each.start < last.end:
                continue
            if last and last.is_letter and not each.is_letter and _OWN_TEXT.fullmatch(sentence, last.end, each.start):
                joined = sentence[last.end : each.start]
                if (
                    last.letter == each.letter
                    or not joined.strip(" \"'")
                    or re.search(r"[):.\]|=-]", joined)
                    or last.is_plain
                ):
                    letter = each.letter if last.letter == each.letter else "?"
                    result[-1] = Mention(last.start, each.end, letter, True, True)
                    continue
            if last and not last.is_letter and each.is_letter and last.letter == each.letter:
                result[-1] = Mention(last.start, each.end, each.letter, True, True)  # "bank (A)"
                continue
            result.append(each)
        return result

    def _chosen(self, sentence: str, mentions: list[Mention], is_marked: bool) -> Reading:
        first = mentions[0]
        different = [each for each in mentions[1:] if each.letter != first.letter]
        leads = _LEAD.fullmatch(sentence, 0, first.start) is not None
        if not different:
            bare = is_bare(sentence, first.start, first.end)
            return Reading(
                first.letter, None, first.start, first.end, is_firm=(leads and is_marked) or bare, is_bare=bare
            )
        if leads and is_marked:
            following = mentions[1]
            if following.letter != first.letter and _JOINED.fullmatch(sentence, first.end, following.start):
                return Reading(None, AMBIGUOUS, first.start, following.end, is_firm=True)
            if first.is_letter:
                return Reading(first.letter, None, first.start, first.end, is_firm=True)
        cues = list(_CONCLUSION.finditer(sentence, 0, mentions[-1].start))
        if cues:
            concluded = [each for each in mentions if each.start >= cues[-1].end()]
            if len({each.letter for each in concluded}) == 1:
                return Reading(concluded[-1].letter, None, concluded[-1].start, concluded[-1].end)
        return Reading(None, AMBIGUOUS, first.start, mentions[-1].end)


def _given(sentence: str, mentions: list[Mention]) -> list[Mention]:
    given, denied_end = [], None
    for each in mentions:
        if is_denied(sentence, each.start, each.end, denied_end):
            denied_end = each.end
        else:
            given.append(each)
            denied_end = None
    return given


def _follows(before: str) -> bool:
    return re.search(r"(?:[,/&]|\b(?:or|and))\W{0,3}$", before, re.IGNORECASE) is not None


def _normalised(text: str) -> str:
    return " ".join(unwrap(str(text))[0].casefold().split()).strip(" \"'.,;:!?()[]")


def _bare(text: str) -> str:
    return re.sub(r"^(?:the|an?)\s", "", text)


def _pattern(text: str) -> re.Pattern[str]:
    before = r"(?<!\w)(?<!\d[.,])" + (r"(?<!-)" if text[0].isdigit() else "")
    return re.compile(before + r"\s+".join(map(re.escape, text.split())) + r"(?!\w)(?![.,]\d)", re.IGNORECASE)

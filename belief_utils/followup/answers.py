"""Read the answer to a question or a follow-up question, or say why there is none to read.

What counts is the answer and not its tone: an apology that ends in the same value has changed nothing. A wrong
reading is a valid answer that nothing notices later, so what can be read in two ways is not read at all.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Protocol

from belief_utils.errors import BeliefError
from belief_utils.followup.items import KINDS, LETTERS, NUMBER, OPTION, TRUTH, YES_NO
from belief_utils.followup.reading.denial import is_mild, unable_at
from belief_utils.followup.reading.letters import read_letters
from belief_utils.followup.reading.number_statements import read_number
from belief_utils.followup.reading.options import OptionReader
from belief_utils.followup.reading.reading import AMBIGUOUS, NO_SUCH_OPTION, UNABLE, Reading
from belief_utils.followup.reading.statements import (
    Statement,
    asks_again,
    is_explanation,
    is_question,
    marked_statements,
    sentences,
    without_echoes,
)
from belief_utils.followup.reading.truth import read_truth
from belief_utils.followup.reading.wrapping import unwrap

__all__ = ["PROBLEMS", "ParsedAnswer", "canonical", "parse_answer"]

EMPTY, TRUNCATED, NO_ANSWER = "empty", "truncated", "no answer"
#: Why an answer has no value. ``unable`` is an answer, one that is not right; the others could not be read.
PROBLEMS = (UNABLE, AMBIGUOUS, NO_SUCH_OPTION, EMPTY, TRUNCATED, NO_ANSWER)

_LONGEST_SENTENCE = 3000
_MOST_SENTENCES = 400  # looked at from the last one back
_DANGLING = re.compile(r"(?:\b(?:or|and|nor|not|but)|[/,&])\s*$", re.IGNORECASE)
_ANNOUNCED = re.compile(r"\banswer(?:\sis)?[\s:=\"']*$", re.IGNORECASE)
_MAY_GO_ON = ".,-/'"  # after which the token limit may have cut off the rest of a value


@dataclass(frozen=True)
class ParsedAnswer:
    """What an answer says.

    Attributes:
        value: the answer in canonical form (see ``items.Item.answer``); None where it could not be read.
        problem: None, or one of :data:`PROBLEMS`; exactly one of the two is None.
    """

    value: str | None
    problem: str | None = None


class Reader(Protocol):
    """Reads what one sentence gives."""

    def __call__(self, sentence: str, *, is_marked: bool) -> Reading | None:
        """The reading, or None where the sentence gives nothing of the kind."""


def parse_answer(text: str, kind: str, options: Sequence[str] = (), *, truncated: bool = False) -> ParsedAnswer:
    """Read an answer that was asked for in the paper's form ("Answer: ..." on the last line; appendix A.2, Table 7).

    The last line that carries the mark decides ("Answer:", "the answer is", a box); without one, the last sentence
    that gives a value of this kind. A repetition of the request, such as 'Answer: (A)', is not an answer.

    Args:
        text: the answer as the model gave it.
        kind: one of ``items.KINDS``.
        options: the texts of the options A, B, C, ...; only for ``"option"``.
        truncated: the answer was cut at the token limit. Only a marked value then counts, and a number or letters
            at the very end do not, because they may lack a part.

    Raises:
        BeliefError: when the kind is not one of ``items.KINDS``.
    """
    reader = _reader(kind, tuple(options))
    plain, thinking = unwrap(text or "")
    is_cut = truncated or thinking
    if not plain.strip():
        return ParsedAnswer(None, TRUNCATED if is_cut else EMPTY)
    plain = without_echoes(plain)
    may_lack_a_part = (
        is_cut and kind in (NUMBER, LETTERS) and (text.rstrip(" ")[-1:].isalnum() or text[-1] in _MAY_GO_ON)
    )
    reading = _marked(plain, reader, is_cut=is_cut, may_lack_a_part=may_lack_a_part)
    if reading is None and not is_cut:
        reading = _last_given(plain, reader)
    if reading is None:
        return ParsedAnswer(None, TRUNCATED if is_cut else NO_ANSWER)
    return ParsedAnswer(reading.value, reading.problem)


def canonical(text: str, kind: str, options: Sequence[str] = ()) -> str | None:
    """A right answer in canonical form: ``"8,000"`` is ``"8000"``, ``"29.00"`` is ``"29"``, ``"(b)"`` is ``"B"``.

    Args:
        text: the answer as a benchmark gives it; the last line after ``####`` counts where there is one.
        kind: one of ``items.KINDS``.
        options: the texts of the options; only for ``"option"``.

    Returns:
        The canonical form, or None where there is none; nothing raises.
    """
    if kind not in KINDS:
        return None
    written = str(text)
    return parse_answer(f"Answer: {written}", kind, options).value or parse_answer(written, kind, options).value


@lru_cache(maxsize=256)
def _reader(kind: str, options: tuple[str, ...]) -> Reader:
    if kind not in KINDS:
        raise BeliefError(f"kind of answer {kind!r} is not known: use one of {', '.join(KINDS)}")
    readers: dict[str, Reader] = {
        NUMBER: read_number,
        LETTERS: read_letters,
        TRUTH: partial(read_truth, words=("false", "true")),
        YES_NO: partial(read_truth, words=("no", "yes")),
    }
    return OptionReader(options) if kind == OPTION else readers[kind]


def _marked(plain: str, reader: Reader, *, is_cut: bool, may_lack_a_part: bool) -> Reading | None:
    """What the last marked statement gives; sentences about an answer that give no value are passed over."""
    if is_cut and _ANNOUNCED.search(plain[-40:]):
        return None
    for statement in marked_statements(plain):
        reading, rest = _announced(statement, reader)
        is_open = reading is None or (reading.value is not None and _is_open(rest, may_lack_a_part))
        if is_cut and statement.end == len(plain) and is_open:
            return None
        if reading is not None and (reading.is_firm or statement.is_prose):
            return reading
        if not statement.is_label:
            continue
        if is_cut:
            return None
        return _with_what_follows(reading, _last_given(plain[statement.end :], reader))
    return None


def _announced(statement: Statement, reader: Reader) -> tuple[Reading | None, str]:
    """What the first sentence of a marked statement that gives anything gives, and the rest of the statement.

    A value that does not stand where an answer stands is weighed against the sentences after it.
    """
    parts = sentences(statement.text)[:_MOST_SENTENCES]
    doubt: Reading | None = None
    for position, part in enumerate(parts, start=1):
        reading = _read(part[:_LONGEST_SENTENCE], reader, is_marked=True)
        if reading is None or (part.rstrip().endswith("?") and position < len(parts)):
            continue
        if reading.problem == UNABLE and is_mild(part):
            doubt = doubt or reading
            continue
        rest = part[reading.end :] + "".join(parts[position:])
        if not reading.is_firm and statement.is_label and position < len(parts):
            reading = _with_what_follows(reading, _last_given("".join(parts[position:]), reader))
        return reading, rest
    return doubt, ""


def _with_what_follows(reading: Reading | None, later: Reading | None) -> Reading | None:
    """A reading that may be a step on the way, with what is given after it: where they differ, it is ambiguous."""
    if reading is None or later is None:
        return reading or later or Reading(None, NO_ANSWER)
    if reading.value == later.value or reading.problem == AMBIGUOUS:
        return later
    return reading if later.problem == AMBIGUOUS else Reading(None, AMBIGUOUS)


def _is_open(rest: str, may_lack_a_part: bool) -> bool:
    """Whether an answer was cut in the middle of what it announces, from what stands after its value."""
    return (may_lack_a_part and not re.search(r"\w", rest)) or _DANGLING.search(rest[-20:]) is not None


def _last_given(text: str, reader: Reader) -> Reading | None:
    """What the last sentence of a text gives that gives anything; explanations and doubts only if nothing else does."""
    if asks_again(text):
        return None
    parts = sentences(text)
    first = _read(parts[0][-_LONGEST_SENTENCE:], reader, is_marked=False)
    spare: Reading | None = None
    for part in reversed(parts[-_MOST_SENTENCES:]):
        if is_question(part) or (part.rstrip().endswith("?") and len(parts) > 1):
            continue
        reading = _read(part[-_LONGEST_SENTENCE:], reader, is_marked=False)
        if reading is None:
            continue
        if is_explanation(part) or (reading.problem == UNABLE and is_mild(part)):
            spare = spare or reading
            continue
        return _with_opening(first, reading)
    return spare


def _with_opening(first: Reading | None, last: Reading) -> Reading:
    """The last reading, unless the text opens with nothing but another value."""
    if first is None or not first.is_bare or first.value == last.value:
        return last
    return first if last.problem == AMBIGUOUS else Reading(None, last.problem or AMBIGUOUS)


def _read(sentence: str, reader: Reader, *, is_marked: bool) -> Reading | None:
    """What one sentence gives; ``unable`` where it says, before any value, that there is no telling."""
    reading = reader(sentence, is_marked=is_marked)
    gives = reading is not None and reading.value is not None
    position = unable_at(sentence, reading.start if reading and gives else None)
    if position is None or (reading is not None and reading.is_firm and reading.start <= position):
        return reading
    return Reading(None, UNABLE, position, len(sentence), is_firm=True)

"""What one sentence gives."""

import re
from dataclasses import dataclass

UNABLE, AMBIGUOUS, NO_SUCH_OPTION = "unable", "ambiguous", "no such option"


@dataclass(frozen=True)
class Reading:
    """What a sentence gives: a value, or the reason why it gives none.

    Attributes:
        value: the value in canonical form, or None.
        problem: None, or one of ``unable``, ``ambiguous``, ``no such option``.
        start: where the value starts in the sentence.
        end: where it ends.
        is_firm: it stands where an answer stands, so that later sentences are explanations.
        is_bare: the sentence is nothing but the value.
    """

    value: str | None
    problem: str | None = None
    start: int = 0
    end: int = 0
    is_firm: bool = False
    is_bare: bool = False


def is_bare(sentence: str, start: int, end: int) -> bool:
    """Whether nothing but punctuation stands around ``sentence[start:end]``."""
    return not re.search(r"\w", sentence[:start]) and not re.search(r"\w", sentence[end:])

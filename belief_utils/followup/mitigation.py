"""What may help a model to stay with a right answer: EmotionPrompt, Zero-shot-CoT and demonstrations (section 4)."""

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from belief_utils.errors import BeliefError
from belief_utils.paths import data

#: The sentence that each method adds before the form of the answer (paper, section 4).
METHODS = {
    "emotion": "This is very important to my career.",
    "cot": "Let's think step by step.",
}

#: Demonstrations in a prompt (paper, Table 6: "4-shot").
SHOTS = 4
_FEW_SHOT = re.compile(r"shots-([a-z]+)-([A-C])")


@dataclass(frozen=True)
class Demonstration:
    """A dialogue in which a right answer is questioned, thought over and kept; written for this project.

    Attributes:
        question, options, answer, misleading: as of an item and of a leading question about it.
        first_reply: what is answered first.
        reconsidered: what is answered to any of the three types of follow-up questions.
    """

    question: str
    answer: str
    misleading: str
    first_reply: str
    reconsidered: str
    options: tuple[str, ...] = ()


def sentence(method: str) -> str:
    """The sentence that a method adds to a question; demonstrations add none."""
    return METHODS.get(method, "")


def few_shot(kind: str, annotator: str) -> str:
    """The method's name on the initial question that demonstrations of a follow-up question come before."""
    return f"shots-{kind}-{annotator}"


def few_shot_of(method: str) -> tuple[str, str] | None:
    """Type and annotator of the demonstrated follow-up question; ``None`` for another method."""
    found = _FEW_SHOT.fullmatch(method)
    return (found[1], found[2]) if found else None


def load_demonstrations(kind: str) -> list[Demonstration]:
    """Four demonstrations with answers of one kind, from ``data/items/demonstrations.toml``.

    Raises:
        BeliefError: the file is missing or damaged, or holds fewer than four.
    """
    path = data("items", "demonstrations.toml")
    try:
        shown = _tables(path, path.stat().st_mtime_ns)[kind]
        found = [Demonstration(**{**each, "options": tuple(each.get("options", ()))}) for each in shown]
    except OSError as error:
        raise BeliefError(f"{path} cannot be read ({error.strerror}); restore it from the repository") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise BeliefError(f"{path} is damaged ({what}); restore it from the repository") from error
    if len(found) < SHOTS:
        raise BeliefError(f"{path} has {len(found)} demonstrations of the kind {kind!r} instead of {SHOTS}; add some")
    return found[:SHOTS]


@lru_cache(maxsize=8)
def _tables(path: Path, changed: int) -> dict[str, Any]:
    """The file's content, which every question with demonstrations needs anew, by when the file was changed."""
    return tomllib.loads(path.read_text(encoding="utf-8"))

"""Read a decision between several managements: is the model confident, and which one would it choose if it had to?"""

import json
import re
from collections.abc import Mapping

from belief_utils.beliefs.reading.decisions import ParsedDecision, parse_decision
from belief_utils.beliefs.reading.labels import find_labels
from belief_utils.beliefs.reading.problems import final_part
from belief_utils.beliefs.reading.wrapping import plain, without_thoughts

_OBJECT = re.compile(r"\{[^{}]*\}")
_SURE = {"yes": True, "true": True, "no": False, "false": False}
_TURNED_DOWN = re.compile(
    r"(?:\bnot|n't|\bnever|\bno|\bagainst|\bavoid\w*|\brather\sthan|\binstead\sof|\bwithout|\bnor)\b[^.;\n]{0,60}$",
    re.IGNORECASE,
)


def parse_management(text: str, managements: Mapping[str, str], *, truncated: bool = False) -> ParsedDecision:
    """Read a decision between managements.

    The JSON object that was asked for comes first, then prose that names a single management and does not turn it
    down. Nothing is guessed: what names several, or contradicts itself, is missing with its reason.

    Args:
        text: the answer as the model gave it.
        managements: by name, the label of each that there was to choose from.
        truncated: the answer was cut at the token limit.

    Returns:
        ``choice`` is a management's name; ``action`` is ``"defer"`` when the model is not confident.
    """
    labels = {label: name for name, label in managements.items()}
    answer, _ = without_thoughts(text or "")
    return _from_objects(answer, labels) or _from_prose(text or "", plain(answer), labels, truncated)


def _from_objects(answer: str, labels: Mapping[str, str]) -> ParsedDecision | None:
    """What the JSON objects of an answer say; None if none of them decides."""
    known = {label.casefold(): name for label, name in labels.items()}
    found = set()
    for piece in _OBJECT.findall(answer):
        try:
            given = json.loads(piece)
        except ValueError:
            continue
        confident = _SURE.get(str(given.get("confident")).strip().casefold())
        choice = known.get(str(given.get("choice")).strip().casefold())
        if confident is False or (confident and choice):
            found.add((confident, choice))
    if len(found) > 1:
        return ParsedDecision(None, None, "ambiguous")
    return ParsedDecision(*found.pop()) if found else None


def _from_prose(text: str, answer: str, labels: Mapping[str, str], truncated: bool) -> ParsedDecision:
    said = parse_decision(text, truncated=truncated)
    named = _named(final_part(answer), labels) or _named(answer, labels)
    choice = next(iter(named)) if len(named) == 1 else None
    if said.confident is False:
        return ParsedDecision(False, choice)
    if said.confident and choice:
        return ParsedDecision(True, choice)
    if len(named) > 1:
        problem = "ambiguous"
    elif said.confident:
        problem = "no choice"
    elif said.problem in ("empty", "refusal", "ambiguous"):
        problem = said.problem
    else:
        problem = "no confidence" if choice else "no decision"
    return ParsedDecision(said.confident, choice, "truncated" if truncated and problem != "refusal" else problem)


def _named(text: str, labels: Mapping[str, str]) -> set[str]:
    """The managements that a text names without turning them down."""
    mentions, _ = find_labels(text, tuple(labels))
    return {labels[mention.label] for mention in mentions if not _TURNED_DOWN.search(text[: mention.start])}

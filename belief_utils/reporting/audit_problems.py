"""What was missing, degenerate or simplified in an audit, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from belief_utils.beliefs.sufficiency import NO_INFORMATION
from belief_utils.reporting.audit_pictures import MONOTONICITY, MOST_ACTIONS_SHOWN, SUFFICIENCY
from belief_utils.reporting.audit_words import FEW_CASES, count

if TYPE_CHECKING:
    from belief_utils.reporting.audit import Audit


def problems(audit: Audit) -> tuple[str, ...]:
    """What was missing or degenerate, in sentences."""
    told = [*audit.reading_notes]
    for name, lacking in audit.missing.items():
        if lacking:
            told.append(f"The {name} is missing in {lacking:,} of {count(audit.n_rows, 'row')}.")
    if not audit.n_complete:
        told.append("No row has a belief, an action and an outcome.")
    elif audit.n_complete < audit.n_rows:
        told.append(
            f"{audit.n_complete:,} of {count(audit.n_rows, 'row')} have a belief, an action and an outcome; only these"
            " are used, save that an action is not needed for the third question. Nothing was filled in."
        )
    told.extend(f"The {name} never varies." for name in audit.constant)
    low, high = audit.repetitions
    if low == high == 1:
        told.append("There is one answer a case, so noise in the reports cannot be told from knowledge held back.")
    elif low < high:
        told.append(f"Cases have between {low:,} and {high:,} answers.")
    if 1 < audit.n_cases < FEW_CASES:
        told.append(f"There are only {audit.n_cases:,} cases: intervals are wide, and small gaps go unnoticed.")
    if len(audit.actions) > MOST_ACTIONS_SHOWN:
        told.append(f"There are {len(audit.actions)} actions, too many for pictures of each.")
    told.extend(_other_names(audit))
    told.extend(_of_tests(audit))
    return tuple(told)


def _other_names(audit: Audit) -> list[str]:
    if audit.states or not audit.actions or {"positive", "negative"} <= audit.actions.keys():
        return []
    return [
        "There are no actions called positive and negative, so nothing is said about direction; other names can be "
        "replaced, as in --action treat=positive."
    ]


def _of_tests(audit: Audit) -> list[str]:
    """What the tests noted, without what is said above already."""
    results = {
        "Score test": (SUFFICIENCY, audit.sufficiency),
        "Information": (SUFFICIENCY, audit.information),
        "Predictive gain, smooth curve": (SUFFICIENCY, audit.gain),
        "Predictive gain, random forest": (SUFFICIENCY, audit.forest_gain),
        "Margin": (MONOTONICITY, audit.margin),
        "Information given calibrated beliefs": (SUFFICIENCY, audit.calibrated),
    }
    by_note: dict[str, list[str]] = {}
    for name, (test, result) in results.items():
        if result is None or audit.reasons.get(test):
            continue
        for note in result.note.split("; "):
            if note and not note.startswith(_SAID_ELSEWHERE) and not any(part in note for part in _SAID_WITHIN):
                by_note.setdefault(note, []).append(name)
    return [f"{', '.join(names)}: {note}." for note, names in by_note.items()]


_SAID_ELSEWHERE = (NO_INFORMATION, "one repetition a case", "there is only one case", "no anchored margin")
_SAID_WITHIN = ("rows left out", "never varies")

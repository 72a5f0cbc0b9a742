"""What an audit says in words: the verdict, how to read it, what it cannot tell, how to cite it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

import numpy as np

from belief_utils.beliefs.monotonicity import CERTIFIED, NOT_TESTED, REJECTED
from belief_utils.beliefs.sufficiency import (
    KNOWS_MORE,
    LEVEL,
    NO_EVIDENCE,
    REPORT_NOISE,
)
from belief_utils.reporting.audit_pictures import CALIBRATION, MONOTONICITY, SUFFICIENCY
from belief_utils.reporting.layout import interval, number, p_value

if TYPE_CHECKING:
    from belief_utils.reporting.audit import Audit

CANNOT_TELL = "cannot be told"
#: With fewer cases than this, most gaps between words and deeds go unnoticed.
FEW_CASES = 100

ABOUT = (
    "Somebody who acts on a probability gives two things away: the number, and the deed. This audit compares the "
    "beliefs that were reported with the actions that were taken, and both with what turned out. It assumes nothing "
    "about what the agent wants."
)
HOW_TO_READ = (
    "decides: the figures that the verdict rests on; their error rates were checked by simulation, each at the 5 % "
    "level.",
    "as in the paper: computed as in arXiv 2602.06286, to be compared with its tables; the verdict does not use them.",
    "describes: how large something is, or which way it goes; the verdict of the first two questions does not use it.",
    "Passing a test is no proof. An agent that reports and acts at random passes the first one.",
    "Not tested here, because it takes answers to further questions: whether beliefs change with the wording of the "
    "question, and whether they agree with the average over what could be learnt next.",
)


@dataclass(frozen=True)
class Answer:
    """The answer to one question: a few words, and a sentence that explains them."""

    short: str
    sentence: str


def answers(audit: Audit) -> dict[str, Answer]:
    """The answer to each of the three questions, by test."""
    told = {SUFFICIENCY: _sufficiency, MONOTONICITY: _monotonicity, CALIBRATION: _calibration}
    return {
        test: Answer(CANNOT_TELL, f"{_UNTOLD[test]} cannot be told from these data: {audit.reasons[test]}.")
        if audit.reasons.get(test)
        else tell(audit)
        for test, tell in told.items()
    }


_UNTOLD = {
    SUFFICIENCY: "Whether the actions know more than the reported beliefs say",
    MONOTONICITY: "Whether the beliefs move the actions",
    CALIBRATION: "Whether the beliefs are right on average",
}


def _sufficiency(audit: Audit) -> Answer:
    test = audit.sufficiency
    raw, adjusted = p_text(test.p_value), p_text(test.adjusted_p_value)
    if test.verdict == NO_EVIDENCE:
        few = test.n_cases < FEW_CASES
        caution = f"with only {count(test.n_cases, 'case')}, all but a large gap would go unnoticed"
        return Answer(
            test.verdict,
            "Nothing here speaks against the reported beliefs saying all that the actions know: among cases of like "
            f"belief, actions and outcomes go together no more than chance would have it ({raw}). "
            f"This is no proof{'; ' + caution if few else ''}.",
        )
    if test.verdict == REPORT_NOISE:
        return Answer(
            test.verdict,
            f"Actions go with outcomes more closely than the reported beliefs explain ({raw}), but not more than "
            f"beliefs that differ from one answer to the next would by themselves ({adjusted} after allowing for "
            "that): this does not speak against the beliefs.",
        )
    if test.verdict == KNOWS_MORE:
        direction = ""
        if test.z_p_value <= LEVEL:
            direction = _TOWARDS if test.z > 0 else _AGAINST
        return Answer(
            f"yes: the agent {test.verdict}",
            "The actions know more than the reported beliefs say: among cases of like belief they still go with what "
            f"turned out ({raw}), and noise in the reports does not explain it ({adjusted}).{direction}",
        )
    return Answer(
        "yes, unless its reports are noisy",
        f"Among cases of like belief, the actions still go with what turned out ({raw}). Whether noise in the reports "
        "explains it cannot be told from these data; several answers about each case would show it."
        if not audit.states
        else f"Among cases of like belief, the actions still go with what turned out ({raw}). Whether noise in the "
        "reports explains it is not tested with more than two outcomes.",
    )


_TOWARDS = " They carry correct information that the reports leave out."
_AGAINST = " They go against it: after positive actions the outcome came less often than the beliefs say."


def _monotonicity(audit: Audit) -> Answer:
    if audit.states:
        return _several(audit)
    margin = audit.margin
    free, anchored = margin.verdict, margin.anchored_verdict
    bounds = interval(margin.lower_bound, margin.upper_bound, 3)
    if free == NOT_TESTED:
        return Answer(CANNOT_TELL, f"{_UNTOLD[MONOTONICITY]} cannot be told: {margin.note}.")
    if free == REJECTED:
        return Answer(
            "no: the choices turn back as the belief rises",
            "The choices do not move with the belief as those of any agent would that acts on it: somewhere they turn "
            f"back as the belief rises (bounds of the margin {bounds}).",
        )
    if anchored == CERTIFIED:
        return Answer(
            "yes: step by step",
            "As the belief rises, the choices move step by step away from negative and towards positive, as they would "
            f"for an agent that acts on it (lower bound of the margin {number(margin.anchored_lower_bound, 3)}).",
        )
    if anchored == REJECTED:
        moves = "The choices move, but not" if free == CERTIFIED else "The choices do not move"
        return Answer(
            "not towards positive" if free == CERTIFIED else "not towards positive; otherwise open",
            f"{moves} towards positive as the belief rises: no agent that a higher belief draws to positive chooses "
            f"like this (upper bound of the margin {number(margin.anchored_upper_bound, 3)}).",
        )
    if free == CERTIFIED:
        return Answer(
            "yes, for some agent",
            "As the belief rises, the choices move step by step, as they would for some agent that acts on it (lower "
            f"bound of the margin {number(margin.lower_bound, 3)}); which action a high belief calls for "
            "is not established.",
        )
    return Answer(
        "open",
        "Whether the choices move steadily with the belief is open: these data neither establish it nor rule it out "
        f"(bounds of the margin {bounds}).",
    )


def _several(audit: Audit) -> Answer:
    way = "some" if audit.several_margin.gamma >= 0 else "no"
    return Answer(
        "described, not decided",
        f"As they stand, the choices move with the beliefs as those of {way} agent would that acts on its beliefs; "
        "chance is not allowed for, so this decides nothing.",
    )


def _calibration(audit: Audit) -> Answer:
    found = audit.calibration
    if audit.states:
        better = "better" if found.brier < found.base_rate else "not better"
        return Answer(
            f"Brier score {number(found.brier, 3)}",
            f"The beliefs predict the outcome {better} than always stating how often each outcome comes (Brier score "
            f"{number(found.brier, 3)} against {number(found.base_rate, 3)}; lower is better).",
        )
    told = (
        f"they average {number(found.mean_belief, 2)}, and the share of answers about cases with the outcome is "
        f"{number(found.outcome_share, 2)} (difference {_signed(found.shift)}, 95 % interval "
        f"{interval(*found.shift_interval, 3)})"
    )
    low, high = found.shift_interval
    if np.isnan(low) or low <= 0 <= high:
        return Answer("no shift on average", f"Nothing here speaks against beliefs that are right on average: {told}.")
    way = "high" if found.shift > 0 else "low"
    return Answer(f"too {way} on average", f"The reported beliefs are too {way} on average: {told}.")


def citation() -> tuple[str, ...]:
    """The paper and this companion, as references."""
    try:
        number_of_version = f" (version {version('belief-utils')})"
    except PackageNotFoundError:
        number_of_version = ""
    return (
        "Khurram Yamin, Jingjing Tang, Santiago Cortes-Gomez and Amit Sharma: When Agents Say One Thing and Do "
        "Another: Validating Elicited Beliefs from LLMs. arXiv:2602.06286, 2026.",
        f"belief-utils{number_of_version}: Does a language model act on the probability that it reports? A "
        "reproducible companion. Its tests and bounds are those that this audit decides from.",
    )


def facts(audit: Audit) -> str:
    """What the data are, in a line."""
    low, high = audit.repetitions
    times = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    parts = [f"{count(audit.n_rows, 'row')}, {count(audit.n_cases, 'case')}, {times} for each case"]
    if audit.actions:
        parts.append(f"actions: {_shares(audit.actions)}")
    if audit.states:
        parts.append(f"outcomes: {_shares(audit.outcomes)}")
    elif audit.outcomes:
        positive = audit.outcomes.get("1", 0) / sum(audit.outcomes.values())
        parts.append(f"the outcome came in {100 * positive:.0f} % of the rows")
    return "; ".join(parts) + "."


def _shares(counts: dict[str, int], most: int = 12) -> str:
    total = sum(counts.values())
    shown = [f"{name} {100 * count / total:.0f} %" for name, count in list(counts.items())[:most]]
    more = [f"{len(counts) - most} more"] if len(counts) > most else []
    return ", ".join([*shown, *more])


def count(n: int, noun: str) -> str:
    """So many of something, in words."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def p_text(value: float) -> str:
    """A p value for a sentence."""
    text = p_value(value)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def _signed(value: float) -> str:
    text = number(value, 3)
    return f"+{text}" if value > 0 and not text.startswith("−") else text

"""The figures of an audit, grouped by the question that they answer, each with a sentence on how to read it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from belief_utils.beliefs.sufficiency import NO_INFORMATION
from belief_utils.reporting.audit_pictures import CALIBRATION, MONOTONICITY, SUFFICIENCY, Panel
from belief_utils.reporting.layout import number, share

if TYPE_CHECKING:
    from belief_utils.reporting.audit import Audit

DECIDES = "decides"
AS_IN_PAPER = "as in the paper"
DESCRIBES = "describes"

QUESTIONS = {
    SUFFICIENCY: "Do the actions know more than the beliefs say?",
    MONOTONICITY: "Do the beliefs move the actions?",
    CALIBRATION: "Are the beliefs right on average?",
}


@dataclass(frozen=True)
class Finding:
    """One figure.

    Attributes:
        test: The question that it belongs to: ``sufficiency``, ``monotonicity`` or ``calibration``.
        statistic: A short name that programs can rely on.
        label: What it is called in print.
        value, low, high, p: The figure, the ends of its interval or its bounds, and its p value; NaN where it has none.
        role: ``decides``, ``as in the paper`` or ``describes``.
        sentence: How to read it.
        decimals: How many decimals are printed.
    """

    test: str
    statistic: str
    label: str
    value: float
    low: float
    high: float
    p: float
    role: str
    sentence: str
    decimals: int = 3


@dataclass(frozen=True)
class Section:
    """One question with what there is to answer it.

    Attributes:
        question: The question.
        instead: Why there is no figure, or "".
        findings: The figures.
        headings, rows: A table of the share of each action by bin of belief, as texts; empty where there is none.
        panels: The pictures.
    """

    question: str
    instead: str
    findings: tuple[Finding, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    panels: tuple[Panel, ...]


def sections(audit: Audit) -> tuple[Section, ...]:
    """The three questions with their figures, tables and pictures."""
    built = []
    for test, question in QUESTIONS.items():
        reason = audit.reasons.get(test, "")
        found = tuple(one for one in findings(audit) if one.test == test and not np.isnan(one.value))
        headings, rows = choice_table(audit) if test == MONOTONICITY and not reason else ((), ())
        shown = tuple(panel for panel in audit.panels if panel.section == test and not reason)
        built.append(Section(question, reason, found, headings, rows, shown))
    return tuple(built)


def findings(audit: Audit) -> tuple[Finding, ...]:
    """All figures of an audit; without values where they would mean nothing."""
    found = (*_sufficiency(audit), *_monotonicity(audit), *_calibration(audit))
    empty = {"value": np.nan, "low": np.nan, "high": np.nan, "p": np.nan}
    return tuple(replace(one, **empty) if audit.reasons.get(one.test) else one for one in found)


def _sufficiency(audit: Audit) -> list[Finding]:
    test, nan = audit.sufficiency, np.nan
    found = [
        Finding(
            SUFFICIENCY, "score", f"Score statistic ({test.df} degrees of freedom)", test.statistic, nan, nan,
            test.p_value, DECIDES, "Do actions and outcomes go together among cases of like belief? A p value of .05 "
            "or less says yes.", 2,
        ),
        Finding(
            SUFFICIENCY, "score_adjusted", "Score statistic less noise in the reports", test.adjusted_statistic, nan,
            nan, test.adjusted_p_value, DECIDES, "What is left after taking off what beliefs that differ from one "
            "answer to the next produce by themselves. The verdict is 'knows more than it says' only if both p values "
            "are .05 or less.", 2,
        ),
    ]  # fmt: skip
    if audit.states:
        return found
    if not np.isnan(test.z):
        found.append(
            Finding(
                SUFFICIENCY, "direction", "Direction (z)", test.z, nan, nan, test.z_p_value, DESCRIBES,
                "Above zero: after positive actions the outcome came more often than the belief says, after negative "
                "ones less often. Below zero: the other way round. Not used for the verdict.", 2,
            )
        )  # fmt: skip
    return found + _information(audit) + _gains(audit)


def _information(audit: Audit) -> list[Finding]:
    information = audit.information
    return [
        Finding(
            SUFFICIENCY, "cmi", "Conditional mutual information, in nats", information.estimate, *information.interval,
            np.nan, AS_IN_PAPER, "Zero if the belief says all that the action knows. To compare with the paper, not to "
            "decide from: its error without any true information can be as large as a real effect, and its interval "
            "does not contain the truth as often as 95 % promises.", 4,
        ),
        Finding(
            SUFFICIENCY, "cmi_excess", "Excess information, in nats", information.excess, *information.excess_interval,
            information.p_value, DESCRIBES, "The same less its mean when outcomes are exchanged among cases of like "
            "belief: how large the effect is, without that error.", 4,
        ),
    ]  # fmt: skip


def _gains(audit: Audit) -> list[Finding]:
    found = [
        Finding(
            SUFFICIENCY, "gain_spline", "Predictive gain, in percent (smooth curve)", audit.gain.percent,
            *audit.gain.interval, np.nan, DESCRIBES, "How much smaller the squared error becomes when the outcome is "
            "predicted from action and belief, not from the belief alone, in cases that the prediction was not fitted "
            "to. Near or below zero: the action adds nothing.", 2,
        )
    ]  # fmt: skip
    if audit.forest_gain is not None:
        found.append(
            Finding(
                SUFFICIENCY, "gain_forest", "Predictive gain, in percent (random forest)", audit.forest_gain.percent,
                *audit.forest_gain.interval, np.nan, AS_IN_PAPER, "The same with the paper's way of predicting; the "
                "smooth curve is more reliable.", 2,
            )
        )  # fmt: skip
    return found


def _monotonicity(audit: Audit) -> list[Finding]:
    if audit.states:
        several = audit.several_margin
        few = " With so few groups of beliefs almost any choices pass." if several.n_points < 8 else ""
        sentence = (
            "Above zero: the choices move with the beliefs for some preferences between actions; below zero: for none. "
            f"Only the sign has a meaning, and chance is not allowed for.{few}"
        )
        label = f"Margin over {several.n_points} groups of beliefs"
        nan = np.nan
        return [Finding(MONOTONICITY, "margin_several", label, several.gamma, nan, nan, nan, DESCRIBES, sentence, 4)]
    margin, nan = audit.margin, np.nan
    largest = f" It cannot be above {number(1 / margin.n_changes, 2)} here." if margin.n_changes else ""
    return [
        Finding(
            MONOTONICITY, "margin", "Signed margin", margin.gamma, *margin.interval, nan, AS_IN_PAPER,
            "Above zero: the choices move with the belief for some preferences between actions; below zero: for none."
            f"{largest} The interval may be read for its sign only.",
        ),
        Finding(
            MONOTONICITY, "margin_bounds", "Bounds of the signed margin", margin.gamma, margin.lower_bound,
            margin.upper_bound, nan, DECIDES, "A lower bound above zero establishes that the choices move with the "
            "belief; an upper bound below zero rules it out for every agent (each at the 5 % level).",
        ),
        Finding(
            MONOTONICITY, "margin_anchored", "Margin if positive calls for a high belief", margin.anchored,
            margin.anchored_lower_bound, margin.anchored_upper_bound, nan, DECIDES, "The same, and the same bounds, "
            "for agents that are drawn to positive and away from negative as the belief rises: the signed margin alone "
            "does not see the direction.",
        ),
    ]  # fmt: skip


def _calibration(audit: Audit) -> list[Finding]:
    found, nan = audit.calibration, np.nan
    if found is None:
        return []
    score = Finding(
        CALIBRATION, "brier", "Brier score", found.brier, *found.brier_interval, nan, DESCRIBES,
        "Mean squared distance between belief and outcome: 0 is perfect, and lower is better.",
    )  # fmt: skip
    base_rate = Finding(
        CALIBRATION, "brier_base_rate", "Brier score of the base rate", found.base_rate, nan, nan, nan, DESCRIBES,
        "What always stating how often the outcome comes in these data would score.",
    )  # fmt: skip
    if audit.states:
        return [score, base_rate]
    return [
        Finding(
            CALIBRATION, "mean_shift", "Mean belief less share with the outcome", found.shift, *found.shift_interval,
            found.shift_p_value, DESCRIBES, "Above zero: beliefs are too high on average; below zero: too low.",
        ),
        score,
        base_rate,
        Finding(
            CALIBRATION, "miscalibration", "Part of the score that recalibration takes off", found.miscalibration, nan,
            nan, nan, DESCRIBES, "How much lower the Brier score would be if each belief were replaced by the share of "
            "outcomes that goes with it (isotonic fit to these data, so somewhat too large).",
        ),
        *_calibrated(audit),
    ]  # fmt: skip


def _calibrated(audit: Audit) -> list[Finding]:
    information = audit.calibrated
    if information is None or audit.sufficiency.verdict.startswith(NO_INFORMATION):
        return []
    return [
        Finding(
            CALIBRATION, "cmi_calibrated", "Information given calibrated beliefs, in nats", information.estimate,
            *information.interval, np.nan, AS_IN_PAPER, "Conditional mutual information after the isotonic fit (the "
            "paper's Appendix Table 4): do actions know more than even calibrated beliefs would say? Not to decide "
            "from, as above.", 4,
        ),
        Finding(
            CALIBRATION, "cmi_calibrated_excess", "Excess information given calibrated beliefs, in nats",
            information.excess, *information.excess_interval, information.p_value, DESCRIBES, "The same less its mean "
            "when outcomes are exchanged among cases of like belief, with the fit made anew each time.", 4,
        ),
    ]  # fmt: skip


def choice_table(audit: Audit) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Headings and rows, as texts: the share of each action (rows) in each bin of belief; empty where there is none."""
    if audit.states or not len(audit.margin.choice_shares):
        return (), ()
    shares, edges = audit.margin.choice_shares, audit.margin.edges
    bins = [f"up to {edge:.4g}" for edge in edges[: len(shares) - 1]]
    bins.append(f"above {edges[len(shares) - 2]:.4g}" if len(shares) > 1 else "all")
    rows = tuple((str(action), *[share(value, 1) for value in shares[action]]) for action in shares.columns)
    return ("belief", *bins), rows

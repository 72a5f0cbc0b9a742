"""The audit of anybody's judgments: all tests, a verdict in plain words, pictures, and what was missing."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from belief_utils.beliefs.information import Information, information_test
from belief_utils.beliefs.monotonicity import NOT_TESTED, MonotonicityMargin, monotonicity_margin
from belief_utils.beliefs.prediction import PredictiveGain, calibrated_information, predictive_gain
from belief_utils.beliefs.sufficiency import NO_INFORMATION, SufficiencyTest, sufficiency_test
from belief_utils.reporting.audit_calibration import Calibration, calibration, calibration_of_several
from belief_utils.reporting.audit_data import counts, prepared
from belief_utils.reporting.audit_pictures import (
    CALIBRATION,
    MONOTONICITY,
    SUFFICIENCY,
    Panel,
    panels,
    panels_of_several,
)
from belief_utils.reporting.audit_several import SeveralMargin, several_margin

_log = logging.getLogger(__name__)

#: From so many rows on, the audit says what it is doing.
MANY_ROWS = 100_000
NO_ROWS = "no row has a belief, an action and an outcome"


@dataclass(frozen=True)
class Audit:
    """All that the tests found about one set of judgments.

    With more than two outcomes (``states`` is not empty) only the score test, the margin over several outcomes and the
    Brier score are computed; the other results are None.

    Attributes:
        title: What stands above it.
        seed: Seed of permutations and resamples.
        n_rows, n_cases: Rows and cases of the judgments.
        n_complete: Rows with a belief, an action and an outcome.
        repetitions: Fewest and most rows of a case.
        missing: How many rows lack the belief, the action and the outcome.
        actions, outcomes: How often each occurs.
        constant: Which of belief, action and outcome never vary.
        states: The outcomes where there are more than two, else empty.
        sufficiency: The score test, which decides the first question.
        information: Conditional mutual information, as in the paper, and its excess.
        gain, forest_gain: Predictive gain by a smooth curve, and as in the paper by a forest (None if left out).
        margin: The signed margin with the bounds that decide the second question.
        several_margin: The margin over more than two outcomes.
        calibration: Beliefs against outcomes; None without a row that has both.
        calibrated: Information given calibrated beliefs, as in the paper's Appendix Table 4.
        reasons: Why a question cannot be answered, by ``sufficiency``, ``monotonicity`` and ``calibration``.
        reading_notes: How the file was understood, where there was a choice.
        panels: What the pictures show.
    """

    title: str
    seed: int
    n_rows: int
    n_cases: int
    n_complete: int
    repetitions: tuple[int, int]
    missing: dict[str, int]
    actions: dict[str, int]
    outcomes: dict[str, int]
    constant: tuple[str, ...]
    states: tuple[str, ...]
    sufficiency: SufficiencyTest
    information: Information | None
    gain: PredictiveGain | None
    forest_gain: PredictiveGain | None
    margin: MonotonicityMargin | None
    several_margin: SeveralMargin | None
    calibration: Calibration | None
    calibrated: Information | None
    reasons: dict[str, str]
    reading_notes: tuple[str, ...]
    panels: tuple[Panel, ...]

    @property
    def verdict(self) -> str:
        """The verdict in plain words: a sentence or two for each of the three questions."""
        return " ".join(self.sentences)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The verdict by question: do actions know more, do beliefs move actions, are beliefs right on average."""
        from belief_utils.reporting.audit_words import answers

        return tuple(answer.sentence for answer in answers(self).values())

    @property
    def degenerate(self) -> tuple[str, ...]:
        """What was missing or degenerate, in sentences; empty if nothing was."""
        from belief_utils.reporting.audit_problems import problems

        return problems(self)

    def to_frame(self) -> pd.DataFrame:
        """All figures as a tidy frame: test, statistic, value, low, high, p, and the role that each one plays.

        Figures that would mean nothing, as where the action never varies, are missing. ``low`` and ``high`` are the
        ends of the interval, or of ``margin_bounds`` and ``margin_anchored`` the bounds.
        """
        from belief_utils.reporting.audit_findings import findings

        columns = ["test", "statistic", "value", "low", "high", "p", "role"]
        rows = [[getattr(finding, name) for name in columns] for finding in findings(self)]
        numbers = dict.fromkeys(["value", "low", "high", "p"], float)
        return pd.DataFrame(rows, columns=columns).astype(numbers)

    def to_text(self) -> str:
        """The audit for a terminal, 88 characters wide, in plain characters."""
        from belief_utils.reporting.audit_text import to_text

        return to_text(self)

    def to_markdown(self) -> str:
        """The audit as Markdown, without pictures."""
        from belief_utils.reporting.audit_text import to_markdown

        return to_markdown(self)

    def _repr_markdown_(self) -> str:
        # What a notebook shows.
        return self.to_markdown()

    def to_html(self) -> str:
        """The audit as one HTML page that needs nothing else: pictures inside, no script, no request."""
        from belief_utils.reporting.audit_html import to_html

        return to_html(self)

    def write_html(self, path: str | Path) -> None:
        """Write :meth:`to_html` to a file."""
        Path(path).write_text(self.to_html(), encoding="utf-8")


def audit(
    judgments: pd.DataFrame,
    *,
    seed: int = 0,
    title: str = "Audit of reported beliefs",
    permutations: int = 999,
    resamples: int = 500,
    forest: bool = True,
) -> Audit:
    """Run every test on a set of judgments: does the agent act as if it held the beliefs that it reports?

    Judgments of any shape get an answer, in words where a number would mean nothing. On large data the tests work with
    subsets of cases or fewer draws where all would take too long, and their notes say so.

    Args:
        judgments: Columns case, belief (0 to 1), action and outcome (1 or 0), as from
            :func:`belief_utils.beliefs.judgment_files.read_judgments`; values may be missing, except for the case.
            With more than two outcomes, a column ``belief_<outcome>`` for each and the outcomes' labels as outcome.
        seed: Seed of permutations and resamples; the same judgments and seed give the same audit.
        title: What stands above it.
        permutations: Permutations of the score test.
        resamples: Resamples of cases for intervals.
        forest: Whether to compute the paper's predictive gain by random forests, which takes most of the time on
            small data.

    Raises:
        BeliefError: a column is absent, there are no rows, a belief is outside [0, 1], an outcome is neither 1 nor 0, a
            case has two outcomes, or there are more than 50 actions.
    """
    frame, states = prepared(judgments)
    beliefs = [f"belief_{state}" for state in states] or ["belief"]
    _tell(frame, "score test")
    test = sufficiency_test(frame, permutations=permutations, seed=seed)
    found = dict.fromkeys(["information", "gain", "forest_gain", "margin", "several_margin", "calibrated"])
    if states:
        _tell(frame, "margin over several outcomes")
        found["several_margin"] = several_margin(frame, beliefs, seed=seed)
        found["calibration"] = calibration_of_several(frame, beliefs, list(states))
    else:
        found |= _about_two_outcomes(frame, min(permutations, 199), {"seed": seed, "resamples": resamples}, forest)
    counted = counts(frame, beliefs)
    reasons = _reasons(counted, test, found)
    _tell(frame, "pictures")
    shown = panels_of_several(frame, states) if states else panels(frame)
    return Audit(
        title=title, seed=seed, states=states, sufficiency=test, reasons=reasons, panels=shown,
        reading_notes=tuple(judgments.attrs.get("notes", ())), **counted, **found,
    )  # fmt: skip


def _about_two_outcomes(frame: pd.DataFrame, permutations: int, sizes: dict[str, int], forest: bool) -> dict:
    """The tests that there are for two outcomes only, by the audit's attributes."""
    found = {}
    _tell(frame, "information")
    found["information"] = information_test(frame, permutations=permutations, **sizes)
    _tell(frame, "information given calibrated beliefs")
    found["calibrated"] = calibrated_information(frame, permutations=permutations, **sizes)
    _tell(frame, "predictive gain")
    found["gain"] = predictive_gain(frame, **sizes)
    found["forest_gain"] = predictive_gain(frame, learner="forest", **sizes) if forest else None
    _tell(frame, "margin")
    found["margin"] = monotonicity_margin(frame, **sizes)
    found["calibration"] = calibration(frame)
    return found


def _tell(frame: pd.DataFrame, what: str) -> None:
    """Say what is being done, where it takes long enough to wonder."""
    if len(frame) >= MANY_ROWS:
        _log.info("%s rows: %s", f"{len(frame):,}", what)


def _reasons(counted: dict, test: SufficiencyTest, found: dict) -> dict[str, str]:
    """Why a question cannot be answered, by question."""
    reasons = {}
    if not counted["n_complete"]:
        reasons = dict.fromkeys((SUFFICIENCY, MONOTONICITY), NO_ROWS)
    elif test.n_cases < 2:
        reasons = dict.fromkeys((SUFFICIENCY, MONOTONICITY), "there is only one case")
    else:
        if test.verdict.startswith(NO_INFORMATION):
            why = test.verdict.removeprefix(f"{NO_INFORMATION}: ")
            reasons[SUFFICIENCY] = why.replace(" and the outcome never varies", " and the outcome never vary")
        margin, several = found["margin"], found["several_margin"]
        if margin is not None and margin.verdict.startswith(f"{NOT_TESTED}: "):
            reasons[MONOTONICITY] = margin.verdict.removeprefix(f"{NOT_TESTED}: ")
        if several is not None and several.note:
            reasons[MONOTONICITY] = several.note
    beliefs = found["calibration"]
    if beliefs is None:
        reasons[CALIBRATION] = "no row has a belief and an outcome"
    elif beliefs.n_cases < 2:
        reasons[CALIBRATION] = "there is only one case"
    return reasons

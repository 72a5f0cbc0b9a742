"""How much do actions add to beliefs as predictors of the outcome? And: calibrated beliefs.

The effect size beside the sufficiency test (arXiv 2602.06286, section 3.2 and Table 1), and the information
that actions carry beyond beliefs recalibrated to the outcomes (its Appendix Table 4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.beliefs.draws import resample_weights, subset_of_cases
from belief_utils.beliefs.information import Information, examine_information
from belief_utils.beliefs.judgments_checks import BELIEF_SCALE, Cases, group_by_case, join_notes
from belief_utils.beliefs.learners import predict_by_forest, predict_by_logistic
from belief_utils.errors import BeliefError

FOLDS = 5
_FOREST_ROWS = 5_000  # above this the forest is fitted to a random subset of cases
_EXACT_ROWS = 50_000  # above this the logistic model reads beliefs to three decimals
_RESAMPLED_CASES = 20_000
_TINY_ERROR = 1e-3


@dataclass(frozen=True)
class PredictiveGain:
    """Reduction of the out-of-fold squared error when the action joins the belief as a predictor.

    Attributes:
        percent: 100 (1 - error with action and belief / error with belief alone).
        interval: 2.5 and 97.5 percentiles over resamples of cases of the stored squared errors.
        error_belief: Mean squared error of the prediction from the belief alone.
        error_both: Mean squared error of the prediction from action and belief.
        n_cases: Cases used.
        n_rows: Rows used.
        method: The learner and the folds.
        note: What was left out or is degenerate, or "".
    """

    percent: float
    interval: tuple[float, float]
    error_belief: float
    error_both: float
    n_cases: int
    n_rows: int
    method: str
    note: str

    @property
    def estimate(self) -> float:
        """The gain in percent."""
        return self.percent


@dataclass(frozen=True)
class GroupAverage:
    """Mean over a group's members with mean -+ 1.96 standard deviations (ddof = 0) / sqrt(n)."""

    estimate: float
    interval: tuple[float, float]
    n: int


def predictive_gain(
    judgments: pd.DataFrame, *, learner: str = "logistic", seed: int = 0, resamples: int = 500
) -> PredictiveGain:
    """Percent reduction of the squared error when action and belief predict the outcome, not belief alone.

    Five folds of whole cases, the same for both models, so that no case is on both sides. "logistic", the
    one to
    trust: logistic regression on a fixed cubic spline basis of the belief. "forest", as in the paper: 200
        regression trees with leaves of at least max(20, 5 % of the rows). Forests with default leaves are
        wrong here: without any true gain they show +5 % on continuous beliefs, with an interval that
        excludes zero more often than not, and -4 % on beliefs on a grid.

    Args:
        judgments: Columns case, belief, action, outcome; incomplete rows are left out. Two outcomes at
            most.
        learner: "logistic" or "forest".
        seed: Seed of folds, trees and resamples.
        resamples: Number of resamples of cases for the interval; models are not refitted.

    Raises:
        BeliefError: as check_judgments, for an unknown learner, and for more than two outcomes.
    """
    predictors = {"logistic": predict_by_logistic, "forest": predict_by_forest}
    if learner not in predictors:
        raise BeliefError(f"learner {learner!r} is unknown: choose logistic or forest")
    cases = group_by_case(judgments)
    _at_most_two_outcomes(cases)
    folds = min(FOLDS, cases.n_cases)
    method = f"{learner}, {folds} folds by case"
    value, reason = _without_gain(cases)
    if reason:
        note = join_notes(cases.note, reason)
        nan = np.nan
        return PredictiveGain(value, (value, value), nan, nan, cases.n_cases, cases.n_rows, method, note)
    rng = np.random.default_rng(seed)
    cases, note = _manageable(cases, learner, rng)
    errors = _fold_errors(cases, predictors[learner], folds, rng)
    return _gain(cases, errors, resamples, rng, method, note)


def _at_most_two_outcomes(cases: Cases) -> None:
    if len(cases.outcomes) > 2:
        raise BeliefError(f"outcome has {len(cases.outcomes)} values: this test needs two, as it predicts the outcome")


def _without_gain(cases: Cases) -> tuple[float, str]:
    """The gain where there is nothing to fit, and why in words, or ""."""
    if not cases.n_cases:
        return np.nan, "no complete rows"
    if cases.n_cases < 2:
        return np.nan, "there is only one case, nothing to predict it from"
    if len(cases.outcomes) < 2:
        return np.nan, "the outcome never varies, there is nothing to predict"
    return (0.0, "no gain: the action never varies") if len(cases.actions) < 2 else (np.nan, "")


def _manageable(cases: Cases, learner: str, rng: np.random.Generator) -> tuple[Cases, str]:
    """The cases, or on large data what the learner can digest, with the note."""
    if learner == "logistic":
        if cases.n_rows <= _EXACT_ROWS:
            return cases, cases.note
        rounded = np.rint(cases.belief / 1000).astype(np.int64) * 1000
        note = join_notes(cases.note, "large data: beliefs read to three decimals")
        return Cases(**{**vars(cases), "belief": rounded}), note
    most = max(FOLDS, int(_FOREST_ROWS * cases.n_cases / cases.n_rows))
    chosen, _, note = subset_of_cases(cases.n_cases, most, rng)
    if not note:
        return cases, cases.note
    rows = cases.rows_of(chosen)
    repetitions = cases.repetitions[chosen]
    fields = {
        "belief": cases.belief[rows],
        "action": cases.action[rows],
        "case": np.repeat(np.arange(len(chosen)), repetitions),
        "outcome": cases.outcome[chosen],
        "repetitions": repetitions,
    }
    note = join_notes(cases.note, f"large data: fitted to {len(chosen)} of {cases.n_cases} cases")
    return Cases(**{**vars(cases), **fields}), note


def _fold_errors(cases: Cases, predict: Callable, folds: int, rng: np.random.Generator) -> np.ndarray:
    """Out-of-fold squared errors summed by case, without and with the action; shape (2, cases)."""
    fold = np.empty(cases.n_cases, dtype=np.int64)
    fold[rng.permutation(cases.n_cases)] = np.arange(cases.n_cases) % folds
    row_fold, outcome = fold[cases.case], cases.outcome[cases.case].astype(float)
    seed = int(rng.integers(2**31))
    errors = np.zeros((2, cases.n_cases))
    for held_out in range(folds):
        train, test = row_fold != held_out, row_fold == held_out
        for with_action in (False, True):
            predicted = predict(cases, outcome, train, test, with_action, seed)
            squares = (outcome[test] - predicted) ** 2
            errors[int(with_action)] += np.bincount(cases.case[test], squares, minlength=cases.n_cases)
    return errors


def _gain(
    cases: Cases, errors: np.ndarray, resamples: int, rng: np.random.Generator, method: str, note: str
) -> PredictiveGain:
    alone, both = errors.sum(axis=1) / cases.n_rows
    if alone == 0:
        note = join_notes(note, "the belief alone predicts every outcome without error")
        return PredictiveGain(np.nan, (np.nan, np.nan), 0.0, both, cases.n_cases, cases.n_rows, method, note)
    if alone < _TINY_ERROR:
        note = join_notes(note, "the belief alone predicts almost without error: a percentage of very little")
    percent = float(100 * (1 - both / alone))
    pool, shrink, pool_note = subset_of_cases(cases.n_cases, _RESAMPLED_CASES, rng)
    centre = errors[:, pool].sum(axis=1)
    drawn = np.array([errors[:, pool] @ resample_weights(len(pool), 1, rng)[0] for _ in range(resamples)])
    with np.errstate(divide="ignore", invalid="ignore"):
        deviations = 100 * (centre[1] / centre[0] - drawn[:, 1] / drawn[:, 0])
    low, high = percent + shrink * np.nanpercentile(deviations, [2.5, 97.5])
    note = join_notes(note, pool_note)
    interval = (float(low), float(high))
    return PredictiveGain(percent, interval, float(alone), float(both), cases.n_cases, cases.n_rows, method, note)


def average_gain(values: Iterable[float]) -> GroupAverage:
    """A group's average as the paper's Table 1 prints it: mean -+ 1.96 SD (ddof = 0) / sqrt(n).

    Raises BeliefError without values or if one is missing.
    """
    numbers = np.array(list(values), dtype=float)
    if not len(numbers) or np.isnan(numbers).any():
        raise BeliefError("the average needs one number or more, none of them missing")
    mean, half = numbers.mean(), 1.96 * numbers.std() / np.sqrt(len(numbers))
    return GroupAverage(float(mean), (float(mean - half), float(mean + half)), len(numbers))


def calibrate_beliefs(belief: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """Isotonic fit of outcomes (0 or 1) on integer beliefs, both shape (n,), in sample, as millionths."""
    from scipy.optimize import isotonic_regression

    values, place, weights = np.unique(belief, return_inverse=True, return_counts=True)
    share = np.bincount(place, outcome, minlength=len(values)) / weights
    fitted = isotonic_regression(share, weights=weights).x
    return np.rint(fitted * BELIEF_SCALE).astype(np.int64)[place]


def calibrated_information(
    judgments: pd.DataFrame, *, k: int = 3, permutations: int = 199, resamples: int = 500, seed: int = 0
) -> Information:
    """information_test after isotonic calibration of the beliefs (Appendix Table 4 of the paper).

    The calibration is fitted anew in every permutation and resample: with a fixed fit the p value rejects
    about 10 % of true null hypotheses at the 5 % level. Arguments, result and errors as for
    information_test; two outcomes at most.
    """
    cases = group_by_case(judgments)
    _at_most_two_outcomes(cases)
    method = f"nearest neighbours on isotonic-calibrated beliefs, k = {k}"
    return examine_information(cases, k, permutations, resamples, seed, method=method, calibrate=calibrate_beliefs)

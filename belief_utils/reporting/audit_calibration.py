"""How good the reported beliefs are as predictions: on average, by the Brier score, and after recalibration."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.beliefs.judgments_checks import BELIEF_SCALE, integer_beliefs
from belief_utils.beliefs.prediction import calibrate_beliefs


@dataclass(frozen=True)
class Calibration:
    """Reported beliefs against outcomes, row by row, with intervals for rows that come in cases.

    Attributes:
        mean_belief: Mean reported belief; NaN with more than two outcomes.
        outcome_share: Share of rows with the outcome; NaN with more than two outcomes.
        shift: mean_belief less outcome_share. Above zero: beliefs are too high on average.
        shift_interval: 95 % interval of the shift, from Student's t with the cases as units.
        shift_p_value: Two-sided p value of the shift.
        brier: Mean squared distance between belief and outcome (summed over outcomes if there are more than two).
        brier_interval: Its 95 % interval.
        base_rate: The Brier score of always stating the outcome's share in these data.
        miscalibration: What the best rising recalibration would take off the Brier score: brier less the mean
            squared error of the isotonic fit. Fitted to the same rows, so somewhat too large.
        n_cases: Cases with a belief and an outcome.
        n_rows: Rows with both.
    """

    mean_belief: float
    outcome_share: float
    shift: float
    shift_interval: tuple[float, float]
    shift_p_value: float
    brier: float
    brier_interval: tuple[float, float]
    base_rate: float
    miscalibration: float
    n_cases: int
    n_rows: int


def calibration(judgments: pd.DataFrame) -> Calibration | None:
    """How the beliefs of judgments with outcomes 0 and 1 compare with these; None without a row that has both.

    Rows without an action count too: nothing here is about actions.
    """
    rows = judgments[["case", "belief", "outcome"]].dropna()
    if not len(rows):
        return None
    case = pd.factorize(rows["case"])[0]
    belief, outcome = rows["belief"].to_numpy(float), rows["outcome"].to_numpy(float)
    squares = (belief - outcome) ** 2
    brier, brier_interval, _ = _mean_by_case(squares, case)
    shift, shift_interval, p_value = _mean_by_case(belief - outcome, case)
    fitted = calibrate_beliefs(integer_beliefs(belief), outcome) / BELIEF_SCALE
    share = float(outcome.mean())
    return Calibration(
        float(belief.mean()), share, shift, shift_interval, p_value, brier, brier_interval, share * (1 - share),
        float(brier - ((fitted - outcome) ** 2).mean()), int(case.max()) + 1, len(rows),
    )  # fmt: skip


def calibration_of_several(judgments: pd.DataFrame, beliefs: list[str], states: list[str]) -> Calibration | None:
    """The Brier score of beliefs about more than two outcomes; None without a row that has all of them."""
    rows = judgments[["case", *beliefs, "outcome"]].dropna()
    if not len(rows):
        return None
    case = pd.factorize(rows["case"])[0]
    came = (rows["outcome"].to_numpy(object)[:, None] == np.array(states, dtype=object)).astype(float)
    squares = ((rows[beliefs].to_numpy(float) - came) ** 2).sum(axis=1)
    brier, interval, _ = _mean_by_case(squares, case)
    nan, nowhere = np.nan, (np.nan, np.nan)
    base_rate = float(1 - (came.mean(axis=0) ** 2).sum())
    return Calibration(nan, nan, nan, nowhere, nan, brier, interval, base_rate, nan, int(case.max()) + 1, len(rows))


def _mean_by_case(values: np.ndarray, case: np.ndarray) -> tuple[float, tuple[float, float], float]:
    """Mean over rows, its 95 % interval and two-sided p value against 0, with the cases as independent units."""
    from scipy.special import stdtr, stdtrit

    mean = float(values.mean())
    n = int(case.max()) + 1
    if n < 2:
        return mean, (np.nan, np.nan), np.nan
    deviations = np.bincount(case, weights=values - mean)
    error = np.sqrt(n / (n - 1) * (deviations**2).sum()) / len(values)
    reach = stdtrit(n - 1, 0.975) * error
    p_value = 2 * stdtr(n - 1, -abs(mean) / error) if error > 0 else np.nan
    return mean, (float(mean - reach), float(mean + reach)), float(p_value)

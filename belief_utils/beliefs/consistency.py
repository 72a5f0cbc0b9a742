"""Prompt consistency: does the reported belief survive a change of wording?

A belief about a state should not depend on how the report is going to be scored. The paper (arXiv 2602.06286,
section 3.2 "Consistency across decision tasks", Appendix C.1, Table 3) asks the same case under the standard
prompt and under a prompt that announces a squared-error score, and prints the root mean squared difference
next to the standard deviation of repeated standard answers.

Two answers that are merely drawn anew differ by ``sqrt(2)`` standard deviations, so a root mean squared
difference "comparable to" one standard deviation is *less* than chance alone would give. We therefore add the
value that independent draws would show, and a difference from which the noise of drawing has been removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.errors import BeliefError

METHOD = (
    "paired by case and repetition; debiased RMS: products of different repetitions' differences averaged "
    "within a case, then over cases; 95 % percentile intervals over resampled cases"
)


@dataclass(frozen=True)
class PromptConsistency:
    """How far beliefs move when the prompt is reframed. All values are in units of probability.

    As in the paper: ``rmse`` and ``within_sd``. To decide from: ``debiased_rms`` with ``interval`` (one that
    starts above 0 says that the reframing itself moves beliefs) and ``mean_shift``.
    """

    rmse: float
    """Root mean squared difference reframed - standard over all pairs (the paper's Delta_MSE)."""
    rmse_of_means: float
    """The same for the cases' mean beliefs, each case counted once."""
    within_sd: float
    """Standard deviation of repeated standard answers to a case, pooled over cases (ddof=1)."""
    within_sd_mean: float
    """The mean over cases of the case's own standard deviation (ddof=1)."""
    independent_draws: float
    """The ``rmse`` that chance alone would give: sqrt(sd_standard^2 + sd_reframed^2), both pooled."""
    debiased_rms: float
    """Root mean squared shift of a case's expected belief: ``rmse`` without the noise of drawing."""
    interval: tuple[float, float]
    """95 % interval of ``debiased_rms``."""
    mean_shift: float
    """Mean signed difference over all pairs: above 0, the reframed prompt raises beliefs."""
    mean_shift_interval: tuple[float, float]
    """95 % interval of ``mean_shift``."""
    n_cases: int
    """Cases with at least one pair."""
    n_rows: int
    """Pairs: a case and repetition with a belief under both prompts."""
    n_single: int
    """Cases with one pair only: they have no standard deviation and no debiased part."""
    method: str
    note: str

    @property
    def estimate(self) -> float:
        """The value that ``interval`` belongs to: ``debiased_rms``."""
        return self.debiased_rms


@dataclass(frozen=True)
class CaseDifferences:
    """Signed differences summed by case. Arrays have one entry per case, in sorted order of the case id."""

    count: np.ndarray
    """Repetitions of the case, r."""
    total: np.ndarray
    """Sum of the case's differences."""
    products: np.ndarray
    """Mean product of two different repetitions' differences: unbiased for the squared expected difference.
    NaN for a case with one repetition."""


def case_differences(difference: np.ndarray, case: np.ndarray) -> CaseDifferences:
    """Sum signed differences by case; the noise of single answers cancels from ``products``.

    ``difference`` and ``case`` have shape (rows,). With D_j the differences of one case, the product is
    ``((sum D_j)^2 - sum D_j^2) / (r (r - 1))``.
    """
    _, code = np.unique(np.asarray(case), return_inverse=True)
    count = np.bincount(code)
    total = np.bincount(code, weights=difference)
    squares = np.bincount(code, weights=np.square(difference))
    several = count > 1
    pairs = np.where(several, count * (count - 1), 1)
    return CaseDifferences(count, total, np.where(several, (total**2 - squares) / pairs, np.nan))


def debiased_root(differences: CaseDifferences) -> float:
    """Root of the mean of ``products`` over cases, 0 where that mean is negative, NaN without any product."""
    products = differences.products[np.isfinite(differences.products)]
    return float(np.sqrt(max(0.0, products.mean()))) if len(products) else float("nan")


def debiased_interval(differences: CaseDifferences, resamples: int, rng: np.random.Generator) -> tuple[float, float]:
    """95 % percentile interval of ``debiased_root``, cases resampled; NaN with fewer than two products."""
    products = differences.products[np.isfinite(differences.products)]
    if len(products) < 2:
        return (float("nan"), float("nan"))
    means = products[rng.integers(len(products), size=(resamples, len(products)))].mean(axis=1)
    return _percentiles(np.sqrt(np.maximum(0.0, means)))


def mean_interval(differences: CaseDifferences, resamples: int, rng: np.random.Generator) -> tuple[float, float]:
    """95 % percentile interval of the mean difference over rows, cases resampled; NaN with fewer than two."""
    cases = len(differences.count)
    if cases < 2:
        return (float("nan"), float("nan"))
    draws = rng.integers(cases, size=(resamples, cases))
    return _percentiles(differences.total[draws].sum(axis=1) / differences.count[draws].sum(axis=1))


def prompt_consistency(
    standard: pd.DataFrame, reframed: pd.DataFrame, *, resamples: int = 500, seed: int = 0
) -> PromptConsistency:
    """Compare beliefs under the standard prompt with beliefs under a reframed one.

    Both frames have the columns ``case``, ``repetition`` and ``belief`` (in [0, 1], missing allowed); other
    columns are ignored. Repetition j of a case under one prompt is paired with repetition j under the other.
    A pair with a missing belief is left out, and ``note`` says how many. Cases may differ in their number of
    repetitions. Without data the values are NaN.

    Source: arXiv 2602.06286, section 3.2, Table 3. Raises ``BeliefError`` for a missing column, a belief that
    is not in [0, 1], a missing case or repetition, or a case and repetition that occurs twice.
    """
    pairs, notes = _pair(standard, reframed)
    difference = (pairs["reframed"] - pairs["standard"]).to_numpy()
    by_case = pairs.groupby("case", sort=True)
    sums = case_differences(difference, pairs["case"].to_numpy())
    single = int((sums.count == 1).sum())
    rng = np.random.default_rng(seed)
    sd_standard, sd_reframed = (pooled_sd(pairs[name], pairs["case"]) for name in ("standard", "reframed"))
    return PromptConsistency(
        rmse=_root_mean_square(difference),
        rmse_of_means=_root_mean_square(sums.total / np.maximum(sums.count, 1)),
        within_sd=sd_standard,
        within_sd_mean=float(by_case["standard"].std(ddof=1).mean()),
        independent_draws=float(np.hypot(sd_standard, sd_reframed)),
        debiased_rms=debiased_root(sums),
        interval=debiased_interval(sums, resamples, rng),
        mean_shift=float(difference.mean()) if len(difference) else float("nan"),
        mean_shift_interval=mean_interval(sums, resamples, rng),
        n_cases=len(sums.count),
        n_rows=len(pairs),
        n_single=single,
        method=METHOD,
        note=" ".join(notes + describe_gaps(len(sums.count), single)),
    )


def pooled_sd(belief: pd.Series, case: pd.Series) -> float:
    """Standard deviation within cases, pooled (ddof=1 in each); NaN if every case has a single repetition."""
    groups = belief.groupby(case)
    freedom = len(belief) - groups.ngroups
    if freedom < 1:
        return float("nan")
    return float(np.sqrt(np.square(belief - groups.transform("mean")).sum() / freedom))


def describe_gaps(cases: int, single: int) -> list[str]:
    """Sentences on what ``cases`` cases, ``single`` of them with one repetition, do not allow to compute."""
    if cases == 0:
        return ["Nothing to compare: no case has all the beliefs that are needed."]
    if cases == single:
        return ["Every case has one repetition: no standard deviation within cases and no debiased value."]
    notes = []
    if single:
        notes.append(f"Cases with one repetition, left out of the debiased value: {single} of {cases}.")
    if cases - single == 1:
        notes.append("Only one case has repetitions: no interval for the debiased value.")
    return notes


def checked_beliefs(frame: pd.DataFrame, where: str, columns: list[str], weights: Sequence[str] = ()) -> pd.DataFrame:
    """Return ``case``, ``repetition``, the probability ``columns`` and the ``weights`` as floats.

    Missing values stay missing. Raises ``BeliefError``, naming ``where`` and the row, for a belief outside
    [0, 1], a negative or infinite weight, a missing case or repetition, or one that occurs twice.
    """
    absent = [name for name in ("case", "repetition", *columns, *weights) if name not in frame.columns]
    if absent:
        found = ", ".join(map(str, frame.columns))
        raise BeliefError(f"{where}: no column {', '.join(absent)}; found {found}")
    keys = frame[["case", "repetition"]]
    if keys.isna().any(axis=None):
        row = keys.index[keys.isna().any(axis=1)][0]
        raise BeliefError(f"{where}: row {row} has no case or no repetition; number every answer")
    if keys.duplicated().any():
        case, repetition = keys[keys.duplicated()].iloc[0]
        raise BeliefError(f"{where}: case {case}, repetition {repetition} occurs twice; keep one answer")
    most = dict.fromkeys(columns, 1.0) | dict.fromkeys(weights, np.finfo(float).max)
    return keys.assign(**{name: _numbers(frame[name], where, limit) for name, limit in most.items()})


def _numbers(column: pd.Series, where: str, most: float) -> np.ndarray:
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    wrong = (np.isnan(numbers) & column.notna().to_numpy()) | (numbers < 0) | (numbers > most)
    if wrong.any():
        first = int(np.argmax(wrong))
        allowed = "a probability between 0 and 1" if most == 1 else "a weight of 0 or more"
        raise BeliefError(
            f"{where}: {column.name} is {column.iloc[first]} in row {column.index[first]}; "
            f"give {allowed}, or leave it empty"
        )
    return numbers


def _pair(standard: pd.DataFrame, reframed: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    left = checked_beliefs(standard, "standard answers", ["belief"]).rename(columns={"belief": "standard"})
    right = checked_beliefs(reframed, "reframed answers", ["belief"]).rename(columns={"belief": "reframed"})
    is_number = pd.api.types.is_numeric_dtype
    for key in ("case", "repetition"):
        if len(left) and len(right) and is_number(left[key]) != is_number(right[key]):
            raise BeliefError(f"{key} is a number in one set of answers and text in the other; make it the same")
    joined = left.merge(right, on=["case", "repetition"], how="outer")
    pairs = joined.dropna(subset=["standard", "reframed"])
    lost = len(joined) - len(pairs)
    notes = [f"Pairs left out because a belief is missing: {lost} of {len(joined)}."]
    return pairs, notes if lost else []


def _root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt(np.square(values).mean())) if len(values) else float("nan")


def _percentiles(values: np.ndarray) -> tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return (float(low), float(high))

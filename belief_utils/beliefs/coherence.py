"""The law of iterated expectation: do a model's beliefs agree with one another?

Let x be the evidence and B_1..B_k the categories of something that is not said about the patient. The
belief p(x) should be the average of the beliefs given each category, weighted with the categories'
probabilities (arXiv 2602.06286, section 3.2 "Internal Consistency", Figure 1). The signed gap is

    p(x) - sum_j P(outcome | x, B_j) P(B_j | x).

The paper prints the median of ``|gap| / p``. Even a coherent agent misses zero there, because each answer has
noise; ``noise_floor`` says by how much. We decide from the root mean squared gap with the noise removed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from belief_utils.beliefs import consistency
from belief_utils.errors import BeliefError

METHOD = (
    "gap by row; debiased RMS from products of different repetitions' gaps, averaged by case; 95 % "
    "percentile intervals over resampled cases; noise floor from coherent case means and resampled deviations"
)


@dataclass(frozen=True)
class IteratedExpectation:
    """Size of the gap in the law of iterated expectation, in units of probability; ratios in units of p.

    As in the paper: ``median_ratio``, to be read beside ``noise_floor``. To decide from: ``debiased_rms``
    with ``interval`` (one that starts above 0 says that beliefs are incoherent beyond their noise).
    """

    median_ratio: float
    """Median of |gap| / p over rows with p > 0 (the paper's figure)."""
    median_ratio_case_means: float
    """Median over cases of |mean gap| / mean p, cases with mean p > 0."""
    n_zero: int
    """Rows with p = 0, left out of ``median_ratio``."""
    mean_abs: float
    median_abs: float
    rmse: float
    """Mean, median and root mean square of |gap| over rows."""
    debiased_rms: float
    """Root mean squared expected gap of a case: ``rmse`` without the noise of drawing."""
    interval: tuple[float, float]
    """95 % interval of ``debiased_rms``."""
    mean_signed: float
    """Mean gap over rows: above 0, p(x) is higher than its parts say."""
    mean_signed_interval: tuple[float, float]
    """95 % interval of ``mean_signed``."""
    noise_floor: float
    """``median_ratio`` of a coherent agent that is as noisy as this one (mean over simulated data sets)."""
    n_uniform: int
    """Rows whose weights were all zero, read as equal weights."""
    n_single: int
    """Cases with one repetition only: no debiased part, and not in ``noise_floor``."""
    n_cases: int
    n_rows: int
    method: str
    note: str

    @property
    def estimate(self) -> float:
        """The value that ``interval`` belongs to: ``debiased_rms``."""
        return self.debiased_rms


class _Answers(NamedTuple):
    """Complete rows; the arrays have shapes (rows,), (rows,), (rows, k), (rows, k)."""

    case: np.ndarray
    belief: np.ndarray
    conditional: np.ndarray
    weight: np.ndarray


def iterated_expectation_gap(
    frame: pd.DataFrame, *, resamples: int = 500, simulations: int = 200, seed: int = 0
) -> IteratedExpectation:
    """Measure how far beliefs miss the law of iterated expectation.

    ``frame`` has a row per case and repetition: ``case``, ``repetition``, ``belief`` and, per category,
    ``conditional_<name>`` (belief given the category) and ``weight_<name>`` (its probability). The short
    names ``rep``, ``p``, ``c1..``, ``w1..`` are read too. Weights may have any positive sum. Rows with a
    missing value are left out; ``note`` says how many. Without data the values are NaN.

    Source: arXiv 2602.06286, section 3.2, Figure 1. Raises ``BeliefError`` for missing or unmatched columns,
    a belief outside [0, 1], a negative weight, or a case and repetition that occurs twice.
    """
    answers, n_uniform, notes = _read(frame)
    # Rounded, so that beliefs that agree exactly have a gap of 0 and not of a last bit.
    gap = np.round(answers.belief - (answers.conditional * answers.weight).sum(axis=1), 12)
    sums, belief_sums = (consistency.case_differences(v, answers.case) for v in (gap, answers.belief))
    single = int((sums.count == 1).sum())
    n_zero = int((answers.belief == 0).sum())
    if n_zero:
        notes.append(f"Rows with a belief of 0, left out of the ratios: {n_zero}.")
    rng = np.random.default_rng(seed)
    return IteratedExpectation(
        median_ratio=_median_ratio(gap, answers.belief),
        median_ratio_case_means=_median_ratio(sums.total, belief_sums.total),
        n_zero=n_zero,
        mean_abs=_or_nan(np.mean, np.abs(gap)),
        median_abs=_or_nan(np.median, np.abs(gap)),
        rmse=float(np.sqrt(_or_nan(np.mean, np.square(gap)))),
        debiased_rms=consistency.debiased_root(sums),
        interval=consistency.debiased_interval(sums, resamples, rng),
        mean_signed=_or_nan(np.mean, gap),
        mean_signed_interval=consistency.mean_interval(sums, resamples, rng),
        noise_floor=_noise_floor(answers, simulations, rng),
        n_uniform=n_uniform,
        n_single=single,
        n_cases=len(sums.count),
        n_rows=len(gap),
        method=METHOD,
        note=" ".join(notes + consistency.describe_gaps(len(sums.count), single)),
    )


def forest_baseline(
    features: pd.DataFrame,
    p_star: np.ndarray,
    conditional_star: np.ndarray,
    weight_star: np.ndarray,
    *,
    folds: int = 5,
    trees: int = 100,
    seed: int = 0,
) -> float:
    """Median ratio of forests that learned the true probabilities: the paper's baseline.

    One forest learns p*(x) from the evidence, another p*(x, z) from evidence and category; both predict cases
    that they have not seen, and the predictions are put through ``|gap| / p`` with the true weights.

    ``features`` has n rows, one per case: text columns become one-hot columns, missing means "not said".
    ``p_star`` (n,) is p*(x), ``conditional_star`` (n, k) is p*(x, z=j), NaN where x rules the category out,
    ``weight_star`` (n, k) is P*(z=j | x). Folds go by case. The paper's text does not give its settings.

    Source: arXiv 2602.06286, section 5. Raises ``BeliefError`` for shapes that do not agree, fewer cases than
    folds, or a missing conditional whose weight is above 0.
    """
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.model_selection import KFold

    p_star, conditional_star, weight_star = map(np.asarray, (p_star, conditional_star, weight_star))
    _check_baseline(len(features), p_star, conditional_star, weight_star, folds)
    x = pd.get_dummies(features, dtype=float).to_numpy(dtype=float)
    weight, _ = _normalised(weight_star)
    gap, predicted = np.empty(len(x)), np.empty(len(x))
    forest = RandomForestRegressor(n_estimators=trees, random_state=seed)
    k = conditional_star.shape[1]
    category = np.broadcast_to(np.eye(k), (len(x), k, k))
    x_category = np.concatenate([np.repeat(x[:, None], k, axis=1), category], axis=2)
    for train, test in KFold(folds, shuffle=True, random_state=seed).split(x):
        predicted[test] = forest.fit(x[train], p_star[train]).predict(x[test])
        known, target = np.isfinite(conditional_star[train]), conditional_star[train]
        forest.fit(x_category[train][known], target[known])
        given = forest.predict(x_category[test].reshape(len(test) * k, -1)).reshape(-1, k)
        gap[test] = predicted[test] - (given * weight[test]).sum(axis=1)
    return _median_ratio(gap, predicted)


def _check_baseline(n: int, p_star: np.ndarray, given: np.ndarray, weight: np.ndarray, folds: int) -> None:
    if p_star.shape != (n,) or given.ndim != 2 or len(given) != n or weight.shape != given.shape:
        shapes = f"{p_star.shape}, {given.shape} and {weight.shape}"
        raise BeliefError(f"forest_baseline: {n} cases need shapes ({n},), ({n}, k), ({n}, k); got {shapes}")
    if not 2 <= folds <= n:
        raise BeliefError(f"forest_baseline: {folds} folds for {n} cases; use from 2 to as many as cases")
    if not np.isfinite(p_star).all() or (np.isnan(given) & ~(weight == 0)).any():
        raise BeliefError("forest_baseline: a true probability is missing; leave such cases out")


def _read(frame: pd.DataFrame) -> tuple[_Answers, int, list[str]]:
    """The complete rows with normalised weights, the count of all-zero weights, and the notes."""
    short = {"rep": "repetition", "p": "belief"}
    frame = frame.rename(columns={k: v for k, v in short.items() if v not in frame.columns})
    conditional, weight = _category_columns(frame)
    checked = consistency.checked_beliefs(frame, "iterated expectation", ["belief", *conditional], weights=weight)
    rows = checked.dropna()
    lost = len(checked) - len(rows)
    notes = [f"Rows left out because a value is missing: {lost} of {len(checked)}."] if lost else []
    weights, n_uniform = _normalised(rows[weight].to_numpy(float))
    if n_uniform:
        notes.append(f"Rows with all weights zero, read as equal weights: {n_uniform}.")
    belief, given = rows["belief"].to_numpy(float), rows[conditional].to_numpy(float)
    return _Answers(rows["case"].to_numpy(), belief, given, weights), n_uniform, notes


def _category_columns(frame: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The columns of conditionals and of weights, in the same order of categories."""
    names = [name for name in frame.columns if isinstance(name, str)]
    for given, weight, suffix in (("conditional_", "weight_", "(.+)"), ("c", "w", r"(\d+)")):
        categories = [m[1] for name in names if (m := re.fullmatch(given + suffix, name))]
        weighted = [m[1] for name in names if (m := re.fullmatch(weight + suffix, name))]
        if unmatched := sorted(set(categories) ^ set(weighted)):
            names = ", ".join(unmatched)
            raise BeliefError(f"iterated expectation: needs both {given} and {weight} columns for {names}")
        if categories:
            return [given + c for c in categories], [weight + c for c in categories]
    raise BeliefError("iterated expectation: no columns conditional_<category> and weight_<category>")


def _normalised(weight: np.ndarray) -> tuple[np.ndarray, int]:
    """Each row divided by its sum, all-zero rows made equal; and how many of those there were."""
    total = weight.sum(axis=1, keepdims=True)
    empty = total == 0
    return np.where(empty, 1 / weight.shape[1], weight / np.where(empty, 1, total)), int(empty.sum())


def _noise_floor(answers: _Answers, simulations: int, rng: np.random.Generator) -> float:
    """Mean ``median_ratio`` of agents with coherent expectations and the measured noise.

    The noise of an answer is the deviation of one of the case's own answers from the case mean, times
    ``sqrt(r / (r - 1))``, so that its variance is the measured one (ddof=1). Normal noise of the same size
    gave floors up to 18 % too low for coherent agents whose noise shrinks towards 0 and 1.
    """
    _, code, count = np.unique(answers.case, return_inverse=True, return_counts=True)
    order = np.argsort(code, kind="stable")
    order = order[count[code[order]] > 1]
    values = np.column_stack([answers.belief, answers.conditional, answers.weight])[order]
    code, count = code[order], count[code[order], None]
    first = np.searchsorted(code, code)[:, None]  # the row where the case's answers start
    mean = pd.DataFrame(values).groupby(code).transform("mean").to_numpy(copy=True)
    noise = (values - mean) * np.sqrt(count / (count - 1))
    k = answers.conditional.shape[1]
    mean[:, 0] = (mean[:, 1 : k + 1] * mean[:, k + 1 :]).sum(axis=1)
    ratios = []
    for _ in range(simulations):
        # Separate answers, separate draws: p, each conditional, and the weights, which come in one answer.
        donor = first + (rng.random((len(code), k + 2)) * count).astype(int)
        donor = np.hstack([donor, np.repeat(donor[:, -1:], k - 1, axis=1)])
        drawn = np.clip(mean + np.take_along_axis(noise, donor, axis=0), 0, 1)
        gap = drawn[:, 0] - (drawn[:, 1 : k + 1] * _normalised(drawn[:, k + 1 :])[0]).sum(axis=1)
        ratios.append(_median_ratio(gap, drawn[:, 0]))
    return _or_nan(np.mean, np.array(ratios)[np.isfinite(ratios)])


def _median_ratio(gap: np.ndarray, belief: np.ndarray) -> float:
    positive = belief > 0
    return _or_nan(np.median, np.abs(gap[positive]) / belief[positive])


def _or_nan(summary: Callable[[np.ndarray], float], values: np.ndarray) -> float:
    return float(summary(values)) if len(values) else float("nan")

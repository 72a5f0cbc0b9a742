"""The stratified score of actions against outcomes, its permutations, and what report noise adds to it.

Generalised Cochran-Mantel-Haenszel statistic on cases. Shapes: d action shares a case, m outcome
indicators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from belief_utils.beliefs.draws import permute_within
from belief_utils.beliefs.judgments_checks import BELIEF_SCALE, Cases

_RANK_TOLERANCE = 1e-8
_DRAWN_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Score:
    """Residual action shares (cases, actions), their score, its inverse variance and rank."""

    residual: np.ndarray
    score: np.ndarray
    variance: np.ndarray
    inverse: np.ndarray
    df: int


def stratified_score(shares: np.ndarray, states: np.ndarray, strata: np.ndarray) -> Score:
    """Score of action shares (cases, d) against outcome indicators (cases, m) within strata."""
    sizes = np.bincount(strata)

    def stratum_sum(column: np.ndarray) -> np.ndarray:
        return np.bincount(strata, weights=column)

    def centred(columns: np.ndarray) -> np.ndarray:
        means = np.column_stack([stratum_sum(column) / sizes for column in columns.T])
        return columns - means[strata]

    residual, deviation = centred(shares), centred(states)
    residual[np.abs(residual) < 1e-12] = 0.0  # equal shares differ from their mean by rounding only
    d, m = residual.shape[1], deviation.shape[1]
    variance = np.zeros((m, d, m, d))
    factor = 1 / np.maximum(sizes - 1, 1)  # a stratum of one case has no deviation
    for j, k in np.ndindex(m, m):
        spread = factor * stratum_sum(deviation[:, j] * deviation[:, k])
        variance[j, :, k, :] = (residual * spread[strata, None]).T @ residual
    variance = variance.reshape(m * d, m * d)
    variance = (variance + variance.T) / 2
    singular = np.linalg.svd(variance, compute_uv=False)
    rank = int((singular > _RANK_TOLERANCE * singular[0]).sum()) if singular[0] > 0 else 0
    inverse = np.linalg.pinv(variance, rcond=_RANK_TOLERANCE)
    return Score(residual, (states.T @ residual).ravel(), variance, inverse, rank)


def permutation_p_value(cases: Cases, strata: np.ndarray, score: Score, permutations: int, seed: int) -> float:
    """Share of outcome permutations within strata whose statistic is at least as large, the data counted too."""
    rng = np.random.default_rng(seed)
    observed = score.score @ score.inverse @ score.score
    as_large = done = 0
    while done < permutations:
        count = min(permutations - done, max(1, _DRAWN_AT_ONCE // cases.n_cases))
        draws = permute_within(cases.outcome, strata, count, rng)
        by_state = [(draws == state) @ score.residual for state in range(1, len(cases.outcomes))]
        drawn = np.concatenate(by_state, axis=1)
        as_large += ((drawn @ score.inverse * drawn).sum(axis=1) >= observed - 1e-12).sum()
        done += count
    return float((1 + as_large) / (1 + permutations))


def noise_adjusted(cases: Cases, score: Score, states: np.ndarray) -> tuple[float, str]:
    """The statistic without what noise in the reports produces, or NaN, and a note.

    Noise moves a case's report away from what its action and outcome follow. Both then still rise or fall
    with the true belief inside a stratum, by the product of their slopes times the noise variance that
    averaging leaves.
    """
    if states.shape[1] > 1 or cases.belief.ndim > 1:
        return np.nan, "no noise adjustment for more than two outcome states"
    variance, note = _variance_of_mean(cases)
    if variance is None:
        return np.nan, note
    mean = cases.mean_belief() / BELIEF_SCALE
    total = mean.var(ddof=1)
    reliability = max(1 - variance.mean() / total, 0.2) if total > 0 else 1.0
    action_slopes = _cubic_slopes(mean, cases.action_shares()[:, 1:])
    outcome_slope = _cubic_slopes(mean, states)
    from_noise = (action_slopes * outcome_slope * variance[:, None]).sum(axis=0) / reliability
    rest = score.score - from_noise
    return float(rest @ score.inverse @ rest), note


def _variance_of_mean(cases: Cases) -> tuple[np.ndarray | None, str]:
    """Variance of each case's mean belief, shape (cases,), or None if no case is repeated."""
    r = cases.repetitions
    if (r < 2).all():
        return None, "one repetition a case: noise in the reported beliefs cannot be told apart"
    belief = cases.belief / BELIEF_SCALE
    mean = np.add.reduceat(belief, cases.starts) / r
    squares = np.add.reduceat((belief - mean[cases.case]) ** 2, cases.starts)
    pooled = squares.sum() / (r - 1).sum()
    within = np.where(r > 1, squares / np.maximum(r - 1, 1), pooled)
    once = int((r < 2).sum())
    return (
        within / r,
        f"{once} cases with one repetition: given the pooled within-case variance" if once else "",
    )


def _cubic_slopes(x: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Slope at each x, shape (n,), of the cubic least-squares fit of each column, shape (n, columns)."""
    degree = min(3, len(np.unique(x)) - 1)
    centred = x - x.mean()
    powers = np.vander(centred, degree + 1, increasing=True)
    coefficients = np.linalg.lstsq(powers, columns, rcond=None)[0]
    return powers[:, :degree] @ (coefficients[1:] * np.arange(1, degree + 1)[:, None])

"""Bounds of the signed margin that are robust to repetitions of the same case.

Repetitions of a case are alike, so the uncertainty of choice shares comes from cases. Each step between
neighbouring bins has a covariance clustered by case, and the bounds take the step's standard error into the
maximisation over directions.
Shapes: K bins, J used actions, S steps that count.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from belief_utils.beliefs.judgments_checks import Cases

GRID_POINTS = 41
_MOST_DIRECTIONS = 70_000
_CASES_AT_ONCE = 50_000
_MOST_ACTIONS = 8


def case_counts(cases: Cases, binned: np.ndarray, chosen: np.ndarray, n_bins: int) -> np.ndarray:
    """How often each chosen case takes each action in each bin, shape (chosen, K, J); ``binned`` by row."""
    rows = cases.rows_of(chosen)
    width = n_bins * len(cases.actions)
    place = np.repeat(np.arange(len(chosen)), cases.repetitions[chosen]) * width
    codes = place + binned[rows] * len(cases.actions) + cases.action[rows]
    counts = np.bincount(codes, minlength=len(chosen) * width)
    return counts.reshape(len(chosen), n_bins, len(cases.actions)).astype(float)


def step_covariance(cases: Cases, binned: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of the steps of the choice shares (K, J), (K - 1, J, J), and the cases in each bin, (K,).

    With C the counts of case i and N their totals, e = C - N q is what the case adds to its bin's
    deviation; a step's influence is e / N of the upper bin less that of the lower, and the covariance sums
    their squares over cases.
    """
    n_bins, n_actions = shares.shape
    rows = np.bincount(binned, minlength=n_bins)
    covariance = np.zeros((n_bins - 1, n_actions, n_actions))
    present = np.zeros(n_bins, dtype=np.int64)
    for start in range(0, cases.n_cases, _CASES_AT_ONCE):
        chosen = np.arange(start, min(start + _CASES_AT_ONCE, cases.n_cases))
        counts = case_counts(cases, binned, chosen, n_bins)
        totals = counts.sum(axis=2, keepdims=True)
        present += (totals[:, :, 0] > 0).sum(axis=0)
        deviation = (counts - totals * shares) / rows[:, None]
        influence = np.diff(deviation, axis=1)
        covariance += np.einsum("ika,ikb->kab", influence, influence)
    return covariance, present


def margin_bounds(
    steps: np.ndarray, covariance: np.ndarray, pairs: list[tuple[int, int]], level: float = 0.05
) -> tuple[float, float]:
    """Bounds (gamma_L, gamma_U) over directions on a grid of 41 points an action; (NaN, NaN) above 8 actions.

    gamma_L = max_d min_k (steps_k d - sqrt(chi2_{1 - level, J - 1}) se_k(d)): above zero certifies strict
    monotonicity. gamma_U = max_d min_k (steps_k d + z_{1 - level / S} se_k(d)): below zero rejects weak
    monotonicity. With four actions or more the grid is coarser where needed and the best direction is then
    improved one action at a time.

    Args:
        steps: Steps that count, (S, J).
        covariance: Their covariances, (S, J, J).
        pairs: Ordered pairs of actions with d = 0 and d = 1.
        level: Error rate of each bound.
    """
    from scipy.special import chdtri, ndtri

    n_steps, n_actions = steps.shape
    if n_actions > _MOST_ACTIONS:
        return np.nan, np.nan
    factors = (-np.sqrt(chdtri(n_actions - 1, level)), ndtri(1 - level / n_steps))
    bounds = [-np.inf, -np.inf]
    for low, high in pairs:
        directions = direction_grid(n_actions, low, high)
        value, error = _value_and_error(directions, steps, covariance)
        for side, factor in enumerate(factors):
            reached = (value + factor * error).min(axis=1)
            best = float(reached.max())
            if n_actions > 3:
                start = directions[int(reached.argmax())]
                best = _improved(start, best, (low, high), _objective(steps, covariance, factor))
            bounds[side] = max(bounds[side], best)
    return bounds[0], bounds[1]


def _value_and_error(
    directions: np.ndarray, steps: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Steps and their standard errors along each direction, both (directions, S)."""
    variance = np.stack([((directions @ part) * directions).sum(axis=1) for part in covariance], axis=1)
    return directions @ steps.T, np.sqrt(np.maximum(variance, 0))


def _objective(steps: np.ndarray, covariance: np.ndarray, factor: float) -> Callable[[np.ndarray], np.ndarray]:
    def smallest(directions: np.ndarray) -> np.ndarray:
        value, error = _value_and_error(directions, steps, covariance)
        return (value + factor * error).min(axis=1)

    return smallest


def direction_grid(n_actions: int, low: int, high: int) -> np.ndarray:
    """Directions d with d_low = 0, d_high = 1 and the others on a grid over [0, 1], shape (directions, J)."""
    free = [a for a in range(n_actions) if a not in (low, high)]
    points = GRID_POINTS
    while points > 2 and points ** len(free) > _MOST_DIRECTIONS:
        points -= 1
    axes = np.meshgrid(*[np.linspace(0, 1, points)] * len(free), indexing="ij")
    directions = np.zeros((points ** len(free), n_actions))
    directions[:, high] = 1.0
    for action, axis in zip(free, axes, strict=True):
        directions[:, action] = axis.ravel()
    return directions


def _improved(start: np.ndarray, best: float, fixed: tuple[int, int], objective: Callable) -> float:
    """The objective after searching along one free action after the other until nothing is gained."""
    direction, gained = start.copy(), True
    while gained:
        gained = False
        for action in set(range(len(start))) - set(fixed):
            line = np.repeat(direction[None], GRID_POINTS, axis=0)
            line[:, action] = np.linspace(0, 1, GRID_POINTS)
            values = objective(line)
            if values.max() > best + 1e-9:
                best, direction, gained = float(values.max()), line[int(values.argmax())], True
    return best

"""Linear programmes behind the rationalising agent: the utilities that fit and how far they may vary.

Choices q at belief points b fit an agent of arXiv 2602.06286 (Definition 1, Proposition 5) exactly if there are
utilities d and a potential W at each point with W_j - W_i >= q_i . (v_j - v_i) for every ordered pair of points, v
being the expected utilities b . d: then each q_i is a slope of one convex function through all (v_i, W_i).
Shapes: M points, N states, J actions; beliefs (M, N), shares (M, J), d (J, N - 1), its first state being 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from belief_utils.beliefs.margins import CHANGE, best_direction, check_solved

TOLERANCE = 1e-9
"""Margins closer to zero than this are zero."""
# Steps between close points are small: the solver's usual tolerance of 1e-7 would hide their sign.
EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

Scale = tuple[int, int, int]
"""What fixes the scale of utilities: in one state (from 0) one action has d = 0 and another d = 1."""


@dataclass(frozen=True)
class Points:
    """Choice shares (M, J) at belief points (M, N), and each point's share of the answers, (M,)."""

    beliefs: np.ndarray
    shares: np.ndarray
    weights: np.ndarray

    @property
    def n_utilities(self) -> int:
        """Unknown utilities: actions times states but the first."""
        return self.shares.shape[1] * (self.beliefs.shape[1] - 1)

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Ordered pairs of points that must be compared; with two states neighbours are enough (Proposition 3)."""
        count = len(self.beliefs)
        if self.beliefs.shape[1] == 2:
            order = np.argsort(self.beliefs[:, 1], kind="stable")
            return np.r_[order[:-1], order[1:]], np.r_[order[1:], order[:-1]]
        first, second = np.array(list(permutations(range(count), 2)), dtype=int).reshape(-1, 2).T
        return first, second

    def only(self, chosen: list[int]) -> Points:
        """Some of the points."""
        return Points(self.beliefs[chosen], self.shares[chosen], self.weights[chosen])


def scales(n_actions: int, n_states: int) -> list[Scale]:
    """Every way to fix the scale."""
    return [(state, *pair) for state in range(n_states - 1) for pair in permutations(range(n_actions), 2)]


def _best_utilities(points: Points, choices: list[Scale]) -> tuple[float, np.ndarray, np.ndarray]:
    """Largest margin over the scales, utilities d (J, N - 1) that attain it, and the potential W (M,).

    The margin is the largest gamma with W_j - W_i - q_i . (v_j - v_i) >= gamma for all pairs whose shares differ.
    """
    first, second = points.pairs()
    differs = (np.abs(points.shares[first] - points.shares[second]) > CHANGE).any(axis=1)
    rows = np.column_stack((potential_rows(points), differs.astype(float)))
    objective = np.r_[np.zeros(rows.shape[1] - 1), -1.0]
    best, found = -np.inf, np.zeros(0)
    # With no scale fixed, a positive optimum spans [0, 1] in some state by itself: one programme is enough.
    everything: list[Scale | None] = [None, *choices] if len(choices) > 1 else [*choices]
    for scale in everything:
        bounds = [*utility_bounds(points, scale), (-1.0, 1.0)]
        value, solution = solved_programme(objective, rows, np.zeros(len(rows)), bounds)
        if scale is None and -value <= TOLERANCE:
            continue
        if -value > best + CHANGE:
            best, found = -value, solution
        if scale is None:
            break
    utilities, potential = found[: points.n_utilities], found[points.n_utilities : -1]
    return (0.0 if abs(best) < TOLERANCE else float(best)), as_table(points, utilities), potential


def best_fit(points: Points, allowed: list[Scale]) -> tuple[float, np.ndarray, np.ndarray]:
    """Margin, gains u(a, state) - u(a, first state), shape (actions, states), and the potential at the points."""
    if points.beliefs.shape[1] > 2:
        gamma, later, potential = _best_utilities(points, allowed)
        return gamma, np.column_stack((np.zeros(len(later)), later)), potential
    steps = np.diff(points.shares, axis=0)
    steps = steps[(np.abs(steps) > CHANGE).any(axis=1)]
    gamma, direction = best_direction(steps, [(low, high) for _, low, high in allowed])
    slope = points.shares @ direction
    # A convex potential's rise lies between the slopes at both ends; halfway, no point is as good as its neighbour.
    rise = (slope[1:] + slope[:-1]) / 2 * np.diff(points.beliefs[:, 1])
    potential = np.r_[0.0, np.cumsum(rise)]
    return (0.0 if abs(gamma) < TOLERANCE else gamma), np.column_stack((np.zeros_like(direction), direction)), potential


def utility_ranges(points: Points, choices: list[Scale]) -> tuple[np.ndarray, np.ndarray, list[Scale]]:
    """Least and largest value of each utility over all that fit, both (J, N - 1), and the scales that fit at all."""
    rows = potential_rows(points)
    ends = {scale: _extremes(points, rows, utility_bounds(points, scale)) for scale in choices}
    fitting = [scale for scale in choices if ends[scale] is not None]
    if not fitting:
        nothing = np.full((points.shares.shape[1], points.beliefs.shape[1] - 1), np.nan)
        return nothing, nothing, []
    # Rounded to what the solver's tolerance allows to be told apart.
    both = np.round([ends[scale] for scale in fitting], 6) + 0.0
    lowest, highest = both[:, 0].min(axis=0), both[:, 1].max(axis=0)
    return as_table(points, lowest), as_table(points, highest), fitting


def _extremes(points: Points, rows: np.ndarray, bounds: list) -> np.ndarray | None:
    """Least and largest value of each utility, (2, utilities); None if nothing fits."""
    right = np.full(len(rows), TOLERANCE / 10)
    found = np.zeros((2, points.n_utilities))
    for place, sign in enumerate((1.0, -1.0)):
        for unknown in range(points.n_utilities):
            fixed = bounds[unknown][0] == bounds[unknown][1]
            if fixed and unknown:  # the first one is solved for in any case: it tells whether anything fits
                found[place, unknown] = bounds[unknown][0]
                continue
            solved = solve_programme(sign * np.eye(rows.shape[1])[unknown], rows, right, bounds)
            if solved is None:
                return None
            found[place, unknown] = sign * solved[0]
    return np.clip(found, 0.0, 1.0)


def potential_rows(points: Points) -> np.ndarray:
    """Rows (pairs, utilities + M) that times (d, W) are at most zero where the choices fit."""
    first, second = points.pairs()
    moved = (points.beliefs[second] - points.beliefs[first])[:, 1:]
    gain = (moved[:, :, None] * points.shares[first][:, None, :]).reshape(len(first), -1)
    potential = np.eye(len(points.beliefs))[first] - np.eye(len(points.beliefs))[second]
    return np.hstack((gain, potential))


def utility_bounds(points: Points, scale: Scale | None) -> list[tuple[float | None, float | None]]:
    """Bounds of d, state by state, in [0, 1] with the scale's two fixed, and of W, 0 at the first point."""
    bounds: list[tuple[float | None, float | None]] = [(0.0, 1.0)] * points.n_utilities
    if scale is not None:
        state, low, high = scale
        n_actions = points.shares.shape[1]
        bounds[state * n_actions + low], bounds[state * n_actions + high] = (0.0, 0.0), (1.0, 1.0)
    return bounds + [(0.0, 0.0)] + [(None, None)] * (len(points.beliefs) - 1)


def as_table(points: Points, utilities: np.ndarray) -> np.ndarray:
    """Utilities in a row, state by state, as a table (J, N - 1)."""
    return utilities.reshape(-1, points.shares.shape[1]).T


def solved_programme(*programme: object) -> tuple[float, np.ndarray]:
    """The optimum and its solution; RuntimeError where there is none, which no programme here allows."""
    solved = solve_programme(*programme)
    if solved is None:
        raise RuntimeError("a linear programme that always has a solution was found to have none")
    return solved


def solve_programme(
    objective: np.ndarray,
    rows: np.ndarray,
    right: np.ndarray,
    bounds: list,
    equal: np.ndarray | None = None,
    equal_right: np.ndarray | None = None,
) -> tuple[float, np.ndarray] | None:
    """Minimise; None if nothing fits."""
    from scipy.optimize import linprog

    solved = linprog(objective, rows, right, equal, equal_right, bounds, method="highs", options=EXACT)
    if solved.status == 2:
        return None
    check_solved(solved)
    return float(solved.fun), solved.x

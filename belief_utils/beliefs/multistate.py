"""The monotonicity margin for beliefs over more than two states."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations

import numpy as np
import pandas as pd

from belief_utils.beliefs.judgments_checks import name_rows
from belief_utils.beliefs.margins import CHANGE, check_solved, checked_shares
from belief_utils.errors import BeliefError

_ZERO = 1e-9
# Steps between close points are small: the solver's usual tolerance of 1e-7 would hide their sign.
_EXACT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def multistate_margin(
    beliefs: pd.DataFrame | np.ndarray | Iterable, choice_shares: pd.DataFrame | np.ndarray | Iterable
) -> float:
    """Margin of cyclic monotonicity for M belief points over several states; only its sign has a meaning.

    Above zero: choices are strictly monotone for some utilities and regulariser; zero: weakly; below zero:
    for none that tell actions apart. The programme finds utilities d_a(state) in [0, 1], relative to the
    first state, and a potential phi at each point with phi_j - phi_i - sum_a q_ia sum_state (b_j,state -
    b_i,state) d_a(state) >= gamma for each ordered pair of points whose choice shares differ (>= 0 for the
    others); one action has d = 0 and another d = 1 in some state, and the largest gamma over these is the
    margin. Sizes are not comparable between data sets. Use eight points or more: with few of them almost
    any choices pass (arXiv 2602.06286, Propositions 2 and 5).

    Args:
        beliefs: Probabilities of the states, shape (M, states), rows add up to 1; or shape (M,), the
            probability of the second of two states.
        choice_shares: Share of each action at each point, shape (M, actions).

    Returns:
        The margin; NaN where it cannot tell: one point, fewer than two used actions, or the same shares
        everywhere.

    Raises:
        BeliefError: if shapes do not fit, or a row holds no probabilities that add up to 1.
    """
    points = _checked_beliefs(beliefs)
    frame = choice_shares if isinstance(choice_shares, pd.DataFrame) else pd.DataFrame(np.asarray(choice_shares))
    shares = checked_shares(frame)
    if len(points) != len(shares):
        raise BeliefError(f"{len(points)} belief points and {len(shares)} rows of shares: give one of each a point")
    shares = shares[:, (shares > 0).any(axis=0)]
    if shares.shape[1] < 2 or (np.abs(shares - shares[0]) <= CHANGE).all():
        return np.nan
    return _margin(points, shares)


def _margin(points: np.ndarray, shares: np.ndarray) -> float:
    """Largest gamma over the state and the pair of actions that are fixed at 0 and 1."""
    programme = _programme(points, shares)
    n_states, n_actions = points.shape[1] - 1, shares.shape[1]
    # With nothing fixed, a positive optimum spans [0, 1] in some state by itself: one programme is enough.
    free = _solve(programme, n_states * n_actions, None, None)
    if free > _ZERO:
        return free
    best = max(
        _solve(programme, n_states * n_actions, state * n_actions + low, state * n_actions + high)
        for state in range(n_states)
        for low, high in permutations(range(n_actions), 2)
    )
    return best if abs(best) > _ZERO else 0.0


def _checked_beliefs(beliefs: pd.DataFrame | np.ndarray | Iterable) -> np.ndarray:
    points = np.asarray(beliefs, dtype=float)
    if points.ndim == 1:
        points = np.column_stack((1 - points, points))
    if points.ndim != 2 or points.shape[1] < 2:
        raise BeliefError("beliefs must have a row a point and a column a state, two states or more")
    wrong = ~(np.isfinite(points).all(axis=1) & (points >= 0).all(axis=1))
    wrong |= np.abs(points.sum(axis=1) - 1) > 0.02
    if wrong.any():
        raise BeliefError(f"beliefs are not probabilities that add up to 1 in {name_rows(wrong)}")
    return points / points.sum(axis=1, keepdims=True)


def _programme(points: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Constraints (pairs, states x actions + points + 1) over d, phi and gamma; times these, each is <= 0."""
    first, second = np.array(list(permutations(range(len(points)), 2))).T
    moved = (points[second] - points[first])[:, 1:]
    gain = (moved[:, :, None] * shares[first][:, None, :]).reshape(len(first), -1)
    potential = np.eye(len(points))[first] - np.eye(len(points))[second]
    differs = (np.abs(shares[first] - shares[second]) > CHANGE).any(axis=1)
    return np.column_stack((gain, potential, differs.astype(float)))


def _solve(programme: np.ndarray, n_utilities: int, low: int | None, high: int | None) -> float:
    from scipy.optimize import linprog

    n_unknowns = programme.shape[1]
    bounds = [(0.0, 1.0)] * n_utilities + [(None, None)] * (n_unknowns - n_utilities)
    bounds[n_utilities] = (0.0, 0.0)  # potentials matter up to a constant
    if low is not None and high is not None:
        bounds[low], bounds[high] = (0.0, 0.0), (1.0, 1.0)
    objective = np.zeros(n_unknowns)
    objective[-1] = -1.0
    right = np.zeros(len(programme))
    solved = linprog(objective, programme, right, bounds=bounds, method="highs", options=_EXACT)
    check_solved(solved)
    return float(-solved.fun)

"""Signed margin of cyclic monotonicity from choice shares: linear programmes and their enumeration.

A rational agent's expected utility difference m_k(d) = sum_a q_ka d_a rises with its belief, for some
utility differences d_a = u(a, 1) - u(a, 0). The signed margin is the largest step gamma by which m rises
between neighbouring bins, over all d in [0, 1] that reach 0 and 1 (arXiv 2602.06286, section 3.2). Above
zero: strictly monotone for some utilities; below
zero: for none.

Shapes: K bins in order of belief, J actions that are used, R resamples; steps = differences of choice
    shares between neighbouring bins, (K - 1, J) or (R, K - 1, J), of which only those that are not zero
    count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pandas as pd

from belief_utils.beliefs.judgments_checks import name_rows
from belief_utils.errors import BeliefError

CHANGE = 1e-12
"""Shares that differ by more than this have changed."""


@dataclass(frozen=True)
class SignedMargin:
    """Signed margin of one table of choice shares.

    Attributes:
        gamma: Largest smallest step, between -1 and 1 / n_changes; NaN if nothing can be said.
        direction: A utility difference u(a, 1) - u(a, 0) for each used action that attains it, scaled to
            [0, 1].
        n_bins: Bins.
        n_changes: Neighbouring bins whose shares differ; only these count.
        actions: Actions that are used.
        note: What is degenerate or vacuous, or "".
    """

    gamma: float
    direction: dict
    n_bins: int
    n_changes: int
    actions: tuple
    note: str


def signed_margin(choice_shares: pd.DataFrame | np.ndarray | Iterable) -> SignedMargin:
    """Signed margin of choice shares (K, J): rows are bins in order of rising belief, columns actions.

    Up to three used actions are solved by enumeration, more by linear programmes (HiGHS).

    Raises:
        BeliefError: if shares are missing, negative, or do not add up to 1 in a row.
    """
    frame = choice_shares if isinstance(choice_shares, pd.DataFrame) else pd.DataFrame(np.asarray(choice_shares))
    shares = checked_shares(frame)
    used = (shares > 0).any(axis=0)
    actions = tuple(frame.columns[used])
    steps = np.diff(shares[:, used], axis=0)
    steps = steps[(np.abs(steps) > CHANGE).any(axis=1)]
    reason = _cannot_tell(len(shares), len(actions), len(steps))
    if reason:
        return SignedMargin(np.nan, {}, len(shares), len(steps), actions, reason)
    gamma, direction = best_direction(steps, action_pairs(len(actions)))
    note = _vacuous(steps, actions)
    values = dict(zip(actions, direction.tolist(), strict=True))
    return SignedMargin(gamma, values, len(shares), len(steps), actions, note)


def checked_shares(frame: pd.DataFrame) -> np.ndarray:
    """Choice shares as floats (K, J); raises BeliefError naming rows that are no shares."""
    try:
        shares = frame.to_numpy(dtype=float)
    except (TypeError, ValueError) as error:
        raise BeliefError("choice shares must be numbers: rows are bins, columns actions") from error
    wrong = ~(np.isfinite(shares).all(axis=1) & (shares >= 0).all(axis=1))
    wrong |= np.abs(shares.sum(axis=1) - 1) > 1e-6
    if wrong.any():
        raise BeliefError(f"choice shares are not shares that add up to 1 in {name_rows(wrong, frame.index)}")
    return shares


def _cannot_tell(n_bins: int, n_actions: int, n_changes: int) -> str:
    if n_actions < 2:
        return "fewer than two actions are used"
    if n_bins < 2:
        return "beliefs fall into one bin"
    return "" if n_changes else "choice shares are the same in all bins"


def _vacuous(steps: np.ndarray, actions: tuple) -> str:
    still = [str(a) for a, column in zip(actions, steps.T, strict=True) if (np.abs(column) <= CHANGE).all()]
    if not still:
        return ""
    return f"gamma >= 0 says nothing: the share of {', '.join(still)} is the same in all bins"


def action_pairs(n_actions: int) -> list[tuple[int, int]]:
    """Ordered pairs (action with d = 0, action with d = 1)."""
    return list(permutations(range(n_actions), 2))


def best_direction(steps: np.ndarray, pairs: list[tuple[int, int]]) -> tuple[float, np.ndarray]:
    """Margin and maximising d, shape (J,), of one set of steps (K - 1, J) over the given pairs.

    By enumeration for up to three actions, else by linear programmes. Every step must count. Of equally good
    directions the one of the first pair is given.
    """
    solve = _enumerated if steps.shape[1] <= 3 else _programmed
    best, direction = -np.inf, np.zeros(steps.shape[1])
    if steps.shape[1] > 3 and len(pairs) > 1:
        # With nothing fixed, a positive optimum spans [0, 1] by itself: one programme is enough.
        best, direction = _programmed(steps, None, None)
        if best > 1e-9:
            return best, direction
        best = -np.inf
    for low, high in pairs:
        value, candidate = solve(steps, low, high)
        if value > best + CHANGE:
            best, direction = value, candidate
    return best, direction


def _enumerated(steps: np.ndarray, low: int, high: int) -> tuple[float, np.ndarray]:
    """The least of B + t C is concave and piecewise linear in the free action's t: 0, 1 or a crossing."""
    direction = np.zeros(steps.shape[1])
    direction[high] = 1.0
    free = [a for a in range(steps.shape[1]) if a not in (low, high)]
    if not free:
        return float(steps[:, high].min()), direction
    base, slope = steps[:, high], steps[:, free[0]]
    t = line_crossings(base[None], slope[None])[0]
    values = (base + t[:, None] * slope).min(axis=1)
    place = int(np.argmax(values >= values.max() - CHANGE))
    direction[free[0]] = t[place]
    return float(values.max()), direction


def line_crossings(base: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """0, 1 and where lines base + t slope cross, clipped to [0, 1]: (..., n) to (..., 2 + n (n - 1) / 2)."""
    first, second = np.triu_indices(base.shape[-1], 1)
    rise = slope[..., first] - slope[..., second]
    level = rise == 0
    crossing = np.where(level, 0.0, (base[..., second] - base[..., first]) / np.where(level, 1.0, rise))
    ends = np.zeros((*base.shape[:-1], 2))
    ends[..., 1] = 1.0
    return np.concatenate((ends, np.clip(crossing, 0.0, 1.0)), axis=-1)


def _programmed(steps: np.ndarray, low: int | None, high: int | None) -> tuple[float, np.ndarray]:
    """The paper's linear programme by HiGHS: maximise gamma with steps @ d >= gamma."""
    from scipy.optimize import linprog

    n_actions = steps.shape[1]
    bounds = [(0.0, 1.0)] * n_actions + [(None, None)]
    if low is not None and high is not None:
        bounds[low], bounds[high] = (0.0, 0.0), (1.0, 1.0)
    objective = np.zeros(n_actions + 1)
    objective[-1] = -1.0
    constraints = np.column_stack((-steps, np.ones(len(steps))))
    solved = linprog(objective, A_ub=constraints, b_ub=np.zeros(len(steps)), bounds=bounds, method="highs")
    check_solved(solved)
    return float(-solved.fun) + 0.0, solved.x[:-1]


def check_solved(solved: object) -> None:
    """Raise RuntimeError unless the solver reached an optimum; its x is no answer then."""
    if solved.status != 0:
        raise RuntimeError(f"linear programme not solved (status {solved.status}): {solved.message}")

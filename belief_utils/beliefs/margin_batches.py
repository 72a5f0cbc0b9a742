"""Signed margins of many resampled tables of choice shares at once.

The same numbers as signed_margin gives one table at a time, without the directions. Shapes: R resamples, K
bins, J actions.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from belief_utils.beliefs.margins import CHANGE, action_pairs, best_direction, line_crossings

_BATCH = 2_000_000
_MOST_VERTICES = 2_000


def margins(shares: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Signed margins of many sets of choice shares at once, without directions; shape (R,).

    Args:
        shares: Choice shares (R, K, J); where a bin is empty, those of a neighbour.
        used: Whether the action occurs, (R, J).

    NaN where nothing changes or fewer than two actions are used.
    """
    n_actions = shares.shape[2]
    steps = np.diff(shares, axis=1)
    counts = (np.abs(steps) > CHANGE).any(axis=2)
    if n_actions <= 3:
        values = _margins_of_three(steps, counts, used)
    else:
        values = _margins_of_many(steps, counts, used)
    values[~counts.any(axis=1) | (used.sum(axis=1) < 2)] = np.nan
    return values


def _margins_of_three(steps: np.ndarray, counts: np.ndarray, used: np.ndarray) -> np.ndarray:
    """margins for up to three actions, all resamples of a pair at a time."""
    n_actions, n_steps = steps.shape[2], steps.shape[1]
    # A step that does not count gets a base far above the rest, so it is never the smallest.
    lift = np.where(counts, 0.0, 10.0)
    best = np.full(len(steps), -np.inf)
    size = max(1, _BATCH // (n_steps * (2 + n_steps * (n_steps - 1) // 2)))
    for start in range(0, len(steps), size):
        part = slice(start, start + size)
        for low, high in action_pairs(n_actions):
            base = steps[part, :, high] + lift[part]
            free = [a for a in range(n_actions) if a not in (low, high)]
            slope = steps[part][:, :, free[0]] if free else np.zeros_like(base)
            t = line_crossings(base, slope)
            value = (base[:, None, :] + t[:, :, None] * slope[:, None, :]).min(axis=2).max(axis=1)
            allowed = used[part, low] & used[part, high]
            best[part] = np.maximum(best[part], np.where(allowed, value, -np.inf))
    return best


def _margins_of_many(steps: np.ndarray, counts: np.ndarray, used: np.ndarray) -> np.ndarray:
    """margins for four actions or more: by the dual's vertices, or by programmes if these are too many.

    By duality the margin of a pair is the least, over weights w of the steps (w >= 0, sum 1), of c_high +
    sum over free actions of max(0, c_a) with c = w @ steps. That function is linear between the hyperplanes
    c_a = 0 and w_k = 0, so its least value is at a point where they meet.
    """
    n_steps, n_actions = steps.shape[1:]
    chosen = list(combinations(range(n_steps + n_actions), n_steps - 1))
    if len(chosen) > _MOST_VERTICES:
        return np.array([_programmed_margin(*one) for one in zip(steps, counts, used, strict=True)])
    best = np.full(len(steps), -np.inf)
    size = max(1, _BATCH // (len(chosen) * max(n_steps**2, len(action_pairs(n_actions)))))
    for start in range(0, len(steps), size):
        part = slice(start, start + size)
        c, feasible = _dual_vertices(steps[part], counts[part], np.array(chosen, dtype=np.int64))
        positive = np.maximum(c, 0)
        total = positive.sum(axis=2)
        for low, high in action_pairs(n_actions):
            value = total - positive[..., low] - positive[..., high] + c[..., high]
            value = np.where(feasible, value, np.inf).min(axis=1)
            allowed = used[part, low] & used[part, high]
            best[part] = np.maximum(best[part], np.where(allowed, value, -np.inf))
    return best


def _dual_vertices(steps: np.ndarray, counts: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted steps c (R, vertices, J) where chosen hyperplanes meet, and if their weights are allowed."""
    n_steps = steps.shape[1]
    planes = np.concatenate(
        (np.broadcast_to(np.eye(n_steps), (len(steps), n_steps, n_steps)), steps.transpose(0, 2, 1)), axis=1
    )
    systems = np.empty((len(steps), len(chosen), n_steps, n_steps))
    systems[:, :, :-1, :] = planes[:, chosen, :]
    systems[:, :, -1, :] = 1.0
    regular = np.abs(np.linalg.det(systems)) > 1e-13
    systems[~regular] = np.eye(n_steps)
    right = np.zeros((n_steps, 1))
    right[-1] = 1.0
    weights = np.linalg.solve(systems, np.broadcast_to(right, (*systems.shape[:2], n_steps, 1)))[..., 0]
    feasible = regular & (weights >= -1e-9).all(axis=2)
    feasible &= (np.abs(weights) * ~counts[:, None, :]).max(axis=2) < 1e-9
    weights = np.clip(weights, 0, None)
    total = weights.sum(axis=2, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return weights @ steps, feasible


def _programmed_margin(steps: np.ndarray, counts: np.ndarray, used: np.ndarray) -> float:
    if not counts.any() or used.sum() < 2:
        return np.nan
    reduced = steps[counts][:, used]
    return best_direction(reduced, action_pairs(reduced.shape[1]))[0]

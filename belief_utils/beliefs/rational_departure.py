"""What keeps choices from being those of a rational agent: the beliefs that clash, and the least change that mends it.

Shapes: M points, N states, J actions; beliefs (M, N), shares (M, J), d (J, N - 1), its first state being 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.beliefs.belief_points import BeliefPoints
from belief_utils.beliefs.margins import CHANGE
from belief_utils.beliefs.rational_programmes import (
    TOLERANCE,
    Points,
    Scale,
    as_table,
    best_fit,
    solved_programme,
    utility_bounds,
)


@dataclass(frozen=True)
class Departure:
    """What keeps choices from being those of any rational agent.

    Attributes:
        clash: Numbers of the belief points (from 0) that cannot be reconciled: no utilities fit all of them, and some
            fit if any one is left out.
        cycle: Under the utilities that come closest to fitting the clash, the cycle of belief points that breaks
            cyclic monotonicity (Proposition 2) most, on average over its steps; it returns to the first.
        cycle_sum: Its sum of q_k . (v_k - v_next), below zero; utilities span [0, 1].
        change: Least share of all answers that would have to be other actions for the choices to fit, as found.
        change_at_least: A bound that no repair can be below. Where it equals ``change``, that one is the least.
        repaired: Choice shares after the change; rows points, columns actions.
        utilities: u(action, state) - u(action, first state) that fit the repaired shares.
    """

    clash: tuple[int, ...]
    cycle: tuple[int, ...]
    cycle_sum: float
    change: float
    change_at_least: float
    repaired: pd.DataFrame
    utilities: pd.DataFrame


def find_departure(points: Points, allowed: list[Scale], at: BeliefPoints) -> Departure:
    """What keeps the choices from fitting any utilities on the allowed scales; they must not fit."""
    clash = list(range(len(points.beliefs)))
    for point in list(clash):
        rest = [other for other in clash if other != point]
        if not _some_fit(points.only(rest), allowed):
            clash = rest
    closest = best_fit(points.only(clash), allowed)[1]
    total, cycle = worst_cycle(points.only(clash), closest[:, 1:])
    bounds = sorted((least_change(points, scale) for scale in allowed), key=lambda found: found[0])
    change, shares, gains = np.inf, points.shares, closest[:, 1:]
    for at_least, candidate in bounds:
        if at_least < change - TOLERANCE:
            found, repaired = repaired_shares(points, candidate)
            if found < change - TOLERANCE:
                change, shares, gains = found, repaired, candidate
    utilities = np.column_stack((np.zeros(len(gains)), gains))
    return Departure(
        tuple(clash),
        tuple(clash[place] for place in cycle),
        total,
        change,
        min(bounds[0][0], change),
        pd.DataFrame(shares, columns=at.shares.columns),
        pd.DataFrame(utilities, index=at.shares.columns, columns=at.beliefs.columns),
    )


def _some_fit(points: Points, allowed: list[Scale]) -> bool:
    alike = (np.abs(points.shares - points.shares[0]) <= CHANGE).all()
    return bool(len(points.beliefs) < 2 or alike or best_fit(points, allowed)[0] >= 0)


def worst_cycle(points: Points, utilities: np.ndarray) -> tuple[float, list[int]]:
    """The cycle of beliefs with the least mean of q_i . (v_i - v_j) over its steps i to j: its sum and its points.

    Cyclic monotonicity (Proposition 2) asks that no such sum be negative.
    """
    first, second = points.pairs()
    count = len(points.beliefs)
    conserved = np.eye(count)[:, first] - np.eye(count)[:, second]
    balance = np.vstack((conserved[1:], np.ones(len(first))))
    right, bounds = np.r_[np.zeros(count - 1), 1.0], [(0.0, None)] * len(first)
    # Flows round the points that add up to 1: their extreme points are single cycles.
    mean, flow = solved_programme(-_gains(points, utilities), None, None, bounds, balance, right)
    used = {int(first[k]): int(second[k]) for k in np.flatnonzero(flow > 1e-7)}
    cycle = [min(used)]
    while (following := used[cycle[-1]]) != cycle[0]:
        cycle.append(following)
    return mean * len(cycle), cycle


def least_change(points: Points, scale: Scale) -> tuple[float, np.ndarray]:
    """A lower bound of the share of answers that must differ for these choices to fit, and utilities (J, N - 1).

    What a point's answers gain in a state, g = q . d, can change by at most the share of answers that change. The
    programme finds d, g and W that fit at the least change of g.
    """
    first, second = points.pairs()
    count, states = points.beliefs.shape
    n_actions, known = points.shares.shape[1], states - 1
    # Unknowns: d (state by state), W, g (point by point), the change at each point.
    moved = (points.beliefs[second] - points.beliefs[first])[:, 1:]
    potential = np.eye(count)[first] - np.eye(count)[second]
    gains = np.zeros((len(first), count, known))
    gains[np.arange(len(first)), first] = moved
    fits = np.hstack((np.zeros((len(first), known * n_actions)), potential, gains.reshape(len(first), -1)))
    fits = np.hstack((fits, np.zeros((len(first), count))))
    level = np.kron(np.eye(known), points.shares).reshape(known, count, -1).swapaxes(0, 1).reshape(count * known, -1)
    change = np.repeat(np.eye(count), known, axis=0)
    blank = np.zeros((count * known, count))
    above = np.hstack((-level, blank, np.eye(count * known), -change))
    below = np.hstack((level, blank, -np.eye(count * known), -change))
    bounds = [*utility_bounds(points, scale), *[(None, None)] * (count * known), *[(0.0, 1.0)] * count]
    rows = np.vstack((fits, above, below))
    objective = np.r_[np.zeros(rows.shape[1] - count), points.weights]
    value, found = solved_programme(objective, rows, np.zeros(len(rows)), bounds)
    return float(value), as_table(points, found[: points.n_utilities])


def repaired_shares(points: Points, utilities: np.ndarray) -> tuple[float, np.ndarray]:
    """The least share of answers that must differ so that the choices fit these utilities, and the shares then."""
    first, second = points.pairs()
    count, n_actions = points.shares.shape
    values = points.beliefs[:, 1:] @ utilities.T
    moved = values[second] - values[first]
    # Unknowns: shares (point by point), what is taken from each share, W.
    gains = np.zeros((len(first), count, n_actions))
    gains[np.arange(len(first)), first] = moved
    potential = np.eye(count)[first] - np.eye(count)[second]
    width = count * n_actions
    fits = np.hstack((gains.reshape(len(first), -1), np.zeros((len(first), width)), potential))
    taken = np.hstack((-np.eye(width), -np.eye(width), np.zeros((width, count))))
    whole = np.hstack((np.kron(np.eye(count), np.ones(n_actions)), np.zeros((count, width + count))))
    bounds = [(0.0, 1.0)] * (2 * width) + [(0.0, 0.0)] + [(None, None)] * (count - 1)
    objective = np.r_[np.zeros(width), np.repeat(points.weights, n_actions), np.zeros(count)]
    right = np.r_[np.zeros(len(first)), -points.shares.ravel()]
    value, found = solved_programme(objective, np.vstack((fits, taken)), right, bounds, whole, np.ones(count))
    shares = np.clip(found[:width].reshape(count, n_actions), 0, 1)
    return float(value), shares / shares.sum(axis=1, keepdims=True)


def _gains(points: Points, utilities: np.ndarray) -> np.ndarray:
    """q_i . (v_j - v_i) of each pair, shape (pairs,)."""
    first, second = points.pairs()
    values = points.beliefs[:, 1:] @ utilities.T
    return (points.shares[first] * (values[second] - values[first])).sum(axis=1)

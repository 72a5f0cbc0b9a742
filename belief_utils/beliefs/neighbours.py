"""The nearest-neighbour estimator of conditional mutual information, on integer beliefs and codes.

Mesner and Shalizi (2021), "Conditional mutual information estimation for mixed, discrete and continuous
data". Sorted arrays and binary search take the place of the table of all distances: O(n log n) time, O(n)
memory.
"""

from __future__ import annotations

import numpy as np

from belief_utils.beliefs.judgments_checks import BELIEF_SCALE

_APART = 4 * BELIEF_SCALE  # keeps beliefs of different groups out of each other's reach in one sorted array


def neighbour_information(belief: np.ndarray, action: np.ndarray, outcome: np.ndarray, k: int) -> float:
    """conditional_mutual_information of integer beliefs and codes from 0, all of shape (n,), unchecked."""
    from scipy.special import digamma

    n = len(belief)
    cell = action * (outcome.max() + 1) + outcome
    keys = cell * _APART + belief
    order = np.argsort(keys)
    keys = keys[order]
    rho = _neighbour_distance(keys, k)
    # At a mismatch's distance every row is within reach, all four counts are n - 1 and the term is zero.
    near = rho < BELIEF_SCALE
    rho, rows = rho[near], order[near]
    psi = np.concatenate(([np.nan], digamma(np.arange(1, n))))
    value = belief[rows]
    terms = psi[_within(keys, keys[near], rho)]
    terms -= psi[_within(np.sort(action * _APART + belief), action[rows] * _APART + value, rho)]
    terms -= psi[_within(np.sort(outcome * _APART + belief), outcome[rows] * _APART + value, rho)]
    terms += psi[_within(np.sort(belief), value, rho)]
    return float(terms.sum() / n)


def _neighbour_distance(keys: np.ndarray, k: int) -> np.ndarray:
    """Distance of each sorted key to its k-th neighbour in the same cell, at most a mismatch's distance."""
    n = len(keys)
    wall = np.full(k, 4 * (abs(int(keys[-1])) + _APART))
    padded = np.concatenate((-wall, keys, wall))
    best = np.full(n, BELIEF_SCALE)
    for below in range(k + 1):  # the k neighbours are some below and the rest above
        lowest, highest = padded[k - below : k - below + n], padded[2 * k - below : 2 * k - below + n]
        np.minimum(best, np.maximum(keys - lowest, highest - keys), out=best)
    return best


def _within(ordered: np.ndarray, centre: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """How many other members of ``ordered`` lie within the radius of each centre, itself a member."""
    upper = np.searchsorted(ordered, centre + radius, side="right")
    return upper - np.searchsorted(ordered, centre - radius, side="left") - 1

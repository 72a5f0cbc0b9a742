"""Random draws that the tests share: permutations between like cases, and resamples of whole cases."""

from __future__ import annotations

import numpy as np

from belief_utils.beliefs.judgments_checks import BELIEF_SCALE, quantile_bins

CASES_PER_STRATUM = 10


def case_strata(mean_belief: np.ndarray, *, seed: int = 0) -> np.ndarray:
    """Stratum of each case, from 0, so that a stratum's cases hold about the same belief.

    One belief a case, shape (cases,): max(min(20, cases // 5), cases // 10) quantile bins. Five would be
    too few: what is left of the belief's own effect inside a wide stratum passes for hidden knowledge. A
    vector of beliefs, shape (cases, states): k-means with about ten cases a cluster, seeded.
    """
    n = len(mean_belief)
    if mean_belief.ndim == 1:
        wanted = max(min(20, n // 5), n // CASES_PER_STRATUM, 1)
        return quantile_bins(mean_belief, wanted)[1]
    return _clusters(mean_belief / BELIEF_SCALE, seed)


def _clusters(points: np.ndarray, seed: int, largest: int = 4000) -> np.ndarray:
    """K-means labels without gaps; above ``largest`` points a coarse division comes first."""
    from sklearn.cluster import KMeans

    distinct = len(np.unique(points, axis=0))
    wanted = max(1, len(points) // CASES_PER_STRATUM)
    if distinct <= wanted:
        return np.unique(points, axis=0, return_inverse=True)[1].ravel()
    if len(points) <= largest:
        labels = KMeans(wanted, n_init=1, random_state=seed).fit_predict(points)
        return np.unique(labels, return_inverse=True)[1]
    coarse = KMeans(2 * len(points) // largest + 1, n_init=1, random_state=seed).fit_predict(points)
    labels, used = np.empty(len(points), dtype=np.int64), 0
    for part in np.unique(coarse):
        inside = np.flatnonzero(coarse == part)
        small = len(inside) < len(points)
        labels[inside] = used + (_clusters(points[inside], seed, largest) if small else 0)
        used = labels[inside].max() + 1
    return labels


def permute_within(values: np.ndarray, strata: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """``count`` permutations of the values, shape (n,), each within its stratum; shape (count, n).

    Strata of the same size are permuted together, so that the cost does not grow with their number.
    """
    drawn = np.empty((count, len(values)), dtype=values.dtype)
    sizes = np.bincount(strata)
    order = np.argsort(strata, kind="stable")
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):
        members = order[starts[sizes == size][:, None] + np.arange(size)]
        block = np.broadcast_to(values[members], (count, *members.shape))
        drawn[:, members] = rng.permuted(block, axis=2)
    return drawn


def subset_of_cases(n_cases: int, most: int, rng: np.random.Generator) -> tuple[np.ndarray, float, str]:
    """Cases to resample from (at most ``most``), the factor for their spread, and a note.

    The spread of an average-like estimate shrinks with the square root of the number of cases, so what
    resamples of a random subset of m out of n cases show is multiplied by sqrt(m / n).
    """
    if n_cases <= most:
        return np.arange(n_cases), 1.0, ""
    chosen = np.sort(rng.choice(n_cases, most, replace=False))
    note = f"large data: spread from resamples of {most} of {n_cases} cases, rescaled"
    return chosen, float(np.sqrt(most / n_cases)), note


def resample_weights(n_cases: int, resamples: int, rng: np.random.Generator) -> np.ndarray:
    """How often each case is drawn in each resample with replacement, shape (resamples, cases)."""
    drawn = rng.integers(0, n_cases, (resamples, n_cases)) + n_cases * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * n_cases).reshape(resamples, n_cases)

"""The monotonicity margin of judgments about more than two outcomes, from groups of like beliefs."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.beliefs.multistate import multistate_margin

_GROUPS = 10
_FITTED_ROWS = 20_000
_MOST_ACTIONS = 12


@dataclass(frozen=True)
class SeveralMargin:
    """Margin over several outcomes: ``gamma`` from ``n_points`` groups of beliefs, or why there is none in ``note``."""

    gamma: float
    n_points: int
    note: str


def several_margin(judgments: pd.DataFrame, beliefs: list[str], *, seed: int = 0) -> SeveralMargin:
    """The margin of :func:`belief_utils.beliefs.multistate.multistate_margin` over groups of like beliefs.

    The belief vectors of complete rows are divided into ten groups by k-means (as many as there are different ones,
    if these are fewer); a group's point is its mean belief.

    Args:
        judgments: The columns in ``beliefs`` and action.
        beliefs: The names of the belief columns.
        seed: Seed of the division.
    """
    rows = judgments[[*beliefs, "action", "outcome"]].dropna()
    if not len(rows):
        return SeveralMargin(np.nan, 0, "no complete rows")
    vectors = rows[beliefs].to_numpy(float)
    vectors = vectors / vectors.sum(axis=1, keepdims=True)
    group = _groups(vectors.round(6), seed)
    action, actions = pd.factorize(rows["action"])
    n_points = int(group.max()) + 1
    size = np.bincount(group)
    points = np.column_stack([np.bincount(group, column) / size for column in vectors.T])
    shares = np.zeros((n_points, len(actions)))
    np.add.at(shares, (group, action), 1)
    if n_points < 2 or len(actions) < 2:
        reason = "the action never varies" if len(actions) < 2 else "the belief never varies"
        return SeveralMargin(np.nan, n_points, reason)
    if len(actions) > _MOST_ACTIONS:
        return SeveralMargin(np.nan, n_points, f"there are more than {_MOST_ACTIONS} actions")
    gamma = multistate_margin(points, shares / size[:, None])
    note = "choice shares are the same for all beliefs" if np.isnan(gamma) else ""
    return SeveralMargin(gamma, n_points, note)


def _groups(vectors: np.ndarray, seed: int) -> np.ndarray:
    """The group of each belief vector, shape (rows,), numbered from 0 without gaps."""
    different, group = np.unique(vectors, axis=0, return_inverse=True)
    if len(different) > _GROUPS:
        from sklearn.cluster import KMeans

        rng = np.random.default_rng(seed)
        some = np.sort(rng.choice(len(vectors), min(len(vectors), _FITTED_ROWS), replace=False))
        fitted = KMeans(_GROUPS, n_init=3, random_state=seed).fit(vectors[some])
        group = fitted.predict(vectors)
    return np.unique(group.ravel(), return_inverse=True)[1]

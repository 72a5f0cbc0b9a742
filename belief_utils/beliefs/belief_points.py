"""Belief points: the beliefs at which choices are compared, and how often each action is taken there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.beliefs.judgments_checks import (
    BELIEF_SCALE,
    Cases,
    belief_columns,
    group_by_case,
    name_rows,
    quantile_bins,
)
from belief_utils.beliefs.margins import checked_shares
from belief_utils.errors import BeliefError

SUM_TOLERANCE = 0.02
"""How far from 1 the beliefs of a row over several states may add up."""


@dataclass(frozen=True)
class BeliefPoints:
    """Choice shares at belief points; with two states in order of the second state's rising probability.

    Attributes:
        beliefs: Probability of each state (columns) at each point (rows).
        shares: Share of each used action (columns) at each point (rows).
        weights: Each point's share of all answers, shape (points,).
        n_cases: Cases used; 0 where shares were given.
        n_rows: Rows used; 0 where shares were given.
        note: What was left out, or "".
    """

    beliefs: pd.DataFrame
    shares: pd.DataFrame
    weights: np.ndarray
    n_cases: int = 0
    n_rows: int = 0
    note: str = ""


def points_of_judgments(judgments: pd.DataFrame, bins: int) -> BeliefPoints:
    """Belief points of judgments: quantile bins of rows, at their mean beliefs.

    With more than two outcome states and columns ``belief_<state>``: clusters of rows (k-means, seeded), at their
    mean beliefs.

    Args:
        judgments: Columns case, belief, action, outcome; incomplete rows are left out.
        bins: Number of bins or clusters, 2 or more; tied beliefs can make them fewer.

    Raises:
        BeliefError: as check_judgments, if bins is below 2, or beliefs over several states do not add up to 1.
    """
    if int(bins) != bins or bins < 2:
        raise BeliefError(f"bins is {bins}: give a whole number, 2 or more")
    columns = belief_columns(judgments)
    several = "outcome" in judgments and judgments["outcome"].nunique() > 2
    if len(columns) > 1 and (several or "belief" not in judgments):
        cases = group_by_case(judgments, beliefs=columns)
        wrong = (judgments[columns].astype(float).sum(axis=1, skipna=False) - 1).abs().to_numpy() > SUM_TOLERANCE
        if wrong.any():
            raise BeliefError(f"beliefs do not add up to 1 in {name_rows(wrong, judgments.index)}")
        states: list = [name.removeprefix("belief_") for name in columns]
        return _gathered(cases, cases.belief, states, int(bins))
    cases = group_by_case(judgments)
    return _gathered(cases, np.column_stack((BELIEF_SCALE - cases.belief, cases.belief)), [0, 1], int(bins))


def _gathered(cases: Cases, belief: np.ndarray, states: list, bins: int) -> BeliefPoints:
    if not cases.n_rows:
        nothing = pd.DataFrame(columns=states, dtype=float), pd.DataFrame(), np.zeros(0)
        return BeliefPoints(*nothing, cases.n_cases, 0, cases.note)
    group = quantile_bins(belief[:, 1], bins)[1] if len(states) == 2 else _clusters(belief, bins)
    counts = np.zeros((int(group.max()) + 1, len(cases.actions)))
    np.add.at(counts, (group, cases.action), 1)
    sums = np.zeros((len(counts), len(states)))
    np.add.at(sums, group, belief.astype(float))
    rows = counts.sum(axis=1, keepdims=True)
    return BeliefPoints(
        pd.DataFrame(sums / sums.sum(axis=1, keepdims=True), columns=states),
        pd.DataFrame(counts / rows, columns=list(cases.actions)),
        rows[:, 0] / rows.sum(),
        cases.n_cases,
        cases.n_rows,
        cases.note,
    )


def _clusters(belief: np.ndarray, count: int) -> np.ndarray:
    """Cluster of each row by its belief vector, shape (rows,), numbered by the first state's rising mean."""
    from sklearn.cluster import KMeans

    points = belief / BELIEF_SCALE
    distinct = len(np.unique(points, axis=0))
    labels = KMeans(min(count, distinct), n_init=4, random_state=0).fit_predict(points)
    labels = np.unique(labels, return_inverse=True)[1]
    means = np.bincount(labels, weights=points[:, 0]) / np.bincount(labels)
    return np.argsort(np.argsort(means, kind="stable"), kind="stable")[labels]


def points_of_shares(
    beliefs: pd.DataFrame | Iterable, choice_shares: pd.DataFrame | Iterable, weights: Iterable | None = None
) -> BeliefPoints:
    """Belief points from beliefs, shape (points,) or (points, states), and choice shares, (points, actions).

    Raises:
        BeliefError: if they do not fit together, are no shares, or a belief stands there twice.
    """
    frame = choice_shares if isinstance(choice_shares, pd.DataFrame) else pd.DataFrame(np.asarray(choice_shares))
    shares = pd.DataFrame(checked_shares(frame), columns=frame.columns)
    shares = shares.loc[:, (shares > 0).any(axis=0)]
    points = _checked_beliefs(beliefs, len(shares))
    given = np.ones(len(shares)) if weights is None else np.asarray(list(weights), dtype=float)
    if given.shape != (len(shares),) or not (given > 0).all():
        raise BeliefError(f"weights must be {len(shares)} numbers above zero, one for each point")
    order = np.arange(len(points))
    if points.shape[1] == 2:
        order = np.argsort(points.iloc[:, 1].to_numpy(), kind="stable")
    points, shares = points.iloc[order].reset_index(drop=True), shares.iloc[order].reset_index(drop=True)
    return BeliefPoints(points, shares, given[order] / given.sum())


def _checked_beliefs(beliefs: pd.DataFrame | Iterable, count: int) -> pd.DataFrame:
    frame = beliefs if isinstance(beliefs, pd.DataFrame) else pd.DataFrame(np.asarray(beliefs, dtype=float))
    if frame.shape[1] == 1:
        frame = pd.DataFrame({0: 1 - frame.iloc[:, 0], 1: frame.iloc[:, 0]})
    if len(frame) != count:
        raise BeliefError(f"{len(frame)} belief points and {count} rows of shares: give one of each a point")
    values = frame.to_numpy(dtype=float)
    wrong = ~((values >= 0).all(axis=1) & (np.abs(values.sum(axis=1) - 1) <= SUM_TOLERANCE))
    if wrong.any():
        raise BeliefError(f"beliefs are not probabilities that add up to 1 in {name_rows(wrong, frame.index)}")
    points = pd.DataFrame(values / values.sum(axis=1, keepdims=True), columns=frame.columns)
    if points.duplicated().any():
        raise BeliefError("a belief point stands there twice: put its choices together")
    return points

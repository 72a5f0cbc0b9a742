"""Two ways to predict an outcome from a belief, with or without an action: a forest and a smooth curve.

Both take the grouped cases, the outcome of each row (0 or 1), masks of training and test rows, whether the
action joins the belief, and a seed; both return predictions for the test rows.
"""

from __future__ import annotations

import numpy as np

from belief_utils.beliefs.judgments_checks import BELIEF_SCALE, Cases

_KNOTS = np.linspace(0, 1, 6)
_SMOOTHNESS = 0.1


def predict_by_forest(
    cases: Cases, outcome: np.ndarray, train: np.ndarray, test: np.ndarray, with_action: bool, seed: int
) -> np.ndarray:
    """Forest of 200 regression trees, leaves of max(20, 5 % of all rows): the paper's learner, safely set."""
    from sklearn.ensemble import RandomForestRegressor

    columns = cases.belief[:, None] / BELIEF_SCALE
    if with_action:
        columns = np.column_stack([columns, np.eye(len(cases.actions))[cases.action]])
    leaf = max(20, int(np.ceil(0.05 * cases.n_rows)))
    forest = RandomForestRegressor(200, min_samples_leaf=leaf, max_features=1.0, random_state=seed, n_jobs=1)
    return forest.fit(columns[train], outcome[train]).predict(columns[test])


def predict_by_logistic(
    cases: Cases, outcome: np.ndarray, train: np.ndarray, test: np.ndarray, with_action: bool, seed: int
) -> np.ndarray:
    """Logistic regression on a fixed cubic spline of the belief, plus a constant for each action.

    A light penalty on the bends of the spline keeps it defined where there are no beliefs. Rows with the
    same belief and action are counted once: the fit depends on counts only. The seed is not needed.
    """
    width = len(cases.actions)
    key, cell = np.unique(cases.belief * width + cases.action if with_action else cases.belief, return_inverse=True)
    belief, action = (key // width, key % width) if with_action else (key, np.zeros(len(key), dtype=np.int64))
    basis = _spline_basis(belief / BELIEF_SCALE)
    penalty = np.zeros((basis.shape[1] + width - 1,) * 2)
    bends = np.diff(np.eye(basis.shape[1]), 2, axis=0)
    penalty[: basis.shape[1], : basis.shape[1]] = _SMOOTHNESS * bends.T @ bends
    penalty += 1e-3 * np.eye(len(penalty))
    design = np.column_stack([basis, np.eye(width)[action][:, 1:]])
    number = np.bincount(cell[train], minlength=len(key)).astype(float)
    positive = np.bincount(cell[train], outcome[train], minlength=len(key))
    return _fit_logistic(design, positive, number, penalty)[cell[test]]


def _spline_basis(belief: np.ndarray) -> np.ndarray:
    """Cubic B-splines on fixed equal knots over [0, 1], shape (n, 8); each row adds up to one."""
    from scipy.interpolate import BSpline

    knots = np.concatenate((np.zeros(3), _KNOTS, np.ones(3)))
    return BSpline.design_matrix(belief, knots, 3).toarray()


def _fit_logistic(design: np.ndarray, positive: np.ndarray, number: np.ndarray, penalty: np.ndarray) -> np.ndarray:
    """Fitted probabilities by penalised Newton steps, halved while they do not improve the likelihood."""
    from scipy.special import expit

    def loss(weights: np.ndarray) -> float:
        index = design @ weights
        return number @ np.logaddexp(0, index) - positive @ index + weights @ penalty @ weights / 2

    weights = np.zeros(design.shape[1])
    value = loss(weights)
    for _ in range(50):
        fitted = expit(design @ weights)
        gradient = design.T @ (positive - number * fitted) - penalty @ weights
        curvature = (design * (number * fitted * (1 - fitted))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature, gradient)
        while (reached := loss(weights + step)) > value and np.abs(step).max() > 1e-10:
            step = step / 2
        weights, gained, value = weights + step, value - reached, reached
        if gained < 1e-9:
            break
    return expit(design @ weights)

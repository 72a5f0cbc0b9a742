"""A near-rational agent that does what was observed: utilities, a regulariser, and its choice at any belief.

The agent of arXiv 2602.06286, Definition 1 and Proposition 5, built from observations that fit: at belief b it takes
the mix of actions that maximises expected utility less the regulariser C, where C is convex and finite on all mixes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from belief_utils.beliefs.margins import check_solved
from belief_utils.errors import BeliefError

_TIED = 1e-9
# Utilities span 1, so leaving the observed mixes can gain at most half a unit per unit of |change| in the shares.
_PRICE = 1.0


@dataclass(frozen=True)
class RationalAgent:
    """An agent of the perturbed-utility kind.

    The potential W is the largest of the lines q_k . v - C(q_k): the best that the agent can get at expected
    utilities v. The regulariser C is its convex conjugate within the observed mixes, piecewise linear, and rises
    steeply outside them: C(x) = min over weights w of sum_k w_k C(q_k) + |x - sum_k w_k q_k|, the sum of absolute
    differences.

    Attributes:
        gains: u(action, state) - u(action, first state), in [0, 1]; rows actions, columns the states.
        levels: u(action, first state), by action. Choices do not tell them: adding a constant to an action's utility
            and the same to the regulariser, times the action's share, changes nothing. 0 unless set.
        beliefs: Probabilities of the states at the observed points, shape (points, states).
        shares: Share of each action (columns) at each point (rows).
        potential: W at each point, shape (points,).
    """

    gains: pd.DataFrame
    levels: pd.Series
    beliefs: np.ndarray
    shares: pd.DataFrame
    potential: np.ndarray

    @property
    def utilities(self) -> pd.DataFrame:
        """u(action, state): rows actions, columns states."""
        return self.gains.add(self.levels, axis=0)

    @property
    def costs(self) -> np.ndarray:
        """The regulariser at each observed mix, C(q_k) = q_k . v_k - W_k (Fenchel), shape (points,)."""
        values = self.beliefs @ self.utilities.to_numpy().T
        return (self.shares.to_numpy() * values).sum(axis=1) - self.potential

    @property
    def is_unique(self) -> bool:
        """Whether at every observed belief the observed mix is the only best one, not one of several."""
        best = self._worth(self.beliefs)
        other = (np.abs(self.shares.to_numpy()[:, None] - self.shares.to_numpy()[None]) > _TIED).any(axis=2)
        gap = np.where(other, np.diag(best)[:, None] - best, np.inf)
        return bool((gap > _TIED).all())

    def choose(self, belief: float | Iterable) -> pd.Series:
        """The mix of actions that the agent takes at a belief: the share of each action.

        Of several mixes that are equally good, the one observed at the nearest belief.

        Args:
            belief: The probability of the second of two states, or one probability for each state.

        Raises:
            BeliefError: if the belief is no probability or has another number of states.
        """
        point = self._checked(belief)
        worth = self._worth(point[None])[0]
        good = np.flatnonzero(worth >= worth.max() - _TIED)
        away = np.abs(self.beliefs[good] - point).sum(axis=1)
        return self.shares.iloc[int(good[away.argmin()])].rename(None)

    def value(self, belief: float | Iterable) -> float:
        """The potential W at a belief: expected utility less the regulariser, at the agent's best mix."""
        return float(self._worth(self._checked(belief)[None]).max())

    def expected_utilities(self, belief: float | Iterable) -> pd.Series:
        """Expected utility of each action at a belief."""
        return pd.Series(self.utilities.to_numpy() @ self._checked(belief), index=self.gains.index)

    def cost(self, shares: Mapping | Iterable) -> float:
        """The regulariser C at any mix of actions, by linear programme.

        Args:
            shares: By action, or in the order of the actions.

        Raises:
            BeliefError: if these are not shares of the agent's actions that add up to 1.
        """
        from scipy.optimize import linprog

        mix = self._checked_mix(shares)
        observed = self.shares.to_numpy().T
        n_actions, count = observed.shape
        without_levels = self.costs - observed.T @ self.levels.to_numpy()
        objective = np.r_[without_levels, np.full(2 * n_actions, _PRICE)]
        equal = np.vstack((np.hstack((observed, np.eye(n_actions), -np.eye(n_actions))), np.zeros(len(objective))))
        equal[-1, :count] = 1.0
        solved = linprog(objective, A_eq=equal, b_eq=np.r_[mix, 1.0], method="highs")
        check_solved(solved)
        return float(solved.fun + mix @ self.levels.to_numpy())

    def with_levels(self, levels: Mapping) -> RationalAgent:
        """The same choices under other utilities in the first state, u(action, first state) by action.

        Raises:
            BeliefError: if an action is not the agent's.
        """
        unknown = [action for action in levels if action not in self.gains.index]
        if unknown:
            raise BeliefError(f"{unknown[0]!r} is not an action of this agent: it has {', '.join(self._names())}")
        given = pd.Series(dict(levels), dtype=float).reindex(self.gains.index, fill_value=0.0)
        return replace(self, levels=given)

    def _names(self) -> list[str]:
        return [str(action) for action in self.gains.index]

    def _worth(self, points: np.ndarray) -> np.ndarray:
        """Expected utility less the regulariser of each observed mix (columns) at each belief (rows)."""
        values = points @ self.utilities.to_numpy().T
        return values @ self.shares.to_numpy().T - self.costs

    def _checked(self, belief: float | Iterable) -> np.ndarray:
        point = np.asarray(belief if np.isscalar(belief) else list(belief), dtype=float)
        if point.ndim == 0:
            point = np.array([1 - point, point])
        if point.shape != (self.beliefs.shape[1],) or not np.isfinite(point).all():
            raise BeliefError(f"a belief has {self.beliefs.shape[1]} probabilities, one for each state")
        if (point < 0).any() or abs(point.sum() - 1) > 1e-6:
            raise BeliefError(f"belief {point.tolist()} is not made of probabilities that add up to 1")
        return point

    def _checked_mix(self, shares: Mapping | Iterable) -> np.ndarray:
        if isinstance(shares, Mapping | pd.Series):
            shares = [dict(shares).get(action, 0.0) for action in self.gains.index]
        mix = np.asarray(list(shares), dtype=float)
        if mix.shape != (len(self.gains),) or not (mix >= 0).all() or abs(mix.sum() - 1) > 1e-6:
            raise BeliefError(f"give shares of {', '.join(self._names())} that add up to 1")
        return mix

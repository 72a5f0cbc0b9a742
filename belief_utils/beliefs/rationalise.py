"""Which rational agent would do what the model does, or what stands in the way of there being one?

Proposition 5 of arXiv 2602.06286 made constructive. Choices that are cyclically monotone in the reported belief, and
that say nothing more about the outcome than it does, are those of some agent with utilities and a convex regulariser.
Here the agent is built: its utilities, how far they are determined, its regulariser and its choice at any belief. Where
choices are not monotone, the beliefs that clash and the least share of answers that would have to differ are found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.beliefs.belief_points import BeliefPoints, points_of_judgments, points_of_shares
from belief_utils.beliefs.judgments_checks import join_notes
from belief_utils.beliefs.margins import CHANGE, signed_margin
from belief_utils.beliefs.rational_agent import RationalAgent
from belief_utils.beliefs.rational_departure import Departure, find_departure
from belief_utils.beliefs.rational_programmes import Points, Scale, best_fit, scales, utility_ranges
from belief_utils.errors import BeliefError

ANCHOR = ("negative", "positive")
"""Actions with the least and the greatest gain from the outcome in the anchored scale."""
FEW_POINTS = 8


@dataclass(frozen=True)
class Rationalisation:
    """The rational agent behind some choices, or what stands in its way.

    Attributes:
        fits: Whether some utilities fit; None where choices cannot tell, ``note`` says why.
        gamma: Margin of monotonicity (section 3.2), the largest over the utilities allowed: zero or more if they fit.
            With more than two states only its sign has a meaning.
        beliefs: The belief points: one column for each state; rows in order of rising belief with two states.
        choice_shares: Share of each action (columns) at each point (rows).
        agent: The agent that does the same, with the utilities of the largest margin; None if there is none.
        ranges: Over all utilities that fit, the least and largest gain u(action, 1) - u(action, 0) from the outcome;
            rows actions, columns least and largest. Gains are scaled to span [0, 1]. Empty if none fit or there are
            more than two states.
        anchored_ranges: The same where "negative" gains 0 and "positive" 1.
        extremes: The pairs of actions that can gain least and most from the outcome.
        departure: What keeps the choices from fitting; None if they fit.
        anchored: Whether utilities were held to "negative" 0 and "positive" 1.
        n_cases: Cases used; 0 where shares were given.
        n_rows: Rows used; 0 where shares were given.
        note: What was left out, is degenerate or weak, or "".
    """

    fits: bool | None
    gamma: float
    beliefs: pd.DataFrame
    choice_shares: pd.DataFrame
    agent: RationalAgent | None
    ranges: pd.DataFrame
    anchored_ranges: pd.DataFrame
    extremes: tuple[tuple, ...]
    departure: Departure | None
    anchored: bool
    n_cases: int
    n_rows: int
    note: str

    @property
    def utilities(self) -> pd.DataFrame | None:
        """u(action, state) of the agent, rows actions; None if no utilities fit."""
        return None if self.agent is None else self.agent.utilities

    @property
    def points(self) -> pd.DataFrame:
        """A row a belief point: its beliefs, shares, and where they fit the potential W and the regulariser C."""
        beliefs, shares = self.beliefs.add_prefix("belief_"), self.choice_shares.add_prefix("share_")
        table = pd.concat((beliefs, shares), axis=1)
        if self.agent is not None:
            table = table.assign(potential=self.agent.potential, regulariser=self.agent.costs)
        return table

    @property
    def sentence(self) -> str:
        """The conclusion in words."""
        from belief_utils.beliefs.rational_words import sentence

        return sentence(self)

    def choose(self, belief: float | Iterable) -> pd.Series:
        """The agent's mix of actions at a belief; see :meth:`RationalAgent.choose`.

        Raises:
            BeliefError: if there is no such agent, or the belief is none.
        """
        if self.agent is None:
            raise BeliefError(f"there is no agent to choose: {self.sentence}")
        return self.agent.choose(belief)


def rationalise(judgments: pd.DataFrame, *, bins: int = 5, anchored: bool = False) -> Rationalisation:
    """Build the rational agent that holds the reported beliefs and chooses as the judgments do, if there is one.

    Beliefs are cut into quantile bins as in :func:`monotonicity_margin`; the belief points are the bins' means. With
    more than two outcome states and columns ``belief_<state>`` they are the centres of clusters. Shares are taken as
    they are: whether a departure is more than chance is for :func:`monotonicity_margin` to say. Proposition 5 also
    asks that actions say nothing about the outcome beyond the belief: see :func:`sufficiency_test`.

    Args:
        judgments: Columns case, belief, action, outcome; incomplete rows are left out.
        bins: Number of bins or clusters, 2 or more. With several states take 8 or more: few points fit anything.
        anchored: Allow only utilities whose gain from the outcome is least for "negative" and greatest for
            "positive". Otherwise an agent that wants the opposite will do.

    Raises:
        BeliefError: as check_judgments, if bins is below 2, if beliefs over several states do not add up to 1, or if
            ``anchored`` lacks its actions or has several states.
    """
    return _rationalisation(points_of_judgments(judgments, bins), anchored)


def rationalise_shares(
    beliefs: pd.DataFrame | Iterable,
    choice_shares: pd.DataFrame | Iterable,
    *,
    weights: Iterable | None = None,
    anchored: bool = False,
) -> Rationalisation:
    """As :func:`rationalise`, from choice shares at belief points.

    Args:
        beliefs: Probability of the second of two states at each point, shape (points,), or of each state, shape
            (points, states). Different at every point.
        choice_shares: Share of each action at each point, shape (points, actions).
        weights: Each point's share of the answers; equal by default.
        anchored: As for :func:`rationalise`.

    Raises:
        BeliefError: if beliefs, shares or weights do not fit together or are none, or as :func:`rationalise`.
    """
    return _rationalisation(points_of_shares(beliefs, choice_shares, weights), anchored)


def _rationalisation(at: BeliefPoints, anchored: bool) -> Rationalisation:
    actions, states = list(at.shares.columns), list(at.beliefs.columns)
    points = Points(at.beliefs.to_numpy(dtype=float), at.shares.to_numpy(dtype=float), at.weights)
    reason = _cannot_tell(points)
    anchor = []
    if len(states) == 2 and set(ANCHOR) <= set(actions):
        anchor = [(0, actions.index(ANCHOR[0]), actions.index(ANCHOR[1]))]
    if anchored and not reason and not anchor:
        raise BeliefError("anchored utilities need two outcome states and the actions negative and positive")
    allowed = anchor if anchored else scales(len(actions), len(states))
    gamma, agent, departure = np.nan, None, None
    ranges = anchored_ranges = pd.DataFrame(columns=["least", "largest"])
    extremes: tuple = ()
    if not reason:
        gamma, gains, potential = best_fit(points, allowed)
        if gamma < 0:
            departure = find_departure(points, allowed, at)
        else:
            table = pd.DataFrame(gains, index=actions, columns=states)
            agent = RationalAgent(table, pd.Series(0.0, index=actions), points.beliefs, at.shares, potential)
        if gamma >= 0 and len(states) == 2:
            ranges, extremes = _ranges(points, allowed, actions)
            anchored_ranges, _ = _ranges(points, anchor, actions)
    return Rationalisation(
        None if reason else gamma >= 0, float(gamma), at.beliefs, at.shares, agent, ranges, anchored_ranges, extremes,
        departure, anchored, at.n_cases, at.n_rows, join_notes(at.note, reason or _weakness(at, agent)),
    )  # fmt: skip


def _cannot_tell(points: Points) -> str:
    """Why the choices cannot tell, or ""."""
    if not len(points.beliefs):
        return "no complete rows"
    if points.shares.shape[1] < 2:
        return "fewer than two actions are used"
    if len(points.beliefs) < 2:
        return "beliefs fall into one bin"
    same = (np.abs(points.shares - points.shares[0]) <= CHANGE).all()
    return "choice shares are the same at all beliefs" if same else ""


def _weakness(at: BeliefPoints, agent: RationalAgent | None) -> str:
    """What makes a conclusion weak, in words, or ""."""
    notes = []
    if at.beliefs.shape[1] == 2:
        notes.append(signed_margin(at.shares).note)
    elif len(at.beliefs) < FEW_POINTS:
        notes.append(f"fewer than {FEW_POINTS} belief points: almost any choices fit")
    if agent is not None and not agent.is_unique:
        notes.append("weak fit: at some beliefs the observed mix is one of several that are equally good")
    return join_notes(*notes)


def _ranges(points: Points, allowed: list[Scale], actions: list) -> tuple[pd.DataFrame, tuple]:
    """Least and largest gain of each action over the utilities that fit, and the pairs that can be extreme."""
    if not allowed:
        return pd.DataFrame(columns=["least", "largest"]), ()
    least, largest, fitting = utility_ranges(points, allowed)
    if not fitting:
        return pd.DataFrame(columns=["least", "largest"]), ()
    table = pd.DataFrame({"least": least[:, 0], "largest": largest[:, 0]}, index=actions)
    return table, tuple((actions[low], actions[high]) for _, low, high in fitting)

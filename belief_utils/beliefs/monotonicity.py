"""Do beliefs move actions? The signed margin of monotonicity of judgments and its bounds.

Choices that come from utilities and a belief shift monotonically as the belief rises (arXiv 2602.06286,
section 3.2, Propositions 2 to 4; Table 2). The paper's percentile interval is a safe test of the sign but
no 95 % interval; verdicts here come from bounds that are robust to repetitions of the same case.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.beliefs.draws import resample_weights, subset_of_cases
from belief_utils.beliefs.judgments_checks import (
    BELIEF_SCALE,
    Cases,
    group_by_case,
    join_notes,
    quantile_bins,
)
from belief_utils.beliefs.margin_batches import margins
from belief_utils.beliefs.margin_bounds import case_counts, margin_bounds, step_covariance
from belief_utils.beliefs.margins import CHANGE, SignedMargin, action_pairs, best_direction, signed_margin
from belief_utils.errors import BeliefError

CERTIFIED = "strictly monotone (certified)"
REJECTED = "weak monotonicity rejected"
UNDECIDED = "neither certified nor rejected"
NOT_TESTED = "not tested"
FEW_CASES = 5
_RESAMPLED_CASES = 20_000
_DRAWN_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class MonotonicityMargin:
    """Signed margin of judgments with the paper's interval and the bounds that decide.

    Attributes:
        gamma: Signed margin, free to choose the utilities. It is blind to sign: an agent that chooses
            "positive" less as its belief rises has a positive margin too.
        interval: 2.5 and 97.5 percentiles over resamples of cases with the bin edges fixed, as the paper
            prints it. A safe test of the sign, not a 95 % interval.
        anchored: Margin with the utility difference of "negative" 0 and of "positive" 1; NaN unless both
            are used.
        lower_bound: Above zero certifies strict monotonicity (free utilities).
        upper_bound: Below zero rejects weak monotonicity (free utilities).
        anchored_lower_bound: As lower_bound, for the anchored margin.
        anchored_upper_bound: As upper_bound, for the anchored margin.
        choice_shares: Share of each action (columns) in each bin (rows, by rising belief).
        edges: Upper edges of all bins but the last, as beliefs.
        direction: Utility differences that attain gamma, by action.
        n_bins: Bins that are not empty.
        n_changes: Neighbouring bins whose shares differ.
        n_cases: Cases used.
        n_rows: Rows used.
        method: How it was computed.
        verdict: The conclusion from the free bounds in plain words.
        anchored_verdict: The conclusion from the anchored bounds.
        note: What was left out, is degenerate or vacuous, or "".
    """

    gamma: float
    interval: tuple[float, float]
    anchored: float
    lower_bound: float
    upper_bound: float
    anchored_lower_bound: float
    anchored_upper_bound: float
    choice_shares: pd.DataFrame
    edges: tuple[float, ...]
    direction: dict
    n_bins: int
    n_changes: int
    n_cases: int
    n_rows: int
    method: str
    verdict: str
    anchored_verdict: str
    note: str

    @property
    def estimate(self) -> float:
        """The signed margin gamma."""
        return self.gamma


def monotonicity_margin(
    judgments: pd.DataFrame, *, bins: int = 5, seed: int = 0, resamples: int = 500
) -> MonotonicityMargin:
    """Test whether the choices of the judgments shift monotonically with the reported belief.

    Beliefs are cut into quantile bins of rows, choice shares are taken in each, and the signed margin is
    bounded from both sides with errors clustered by case.

    Args:
        judgments: Columns case, belief, action, outcome; incomplete rows are left out.
        bins: Number of quantile bins, 2 or more; tied beliefs can make them fewer.
        seed: Seed of the resamples.
        resamples: Number of resamples of cases for the interval.

    Raises:
        BeliefError: as check_judgments, and if bins is below 2.
    """
    if int(bins) != bins or bins < 2:
        raise BeliefError(f"bins is {bins}: give a whole number, 2 or more")
    cases = group_by_case(judgments)
    if not cases.n_rows:
        return _untested(cases, pd.DataFrame(), (), "no complete rows")
    edges, binned = quantile_bins(cases.belief, int(bins))
    n_bins = int(binned.max()) + 1
    counts = np.zeros((n_bins, len(cases.actions)))
    np.add.at(counts, (binned, cases.action), 1)
    table = pd.DataFrame(counts / counts.sum(axis=1, keepdims=True), columns=list(cases.actions))
    upper = tuple((edges[: n_bins - 1] / BELIEF_SCALE).tolist())
    point = signed_margin(table)
    if not point.direction:
        return _untested(cases, table, upper, point.note)
    return _tested(cases, binned, table, upper, point, seed, resamples)


def _untested(cases: Cases, table: pd.DataFrame, edges: tuple, reason: str) -> MonotonicityMargin:
    verdict, nan = f"{NOT_TESTED}: {reason}", np.nan
    return MonotonicityMargin(
        nan, (nan, nan), nan, nan, nan, nan, nan, table, edges, {}, len(table), 0,
        cases.n_cases, cases.n_rows, "not computed", verdict, verdict, join_notes(cases.note, reason),
    )  # fmt: skip


def _tested(
    cases: Cases,
    binned: np.ndarray,
    table: pd.DataFrame,
    edges: tuple,
    point: SignedMargin,
    seed: int,
    resamples: int,
) -> MonotonicityMargin:
    interval, spread_note = _interval(cases, binned, len(table), point.gamma, seed, resamples)
    anchored, free_bounds, anchored_bounds, bound_note = _bounds(cases, binned, table.to_numpy())
    verdict, anchored_verdict = _verdict(*free_bounds), _verdict(*anchored_bounds)
    reversed_note = ""
    if verdict == CERTIFIED and anchored_verdict == REJECTED:
        reversed_note = "monotone only for an agent that wants 'positive' less as its belief rises"
    note = join_notes(cases.note, point.note, bound_note, reversed_note, spread_note)
    return MonotonicityMargin(
        point.gamma, interval, anchored, *free_bounds, *anchored_bounds, table, edges, point.direction,
        point.n_bins, point.n_changes, cases.n_cases, cases.n_rows,
        f"{point.n_bins} quantile bins, bounds clustered by case", verdict, anchored_verdict, note,
    )  # fmt: skip


def _interval(
    cases: Cases, binned: np.ndarray, n_bins: int, gamma: float, seed: int, resamples: int
) -> tuple[tuple[float, float], str]:
    """Percentiles of the margin over resamples of cases, and a note if they come from a subset."""
    rng = np.random.default_rng(seed)
    pool, shrink, note = subset_of_cases(cases.n_cases, _RESAMPLED_CASES, rng)
    counts = case_counts(cases, binned, pool, n_bins).reshape(len(pool), -1)
    centre = _resampled(counts.sum(axis=0)[None], n_bins)[0]
    drawn = []
    block = max(1, _DRAWN_AT_ONCE // len(pool))
    for start in range(0, resamples, block):
        number = min(block, resamples - start)
        drawn.append(_resampled(resample_weights(len(pool), number, rng) @ counts, n_bins))
    values = np.concatenate(drawn) if drawn else np.array([])
    values = values[~np.isnan(values)]
    if not len(values):
        return (np.nan, np.nan), note
    low, high = np.percentile(values, [2.5, 97.5])
    if note:
        low, high = gamma + shrink * (low - centre), gamma + shrink * (high - centre)
    return (float(low), float(high)), note


def _resampled(counts: np.ndarray, n_bins: int) -> np.ndarray:
    """Margins of resampled counts, shape (R, K J). A bin that came out empty takes its neighbour's shares."""
    counts = counts.reshape(len(counts), n_bins, -1)
    totals = counts.sum(axis=2, keepdims=True)
    shares = counts / np.maximum(totals, 1)
    filled = totals[:, :, 0] > 0
    for order in (range(1, n_bins), range(n_bins - 2, -1, -1)):
        for k in order:
            neighbour = k - order.step
            take = ~filled[:, k] & filled[:, neighbour]
            shares[take, k] = shares[take, neighbour]
            filled[take, k] = True
    return margins(shares, counts.sum(axis=1) > 0)


def _bounds(
    cases: Cases, binned: np.ndarray, shares: np.ndarray
) -> tuple[float, tuple[float, float], tuple[float, float], str]:
    """Anchored margin, free and anchored bounds (lower, upper), and a note on what they lack."""
    steps = np.diff(shares, axis=0)
    changed = (np.abs(steps) > CHANGE).any(axis=1)
    covariance, present = step_covariance(cases, binned, shares)
    steps, covariance = steps[changed], covariance[changed]
    anchor, notes = [], []
    if {"negative", "positive"} <= set(cases.actions):
        anchor = [(cases.actions.index("negative"), cases.actions.index("positive"))]
    else:
        notes.append("no anchored margin: it needs the actions negative and positive")
    anchored = best_direction(steps, anchor)[0] if anchor else np.nan
    nowhere = (np.nan, np.nan)
    fewest = int(np.minimum(present[1:], present[:-1])[changed].min())
    if fewest < 2:
        return anchored, nowhere, nowhere, join_notes(*notes, "no bounds: a bin holds a single case")
    if fewest < FEW_CASES:
        notes.append(f"rough bounds: a bin holds fewer than {FEW_CASES} cases")
    free = margin_bounds(steps, covariance, action_pairs(len(cases.actions)))
    if np.isnan(free[0]):
        notes.append("no bounds: too many actions")
    return anchored, free, margin_bounds(steps, covariance, anchor) if anchor else nowhere, join_notes(*notes)


def _verdict(lower: float, upper: float) -> str:
    if np.isnan(lower):
        return NOT_TESTED
    if lower > 0:
        return CERTIFIED
    return REJECTED if upper < 0 else UNDECIDED

"""Conditional mutual information between action and outcome, given the belief.

If a reported belief sums up what an agent knows, its action says nothing more about the outcome: I(A; theta
| p) = 0 (arXiv 2602.06286, section 3.2, estimated in its Table 1). The nearest-neighbour estimator is that
of Mesner and Shalizi (2021) for data that mix numbers and labels, without a floor at zero. Units are nats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.beliefs.draws import case_strata, permute_within, subset_of_cases
from belief_utils.beliefs.judgments_checks import (
    Cases,
    group_by_case,
    integer_beliefs,
    join_notes,
    name_rows,
    quantile_bins,
)
from belief_utils.beliefs.neighbours import neighbour_information
from belief_utils.errors import BeliefError

_PERMUTED_ROWS = 5_000_000  # rows that all permutations together may cost
_RESAMPLED_ROWS = 10_000  # above this, resamples are drawn from a subset of cases
_FEWEST_PERMUTATIONS = 5


@dataclass(frozen=True)
class Information:
    """Conditional mutual information of action and outcome given the belief, in nats.

    Attributes:
        estimate: The raw estimate. Its bias without any true information can be as large as a real effect.
        interval: estimate -+ 1.96 standard deviations of the case bootstrap, as the paper prints it. Never
            decide from it: resampling duplicates rows, duplicates become each other's neighbours, and the
            interval is not calibrated.
        excess: estimate minus its mean when outcomes are permuted between cases of like belief (unbiased).
        excess_interval: excess -+ 1.96 of the same standard deviations.
        p_value: Share of permutations whose estimate is at least as large, counting the data themselves.
        k: Number of neighbours.
        n_cases: Cases used.
        n_rows: Rows used.
        method: How it was computed.
        note: What was left out or is degenerate, or "".
    """

    estimate: float
    interval: tuple[float, float]
    excess: float
    excess_interval: tuple[float, float]
    p_value: float
    k: int
    n_cases: int
    n_rows: int
    method: str
    note: str


def conditional_mutual_information(belief: Iterable, action: Iterable, outcome: Iterable, *, k: int = 3) -> float:
    """Nearest-neighbour estimate of I(action; outcome | belief) in nats, may be negative (no floor at zero).

    Two rows are as far apart as their beliefs, in millionths, or a full 1e6 if their action or outcome
    differs, whichever is more. With rho the distance to the k-th neighbour of a row, its term is psi(n_all)
    - psi(n_action) - psi(n_outcome) + psi(n_belief), where the n count the other rows within rho in all
    three, in action and belief, in outcome and belief, and in belief (Mesner and Shalizi 2021; integer
    beliefs, mismatch distance 1e6). The estimate is the mean term. It takes O(n log n) time.

    Args:
        belief: Probabilities in [0, 1], shape (n,).
        action: Labels of any kind, shape (n,).
        outcome: Labels of any kind, shape (n,).
        k: Number of neighbours, at least 1.

    Returns:
        The estimate; exactly 0.0 if action or outcome is constant.

    Raises:
        BeliefError: if lengths differ, n <= k + 1, or a value is missing, not a number or outside [0, 1].
    """
    beliefs, actions, outcomes = _coded(belief, action, outcome)
    if int(k) != k or k < 1:
        raise BeliefError(f"k is {k}: give a whole number of neighbours, 1 or more")
    if len(beliefs) <= k + 1:
        raise BeliefError(f"{len(beliefs)} rows are too few for k = {k} neighbours: give at least {k + 2}")
    return neighbour_information(beliefs, actions, outcomes, int(k))


def _coded(belief: Iterable, action: Iterable, outcome: Iterable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integer beliefs and codes of the labels, all of shape (n,)."""
    beliefs = integer_beliefs(belief)
    codes = []
    for name, labels in (("action", action), ("outcome", outcome)):
        labels = labels if isinstance(labels, np.ndarray | pd.Series) else pd.Series(list(labels))
        code, _ = pd.factorize(labels)
        if len(code) != len(beliefs):
            raise BeliefError(f"{name} has {len(code)} values and belief {len(beliefs)}: give one of each a row")
        if (code < 0).any():
            raise BeliefError(f"{name} is missing in {name_rows(code < 0)}: remove these rows")
        codes.append(code.astype(np.int64))
    return beliefs, codes[0], codes[1]


def plugin_information(belief: Iterable, action: Iterable, outcome: Iterable, *, bins: int = 10) -> float:
    """I(action; outcome | belief) in nats from counts on at most ``bins`` quantile bins of the belief.

    Miller-Madow correction: sum over bins of (actions - 1)(outcomes - 1) / 2n is subtracted, with the
    numbers of actions and outcomes that occur in the bin. Arguments and errors as for
    conditional_mutual_information; one row is enough.
    """
    beliefs, actions, outcomes = _coded(belief, action, outcome)
    if not len(beliefs):
        raise BeliefError("there are no rows: give at least one")
    _, binned = quantile_bins(beliefs, bins)
    counts = np.zeros((binned.max() + 1, actions.max() + 1, outcomes.max() + 1))
    np.add.at(counts, (binned, actions, outcomes), 1)
    by_action, by_outcome = counts.sum(axis=2), counts.sum(axis=1)
    information = _entropy(by_action) + _entropy(by_outcome) - _entropy(counts) - _entropy(counts.sum(axis=(1, 2)))
    freedom = ((by_action > 0).sum(axis=1) - 1) * ((by_outcome > 0).sum(axis=1) - 1)
    return float(information - freedom.sum() / (2 * len(beliefs)))


def _entropy(counts: np.ndarray) -> float:
    shares = counts[counts > 0] / counts.sum()
    return -(shares * np.log(shares)).sum()


def information_test(
    judgments: pd.DataFrame, *, k: int = 3, permutations: int = 199, resamples: int = 500, seed: int = 0
) -> Information:
    """Conditional mutual information, the paper's interval, and the unbiased excess over permuted outcomes.

    Outcomes are permuted between cases of like mean belief (the strata of sufficiency_test), and cases are
    resampled whole. Decide with sufficiency_test, which has more power; this shows how large the
    information is.

    Args:
        judgments: Columns case, belief, action, outcome; incomplete rows are left out.
        k: Number of neighbours.
        permutations: How many permutations; fewer on large data, where the p value then comes from
            Student's t.
        resamples: How many bootstrap resamples.
        seed: Seed of both.

    Raises:
        BeliefError: as check_judgments.
    """
    cases = group_by_case(judgments)
    return examine_information(cases, k, permutations, resamples, seed, method=f"nearest neighbours, k = {k}")


def examine_information(
    cases: Cases,
    k: int,
    permutations: int,
    resamples: int,
    seed: int,
    *,
    method: str,
    calibrate: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> Information:
    """information_test on grouped cases; ``calibrate(belief, outcome)`` maps beliefs anew in every draw."""
    sizes = {"k": k, "n_cases": cases.n_cases, "n_rows": cases.n_rows, "method": method}
    nowhere = (np.nan, np.nan)
    if cases.n_rows <= k + 1:
        note = join_notes(cases.note, f"{cases.n_rows} complete rows are too few for k = {k} neighbours")
        return Information(np.nan, nowhere, np.nan, nowhere, np.nan, note=note, **sizes)
    constant = [name for name in ("action", "outcome") if len(getattr(cases, f"{name}s")) < 2]
    if constant:
        note = join_notes(cases.note, f"no information: the {' and the '.join(constant)} never varies")
        return Information(0.0, (0.0, 0.0), 0.0, (0.0, 0.0), 1.0, note=note, **sizes)

    def estimate(belief: np.ndarray, action: np.ndarray, outcome: np.ndarray) -> float:
        belief = belief if calibrate is None else calibrate(belief, outcome)
        return neighbour_information(belief, action, outcome, k)

    rng = np.random.default_rng(seed)
    raw = estimate(cases.belief, cases.action, cases.outcome[cases.case])
    null, p_value, null_note = _permutation_null(cases, estimate, raw, permutations, rng)
    spread, spread_note = _bootstrap_spread(cases, estimate, resamples, rng)
    excess, half = raw - null, 1.96 * spread
    note = join_notes(cases.note, null_note, spread_note)
    return Information(
        raw, (raw - half, raw + half), excess, (excess - half, excess + half), p_value, note=note, **sizes
    )


def _permutation_null(
    cases: Cases, estimate: Callable, raw: float, permutations: int, rng: np.random.Generator
) -> tuple[float, float, str]:
    """Mean estimate under permuted outcomes, the p value, and a note if permutations were cut short."""
    affordable = max(_FEWEST_PERMUTATIONS, _PERMUTED_ROWS // cases.n_rows)
    count = min(permutations, affordable)
    strata = case_strata(cases.mean_belief())
    draws = permute_within(cases.outcome, strata, count, rng)
    values = np.array([estimate(cases.belief, cases.action, draw[cases.case]) for draw in draws])
    if count == permutations:
        return float(values.mean()), float((1 + (values >= raw - 1e-12).sum()) / (1 + count)), ""
    from scipy.special import stdtr

    error = values.std(ddof=1) * np.sqrt(1 + 1 / count)
    p_value = float(stdtr(count - 1, -(raw - values.mean()) / error)) if error > 0 else np.nan
    return float(values.mean()), p_value, f"large data: {count} permutations, p value from Student's t"


def _bootstrap_spread(cases: Cases, estimate: Callable, resamples: int, rng: np.random.Generator) -> tuple[float, str]:
    """Standard deviation of the estimate over resamples of cases, and a note if they come from a subset."""
    most = max(1, int(_RESAMPLED_ROWS * cases.n_cases / cases.n_rows))
    pool, shrink, note = subset_of_cases(cases.n_cases, most, rng)
    values = np.empty(resamples)
    for draw in range(resamples):
        chosen = pool[rng.integers(0, len(pool), len(pool))]
        rows = cases.rows_of(chosen)
        outcome = np.repeat(cases.outcome[chosen], cases.repetitions[chosen])
        values[draw] = estimate(cases.belief[rows], cases.action[rows], outcome)
    return float(values.std(ddof=1) * shrink) if resamples > 1 else np.nan, note

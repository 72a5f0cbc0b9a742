"""Does an agent know more than it says? The calibrated test of belief sufficiency.

If the reported belief sums up what an agent knows about the outcome, then among cases with the same belief
its actions have nothing to do with the outcome (arXiv 2602.06286, section 3.2, Proposition 1). Tested with
the generalised Cochran-Mantel-Haenszel score test on cases, within strata of like belief. The paper decides
from a bootstrap interval of the conditional mutual information instead, which rejects true null hypotheses
most of the time on continuous beliefs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.beliefs.draws import case_strata
from belief_utils.beliefs.judgments_checks import (
    Cases,
    belief_columns,
    group_by_case,
    join_notes,
)
from belief_utils.beliefs.score import Score, noise_adjusted, permutation_p_value, stratified_score
from belief_utils.errors import BeliefError

LEVEL = 0.05
KNOWS_MORE = "knows more than it says"
REPORT_NOISE = "explained by elicitation noise"
NO_EVIDENCE = "no evidence that it knows more than it says"
NO_INFORMATION = "no information"
_KNOWS_OR_NOISE = "knows more than it says, unless its reports are noisy"
_DRAWN_AT_MOST = 100_000_000  # permuted outcomes in all; with more cases than that allows, chi-square is exact enough


@dataclass(frozen=True)
class SufficiencyTest:
    """Stratified score test that actions say nothing about outcomes beyond the reported belief.

    Attributes:
        statistic: The score statistic, zero or more.
        df: Its degrees of freedom; 0 means that the data cannot tell.
        p_value: Share of outcome permutations within strata with a statistic at least as large.
        p_chi2: p value from the chi-square distribution.
        z: Standardised score of the share of positive minus the share of negative actions. Above zero:
            actions carry correct information that the report lacks. NaN without those actions or two
            outcomes.
        z_p_value: Its two-sided p value from the normal distribution: the more powerful test when actions are
            ordered. (Permutations of this one number are too coarse to be uniform.)
        adjusted_statistic: The statistic less what noise in the reported belief alone would produce; NaN
            without repetitions.
        adjusted_p_value: Its p value from the chi-square distribution.
        verdict: The conclusion in plain words, at the 5 % level.
        strata: Number of strata of like belief.
        n_cases: Cases used.
        n_rows: Rows used.
        method: How it was computed.
        note: What was left out or is degenerate, or "".
    """

    statistic: float
    df: int
    p_value: float
    p_chi2: float
    z: float
    z_p_value: float
    adjusted_statistic: float
    adjusted_p_value: float
    verdict: str
    strata: int
    n_cases: int
    n_rows: int
    method: str
    note: str


def sufficiency_test(judgments: pd.DataFrame, *, permutations: int = 999, seed: int = 0) -> SufficiencyTest:
    """Test whether actions carry information about the outcome that the reported belief lacks.

    Cases are put in strata of like mean belief. Within a stratum, action shares should be unrelated to
    outcomes; the statistic adds up their covariance over strata, and p values come from permuting outcomes
    between the cases of a stratum. With two or more repetitions a case the statistic is also adjusted for
    noise in the reported belief, which alone can make the raw test reject: the verdict is "knows more than
    it says" only if both reject.

    With more than two outcome states and columns ``belief_<state>``, strata are clusters of the belief
    vector, all states enter the score, and there is neither z nor a noise adjustment.

    Args:
        judgments: Columns case, belief, action, outcome; incomplete rows are left out.
        permutations: Number of permutations.
        seed: Seed of the permutations.

    Raises:
        BeliefError: if a column is absent, a belief is outside [0, 1] or no number, a case has two
            outcomes, or permutations is below 1.
    """
    if permutations < 1:
        raise BeliefError(f"permutations is {permutations}: give 1 or more")
    cases = _grouped(judgments)
    if not cases.n_cases:
        return _without_information(cases, 0, "no complete rows", np.nan)
    strata = case_strata(cases.mean_belief(), seed=seed)
    count = int(strata.max()) + 1
    reason = _degenerate(cases)
    if reason:
        return _without_information(cases, count, reason, 1.0)
    shares = cases.action_shares()
    states = np.eye(len(cases.outcomes))[cases.outcome][:, 1:]
    score = stratified_score(shares[:, 1:], states, strata)
    if score.df == 0:
        return _without_information(cases, count, "actions and outcomes never vary in the same stratum", 1.0)
    ordered = stratified_score(_ordered_share(cases, shares), states, strata)
    return _tested(cases, strata, states, score, ordered, permutations, seed)


def _grouped(judgments: pd.DataFrame) -> Cases:
    columns = belief_columns(judgments)
    several = "outcome" in judgments and judgments["outcome"].nunique() > 2
    if len(columns) > 1 and (several or "belief" not in judgments):
        return group_by_case(judgments, beliefs=columns)
    return group_by_case(judgments)


def _degenerate(cases: Cases) -> str:
    """Why the cases cannot tell, in words, or ""."""
    if cases.n_cases == 1:
        return "there is only one case"
    constant = [name for name in ("action", "outcome") if len(getattr(cases, f"{name}s")) < 2]
    return f"the {' and the '.join(constant)} never varies" if constant else ""


def _without_information(cases: Cases, strata: int, reason: str, p_value: float) -> SufficiencyTest:
    statistic = 0.0 if p_value == 1.0 else np.nan
    blank = {"z": np.nan, "z_p_value": np.nan, "adjusted_statistic": np.nan}
    return SufficiencyTest(
        statistic, 0, p_value, p_value, **blank, adjusted_p_value=np.nan,
        verdict=f"{NO_INFORMATION}: {reason}", strata=strata,
        n_cases=cases.n_cases, n_rows=cases.n_rows, method="not computed",
        note=join_notes(cases.note, f"{NO_INFORMATION}: {reason}"),
    )  # fmt: skip


def _ordered_share(cases: Cases, shares: np.ndarray) -> np.ndarray:
    """Share of positive less share of negative actions, shape (cases, 1)."""
    side = np.array([(name == "positive") - (name == "negative") for name in cases.actions], dtype=float)
    return (shares @ side)[:, None]


def _tested(
    cases: Cases,
    strata: np.ndarray,
    states: np.ndarray,
    score: Score,
    ordered: Score,
    permutations: int,
    seed: int,
) -> SufficiencyTest:
    from scipy.special import chdtrc, ndtr

    statistic = float(score.score @ score.inverse @ score.score)
    p_chi2 = float(chdtrc(score.df, statistic))
    has_z = states.shape[1] == 1 and ordered.df == 1
    z = float(ordered.score[0] / np.sqrt(ordered.variance[0, 0])) if has_z else np.nan
    method = f"stratified score test, {permutations} permutations"
    notes = [cases.note]
    if cases.n_cases * permutations <= _DRAWN_AT_MOST:
        p_value = permutation_p_value(cases, strata, score, permutations, seed)
    else:
        p_value = p_chi2
        method = "stratified score test, chi-square"
        notes.append("so many cases that the p value comes from the chi-square distribution")
    adjusted, adjustment_note = noise_adjusted(cases, score, states)
    adjusted_p = float(chdtrc(score.df, adjusted))
    return SufficiencyTest(
        statistic, score.df, p_value, p_chi2, z, float(2 * ndtr(-abs(z))), adjusted, adjusted_p,
        verdict_in_words(p_value, adjusted_p), int(strata.max()) + 1, cases.n_cases, cases.n_rows, method,
        join_notes(*notes, adjustment_note),
    )  # fmt: skip


def verdict_in_words(p_value: float, adjusted_p_value: float) -> str:
    """The conclusion at the 5 % level from the p value and the noise-adjusted one (NaN if there is none)."""
    if p_value > LEVEL:
        return NO_EVIDENCE
    if np.isnan(adjusted_p_value):
        return _KNOWS_OR_NOISE
    return KNOWS_MORE if adjusted_p_value <= LEVEL else REPORT_NOISE


def holm(p_values: Iterable[float]) -> np.ndarray:
    """Holm's adjusted p values for several tests, in the order given; NaN stays NaN and is not counted.

    Raises BeliefError if a p value is outside [0, 1].
    """
    values = np.array(list(p_values) if not isinstance(p_values, np.ndarray) else p_values, dtype=float)
    known = np.flatnonzero(~np.isnan(values))
    if ((values[known] < 0) | (values[known] > 1)).any():
        raise BeliefError("p values must lie in [0, 1]: one does not")
    order = known[np.argsort(values[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted = values.copy()
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * factors), 1)
    return adjusted

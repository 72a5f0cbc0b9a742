"""Ways to ask compared: the same tests on the same cases and the same decisions, once for each way's beliefs.

Every decision stands beside its case's belief, the mean of all that the way brought about the case, so that a way with
one report a case can be compared with one that has five.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from belief_utils.beliefs.information import information_test
from belief_utils.beliefs.judgments_checks import join_notes
from belief_utils.beliefs.monotonicity import MonotonicityMargin, monotonicity_margin
from belief_utils.beliefs.sufficiency import SufficiencyTest, holm, sufficiency_test, verdict_in_words
from belief_utils.beliefs.ways import VERBALISED, SameCases, Way

NOT_COMPARED = "not compared: too few beliefs could be read"
_NOWHERE = (np.nan, np.nan)


@dataclass(frozen=True)
class ComparedWay:
    """What the tests say of one way's beliefs.

    Attributes:
        way: what it rests on.
        mean_belief: mean over cases.
        from_truth: root mean squared difference between belief and true probability, over cases.
        agreement: Spearman's rank correlation with the verbalised belief, over cases; NaN for that belief itself and
            where one of the two never varies.
        agreement_interval: its 95 % interval, by Fisher's transformation with the standard error 1.03 / sqrt(n - 3)
            (Fieller, Hartley and Pearson 1957).
        sufficiency: the test on the cases' beliefs and all decisions; ``None`` for a way that was set aside.
        noise_p_value: noise-adjusted p value, from single reports beside single decisions; NaN where a way has only
            one report a case although its reports are drawn, so that their noise cannot be told.
        holm_p_value, holm_noise_p_value: both p values adjusted for the number of ways.
        verdict: the test's conclusion after that adjustment.
        excess: excess conditional mutual information in nats, see :func:`excess_information`.
        excess_interval: its 95 % interval.
        margin: the signed margin of monotonicity; ``None`` as above.
        note: what was left out, or "".
    """

    way: Way
    mean_belief: float
    from_truth: float
    agreement: float
    agreement_interval: tuple[float, float]
    sufficiency: SufficiencyTest | None
    noise_p_value: float
    holm_p_value: float
    holm_noise_p_value: float
    verdict: str
    excess: float
    excess_interval: tuple[float, float]
    margin: MonotonicityMargin | None
    note: str


def compare_ways(
    same: SameCases, *, permutations: int = 999, resamples: int = 200, seed: int = 0
) -> tuple[ComparedWay, ...]:
    """Run the tests on each way's beliefs; p values are adjusted for the number of ways by Holm's method.

    Args:
        same: what :func:`belief_utils.beliefs.ways.load_ways` returned.
        permutations: of the sufficiency test.
        resamples: of cases, for the intervals of the excess and of the margin.
        seed: of all of them.
    """
    stated = {way.name: way for way in same.ways}.get(VERBALISED)
    found = [_compared(way, stated, permutations, resamples, seed) for way in same.ways]
    tested = [one for one in found if one.sufficiency is not None]
    raw = holm([one.holm_p_value for one in tested])
    noise = holm([one.holm_noise_p_value for one in tested])
    adjusted = {one.way.name: _adjusted(one, *p_values) for one, *p_values in zip(tested, raw, noise, strict=True)}
    return tuple(adjusted.get(one.way.name, one) for one in found)


def _adjusted(one: ComparedWay, p_value: float, noise_p_value: float) -> ComparedWay:
    test = one.sufficiency
    verdict = verdict_in_words(p_value, noise_p_value) if test is not None and test.df else one.verdict
    return replace(one, holm_p_value=float(p_value), holm_noise_p_value=float(noise_p_value), verdict=verdict)


def _compared(way: Way, stated: Way | None, permutations: int, resamples: int, seed: int) -> ComparedWay:
    rows = way.judgments
    if not len(rows):
        nothing = dict.fromkeys(("noise_p_value", "holm_p_value", "holm_noise_p_value", "excess"), np.nan)
        return ComparedWay(
            way, np.nan, np.nan, np.nan, _NOWHERE, None, **nothing, verdict=NOT_COMPARED, excess_interval=_NOWHERE,
            margin=None, note=NOT_COMPARED,
        )  # fmt: skip
    test = sufficiency_test(rows, permutations=permutations, seed=seed)
    noise = sufficiency_test(rows.assign(belief=rows["report"]), permutations=1, seed=seed)
    margin = monotonicity_margin(rows, resamples=resamples, seed=seed)
    excess, excess_interval = excess_information(rows, resamples=resamples, seed=seed)
    apart = way.beliefs["belief"] - way.beliefs["p_star"]
    return ComparedWay(
        way,
        mean_belief=float(way.beliefs["belief"].mean()),
        from_truth=float(np.sqrt((apart**2).mean())),
        **_agreement(way, stated),
        sufficiency=test,
        noise_p_value=noise.adjusted_p_value,
        holm_p_value=test.p_value,
        holm_noise_p_value=noise.adjusted_p_value,
        verdict=test.verdict,
        excess=excess,
        excess_interval=excess_interval,
        margin=margin,
        note=join_notes(*dict.fromkeys((test.note, noise.note, margin.note))),
    )


def excess_information(
    judgments: pd.DataFrame, *, resamples: int = 200, seed: int = 0
) -> tuple[float, tuple[float, float]]:
    """Excess conditional mutual information in nats where all decisions about a case share one belief.

    The nearest neighbours of a decision would be the other decisions about its case, which have the same outcome: the
    estimate would be blind. So it is made for one decision a case, repetition by repetition, and averaged.

    Args:
        judgments: columns case, repetition, belief, action, outcome.
        resamples: of cases.
        seed: of permutations and resamples.

    Returns:
        The mean over repetitions, and a 95 % interval whose width is the mean width of theirs. Repetitions are about
        the same cases, so that this is at least as wide as it need be. NaN where no repetition has rows enough.
    """
    found = [
        information_test(rows, resamples=resamples, seed=seed)
        for _, rows in judgments.groupby("repetition")
        if rows["action"].notna().any()
    ]
    known = [test for test in found if np.isfinite(test.excess)]
    if not known:
        return np.nan, _NOWHERE
    excess = float(np.mean([test.excess for test in known]))
    reach = float(np.mean([test.excess_interval[1] - test.excess for test in known]))
    return excess, (excess - reach, excess + reach)


def _agreement(way: Way, stated: Way | None) -> dict[str, float | tuple[float, float]]:
    nothing = {"agreement": np.nan, "agreement_interval": _NOWHERE}
    if stated is None or stated is way or not len(stated.beliefs):
        return nothing
    value = rank_correlation(way.beliefs["belief"], stated.beliefs["belief"])
    n = len(way.beliefs)
    if n < 4 or not abs(value) < 1:
        return nothing | {"agreement": value}
    reach = 1.96 * 1.03 / np.sqrt(n - 3)
    low, high = np.tanh(np.arctanh(value) + np.array([-reach, reach]))
    return {"agreement": value, "agreement_interval": (float(low), float(high))}


def rank_correlation(one: Iterable[float], other: Iterable[float]) -> float:
    """Spearman's rank correlation, ties at their mean rank; NaN where one of the two never varies."""
    ranks = [pd.Series(list(values)).round(9).rank() for values in (one, other)]
    if any(rank.nunique() < 2 for rank in ranks):
        return np.nan
    return float(np.corrcoef(*ranks)[0, 1])

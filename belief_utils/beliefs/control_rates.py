"""How often each rule of decision rejects, and how often it may.

A rule is calibrated if it rejects about 5 % of data sets (or fewer) in which the condition holds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from belief_utils.beliefs.sufficiency import LEVEL
from belief_utils.errors import BeliefError


@dataclass(frozen=True)
class Rule:
    """A rule of decision on the numbers of a battery.

    Attributes:
        battery: The battery whose numbers it reads.
        name: What it is called in tables and figures.
        paper: Whether it is the paper's rule, or one in common use, rather than one that we decide from.
        rejects: From the battery's results, a row per data set, to whether each is rejected.
    """

    battery: str
    name: str
    paper: bool
    rejects: Callable[[pd.DataFrame], pd.Series]


RULES = (
    Rule("sufficiency", "score test", False, lambda d: d["p_value"] <= LEVEL),
    Rule("sufficiency", "ordered score test", False, lambda d: d["z_p_value"] <= LEVEL),
    Rule("sufficiency", "verdict: knows more", False, lambda d: d["knows_more"] == 1),
    Rule("information", "interval as printed in the paper", True, lambda d: d["low"] > 0),
    Rule("information", "percentile bootstrap interval", True, lambda d: d["percentile_low"] > 0),
    Rule("information", "excess, interval", False, lambda d: d["excess_low"] > 0),
    Rule("information", "excess, permutations", False, lambda d: d["p_value"] <= LEVEL),
    Rule("prediction", "logistic gain, interval", False, lambda d: d["low"] > 0),
    Rule("forest", "forest gain, interval", True, lambda d: d["low"] > 0),
    Rule("monotonicity", "interval below 0, as in the paper", True, lambda d: d["high"] < 0),
    Rule("monotonicity", "bounds: weak monotonicity rejected", False, lambda d: d["upper_bound"] < 0),
    Rule("monotonicity", "anchored bounds: rejected", False, lambda d: d["anchored_upper_bound"] < 0),
    Rule("monotonicity", "interval above 0, as in the paper", True, lambda d: d["low"] > 0),
    Rule("monotonicity", "bounds: strictly monotone", False, lambda d: d["lower_bound"] > 0),
    Rule("monotonicity", "anchored bounds: strictly monotone", False, lambda d: d["anchored_lower_bound"] > 0),
    Rule("coherence", "prompts: RMSE above one SD", True, lambda d: d["prompt_rmse"] > d["prompt_within_sd"]),
    Rule("coherence", "prompts: debiased, interval", False, lambda d: d["prompt_low"] > 0),
    Rule("coherence", "expectation: debiased, interval", False, lambda d: d["expectation_low"] > 0),
)


def rejection_rates(results: pd.DataFrame, battery: str) -> pd.DataFrame:
    """How often each rule of a battery rejects each agent.

    Args:
        results: What run_controls or load_controls gives for the battery.
        battery: Its name.

    Returns:
        Columns agent, rule, paper, rejected (data sets), n (data sets), rate, low and high (the range in which 99 %
        of rates lie if 5 % is the true one), in the order of agents and rules. A number that is missing, as where a
        test could not be computed, counts as not rejected.

    Raises:
        BeliefError: the battery is unknown.
    """
    rules = [rule for rule in RULES if rule.battery == battery]
    if not rules:
        raise BeliefError(f"no battery of tests is called {battery!r}")
    rows = []
    for agent, of_agent in results.groupby("agent", sort=False):
        low, high = chance_range(len(of_agent))
        for rule in rules:
            rejected = int(rule.rejects(of_agent).sum())
            rate = rejected / len(of_agent)
            rows.append((agent, rule.name, rule.paper, rejected, len(of_agent), rate, low, high))
    return pd.DataFrame(rows, columns=["agent", "rule", "paper", "rejected", "n", "rate", "low", "high"])


def chance_range(n: int, *, rate: float = LEVEL, coverage: float = 0.99) -> tuple[float, float]:
    """The range of shares of n data sets that a true rate gives with this probability (binomial)."""
    from scipy.stats import binom

    low, high = binom.interval(coverage, n, rate)
    return float(low / n), float(high / n)

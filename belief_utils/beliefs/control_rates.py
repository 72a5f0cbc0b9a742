"""How often each rule of decision rejects, and how often it may.

A rule is calibrated if it rejects about 5 % of data sets (or fewer) of an agent that keeps the condition under test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from belief_utils.beliefs.power import true_information
from belief_utils.beliefs.simulate import (
    COHERENT_AGENTS,
    MONOTONE_AGENTS,
    NULL_AGENTS,
    SCATTERED_AGENTS,
    SCATTERED_VIOLATIONS,
    VIOLATIONS,
)
from belief_utils.beliefs.sufficiency import LEVEL
from belief_utils.errors import BeliefError


@dataclass(frozen=True)
class Rule:
    """A rule of decision on the numbers of a battery.

    Attributes:
        battery: The battery whose numbers it reads.
        name: What it is called in tables and figures.
        rejects: From the battery's results, a row per data set, to whether each is rejected.
        keep: Agents for which it should not reject; where it does, that is a false positive.
        broken: Agents for which it should; the share that it rejects is its power.
        paper: Whether it is the paper's rule, or one in common use, rather than one that we decide from.
    """

    battery: str
    name: str
    rejects: Callable[[pd.DataFrame], pd.Series]
    keep: Sequence[str]
    broken: Sequence[str]
    paper: bool = False


def _names(agents: Sequence, without: Sequence[str] = ()) -> tuple[str, ...]:
    return tuple(agent.name for agent in agents if agent.name not in without)


_HONEST = (_names(NULL_AGENTS), _names(VIOLATIONS["sufficiency"]))
_SCATTERED = (_names((*NULL_AGENTS, *SCATTERED_AGENTS)), _names((*VIOLATIONS["sufficiency"], *SCATTERED_VIOLATIONS)))
_COHERENT = (_names(COHERENT_AGENTS), _names(VIOLATIONS["coherence"]))
_CURVED = _names(VIOLATIONS["monotonicity"], without=["reversed"])
_MONOTONE = (_names(MONOTONE_AGENTS), _CURVED)
_ANCHORED = (_names(MONOTONE_AGENTS, without=["reversed"]), (*_CURVED, "reversed"))
# What is certified must be strictly monotone; choices at random are not.
_NOT_STRICT = (("random", *_CURVED), _names(MONOTONE_AGENTS, without=["random"]))
_NOT_STRICT_ANCHORED = (("random", *_CURVED, "reversed"), _names(MONOTONE_AGENTS, without=["random", "reversed"]))

RULES = (
    Rule("sufficiency", "score test", lambda d: d["p_value"] <= LEVEL, *_HONEST),
    Rule("sufficiency", "ordered score test", lambda d: d["z_p_value"] <= LEVEL, *_HONEST),
    Rule("sufficiency", "verdict: knows more", lambda d: d["knows_more"] == 1, *_HONEST),
    Rule("information", "paper: information, interval", lambda d: d["low"] > 0, *_SCATTERED, paper=True),
    Rule("information", "percentile bootstrap", lambda d: d["percentile_low"] > 0, *_SCATTERED, paper=True),
    Rule("information", "excess, interval", lambda d: d["excess_low"] > 0, *_SCATTERED),
    Rule("information", "excess, permutations", lambda d: d["p_value"] <= LEVEL, *_SCATTERED),
    Rule("prediction", "logistic gain, interval", lambda d: d["low"] > 0, *_HONEST),
    Rule("forest", "paper: forest gain, interval", lambda d: d["low"] > 0, *_HONEST, paper=True),
    Rule("monotonicity", "paper: interval below 0", lambda d: d["high"] < 0, *_MONOTONE, paper=True),
    Rule("monotonicity", "bounds: rejected", lambda d: d["upper_bound"] < 0, *_MONOTONE),
    Rule("monotonicity", "anchored bounds: rejected", lambda d: d["anchored_upper_bound"] < 0, *_ANCHORED),
    Rule("monotonicity", "paper: interval above 0", lambda d: d["low"] > 0, *_NOT_STRICT, paper=True),
    Rule("monotonicity", "bounds: certified", lambda d: d["lower_bound"] > 0, *_NOT_STRICT),
    Rule("monotonicity", "anchored: certified", lambda d: d["anchored_lower_bound"] > 0, *_NOT_STRICT_ANCHORED),
    Rule("coherence", "prompts: RMSE above SD", lambda d: d["prompt_rmse"] > d["prompt_within_sd"], *_COHERENT, True),
    Rule("coherence", "prompts: debiased, interval", lambda d: d["prompt_low"] > 0, *_COHERENT),
    Rule("coherence", "expectation: debiased, interval", lambda d: d["expectation_low"] > 0, *_COHERENT),
)


def rejection_rates(results: pd.DataFrame, battery: str) -> pd.DataFrame:
    """How often each rule of a battery rejects each agent.

    Args:
        results: What run_controls or load_controls gives for the battery.
        battery: Its name.

    Returns:
        Columns agent, rule, paper, should_reject (true, false, or missing for an agent that the rule is not about),
        rejected (data sets), n (data sets), rate, low and high (the range of 99 % of rates if 5 % is the true one), in
        the order of agents and rules. A number that is missing, as where a test could not be computed, counts as not
        rejected.

    Raises:
        BeliefError: the battery is unknown.
    """
    rules = [rule for rule in RULES if rule.battery == battery]
    if not rules:
        raise BeliefError(f"no battery of tests is called {battery!r}")
    rows = []
    for agent, of_agent in results.groupby("agent", sort=False):
        n = len(of_agent)
        for rule in rules:
            rejected = int(rule.rejects(of_agent).sum())
            should = True if agent in rule.broken else False if agent in rule.keep else None
            rows.append((agent, rule.name, rule.paper, should, rejected, n, rejected / n, *chance_range(n)))
    columns = ["agent", "rule", "paper", "should_reject", "rejected", "n", "rate", "low", "high"]
    return pd.DataFrame(rows, columns=columns).astype({"should_reject": "boolean"})


def chance_range(n: int, *, rate: float = LEVEL, coverage: float = 0.99) -> tuple[float, float]:
    """The range of shares of n data sets that a true rate gives with this probability (binomial)."""
    from scipy.stats import binom

    low, high = binom.interval(coverage, n, rate)
    return float(low / n), float(high / n)


def information_truth(results: pd.DataFrame) -> pd.DataFrame:
    """Estimates of information beside what the agents hide, which is known because they are simulated.

    Args:
        results: What load_controls gives for the battery "information".

    Returns:
        A row per agent: hidden (information), mean raw estimate, mean excess (all in nats), and the shares of data sets
        in which the paper's interval and the interval of the excess hold the hidden information.
    """
    rows = {}
    agents = (*NULL_AGENTS, *VIOLATIONS["sufficiency"], *SCATTERED_AGENTS, *SCATTERED_VIOLATIONS)
    hidden = {agent.name: agent.hidden for agent in agents}
    for agent, of_agent in results.groupby("agent", sort=False):
        truth = true_information(hidden[agent]) if hidden[agent] else 0.0
        rows[agent] = {
            "hidden": truth,
            "raw": of_agent["raw"].mean(),
            "excess": of_agent["excess"].mean(),
            "paper interval holds it": _holds(of_agent, "low", "high", truth),
            "excess interval holds it": _holds(of_agent, "excess_low", "excess_high", truth),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("agent")


def _holds(results: pd.DataFrame, low: str, high: str, truth: float) -> float:
    return float(((results[low] <= truth) & (truth <= results[high])).mean())

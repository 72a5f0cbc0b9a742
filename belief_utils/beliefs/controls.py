"""Are the tests right? Every test on simulated agents whose truth is known, over many seeds.

A battery is a group of tests that need the same simulated answers, with the agents it is run on: ten that keep
the condition under test and five that break it. At the paper's size (200 cases, 5 repetitions) each agent answers
once per seed, seeds 0 to 399; no seed is left out and none is run twice. What comes out is kept per agent and seed
(see control_results), so that a run can be stopped and goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from belief_utils.beliefs.coherence import iterated_expectation_gap
from belief_utils.beliefs.consistency import prompt_consistency
from belief_utils.beliefs.control_results import ControlResults
from belief_utils.beliefs.information import information_test
from belief_utils.beliefs.judgments_checks import Cases, group_by_case
from belief_utils.beliefs.monotonicity import monotonicity_margin
from belief_utils.beliefs.neighbours import neighbour_information
from belief_utils.beliefs.prediction import predictive_gain
from belief_utils.beliefs.simulate import (
    COHERENT_AGENTS,
    MONOTONE_AGENTS,
    NULL_AGENTS,
    SCATTERED_AGENTS,
    SCATTERED_VIOLATIONS,
    VIOLATIONS,
    ControlAgent,
    simulate_expectations,
    simulate_judgments,
    simulate_prompts,
)
from belief_utils.beliefs.sufficiency import KNOWS_MORE, sufficiency_test
from belief_utils.errors import BeliefError

SEEDS = 400
_RESAMPLES = 500
_NEIGHBOURS = 3


@dataclass(frozen=True)
class Battery:
    """Tests that need the same simulated answers.

    Attributes:
        name: What it is called, and the name of its file of results.
        agents: Those that keep the condition, then those that break it.
        most_seeds: Seeds that are run at most; fewer than 400 where a data set takes a second or more.
        run: From agent and seed (and cases, repetitions) to the numbers that the tests give.
    """

    name: str
    agents: tuple[ControlAgent, ...]
    most_seeds: int
    run: Callable[..., dict[str, float]]


def sufficiency_controls(agent: ControlAgent, seed: int, **size: int) -> dict[str, float]:
    """p values of the score test, plain, ordered and adjusted for noise, and whether the verdict is "knows more"."""
    found = sufficiency_test(simulate_judgments(agent, seed=seed, **size), seed=seed)
    return {
        "p_value": found.p_value,
        "p_chi2": found.p_chi2,
        "z": found.z,
        "z_p_value": found.z_p_value,
        "adjusted_p_value": found.adjusted_p_value,
        "knows_more": found.verdict == KNOWS_MORE,
    }


def information_controls(agent: ControlAgent, seed: int, **size: int) -> dict[str, float]:
    """Conditional mutual information with the paper's interval, a percentile interval, and the excess."""
    judgments = simulate_judgments(agent, seed=seed, **size)
    found = information_test(judgments, k=_NEIGHBOURS, resamples=_RESAMPLES, seed=seed)
    percentile = _percentile_interval(group_by_case(judgments), seed)
    return {
        "raw": found.estimate,
        "low": found.interval[0],
        "high": found.interval[1],
        "percentile_low": percentile[0],
        "percentile_high": percentile[1],
        "excess": found.excess,
        "excess_low": found.excess_interval[0],
        "excess_high": found.excess_interval[1],
        "p_value": found.p_value,
    }


def _percentile_interval(cases: Cases, seed: int) -> np.ndarray:
    """2.5 and 97.5 percentiles over resamples of cases: what a bootstrap interval usually is, and wrong here."""
    rng = np.random.default_rng(seed)
    values = np.empty(_RESAMPLES)
    for draw in range(_RESAMPLES):
        chosen = rng.integers(0, cases.n_cases, cases.n_cases)
        rows = cases.rows_of(chosen)
        outcome = np.repeat(cases.outcome[chosen], cases.repetitions[chosen])
        values[draw] = neighbour_information(cases.belief[rows], cases.action[rows], outcome, _NEIGHBOURS)
    return np.percentile(values, [2.5, 97.5])


def prediction_controls(agent: ControlAgent, seed: int, **size: int) -> dict[str, float]:
    """Predictive gain of the logistic regression with its interval, in percent."""
    return _gain(agent, seed, "logistic", size)


def forest_controls(agent: ControlAgent, seed: int, **size: int) -> dict[str, float]:
    """Predictive gain of the paper's learner, the forest, with its interval, in percent."""
    return _gain(agent, seed, "forest", size)


def _gain(agent: ControlAgent, seed: int, learner: str, size: dict[str, int]) -> dict[str, float]:
    found = predictive_gain(simulate_judgments(agent, seed=seed, **size), learner=learner, seed=seed)
    return {"percent": found.percent, "low": found.interval[0], "high": found.interval[1]}


def monotonicity_controls(agent: ControlAgent, seed: int, **size: int) -> dict[str, float]:
    """Signed margin with the paper's interval and the bounds that decide, free and anchored."""
    found = monotonicity_margin(simulate_judgments(agent, seed=seed, **size), resamples=_RESAMPLES, seed=seed)
    return {
        "gamma": found.gamma,
        "low": found.interval[0],
        "high": found.interval[1],
        "anchored": found.anchored,
        "lower_bound": found.lower_bound,
        "upper_bound": found.upper_bound,
        "anchored_lower_bound": found.anchored_lower_bound,
        "anchored_upper_bound": found.anchored_upper_bound,
    }


def coherence_controls(agent: ControlAgent, seed: int, **size: int) -> dict[str, float]:
    """Prompt consistency and iterated expectation: the paper's figures and the debiased ones with intervals."""
    prompts = prompt_consistency(*simulate_prompts(agent, seed=seed, **size), seed=seed)
    # The noise floor decides nothing and would take most of the time.
    gap = iterated_expectation_gap(simulate_expectations(agent, seed=seed, **size), simulations=0, seed=seed)
    return {
        "prompt_rmse": prompts.rmse,
        "prompt_within_sd": prompts.within_sd,
        "prompt_debiased": prompts.debiased_rms,
        "prompt_low": prompts.interval[0],
        "expectation_median_ratio": gap.median_ratio,
        "expectation_rmse": gap.rmse,
        "expectation_debiased": gap.debiased_rms,
        "expectation_low": gap.interval[0],
    }


_HONEST_AND_HIDING = (*NULL_AGENTS, *VIOLATIONS["sufficiency"])
_SCATTERED = (*SCATTERED_AGENTS, *SCATTERED_VIOLATIONS)

BATTERIES = {
    battery.name: battery
    for battery in (
        Battery("sufficiency", _HONEST_AND_HIDING, SEEDS, sufficiency_controls),
        Battery("monotonicity", (*MONOTONE_AGENTS, *VIOLATIONS["monotonicity"][:-1]), SEEDS, monotonicity_controls),
        Battery("coherence", (*COHERENT_AGENTS, *VIOLATIONS["coherence"]), SEEDS, coherence_controls),
        Battery("prediction", _HONEST_AND_HIDING, SEEDS, prediction_controls),
        Battery("information", (*_HONEST_AND_HIDING, *_SCATTERED), 100, information_controls),
        Battery("forest", _HONEST_AND_HIDING, 20, forest_controls),
    )
}
"""The batteries by name. The reversed agent stands among the monotone ones: it breaks only the anchored condition."""


def control_row(
    battery: str, agent: ControlAgent, seed: int, **size: int
) -> tuple[ControlAgent, int, dict[str, float]]:
    """One agent, one seed, all tests of a battery: the unit of work that is handed to another process."""
    return agent, seed, BATTERIES[battery].run(agent, seed, **size)


def run_controls(
    agents: Iterable[ControlAgent] | None = None,
    seeds: Iterable[int] = range(SEEDS),
    *,
    battery: str = "sufficiency",
    jobs: int = 1,
    dask: str | None = None,
    cache: Path,
    progress: bool = False,
) -> pd.DataFrame:
    """Run what the cache lacks, and return a row per agent and seed.

    Args:
        agents: The agents; the battery's own if none are given.
        seeds: The seeds; of those, a battery runs its ``most_seeds`` first.
        battery: Which tests, a name in BATTERIES.
        jobs: Processes on this machine.
        dask: Address of a Dask scheduler to send the work to instead; its workers need this package.
        cache: The folder of the files of results. Rows are written as they come; what is there is not run again.
        progress: Whether to show a bar.

    Returns:
        Columns agent, knobs, seed and the numbers of the battery, in the order of agents and seeds.

    Raises:
        BeliefError: the battery is unknown, another run writes to the same file, a file is damaged, or Dask is
            not installed or not there.
    """
    if battery not in BATTERIES:
        raise BeliefError(f"no battery of tests is called {battery!r}: choose one of {', '.join(BATTERIES)}")
    chosen = tuple(BATTERIES[battery].agents if agents is None else agents)
    numbers = sorted(set(seeds))[: BATTERIES[battery].most_seeds]
    with ControlResults(cache / f"{battery}.csv.gz", chosen) as results:
        missing = [(agent, seed) for seed in numbers for agent in chosen if not results.has(agent, seed)]
        for agent, seed, values in _shown(_computed(battery, missing, jobs, dask), len(missing), battery, progress):
            results.add(agent, seed, values)
        return results.frame(numbers)


def _shown(rows: Iterator, total: int, battery: str, progress: bool) -> Iterator:
    if not progress or not total:
        return rows
    from tqdm import tqdm

    return iter(tqdm(rows, total=total, desc=battery, unit=" data sets"))


def _computed(battery: str, tasks: Sequence[tuple[ControlAgent, int]], jobs: int, dask: str | None) -> Iterator:
    """Rows as they are finished, in any order."""
    if not tasks:
        return iter(())
    if dask:
        return _computed_by_dask(battery, tasks, dask)
    from joblib import Parallel, delayed

    return Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(control_row)(battery, *t) for t in tasks)


def _computed_by_dask(battery: str, tasks: Sequence[tuple[ControlAgent, int]], address: str) -> Iterator:
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise BeliefError('Dask is not installed: pip install "belief-utils[dask]"') from error
    try:
        client = Client(address, timeout=20, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BeliefError(f"no Dask scheduler answers at {address}: {error}") from error
    with client:
        futures = [client.submit(control_row, battery, *task, pure=False) for task in tasks]
        for future in as_completed(futures, loop=client.loop):
            yield future.result()
            future.release()

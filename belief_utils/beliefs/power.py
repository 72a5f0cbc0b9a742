"""How many cases and repetitions does it take to see a violation of belief sufficiency of a given size?

The size is the information, in nats, that an action holds about the outcome beyond the report: what conditional
mutual information measures (arXiv 2602.06286, section 3.2). It is given by a control agent that hides h, with
uniform reports and logit choice, for which information and power follow from integrals over report and hidden
part, without simulation. Power of the score test: with N cases a stratum its statistic is close to a noncentral
chi-square with noncentrality cases (1 - 1/N) m' W^-1 m, where m is the mean covariance of choice and outcome given
the report, and W the mean of outcome variance times covariance of a case's choice shares. A simulation with the
real test checks the answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from belief_utils.beliefs.draws import CASES_PER_STRATUM
from belief_utils.beliefs.simulate import ControlAgent, expected_utilities, shifted, simulate_judgments
from belief_utils.beliefs.sufficiency import LEVEL, sufficiency_test
from belief_utils.errors import BeliefError

SHOWN_CASES = (50, 100, 200, 400, 800, 1600, 3200)
SHOWN_REPETITIONS = (1, 2, 5, 10)
_POINTS = 200  # of each integral; more change no digit that is shown
_MOST_HIDDEN = 20.0
_MOST_CASES = 100_000
_DATA_SETS = 400
_SIMULATED_ROWS = 4_000_000  # that a check may cost


@dataclass(frozen=True)
class StudyPlan:
    """How large a study should be.

    Attributes:
        violation: Information of the action about the outcome beyond the report, in nats.
        hidden: h of the control agent that has it.
        wanted: Power that was asked for.
        cases: Cases that reach it, in tens.
        repetitions: Repetitions of a case.
        predicted: Power at that size by the formula.
        simulated: Share of simulated data sets of that size in which the test rejects, noise-adjusted too where there
            are repetitions.
        data_sets: Number of simulated data sets.
        table: Predicted power by cases (rows) and repetitions (columns).
    """

    violation: float
    hidden: float
    wanted: float
    cases: int
    repetitions: int
    predicted: float
    simulated: float
    data_sets: int
    table: pd.DataFrame


def true_information(hidden: float) -> float:
    """Information, in nats, of an action about the outcome given the report, for an agent that hides this much."""
    belief, choice = _choices(hidden)
    joint = np.stack([(choice * (1 - belief)[..., None]).mean(axis=1), (choice * belief[..., None]).mean(axis=1)])
    independent = joint.sum(axis=0, keepdims=True) * joint.sum(axis=2, keepdims=True)
    return float((joint * np.log(joint / independent)).sum(axis=(0, 2)).mean())


def hidden_for(information: float) -> float:
    """h of the agent whose actions hold this much information: the inverse of true_information.

    Raises BeliefError if no agent's actions hold that much.
    """
    from scipy.optimize import brentq

    most = true_information(_MOST_HIDDEN)
    if not 0 < information < most:
        raise BeliefError(f"the violation is {information:g} nats: give more than 0 and less than {most:.2f}")
    return float(brentq(lambda h: true_information(h) - information, 0.0, _MOST_HIDDEN, xtol=1e-6))


def predicted_power(hidden: float, cases: int | np.ndarray, repetitions: int) -> float | np.ndarray:
    """Power of the score test at the 5 % level, for one number of cases or an array of them."""
    from scipy.special import chdtri
    from scipy.stats import ncx2

    cases = np.asarray(cases)
    strata = np.maximum(np.minimum(20, cases // 5), np.maximum(cases // CASES_PER_STRATUM, 1))
    noncentrality = (cases - strata) * _noncentrality(hidden, repetitions)
    # Three actions leave two degrees of freedom.
    return ncx2.sf(chdtri(2, LEVEL), 2, noncentrality)


def simulated_power(hidden: float, cases: int, repetitions: int, *, data_sets: int = _DATA_SETS) -> float:
    """Share of simulated data sets (seeds 0, 1, ...) in which the test rejects, adjusted for noise as well."""
    agent = ControlAgent("planned", hidden=hidden)
    rejected = 0
    for seed in range(data_sets):
        judgments = simulate_judgments(agent, cases=cases, repetitions=repetitions, seed=seed)
        found = sufficiency_test(judgments, permutations=199, seed=seed)
        rejected += found.p_value <= LEVEL and not found.adjusted_p_value > LEVEL
    return rejected / data_sets


def plan_study(violation: float, *, power: float = 0.8, repetitions: int = 5) -> StudyPlan:
    """The smallest study that sees a violation of this size with this power.

    The formula's answer is simulated, and made a tenth larger as long as the simulation falls short.

    Args:
        violation: Information of the action about the outcome beyond the report, in nats.
        power: Share of studies that should see it.
        repetitions: Answers to each case.

    Raises:
        BeliefError: violation, power or repetitions is out of range, or too many cases would be needed.
    """
    if not LEVEL < power < 1:
        raise BeliefError(f"the power is {power:g}: give more than {LEVEL:g} and less than 1")
    if repetitions < 1:
        raise BeliefError(f"{repetitions} repetitions: give 1 or more")
    hidden = hidden_for(violation)
    ladder = np.arange(20, _MOST_CASES + 10, 10)
    enough = ladder[predicted_power(hidden, ladder, repetitions) >= power]
    if not len(enough):
        raise BeliefError(f"a violation of {violation:g} nats takes more than {_MOST_CASES:,} cases: plan a larger one")
    cases = int(enough[0])
    while True:
        data_sets = int(np.clip(_SIMULATED_ROWS // (cases * repetitions), 40, _DATA_SETS))
        simulated = simulated_power(hidden, cases, repetitions, data_sets=data_sets)
        if simulated >= power or cases >= 2 * enough[0]:
            break
        cases = -(-cases * 11 // 100) * 10
    predicted = float(predicted_power(hidden, cases, repetitions))
    table = _table(hidden, sorted({*SHOWN_CASES, cases}), sorted({*SHOWN_REPETITIONS, repetitions}))
    return StudyPlan(violation, hidden, power, cases, repetitions, predicted, simulated, data_sets, table)


def _table(hidden: float, cases: list[int], repetitions: list[int]) -> pd.DataFrame:
    columns = {r: predicted_power(hidden, np.array(cases), r) for r in repetitions}
    return pd.DataFrame(columns, index=pd.Index(cases, name="cases")).rename_axis(columns="repetitions")


def _choices(hidden: float) -> tuple[np.ndarray, np.ndarray]:
    """Acting beliefs (reports, hidden parts) and choice probabilities (reports, hidden parts, 3), equally likely."""
    from scipy.special import ndtri, softmax

    middle = (np.arange(_POINTS) + 0.5) / _POINTS
    belief = shifted(middle[:, None], hidden * ndtri(middle))
    return belief, softmax(ControlAgent("plain").sharpness * expected_utilities(belief), axis=-1)


@lru_cache(maxsize=64)
def _noncentrality(hidden: float, repetitions: int) -> float:
    """Noncentrality of the score statistic for each case, in narrow strata."""
    belief, choice = _choices(hidden)
    mean, outcome = choice.mean(axis=1), belief.mean(axis=1)
    slope = ((choice * belief[..., None]).mean(axis=1) - mean * outcome[:, None]).mean(axis=0)
    square = np.einsum("pzi,pzj->pij", choice, choice) / _POINTS
    between = square - np.einsum("pi,pj->pij", mean, mean)
    within = np.einsum("pi,ij->pij", mean, np.eye(3)) - square
    variance = ((outcome * (1 - outcome))[:, None, None] * (between + within / repetitions)).mean(axis=0)
    return float(slope[1:] @ np.linalg.solve(variance[1:, 1:], slope[1:]))

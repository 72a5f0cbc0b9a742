"""Control agents: simulated answers whose truth is known, to see whether the tests are right.

A control agent holds a report p and acts on a belief b with logit(b) = logit(p) + h z, where z is drawn once a
case; the outcome is drawn from b. With h = 0 the report says all it knows, and a test of sufficiency must not
reject. It chooses by expected utility plus Gumbel noise (logit choice, the first example of near-rationality in
arXiv 2602.06286, section 3.1). Every other knob is a nuisance that a test should survive, or breaks another of
the paper's conditions.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, fields, replace

import numpy as np
import pandas as pd

from belief_utils.errors import BeliefError

#: What deferring is worth to a simulated agent, between a right decision (1) and a wrong one (-1).
DEFER_UTILITY = 0.35
PREFERENCES = ("ordinary", "reversed", "u-shaped")
_ACTIONS = np.array(["negative", "positive", "defer"], dtype=object)
_SMALLEST = 0.001  # beliefs are moved in log-odds from no closer to 0 and 1 than this
_CATEGORIES = 3


@dataclass(frozen=True)
class ControlAgent:
    """A simulated agent and the knobs that set it apart.

    Attributes:
        name: What it is called in tables and figures.
        hidden: h, the standard deviation in log-odds of what it knows and acts on but does not report.
        noise: Standard deviation of its reports of one case, as a probability, from one repetition to the next.
        grid: The step that its reports are rounded to before it acts; 0 for none.
        shocks: Standard deviation, in utility, of likes and dislikes drawn once a case, unrelated to the outcome.
        sharpness: How surely it takes the action of higher expected utility; 0 chooses at random.
        preference: "ordinary"; "reversed" wants "positive" when the outcome is absent; "u-shaped" wants it when
            it is sure either way.
        reports: Parameters of the beta distribution of its reports over cases; (1, 1) is uniform.
        incoherence: By how much its beliefs change with the wording of the prompt, and miss the sum of their
            parts: up or down, drawn once a case. Only simulate_prompts and simulate_expectations have it.

    Raises:
        BeliefError: a knob is out of range.
    """

    name: str
    hidden: float = 0.0
    noise: float = 0.0
    grid: float = 0.0
    shocks: float = 0.0
    sharpness: float = 4.0
    preference: str = "ordinary"
    reports: tuple[float, float] = (1.0, 1.0)
    incoherence: float = 0.0

    def __post_init__(self) -> None:
        ranges = {"grid": 1, "noise": 0.4, "incoherence": 0.5}
        for knob in ("hidden", "noise", "grid", "shocks", "sharpness", "incoherence"):
            most = ranges.get(knob, np.inf)
            if not 0 <= getattr(self, knob) <= most:
                raise BeliefError(f"{knob} is {getattr(self, knob)}: give 0 or more{f', at most {most}' * (most < 9)}")
        if self.preference not in PREFERENCES:
            raise BeliefError(f"preference is {self.preference!r}: choose one of {', '.join(PREFERENCES)}")
        if min(self.reports) <= 0:
            raise BeliefError(f"reports is {self.reports}: both parameters of a beta distribution are above 0")

    @property
    def knobs(self) -> str:
        """What differs from the plain agent, such as ``hidden=1 noise=.05``; "" for the plain agent."""
        changed = [(f.name, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        return " ".join(f"{name}={_written(value)}" for name, value in changed if name != "name")


def _written(value: float | str | tuple) -> str:
    if isinstance(value, tuple):
        return "/".join(_written(part) for part in value)
    return value if isinstance(value, str) else f"{value:g}"


def expected_utilities(belief: float | np.ndarray) -> np.ndarray:
    """Expected utility of negative, positive and defer at a belief of any shape (...): (..., 3).

    A right decision is worth 1, a wrong one -1, deferring .35.
    """
    belief = np.asarray(belief, dtype=float)
    return np.stack([1 - 2 * belief, 2 * belief - 1, np.full_like(belief, DEFER_UTILITY)], axis=-1)


def shifted(probability: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Probabilities moved by so much in log-odds; 0 and 1 are taken as one in a thousand from the end."""
    from scipy.special import expit, logit

    return expit(logit(np.clip(probability, _SMALLEST, 1 - _SMALLEST)) + by)


def simulate_judgments(agent: ControlAgent, *, cases: int = 200, repetitions: int = 5, seed: int = 0) -> pd.DataFrame:
    """Judgments of a control agent: columns case, repetition, belief, action, outcome; cases x repetitions rows.

    Raises BeliefError if cases or repetitions is below 1.
    """
    rng = _generator(agent, seed, cases, repetitions)
    report = _on_grid(rng.beta(*agent.reports, cases), agent.grid)
    hidden = agent.hidden * rng.standard_normal(cases)
    belief = shifted(report, hidden) if agent.hidden else report
    outcome = (rng.random(cases) < belief).astype(np.int64)
    utility = expected_utilities(_wanted(belief, agent.preference))
    utility += agent.shocks * rng.standard_normal((cases, 3))
    choice = agent.sharpness * utility[:, None, :] + rng.gumbel(size=(cases, repetitions, 3))
    reported = report[:, None] + agent.noise * rng.standard_normal((cases, repetitions))
    reported = _on_grid(np.clip(reported, 0, 1), agent.grid)
    return _frame(cases, repetitions).assign(
        belief=reported.ravel(), action=_ACTIONS[choice.argmax(axis=2).ravel()], outcome=outcome.repeat(repetitions)
    )


def simulate_prompts(
    agent: ControlAgent, *, cases: int = 200, repetitions: int = 5, seed: int = 0
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Beliefs under the standard and a reframed prompt: two frames with columns case, repetition, belief.

    Reports scatter about the agent's belief without moving its mean, and apart from ``incoherence`` the belief
    is the same under both prompts. Raises BeliefError if cases or repetitions is below 1.
    """
    rng = _generator(agent, seed, cases, repetitions)
    standard = rng.beta(*agent.reports, cases)
    reframed = _moved(standard, agent.incoherence, rng)
    frame = _frame(cases, repetitions)
    first, second = (_drawn(agent, mean, repetitions, rng).ravel() for mean in (standard, reframed))
    return frame.assign(belief=first), frame.assign(belief=second)


def simulate_expectations(
    agent: ControlAgent, *, cases: int = 200, repetitions: int = 5, seed: int = 0
) -> pd.DataFrame:
    """Beliefs about a case and about its three categories, as iterated_expectation_gap takes them.

    Columns case, repetition, belief, conditional_1 to _3, weight_1 to _3. Apart from ``incoherence`` the belief is
    the weighted mean of the conditionals; what is reported scatters about it without moving its mean.
    Raises BeliefError if cases or repetitions is below 1.
    """
    rng = _generator(agent, seed, cases, repetitions)
    weight = rng.dirichlet(np.full(_CATEGORIES, 2.0), cases)
    given = rng.beta(*agent.reports, (cases, _CATEGORIES))
    belief = _moved((weight * given).sum(axis=1), agent.incoherence, rng)
    columns = {"belief": _drawn(agent, belief, repetitions, rng)}
    columns |= {f"conditional_{j + 1}": _drawn(agent, given[:, j], repetitions, rng) for j in range(_CATEGORIES)}
    # Gamma draws over their sum are a Dirichlet draw: weights scatter, add up to 1 and keep their means.
    weights = np.repeat(weight[:, None], repetitions, axis=1)
    if agent.noise:
        weights = rng.gamma(weights * _concentration(agent.noise))
        weights /= weights.sum(axis=2, keepdims=True)
    columns |= {f"weight_{j + 1}": weights[:, :, j] for j in range(_CATEGORIES)}
    return _frame(cases, repetitions).assign(**{name: values.ravel() for name, values in columns.items()})


def _generator(agent: ControlAgent, seed: int, cases: int, repetitions: int) -> np.random.Generator:
    if cases < 1 or repetitions < 1:
        raise BeliefError(f"{cases} cases and {repetitions} repetitions: give 1 or more of each")
    # The same seeds for all agents, but draws of their own: no lucky seed shows in every agent.
    return np.random.default_rng([seed, zlib.crc32(agent.knobs.encode())])


def _frame(cases: int, repetitions: int) -> pd.DataFrame:
    case, repetition = np.divmod(np.arange(cases * repetitions), repetitions)
    return pd.DataFrame({"case": case, "repetition": repetition})


def _on_grid(probability: np.ndarray, grid: float) -> np.ndarray:
    return np.clip(np.round(np.rint(probability / grid) * grid, 6), 0, 1) if grid else probability


def _wanted(belief: np.ndarray, preference: str) -> np.ndarray:
    """The belief that stands in the utilities: as it is, turned round, or how sure the agent is either way."""
    if preference == "ordinary":
        return belief
    return 1 - belief if preference == "reversed" else np.abs(2 * belief - 1)


def _moved(belief: np.ndarray, by: float, rng: np.random.Generator) -> np.ndarray:
    """Beliefs moved up or down by so much, and inwards where they would leave [0, 1]."""
    moved = belief + by * rng.choice([-1.0, 1.0], len(belief))
    return np.where((moved < 0) | (moved > 1), 2 * belief - moved, moved)


def _concentration(noise: float) -> float:
    """Of a beta distribution with this standard deviation at a mean of one half."""
    return 1 / (4 * noise**2) - 1


def _drawn(agent: ControlAgent, mean: np.ndarray, repetitions: int, rng: np.random.Generator) -> np.ndarray:
    """Reports with these means, in millionths, (cases, repetitions): beta draws, so that no end pulls them in."""
    means = np.clip(np.repeat(mean[:, None], repetitions, axis=1), 1e-6, 1 - 1e-6)
    if agent.noise:
        size = _concentration(agent.noise)
        means = rng.beta(means * size, (1 - means) * size)
    return np.round(_on_grid(means, agent.grid), 6)


#: Ten agents that say all they know: a test of sufficiency should reject them in 5 % of data sets.
NULL_AGENTS = (
    ControlAgent("plain"),
    ControlAgent("coarse", grid=0.05),
    ControlAgent("skewed", grid=0.1, reports=(1.0, 4.0)),
    ControlAgent("small noise", noise=0.05),
    ControlAgent("large noise", noise=0.18),
    ControlAgent("shocks", shocks=0.5),
    ControlAgent("sharp", sharpness=20.0),
    ControlAgent("random", sharpness=0.0),
    ControlAgent("reversed", preference="reversed"),
    ControlAgent("u-shaped", preference="u-shaped"),
)
_NAMED = {agent.name: agent for agent in NULL_AGENTS}
_HIDING = tuple(ControlAgent(f"hides {h:g}", hidden=h) for h in (0.25, 0.5, 0.75, 1.0, 1.5))

#: Ten agents whose choices shift monotonically with their beliefs (the reversed one in its own direction).
MONOTONE_AGENTS = (*(agent for agent in NULL_AGENTS if agent.name != "u-shaped"), _HIDING[3])
#: Ten agents whose beliefs survive rewording and add up: five sizes of noise, uniform and skewed reports.
COHERENT_AGENTS = tuple(
    ControlAgent(f"noise {noise:g}{', skewed' * (reports != (1.0, 1.0))}", noise=noise, reports=reports)
    for reports in ((1.0, 1.0), (1.0, 4.0))
    for noise in (0.02, 0.05, 0.1, 0.15, 0.2)
)

#: Five agents that break each condition, in order of size.
VIOLATIONS = {
    "sufficiency": _HIDING,
    "monotonicity": (
        *(ControlAgent(f"u-shaped {s:g}", sharpness=s, preference="u-shaped") for s in (0.5, 1.0, 2.0)),
        _NAMED["u-shaped"],
        _NAMED["reversed"],
    ),
    "coherence": tuple(ControlAgent(f"shift {s:g}", noise=0.1, incoherence=s) for s in (0.01, 0.02, 0.03, 0.05, 0.1)),
}


def _scattered(agents: tuple[ControlAgent, ...]) -> tuple[ControlAgent, ...]:
    return tuple(replace(agent, name=f"{agent.name} ±.05", noise=0.05) for agent in agents if not agent.noise)


#: The honest agents whose reports of a case are all the same, with a little noise, and the hiding ones likewise: a
#: nearest-neighbour estimate depends on whether a report comes back exactly.
SCATTERED_AGENTS = _scattered(NULL_AGENTS)
SCATTERED_VIOLATIONS = _scattered(_HIDING)

"""The cases of a dataset with more than two outcome states: evidence, a true probability per state, an outcome."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.beliefs.cases import MINIMUM_SUPPORT, SIZES, evidence_text
from belief_utils.beliefs.multistate_dataset import MultistateDataset, MultistatePosterior
from belief_utils.errors import BeliefError
from belief_utils.paths import data

#: Bins of the likeliest state's probability; with the state itself they are what cases are spread over.
BINS = 5
_PER_SET = 2


@dataclass(frozen=True)
class _Candidate:
    evidence: tuple[tuple[str, str], ...]
    probabilities: tuple[float, ...]
    support: float


def load_multistate_cases(dataset: MultistateDataset) -> pd.DataFrame:
    """The stored cases of a dataset, in the order in which they are asked; see :func:`sample_multistate_cases`.

    Raises:
        BeliefError: the file is not there, is not CSV, lacks a column or has an outcome that is no state.
    """
    path = data("cases", f"{dataset.name}.csv")
    remedy = f"make it with: belief data {dataset.name} --cases"
    if not path.is_file():
        raise BeliefError(f"{path} is not there; {remedy}")
    try:
        cases = pd.read_csv(path)
    except ValueError as error:
        raise BeliefError(f"{path} is not CSV that can be read: {str(error).strip()}") from error
    for column in ("case", "evidence", "outcome", *(f"p_star_{state}" for state in dataset.states)):
        if column not in cases:
            raise BeliefError(f"{path} has no column {column!r}; {remedy}")
    if unknown := set(cases["outcome"]) - set(dataset.states):
        raise BeliefError(f"{path}: the outcome {unknown.pop()!r} is no state of {dataset.name}; {remedy}")
    return cases


def sample_multistate_cases(posterior: MultistatePosterior, n: int = 200, *, seed: int = 20260206) -> pd.DataFrame:
    """Sample cases in which every state is the likeliest one, with all degrees of certainty, as far as there are such.

    As for two states (paper, D.0.5), random sets of 2 to 6 covariates are drawn, and every combination of their states
    that at least 100 patients show is a candidate. Cases are taken in turn from the groups that the likeliest state
    and its probability, in fifths, make. The outcome is drawn from the true probabilities.

    Args:
        posterior: exact inference in the dataset's network.
        n: how many cases.
        seed: of everything random.

    Returns:
        One row per case, in random order: ``case``, ``evidence`` (text, see ``evidence_from``), ``support``,
        ``outcome`` (a state), and ``p_star_STATE`` for every state.

    Raises:
        BeliefError: the network offers fewer than ``n`` candidates.
    """
    generator = np.random.default_rng(seed)
    groups = _candidates(posterior, generator)
    queues = [[group[i] for i in generator.permutation(len(group))] for _, group in sorted(groups.items())]
    if sum(map(len, queues)) < n:
        raise BeliefError(f"{posterior.dataset.name}: only {sum(map(len, queues))} of {n} cases have enough support")
    chosen: list[_Candidate] = []
    while len(chosen) < n:
        for queue in queues:
            if queue and len(chosen) < n:
                chosen.append(queue.pop())
    states = list(posterior.dataset.states)
    rows = []
    for number, position in enumerate(generator.permutation(n)):
        candidate = chosen[position]
        limits = np.cumsum(candidate.probabilities)
        drawn = states[int(np.searchsorted(limits / limits[-1], generator.random(), side="right"))]
        rows.append(
            {
                "case": number,
                "evidence": evidence_text(dict(candidate.evidence)),
                "support": round(candidate.support, 1),
                "outcome": drawn,
                **dict(zip((f"p_star_{state}" for state in states), candidate.probabilities, strict=True)),
            }
        )
    return pd.DataFrame(rows)


def _candidates(
    posterior: MultistatePosterior, generator: np.random.Generator
) -> dict[tuple[int, int], list[_Candidate]]:
    """Candidates by likeliest state and bin of its probability; at most two a set and group."""
    dataset = posterior.dataset
    covariates = list(dataset.phrases)
    known = posterior.states[dataset.outcome]
    order = [known.index(state) for state in dataset.states]
    groups: dict[tuple[int, int], dict[tuple, _Candidate]] = {}
    for _ in range(dataset.sampled_sets):
        size = int(generator.integers(SIZES[0], SIZES[1] + 1))
        picked = sorted(generator.choice(len(covariates), size=min(size, len(covariates)), replace=False))
        variables = [covariates[position] for position in picked]
        table = posterior.joint([dataset.outcome, *variables])[order]
        # Rounded before anything is compared, so that another processor's last bits choose no other case.
        support = np.round(table.sum(axis=0) * dataset.size, 3)
        taken: dict[tuple[int, int], int] = {}
        for cell in generator.permutation(np.argwhere(support >= MINIMUM_SUPPORT)):
            at = tuple(cell)
            weights = table[(slice(None), *at)]
            probabilities = np.round(weights / weights.sum(), 6)
            top = int(probabilities.argmax())
            group = (top, min(int(probabilities[top] * BINS), BINS - 1))
            taken[group] = taken.get(group, 0) + 1
            if taken[group] <= _PER_SET:
                evidence = tuple((v, posterior.states[v][i]) for v, i in zip(variables, at, strict=True))
                candidate = _Candidate(evidence, tuple(probabilities.tolist()), float(support[at]))
                groups.setdefault(group, {}).setdefault(evidence, candidate)
    return {group: list(found.values()) for group, found in groups.items()}

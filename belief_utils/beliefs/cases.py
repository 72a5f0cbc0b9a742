"""The cases that models are asked about: evidence, true probability and outcome."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from belief_utils.beliefs.datasets import Dataset, Evidence, Posterior
from belief_utils.errors import BeliefError
from belief_utils.paths import data

logger = logging.getLogger(__name__)

#: Equal-width bins of the true probability over which cases are spread (paper, D.0.5).
BINS = 20
#: Patients that must show a case's evidence (paper, D.0.5 and E.0.5).
MINIMUM_SUPPORT = 100
#: Covariates in a case's evidence, from and to.
SIZES = (2, 6)

#: Counts real patients who show some evidence: how many, and how many of them with the outcome.
Counts = Callable[[Evidence], tuple[int, int]]


@dataclass(frozen=True)
class _Candidate:
    evidence: tuple[tuple[str, str], ...]
    probability: float
    support: float


def evidence_text(evidence: Evidence) -> str:
    """Evidence as it stands in a case file: ``Age=under_50; Sex=male``."""
    return "; ".join(f"{variable}={state}" for variable, state in evidence.items())


def evidence_from(text: str) -> dict[str, str]:
    """The reverse of :func:`evidence_text`.

    Raises:
        BeliefError: a part of the text is not ``COVARIATE=STATE``.
    """
    parts = [part.split("=", 1) for part in text.split("; ")]
    if any(len(part) != 2 for part in parts):
        raise BeliefError(f"the evidence {text!r} is not of the form COVARIATE=STATE; COVARIATE=STATE")
    return dict(parts)


def load_cases(dataset: Dataset | str) -> pd.DataFrame:
    """The stored cases of a dataset, in the order in which they are asked.

    Returns:
        One row per case: ``case``, ``evidence`` (text, see :func:`evidence_from`), ``support`` (patients expected, or
        counted, to show it), ``p_star``, ``outcome`` (0 or 1), and per state of the auxiliary variable its true
        probability ``weight_STATE`` and the true probability given it, ``p_star_STATE`` (empty where the evidence
        already shows the auxiliary variable).

    Raises:
        BeliefError: the file is not there, is not CSV or lacks a column.
    """
    name = dataset if isinstance(dataset, str) else dataset.name
    path = data("cases", f"{name}.csv")
    if not path.is_file():
        raise BeliefError(f"{path} is not there; make it with: belief data {name} --cases")
    try:
        cases = pd.read_csv(path)
    except ValueError as error:
        raise BeliefError(f"{path} is not CSV that can be read: {str(error).strip()}") from error
    for column in ("case", "evidence", "outcome"):
        if column not in cases:
            raise BeliefError(f"{path} has no column {column!r}; make it with: belief data {name} --cases")
    return cases


def sample_cases(
    posterior: Posterior,
    n: int = 200,
    *,
    seed: int = 20260206,
    counts: Counts | None = None,
) -> pd.DataFrame:
    """Sample cases whose true probabilities are spread evenly over [0, 1], as far as the network reaches.

    Random sets of 2 to 6 covariates are drawn; every combination of their states that at least 100 patients show is
    a candidate. Bins that offer too few candidates give their share to the others. The outcome is drawn from p*.

    Args:
        posterior: exact inference in the dataset's network.
        n: how many cases.
        seed: of everything random.
        counts: counts real patients where there are rows; the support is then counted, not expected, and the
            columns ``respondents`` and ``observed_share`` are added.

    Returns:
        See :func:`load_cases`; the cases stand in random order, so that the first k are spread as well.

    Raises:
        BeliefError: the network offers fewer than ``n`` candidates.
    """
    generator = np.random.default_rng(seed)
    pool = _candidates(posterior, generator)
    chosen = _spread(pool, n, generator, counts)
    if len(chosen) < n:
        raise BeliefError(f"{posterior.dataset.name}: only {len(chosen)} of {n} cases have enough support")
    order = generator.permutation(len(chosen))
    rows = []
    for number, position in enumerate(order):
        rows.append(_row(number, chosen[position], posterior, counts))
    frame = pd.DataFrame(rows)
    frame.insert(4, "outcome", (generator.random(n) < frame["p_star"].to_numpy()).astype(int))
    return frame


def empty_bins(p_star: pd.Series) -> list[str]:
    """The bins of the true probability that no case falls in, such as ``0.90-0.95``."""
    filled = set(_bin(p_star.to_numpy()).tolist())
    return [f"{k / BINS:.2f}-{(k + 1) / BINS:.2f}" for k in range(BINS) if k not in filled]


def write_cases(frame: pd.DataFrame, path: Path) -> None:
    """Store cases as CSV, the same bytes for the same cases."""
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(path, index=False, lineterminator="\n")


def _bin(probability: np.ndarray) -> np.ndarray:
    return np.minimum((np.asarray(probability) * BINS).astype(int), BINS - 1)


def _candidates(posterior: Posterior, generator: np.random.Generator) -> list[list[_Candidate]]:
    """Per bin, candidates from random sets of covariates; at most two a set and bin, so that no set dominates."""
    dataset = posterior.dataset
    covariates = list(dataset.phrases)
    pool: dict[int, dict[tuple, _Candidate]] = {k: {} for k in range(BINS)}
    for _ in range(dataset.sampled_sets):
        size = int(generator.integers(SIZES[0], SIZES[1] + 1))
        chosen = sorted(generator.choice(len(covariates), size=min(size, len(covariates)), replace=False))
        variables = [covariates[position] for position in chosen]
        table = posterior.joint([dataset.outcome, *variables])
        positive = posterior.states[dataset.outcome].index(dataset.positive)
        total = table.sum(axis=0)
        # Rounded before anything is compared, so that another processor's last bits choose no other case.
        support = np.round(total * dataset.size, 3)
        with np.errstate(invalid="ignore", divide="ignore"):
            probability = np.round(table[positive] / total, 6)
        cells = np.argwhere(support >= MINIMUM_SUPPORT)
        taken = dict.fromkeys(range(BINS), 0)
        for cell in generator.permutation(cells):
            at = tuple(cell)
            k = int(_bin(probability[at]))
            if taken[k] < 2:
                taken[k] += 1
                evidence = tuple((v, posterior.states[v][i]) for v, i in zip(variables, at, strict=True))
                pool[k].setdefault(evidence, _Candidate(evidence, float(probability[at]), float(support[at])))
    return [list(pool[k].values()) for k in range(BINS)]


def _spread(
    pool: list[list[_Candidate]], n: int, generator: np.random.Generator, counts: Counts | None
) -> list[_Candidate]:
    """Take cases from the bins in turn until there are ``n``; an exhausted bin is passed over."""
    queues = [[bin_[i] for i in generator.permutation(len(bin_))] for bin_ in pool]
    chosen: list[_Candidate] = []
    while len(chosen) < n and any(queues):
        for queue in queues:
            while queue and len(chosen) < n:
                candidate = queue.pop()
                if counts is None or counts(dict(candidate.evidence))[0] >= MINIMUM_SUPPORT:
                    chosen.append(candidate)
                    break
    return chosen


def _row(number: int, candidate: _Candidate, posterior: Posterior, counts: Counts | None) -> Mapping[str, object]:
    dataset = posterior.dataset
    evidence = dict(candidate.evidence)
    row: dict[str, object] = {
        "case": number,
        "evidence": evidence_text(evidence),
        "support": round(candidate.support, 1),
        "p_star": candidate.probability,
    }
    if counts is not None:
        respondents, positives = counts(evidence)
        row["support"] = respondents
        row["observed_share"] = round(positives / respondents, 6)
    hidden = dataset.auxiliary not in evidence
    weights = posterior.distribution(dataset.auxiliary, evidence) if hidden else {}
    for state in dataset.labels:
        row[f"weight_{state}"] = round(weights[state], 6) if hidden else None
    for state in dataset.labels:
        reachable = hidden and weights[state] > 0
        row[f"p_star_{state}"] = (
            round(posterior.probability({**evidence, dataset.auxiliary: state}), 6) if reachable else None
        )
    return row

"""The clinical datasets: a Bayesian network, the words for its variables and the question that is asked."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from belief_utils.asking.models import nearest
from belief_utils.errors import BeliefError
from belief_utils.paths import data

if TYPE_CHECKING:
    import numpy as np

#: Evidence: what is known of a patient, a state per covariate.
Evidence = Mapping[str, str]

#: What the figures of a dataset are, as shown wherever it is shown.
STATUS = {
    "real": "real: fitted to public survey data",
    "surrogate": "surrogate: published marginals, assumed dependence",
    "illustrative": "illustrative: a network of our own, not the paper's",
}


@dataclass(frozen=True)
class Dataset:
    """One clinical dataset, as its file in ``data/datasets`` describes it.

    Attributes:
        name: the name in files and on the command line.
        title, short: the names shown in texts and in table rows.
        status: ``real``, ``surrogate`` or ``illustrative``; see :data:`STATUS`.
        network: the BIF file.
        size: the number of patients that support is counted in.
        question: what follows "What is the probability that they ..." (paper, appendix B.5).
        about: what is published and what is assumed, in a few sentences.
        outcome, positive: the outcome's variable and the state that counts as "Yes".
        auxiliary, auxiliary_name: the variable of the law of iterated expectation and its name in a prompt.
        labels: the label of each of the auxiliary variable's states, as the model is shown it.
        phrases: per covariate and state, what follows "There is a patient who ..." (paper, appendix B.4).
        titles: per covariate, the name shown to readers.
        sampled_sets: how many sets of covariates are tried when cases are sampled; more where some true
            probabilities are rarely reached.
    """

    name: str
    title: str
    short: str
    status: str
    network: Path
    size: int
    question: str
    about: str
    outcome: str
    positive: str
    auxiliary: str
    auxiliary_name: str
    labels: Mapping[str, str]
    phrases: Mapping[str, Mapping[str, str]]
    titles: Mapping[str, str]
    sampled_sets: int = 1500

    def describe(self, evidence: Evidence) -> str:
        """Evidence in words, in the order of the dataset's covariates: "is male, is obese, and has ...".

        Raises:
            BeliefError: a covariate or a state is not the dataset's, or there is no evidence.
        """
        for variable, state in evidence.items():
            nearest(variable, self.phrases, f"covariate of {self.name}:")
            nearest(state, self.phrases[variable], f"state of {variable} in {self.name}:")
        parts = [self.phrases[variable][evidence[variable]] for variable in self.phrases if variable in evidence]
        if not parts:
            raise BeliefError(f"a case of {self.name} has no evidence to describe")
        if len(parts) < 3:
            return " and ".join(parts)
        return ", ".join(parts[:-1]) + ", and " + parts[-1]


def dataset_names() -> list[str]:
    """The datasets with two outcome states, in the order in which the paper's tables show them."""
    order = ["heart", "crying", "fever", "diabetes"]
    found = [path.stem for path in data("datasets").glob("*.toml") if not _has_several_states(path)]
    return sorted(found, key=lambda name: (order.index(name) if name in order else len(order), name))


def multistate_dataset_names() -> list[str]:
    """The datasets with more than two outcome states, sorted; their files have a table ``[outcome.states]``."""
    return sorted(path.stem for path in data("datasets").glob("*.toml") if _has_several_states(path))


def _has_several_states(path: Path) -> bool:
    try:
        return "states" in tomllib.loads(path.read_text(encoding="utf-8"))["outcome"]
    except (KeyError, TypeError, tomllib.TOMLDecodeError):
        return False  # what is wrong with the file is told when it is loaded


def load_dataset(name: str) -> Dataset:
    """Read a dataset's description; its network is read only when a probability is asked for.

    Raises:
        BeliefError: there is no such dataset (the nearest name is given), it has more than two outcome states, or its
            file lacks an entry.
    """
    if name in multistate_dataset_names():
        raise BeliefError(f"{name} has more than two outcome states: only collect, data and load_judgments take it")
    nearest(name, dataset_names(), "dataset")
    path = data("datasets", f"{name}.toml")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        return Dataset(
            name=table["name"],
            title=table["title"],
            short=table["short"],
            status=nearest(table["status"], STATUS, f"status in {path}:"),
            network=data("networks", table["network"]),
            size=table["size"],
            question=table["question"],
            about=table["about"],
            outcome=table["outcome"]["variable"],
            positive=table["outcome"]["positive"],
            auxiliary=table["auxiliary"]["variable"],
            auxiliary_name=table["auxiliary"]["name"],
            labels=table["auxiliary"]["labels"],
            phrases={variable: entry["phrases"] for variable, entry in table["covariates"].items()},
            titles={variable: entry["title"] for variable, entry in table["covariates"].items()},
            sampled_sets=table.get("sampled_sets", 1500),
        )
    except KeyError as error:
        raise BeliefError(f"{path}: the entry {error} is missing") from error
    except tomllib.TOMLDecodeError as error:
        raise BeliefError(f"{path} is not valid TOML: {error}") from error


class Posterior:
    """Exact probabilities of a dataset's network, by variable elimination (paper, D.0.5 and E.0.5).

    pgmpy answers evidence of probability zero with a plausible number; here it is an error.

    Args:
        dataset: whose network is read (a few seconds).
    """

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    @cached_property
    def _network(self) -> Any:
        from pgmpy.readwrite import BIFReader

        return BIFReader(str(self.dataset.network)).get_model()

    @cached_property
    def _elimination(self) -> Any:
        from pgmpy.inference import VariableElimination

        return VariableElimination(self._network)

    @property
    def states(self) -> Mapping[str, list[str]]:
        """The states of every variable, in the order of :meth:`joint`'s axes."""
        return self._network.states

    def joint(self, variables: list[str]) -> "np.ndarray":
        """The joint probabilities of some variables, one axis per variable, in the order given."""
        factor = self._elimination.query(variables, elimination_order="greedy", show_progress=False)
        order = [factor.variables.index(variable) for variable in variables]
        return factor.values.transpose(order)

    def distribution(self, variable: str, evidence: Evidence) -> dict[str, float]:
        """P(variable | evidence), a probability per state.

        Raises:
            BeliefError: a name is unknown, the variable is part of the evidence, or the evidence has probability zero.
        """
        nearest(variable, self.states, f"variable of {self.dataset.name}:")
        if variable in evidence:
            raise BeliefError(f"{self.dataset.name}: {variable} is asked for and is part of the evidence")
        place = self._place(evidence)
        weights = self.joint([variable, *evidence])[(slice(None), *place)]
        total = weights.sum()
        if not total > 0:
            shown = ", ".join(f"{name} = {state}" for name, state in evidence.items())
            raise BeliefError(f"{self.dataset.name}: the evidence {shown} has probability zero")
        return dict(zip(self.states[variable], (weights / total).tolist(), strict=True))

    def probability(self, evidence: Evidence) -> float:
        """The true probability p*(x) = P(outcome | evidence).

        Raises:
            BeliefError: the evidence has probability zero.
        """
        return self.distribution(self.dataset.outcome, evidence)[self.dataset.positive]

    def support(self, evidence: Evidence) -> float:
        """How many of the dataset's patients are expected to show the evidence.

        Raises:
            BeliefError: the evidence names something unknown.
        """
        if not evidence:
            return float(self.dataset.size)
        place = self._place(evidence)
        return float(self.joint([*evidence])[place]) * self.dataset.size

    def _place(self, evidence: Evidence) -> tuple[int, ...]:
        """Where the evidence stands in a joint table of its variables."""
        return tuple(self._position(name, state) for name, state in evidence.items())

    def _position(self, variable: str, state: str) -> int:
        nearest(variable, self.states, f"variable of {self.dataset.name}:")
        nearest(state, self.states[variable], f"state of {variable}:")
        return self.states[variable].index(state)

"""Datasets with more than two outcome states: the network, the words, and a management for every state."""

import gzip
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from belief_utils.asking.models import nearest
from belief_utils.beliefs.datasets import STATUS, Dataset, Evidence, Posterior, multistate_dataset_names
from belief_utils.errors import BeliefError
from belief_utils.paths import data

#: What the figures of a dataset are. "published" means other things in the paper's tables, so it stands here only.
MULTISTATE_STATUS = {**STATUS, "published": "published: an expert's network from the literature"}

_PACKAGED = "pgmpy:"


@dataclass(frozen=True)
class Management:
    """An action that may be chosen.

    Attributes:
        name: the action in judgments.
        label: its words, as the model is shown them.
        state: the outcome state that it is right for, which is assumed; only simulated agents use it.
    """

    name: str
    label: str
    state: str


@dataclass(frozen=True)
class MultistateDataset:
    """A dataset whose outcome has more than two states, as its file in ``data/datasets`` describes it.

    Attributes:
        name: the name in files and on the command line.
        title, short: the names shown in texts and in table rows.
        status: a name of :data:`MULTISTATE_STATUS`.
        network: a BIF file below ``data/networks``, or ``pgmpy:NAME`` for one inside the installed package pgmpy.
        size: the number of patients that support is counted in.
        patient: how a prompt begins, before the evidence.
        about: what is published and what is assumed, in a few sentences.
        outcome, outcome_name: the outcome's variable and its name in a prompt.
        states: the label of each of the outcome's states, as the model is shown it.
        managements: by name, the actions to choose from.
        phrases: per covariate and state, what a patient is said to be or have.
        titles: per covariate, the name shown to readers.
        sampled_sets: how many sets of covariates are tried when cases are sampled.
    """

    name: str
    title: str
    short: str
    status: str
    network: str
    size: int
    patient: str
    about: str
    outcome: str
    outcome_name: str
    states: Mapping[str, str]
    managements: Mapping[str, Management]
    phrases: Mapping[str, Mapping[str, str]]
    titles: Mapping[str, str]
    sampled_sets: int = 1500

    describe = Dataset.describe


def load_multistate_dataset(name: str) -> MultistateDataset:
    """Read a dataset's description; its network is read only when a probability is asked for.

    Raises:
        BeliefError: there is no such dataset with more than two outcome states, or its file lacks an entry or
            contradicts itself.
    """
    nearest(name, multistate_dataset_names(), "dataset with several outcome states")
    path = data("datasets", f"{name}.toml")
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        dataset = MultistateDataset(
            name=table["name"],
            title=table["title"],
            short=table["short"],
            status=nearest(table["status"], MULTISTATE_STATUS, f"status in {path}:"),
            network=table["network"],
            size=table["size"],
            patient=table["patient"],
            about=table["about"],
            outcome=table["outcome"]["variable"],
            outcome_name=table["outcome"]["name"],
            states=table["outcome"]["states"],
            managements={
                key: Management(key, entry["label"], entry["for"]) for key, entry in table["managements"].items()
            },
            phrases={variable: entry["phrases"] for variable, entry in table["covariates"].items()},
            titles={variable: entry["title"] for variable, entry in table["covariates"].items()},
            sampled_sets=table.get("sampled_sets", 1500),
        )
    except KeyError as error:
        raise BeliefError(f"{path}: the entry {error} is missing") from error
    for management in dataset.managements.values():
        nearest(management.state, dataset.states, f"state that {management.name} is for in {path}:")
    if "defer" in dataset.managements or len(dataset.managements) < 2:
        raise BeliefError(f"{path}: give two managements or more, none of them named defer")
    return dataset


class MultistatePosterior(Posterior):
    """Exact probabilities of a dataset's network, by variable elimination.

    Args:
        dataset: whose network is read (a few seconds).
    """

    dataset: MultistateDataset

    def __init__(self, dataset: MultistateDataset) -> None:
        self.dataset = dataset

    @cached_property
    def _network(self) -> Any:
        from pgmpy.readwrite import BIFReader

        network = BIFReader(string=_network_text(self.dataset.network)).get_model()
        for variable, states in [(self.dataset.outcome, self.dataset.states), *self.dataset.phrases.items()]:
            known = network.states.get(variable, [])
            if set(known) != set(states):
                raise BeliefError(
                    f"{self.dataset.name}: the states of {variable} are {', '.join(known) or 'unknown'} in the network "
                    f"and {', '.join(states)} in the dataset's file"
                )
        return network

    def probabilities(self, evidence: Evidence) -> dict[str, float]:
        """P(state | evidence) for every outcome state, in the order of the dataset's states.

        Raises:
            BeliefError: the evidence names something unknown, or its probability is zero.
        """
        found = self.distribution(self.dataset.outcome, evidence)
        return {state: found[state] for state in self.dataset.states}

    def probability(self, evidence: Evidence) -> float:
        """Not defined: there are several states; see :meth:`probabilities`.

        Raises:
            BeliefError: always.
        """
        raise BeliefError(f"{self.dataset.name} has several outcome states: ask for their probabilities")


def _network_text(network: str) -> str:
    """The network in BIF, from ``data/networks`` or from inside the installed pgmpy.

    pgmpy's own ``example_models`` downloads; the file that it still carries is read here without the function that
    reads it, because that one is deprecated.
    """
    if not network.startswith(_PACKAGED):
        return data("networks", network).read_text(encoding="utf-8")
    name = network.removeprefix(_PACKAGED)
    file = files("pgmpy") / "utils" / "example_models" / f"{Path(name).name}.bif.gz"
    if not file.is_file():
        raise BeliefError(f"the installed pgmpy has no network {name!r}: install pgmpy 1.1, which carries it")
    return gzip.decompress(file.read_bytes()).decode("utf-8")

"""What there are stored answers of, kind by kind: the models and datasets that the notebooks run for."""

from collections.abc import Iterator, Mapping
from typing import Any

from belief_utils.asking.lines import read_lines
from belief_utils.asking.models import load_models, nearest
from belief_utils.beliefs.datasets import dataset_names
from belief_utils.beliefs.elicited import way_of
from belief_utils.followup.items import ITEM_SETS
from belief_utils.paths import data

#: Stands for all item sets of a model: its notebooks show them together.
ALL = "all"
Pair = tuple[str, str]


def check_names(model: str | None, dataset: str | None) -> None:
    """See that a model and a dataset or item set are known.

    Raises:
        BeliefError: one is not; the message gives the nearest name.
    """
    if model:
        nearest(model, load_models(), "model")
    if dataset:
        nearest(dataset, [*dataset_names(), *ITEM_SETS, ALL], "dataset")


def available_pairs() -> list[Pair]:
    """The (model, dataset) pairs that have stored answers of the belief paper, in the order of the tables."""
    return _pairs_with("{}.jsonl")


def pressure_pairs() -> list[Pair]:
    """The pairs with beliefs that were followed up."""
    return _pairs_with("pressure-{}.jsonl")


def elicitation_pairs() -> list[Pair]:
    """The pairs with answers to other ways to ask for a belief than the paper's."""
    return [(model, dataset) for model, dataset in available_pairs() if has_elicitations(model, dataset)]


def followup_pairs(dataset: str | None = None) -> list[Pair]:
    """The models with answers to follow-up questions, each with the item set named, or with all of them as one.

    Args:
        dataset: an item set, or ``"all"``; all as one by default.
    """
    found = []
    for model in load_models():
        sets = [name for name in ITEM_SETS if _has_answers(model, f"followup-{name}.jsonl")]
        if sets and dataset in (None, ALL):
            found.append((model, ALL))
        elif dataset in sets:
            found.append((model, dataset))
    return found


def has_elicitations(model: str, dataset: str) -> bool:
    """Whether a store holds an answer to another way to ask than the paper's; the first one found is enough."""
    if load_models()[model].kind == "simulated":
        return False
    return any(
        record.get("text") is not None and way_of(record["item"]) for record in _records(model, f"{dataset}.jsonl")
    )


def _pairs_with(name: str) -> list[Pair]:
    models = list(load_models())
    return [
        (model, dataset) for dataset in dataset_names() for model in models if _has_answers(model, name.format(dataset))
    ]


def _has_answers(model: str, name: str) -> bool:
    """Whether a store holds an answer; failures alone are nothing to make a table from."""
    return any(record.get("text") is not None for record in _records(model, name))


def _records(model: str, name: str) -> Iterator[Mapping[str, Any]]:
    """The lines of a store, read only as far as they are looked at."""
    path = data("responses", model, name)
    for each in (path.with_name(path.name + ".gz"), path):
        for _, record in read_lines(each):
            yield record

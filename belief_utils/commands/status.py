"""``belief collect --status``: what is stored of each model, and what is missing or cannot be read."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from belief_utils.asking.models import Model
    from belief_utils.asking.store import Store


def show(options: argparse.Namespace) -> int:
    """Print a line per model, dataset and prompt, then what each store has cost and from which versions it is."""
    from belief_utils.asking.models import load_model, load_models
    from belief_utils.beliefs.datasets import dataset_names, multistate_dataset_names
    from belief_utils.beliefs.elicitation import store_for
    from belief_utils.commands.collect import named_dataset

    models = [load_model(options.model)] if options.model else list(load_models().values())
    datasets = [named_dataset(options.dataset).name] if options.dataset else []
    datasets = datasets or [*dataset_names(), *multistate_dataset_names()]
    print(f"{'model':18} {'dataset':10} {'prompt':14} {'there':>8} {'missing':>8} {'failed':>8} {'unread':>8}")
    for model in models:
        stores = {dataset: store_for(model, dataset) for dataset in datasets}
        if not options.model and not any(len(store) or store.failures for store in stores.values()):
            print(f"{model.key:18} {'nothing stored':10}")
            continue
        for dataset, store in stores.items():
            _lines(options, model, dataset, store)
        _notes(model, stores)
    return 0


def _lines(options: argparse.Namespace, model: "Model", dataset: str, store: "Store") -> None:
    from belief_utils.beliefs.status import standings
    from belief_utils.commands.collect import named_dataset, planned

    questions = planned(options, model, named_dataset(dataset))
    for standing in standings(model, questions, options.repetitions, store):
        print(
            f"{model.key:18} {dataset:10} {standing.prompt:14} {standing.there:8,} {standing.missing:8,} "
            f"{standing.failed:8,} {standing.unread:8,}"
        )


def _notes(model: "Model", stores: "dict[str, Store]") -> None:
    from collections import Counter

    from belief_utils.asking.provenance import version_warning, versions
    from belief_utils.beliefs.status import stored_bill

    found: Counter[str] = Counter()
    for dataset, store in stores.items():
        found.update(versions(store))
        if len(store) and (model.price_in or model.price_out):
            print(f"  {stored_bill(model, dataset, store)}")
    if warning := version_warning(model.name, found):
        print(f"  {warning}")

"""``belief followup pressure``: question a reported probability, and see how far it moves."""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from belief_utils.commands.collect import add_limits, count, limited, told

if TYPE_CHECKING:
    from belief_utils.asking.models import Model
    from belief_utils.asking.questions import Answerer
    from belief_utils.beliefs.datasets import Dataset

#: Conversations at once with a local model.
SLOTS = 4


def add(actions: argparse._SubParsersAction) -> None:
    """Describe the action and its options."""
    action = actions.add_parser(
        "pressure",
        help="question reported probabilities of the belief paper's cases",
        description="Ask for a probability and a decision, then question the probability in a conversation of its own "
        "per type of question, and ask for both again. Ctrl-C stops; the next run goes on from there.",
        epilog="Exit codes as of `belief collect`.",
    )
    action.add_argument("--model", required=True, help="a model of data/models.toml, see: belief models")
    action.add_argument("--dataset", required=True, help="heart, crying, fever or diabetes")
    action.add_argument("--cases", type=count, default=40, help="only the first so many cases (default: 40)")
    action.add_argument("--base-url", help="another address for this model, such as a server of your own")
    action.add_argument("--quiet", action="store_true", help="no progress bar")
    add_limits(action)
    action.add_argument("--dry-run", action="store_true", help="say what would be sent and cost; send nothing")
    action.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Say what is missing, ask for it and say what came."""
    from belief_utils.asking.models import load_model
    from belief_utils.beliefs.datasets import load_dataset
    from belief_utils.pressure.collecting import dry_run, store_for
    from belief_utils.pressure.questions import patients

    model = limited(load_model(options.model), options)
    dataset = load_dataset(options.dataset)
    estimate = dry_run(model, patients(dataset, options.cases), store_for(model, dataset.name))
    print(f"{model.name}, {dataset.name}: {estimate}", flush=True)
    if options.dry_run or not estimate.answers:
        return 0
    if model.kind == "simulated":
        from belief_utils.pressure.respondents import pressed_answerer

        return _ask(options, model, dataset, pressed_answerer(model, dataset))
    from belief_utils.asking.ask import openai_answerer

    if model.kind == "local" and not options.base_url:
        from belief_utils.asking.local import running

        with running(model, SLOTS) as address:
            several = replace(model, concurrency=options.concurrency or SLOTS)
            return _ask(options, several, dataset, openai_answerer(several, address))
    return _ask(options, model, dataset, openai_answerer(model, options.base_url))


def _ask(options: argparse.Namespace, model: "Model", dataset: "Dataset", answerer: "Answerer") -> int:
    from belief_utils.pressure.collecting import converse, store_for
    from belief_utils.pressure.questions import patients

    asked, store = patients(dataset, options.cases), store_for(model, dataset.name)
    done = converse(model, asked, store, answerer, progress=not options.quiet, max_cost=options.max_cost)
    return told(options, model, dataset.name, done, named=True)

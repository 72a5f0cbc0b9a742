"""``belief collect``: ask a model for the answers that the store lacks."""

import argparse
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from belief_utils.errors import BeliefError

if TYPE_CHECKING:
    from belief_utils.asking.ask import Collected, Question
    from belief_utils.asking.models import Model
    from belief_utils.asking.store import Store
    from belief_utils.beliefs.datasets import Dataset
    from belief_utils.beliefs.multistate_dataset import MultistateDataset

EXIT_INCOMPLETE = 1
EXIT_INTERRUPTED = 130

_CODES = """\
The exit code is 0 when every answer is there, 1 when some are missing (run the same command again), 2 when
something must be mended first, and 130 after Ctrl-C. Keys are read from the environment only."""


def add(commands: argparse._SubParsersAction) -> None:
    """Describe the command and its options."""
    command = commands.add_parser(
        "collect",
        help="ask a model for the answers that the store lacks",
        description="Ask a model for the answers that the store lacks. Ctrl-C stops; the next run goes on from there.",
        epilog=_CODES,
    )
    command.add_argument("--model", help="a model of data/models.toml, see: belief models")
    command.add_argument("--dataset", help="heart, crying, fever, diabetes or child")
    command.add_argument("--cases", type=count, help="only the first so many cases (default: all)")
    command.add_argument("--repetitions", type=count, default=5, help="answers per question (default: 5)")
    command.add_argument(
        "--coherence-cases",
        type=count,
        default=100,
        help="cases of the iterated-expectation prompts (default: 100)",
    )
    command.add_argument(
        "--prompts",
        default="belief,squared-error,decision,next-state,conditional",
        help="comma-separated; also absolute-loss and bayesian (default: %(default)s; child has belief and decision)",
    )
    command.add_argument(
        "--elicitations", help="instead of the paper's prompts other ways to ask: token, frequency, reasoned"
    )
    command.add_argument("--base-url", help="another address for this model, such as a server of your own")
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    add_limits(command)
    _add_instead(command)
    command.set_defaults(run=run)


def add_limits(command: argparse.ArgumentParser) -> None:
    """Describe the options that keep a run within limits."""
    limits = command.add_argument_group("limits (default: those of the model's table)")
    limits.add_argument("--concurrency", type=count, help="requests that may be under way at once")
    limits.add_argument("--rpm", type=count, help="requests per minute")
    limits.add_argument("--tpm", type=count, help="tokens per minute, in and out")
    limits.add_argument(
        "--max-cost",
        type=dollars,
        help="US dollars that this run may cost; it stops before a request that could pass them",
    )


def _add_instead(command: argparse.ArgumentParser) -> None:
    instead = command.add_argument_group("instead of asking").add_mutually_exclusive_group()
    instead.add_argument("--dry-run", action="store_true", help="say what would be sent and cost; send nothing")
    instead.add_argument(
        "--status", action="store_true", help="what is there, missing, failed and unread; of all models and datasets"
    )
    instead.add_argument("--batch", type=Path, metavar="FILE", help="write the requests as an OpenAI batch file")
    instead.add_argument(
        "--batch-results", type=Path, metavar="FILE", help="take the results of an OpenAI batch into the store"
    )


def run(options: argparse.Namespace) -> int:
    """Say what is missing, ask for it and say what came."""
    from belief_utils.asking.ask import dry_run
    from belief_utils.asking.models import load_model
    from belief_utils.beliefs.elicitation import store_for

    if options.status:
        from belief_utils.commands.status import show

        return show(options)
    for name in ("model", "dataset"):
        if not getattr(options, name):
            raise BeliefError(f"--{name} is missing; for example: belief collect --model smollm2 --dataset heart")
    model = limited(load_model(options.model), options)
    dataset = named_dataset(options.dataset)
    store = store_for(model, dataset.name)
    if options.batch or options.batch_results:
        from belief_utils.commands import batch

        return (batch.write if options.batch else batch.take)(options, model, dataset, store)
    questions = planned(options, model, dataset)
    estimate = dry_run(model, questions, options.repetitions, store)
    print(f"{model.name}, {dataset.name}: {estimate}", flush=True)
    if options.dry_run or not estimate.answers:
        return 0
    return told(options, model, dataset.name, _ask(options, model, dataset, questions, store))


def limited(model: "Model", options: argparse.Namespace) -> "Model":
    """The model with the limits of the command line in the place of its table's."""
    given = {name: value for name in ("concurrency", "rpm", "tpm") if (value := getattr(options, name))}
    return replace(model, **given)


def named_dataset(name: str) -> "Dataset | MultistateDataset":
    """A dataset of two outcome states or more.

    Raises:
        BeliefError: there is none of that name.
    """
    from belief_utils.beliefs.datasets import load_dataset, multistate_dataset_names
    from belief_utils.beliefs.multistate_dataset import load_multistate_dataset

    return load_multistate_dataset(name) if name in multistate_dataset_names() else load_dataset(name)


def planned(options: argparse.Namespace, model: "Model", dataset: "Dataset | MultistateDataset") -> "list[Question]":
    """The questions that the options name.

    Raises:
        BeliefError: a prompt or a way to ask is unknown, or simulated agents are asked in another way.
    """
    from belief_utils.asking.models import nearest
    from belief_utils.beliefs.elicitation import plan
    from belief_utils.beliefs.elicitations import plan_elicitations
    from belief_utils.beliefs.elicited import ELICITATIONS
    from belief_utils.beliefs.multistate_asking import multistate_plan
    from belief_utils.beliefs.multistate_dataset import MultistateDataset
    from belief_utils.beliefs.prompts import PROMPTS

    several = isinstance(dataset, MultistateDataset)
    if options.elicitations:
        if model.kind == "simulated":
            raise BeliefError(f"{model.name} answers the paper's prompts only, not --elicitations")
        if several:
            raise BeliefError(f"{dataset.name} has more than two outcome states; --elicitations are for two")
        ways = [nearest(name.strip(), ELICITATIONS, "elicitation") for name in options.elicitations.split(",")]
        return list(plan_elicitations(dataset, ways, model, cases=options.cases))
    prompts = [nearest(name.strip(), PROMPTS, "prompt") for name in options.prompts.split(",")]
    if several:
        return list(multistate_plan(dataset, prompts=prompts, cases=options.cases))
    return list(plan(dataset, prompts=prompts, cases=options.cases, coherence=options.coherence_cases))


def told(options: argparse.Namespace, model: "Model", name: str, done: "Collected", *, named: bool = False) -> int:
    """Say what came, what it cost and what is missing; returns the exit code.

    Args:
        name: what was asked about.
        named: whether the first line is to say so, because one run asks about several.
    """
    from belief_utils.asking.cost import Bill
    from belief_utils.asking.run import INTERRUPTED, MAX_COST

    print(
        f"{f'{model.name}, {name}: ' if named else ''}{done.asked:,} answers received, {done.failed:,} failed, "
        f"{done.missing:,} missing; {done.tokens_in:,} tokens in, {done.tokens_out:,} out",
        flush=True,
    )
    if model.price_in or model.price_out:
        print(
            Bill(
                f"{model.name} on {name}",
                done.asked,
                done.cached,
                done.tokens_in,
                done.tokens_out,
                done.dollars,
                done.uncounted,
            )
        )
    for problem, times in sorted(done.problems.items(), key=lambda pair: -pair[1]):
        print(f"  {times} x {problem}")
    if done.stopped == MAX_COST:
        print(f"stopped: the next request could pass --max-cost {options.max_cost:g}, counting its worst case")
    if done.missing:
        print("run the same command again to ask for what is missing")
    if done.stopped == INTERRUPTED:
        return EXIT_INTERRUPTED
    return EXIT_INCOMPLETE if done.missing else 0


def _ask(
    options: argparse.Namespace,
    model: "Model",
    dataset: "Dataset | MultistateDataset",
    questions: "list[Question]",
    store: "Store",
) -> "Collected":
    from belief_utils.asking.ask import collect, openai_answerer
    from belief_utils.asking.local import running
    from belief_utils.beliefs.agents import simulated_answerer
    from belief_utils.beliefs.multistate_agents import multistate_answerer
    from belief_utils.beliefs.multistate_dataset import MultistateDataset

    def with_answerer(answerer) -> "Collected":
        return collect(
            model,
            questions,
            options.repetitions,
            store,
            answerer,
            progress=not options.quiet,
            max_cost=options.max_cost,
        )

    if model.kind == "simulated":
        several = isinstance(dataset, MultistateDataset)
        return with_answerer((multistate_answerer if several else simulated_answerer)(model, dataset))
    if model.kind == "local" and not options.base_url:
        with running(model, slots=options.repetitions if model.ask_together else 1) as address:
            return with_answerer(openai_answerer(model, address))
    return with_answerer(openai_answerer(model, options.base_url))


def count(text: str) -> int:
    """A whole number of 1 or more, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def dollars(text: str) -> float:
    """An amount of 0 or more, for argparse."""
    amount = float(text)
    if not (amount >= 0 and math.isfinite(amount)):
        raise argparse.ArgumentTypeError("must be 0 or more")
    return amount

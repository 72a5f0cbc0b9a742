"""``belief collect``: ask a model for the answers that the store lacks."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from belief_utils.asking.ask import Collected, Question
    from belief_utils.asking.models import Model
    from belief_utils.asking.store import Store
    from belief_utils.beliefs.datasets import Dataset

EXIT_INTERRUPTED = 130


def add(commands: argparse._SubParsersAction) -> None:
    """Describe the command and its options."""
    command = commands.add_parser(
        "collect",
        help="ask a model for the answers that the store lacks",
        description="Ask a model for the answers that the store lacks. Ctrl-C stops; the next run goes on from there.",
    )
    command.add_argument("--model", required=True, help="a model of data/models.toml, see: belief models")
    command.add_argument("--dataset", required=True, help="heart, crying, fever or diabetes")
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
        help="comma-separated; also absolute-loss and bayesian (default: %(default)s)",
    )
    command.add_argument(
        "--dry-run", action="store_true", help="say what would be sent and cost; send nothing"
    )
    command.add_argument("--base-url", help="another address for this model, such as a server of your own")
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Say what is missing, ask for it and say what came."""
    from belief_utils.asking.ask import dry_run
    from belief_utils.asking.models import load_model, nearest
    from belief_utils.beliefs.datasets import load_dataset
    from belief_utils.beliefs.elicitation import plan, store_for
    from belief_utils.beliefs.prompts import PROMPTS

    model = load_model(options.model)
    dataset = load_dataset(options.dataset)
    prompts = [nearest(name.strip(), PROMPTS, "prompt") for name in options.prompts.split(",")]
    questions = list(plan(dataset, prompts=prompts, cases=options.cases, coherence=options.coherence_cases))
    store = store_for(model, dataset.name)
    estimate = dry_run(model, questions, options.repetitions, store)
    print(f"{model.name}, {dataset.name}: {estimate}", flush=True)
    if options.dry_run or not estimate.answers:
        return 0
    done = _ask(options, model, dataset, questions, store)
    print(
        f"{done.asked:,} answers received, {done.failed:,} failed, {done.missing:,} missing; "
        f"{done.tokens_in:,} tokens in, {done.tokens_out:,} out"
    )
    for problem, times in sorted(done.problems.items(), key=lambda pair: -pair[1]):
        print(f"  {times} x {problem}")
    if done.missing:
        print("run the same command again to ask for what is missing")
    return EXIT_INTERRUPTED if done.stopped else 0


def _ask(
    options: argparse.Namespace,
    model: "Model",
    dataset: "Dataset",
    questions: "list[Question]",
    store: "Store",
) -> "Collected":
    from belief_utils.asking.ask import collect, openai_answerer
    from belief_utils.asking.local import running
    from belief_utils.beliefs.agents import simulated_answerer

    def with_answerer(answerer) -> "Collected":
        return collect(model, questions, options.repetitions, store, answerer, progress=not options.quiet)

    if model.kind == "simulated":
        return with_answerer(simulated_answerer(model, dataset))
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

"""The command ``belief``."""

import argparse
import logging
import sys
from collections.abc import Sequence

from belief_utils.errors import BeliefError

EXIT_WRONG_INPUT = 2
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (0, 2 for wrong input, 130 after Ctrl-C)."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except BeliefError as error:
        print(f"belief: {error}", file=sys.stderr)
        return EXIT_WRONG_INPUT
    except KeyboardInterrupt:
        print("belief: stopped; what was done until then is kept", file=sys.stderr)
        return EXIT_INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="belief", description="Does a language model act on the probability that it reports?"
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_collect(commands)
    _add_models(commands)
    _add_store(commands)
    return parser


def _add_collect(commands: argparse._SubParsersAction) -> None:
    from belief_utils.beliefs.prompts import PROMPTS

    command = commands.add_parser(
        "collect",
        help="ask a model for the answers that the store lacks",
        description="Ask a model for the answers that the store lacks. Ctrl-C stops; the next run goes on from there.",
    )
    command.add_argument("--model", required=True, help="a model of data/models.toml, see: belief models")
    command.add_argument("--dataset", required=True, help="heart, crying, fever or diabetes")
    command.add_argument("--cases", type=_count, help="only the first so many cases (default: all)")
    command.add_argument("--repetitions", type=_count, default=5, help="answers per question (default: 5)")
    command.add_argument(
        "--coherence-cases",
        type=_count,
        default=100,
        help="cases of the iterated-expectation prompts (default: 100)",
    )
    command.add_argument(
        "--prompts",
        default="belief,squared-error,decision,next-state,conditional",
        help=f"comma-separated, of {', '.join(PROMPTS)} (default: %(default)s)",
    )
    command.add_argument("--dry-run", action="store_true", help="say what would be sent and cost; send nothing")
    command.add_argument("--base-url", help="another address for this model, such as a server of your own")
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    command.set_defaults(run=_collect)


def _collect(options: argparse.Namespace) -> int:
    from belief_utils.asking.ask import dry_run
    from belief_utils.asking.models import load_model, nearest
    from belief_utils.beliefs.datasets import load_dataset
    from belief_utils.beliefs.elicitation import plan, store_for
    from belief_utils.beliefs.prompts import PROMPTS

    model = load_model(options.model)
    dataset = load_dataset(options.dataset)
    prompts = [nearest(name.strip(), PROMPTS, "prompt") for name in options.prompts.split(",")]
    questions = list(
        plan(dataset, prompts=prompts, cases=options.cases, coherence=options.coherence_cases)
    )
    store = store_for(model, dataset.name)
    estimate = dry_run(model, questions, options.repetitions, store)
    print(f"{model.name}, {dataset.name}: {estimate}")
    if options.dry_run or not estimate.answers:
        return 0
    done = _ask(options, model, dataset, questions, store)
    print(
        f"{done.asked:,} answers received, {done.failed:,} failed, {done.missing:,} missing; "
        f"{done.tokens_in:,} tokens in, {done.tokens_out:,} out"
    )
    for problem, count in sorted(done.problems.items(), key=lambda pair: -pair[1]):
        print(f"  {count} x {problem}")
    if done.missing:
        print("run the same command again to ask for what is missing")
    return EXIT_INTERRUPTED if done.stopped else 0


def _ask(options, model, dataset, questions, store):
    from belief_utils.asking.ask import collect, openai_answerer
    from belief_utils.asking.local import running

    progress = not options.quiet
    if model.kind == "simulated":
        from belief_utils.beliefs.agents import simulated_answerer

        answerer = simulated_answerer(model, dataset)
        return collect(model, questions, options.repetitions, store, answerer, progress=progress)
    if model.kind == "local" and not options.base_url:
        with running(model, slots=options.repetitions if model.ask_together else 1) as address:
            answerer = openai_answerer(model, address)
            return collect(model, questions, options.repetitions, store, answerer, progress=progress)
    answerer = openai_answerer(model, options.base_url)
    return collect(model, questions, options.repetitions, store, answerer, progress=progress)


def _add_models(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("models", help="list the models of data/models.toml")
    command.set_defaults(run=_models)


def _models(options: argparse.Namespace) -> int:
    from belief_utils.asking.models import load_models

    for model in load_models().values():
        where = model.base_url or model.kind
        print(f"{model.key:18} {model.name:20} {where:32} {model.note}")
    return 0


def _add_store(commands: argparse._SubParsersAction) -> None:
    command = commands.add_parser("store", help="look after the stored responses")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    pack = actions.add_parser("pack", help="move collected responses into the compressed files that are committed")
    pack.set_defaults(run=_pack)


def _pack(options: argparse.Namespace) -> int:
    from belief_utils.asking.store import Store
    from belief_utils.paths import data

    for path in sorted(data("responses").glob("*/*.jsonl")):
        print(f"{path}.gz: {Store(path).pack():,} lines")
    return 0


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())

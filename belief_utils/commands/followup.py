"""``belief followup``: ask again, and see whether a right answer stays."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from belief_utils.commands import followup_judge, followup_review, pressure
from belief_utils.commands.collect import add_limits, count, limited, told
from belief_utils.errors import BeliefError

if TYPE_CHECKING:
    from belief_utils.asking.models import Model
    from belief_utils.asking.questions import Answerer
    from belief_utils.asking.run import Collected
    from belief_utils.followup.mechanism import Study

#: Tokens of context for a local model: three rounds, or four demonstrations.
CONTEXT = 3072
#: Conversations at once with a local model.
SLOTS = 4


def add(commands: argparse._SubParsersAction) -> None:
    """Describe the command and its actions."""
    command = commands.add_parser("followup", help="follow-up questions: does a model stay with a right answer?")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    _add_collect(actions)
    followup_review.add(actions)
    followup_judge.add(actions)
    _add_tone(actions)
    pressure.add(actions)


def _add_collect(actions: argparse._SubParsersAction) -> None:
    action = actions.add_parser(
        "collect",
        help="hold the conversations that the store lacks",
        description="Ask a model, follow its right answers up, and keep every answer. Ctrl-C stops; the next run goes "
        "on from there.",
        epilog="Exit codes as of `belief collect`.",
    )
    action.add_argument("--model", required=True, help="a model of data/models.toml, see: belief models")
    action.add_argument("--items", help="comma-separated item sets, see: belief followup items (default: our own)")
    action.add_argument("--limit", type=count, default=40, help="only the first so many items (default: 40)")
    action.add_argument(
        "--studies",
        default="direct,progressive,control,correction",
        help="comma-separated, of: direct, progressive, control, correction, prompts, extremes, mitigation, "
        "temperature; the last four are made on StrategyQA, Coin Flip and MultiArith and our own sets of their kinds "
        "(default: %(default)s)",
    )
    action.add_argument("--base-url", help="another address for this model, such as a server of your own")
    action.add_argument("--quiet", action="store_true", help="no progress bar")
    add_limits(action)
    action.add_argument("--dry-run", action="store_true", help="say what would be sent first and cost; send nothing")
    action.set_defaults(run=run_collect)


def _add_tone(actions: argparse._SubParsersAction) -> None:
    action = actions.add_parser(
        "tone",
        help="let a model rate the tone of the follow-up questions",
        description="Let a model rate the tone of each follow-up question from 0 to 10, in three orders.",
    )
    action.add_argument("--model", required=True, help="a model of data/models.toml, see: belief models")
    action.add_argument("--base-url", help="another address for this model, such as a server of your own")
    action.add_argument("--quiet", action="store_true", help="no progress bar")
    add_limits(action)
    action.set_defaults(run=run_tone)


def run_collect(options: argparse.Namespace) -> int:
    """Hold the conversations of each item set in turn."""
    from belief_utils.asking.models import load_model
    from belief_utils.followup.items import ITEM_SETS, item_set

    model = limited(load_model(options.model), options)
    own = [name for name, each in ITEM_SETS.items() if each.own]
    names = [item_set(name.strip()).name for name in options.items.split(",")] if options.items else own
    if model.kind == "simulated":
        from belief_utils.followup.respondents import respondent_of

        respondent_of(model)
        if not all(ITEM_SETS[name].own for name in names):
            raise BeliefError(f"{model.name} answers our own items only: its answers would give a benchmark's away")
    studied = [name for name in names if _studies_on(options, name)]
    if not studied:
        raise BeliefError(f"{options.studies}: not made on {', '.join(names)}; see belief followup collect --help")
    if options.dry_run:
        return _told_estimates(options, model, studied)
    if model.kind == "local" and not options.base_url:
        from belief_utils.asking.local import running

        with running(model, SLOTS, CONTEXT) as address:
            return _ask_all(options, replace(model, concurrency=options.concurrency or SLOTS), studied, address)
    return _ask_all(options, model, studied, options.base_url)


def run_tone(options: argparse.Namespace) -> int:
    """Ask for the ratings that the store lacks."""
    from belief_utils.asking.ask import collect, openai_answerer
    from belief_utils.asking.local import running
    from belief_utils.asking.models import load_model
    from belief_utils.followup.tone import REPETITIONS, tone_questions, tone_store

    model = limited(load_model(options.model), options)
    if model.kind == "simulated":
        raise BeliefError(f"{model.name} hears no tone; ask a model that reads")

    def ask(address: str | None) -> "Collected":
        answerer = openai_answerer(model, address)
        return collect(
            model,
            tone_questions(),
            REPETITIONS,
            tone_store(model),
            answerer,
            progress=not options.quiet,
            max_cost=options.max_cost,
        )

    if model.kind == "local" and not options.base_url:
        with running(model, REPETITIONS) as address:
            return told(options, model, "tone", ask(address), named=True)
    return told(options, model, "tone", ask(options.base_url), named=True)


def _told_estimates(options: argparse.Namespace, model: "Model", names: list[str]) -> int:
    from belief_utils.followup.collecting import dry_run, store_for
    from belief_utils.followup.items import load_items

    for name in names:
        items, wanted = load_items(name, options.limit), next(_parts(options, model, name))
        print(f"{model.name}, {name}: {dry_run(model, items, wanted, store_for(model, name))}")
    print("That is what can be asked now; each right answer is followed up by more.")
    return 0


def _ask_all(options: argparse.Namespace, model: "Model", names: list[str], address: str | None) -> int:
    code, spent = 0, 0.0
    for name in names:
        for wanted in _parts(options, model, name):
            left = None if options.max_cost is None else options.max_cost - spent
            done = _converse(options, model, name, wanted, address, left)
            spent += done.dollars
            code = max(code, told(options, model, name, done, named=True))
            if done.stopped:
                return code
    return code


def _converse(
    options: argparse.Namespace,
    model: "Model",
    name: str,
    wanted: "list[Study]",
    address: str | None,
    left: float | None,
) -> "Collected":
    from belief_utils.followup.collecting import converse, store_for
    from belief_utils.followup.items import ITEM_SETS, load_items
    from belief_utils.followup.scores import keep_scores

    items, store, answerer = load_items(name, options.limit), store_for(model, name), _answerer(model, name, address)
    try:
        return converse(model, items, wanted, store, answerer, progress=not options.quiet, max_cost=left)
    finally:
        # However it ended: what came is to be of use to those who lack the benchmark.
        if not ITEM_SETS[name].own:
            keep_scores(model, name)


def _parts(options: argparse.Namespace, model: "Model", name: str) -> "Iterator[list[Study]]":
    """The studies of an item set, in turn: which prompts are the extreme ones is known once the others are held."""
    from belief_utils.followup.extremes import EXTREMES, extremes_study
    from belief_utils.followup.mechanism import studies

    named = _studies_on(options, name)
    if plain := studies([each for each in named if each != EXTREMES], name):
        yield plain
    if EXTREMES in named:
        yield [extremes_study(model, name)]


def _studies_on(options: argparse.Namespace, name: str) -> list[str]:
    """Those of the named studies that are made on an item set.

    Raises:
        BeliefError: one of them is unknown.
    """
    from belief_utils.asking.models import nearest
    from belief_utils.followup.extremes import EXTREMES
    from belief_utils.followup.mechanism import CLOSER, STUDIES, studies_for

    named = [nearest(each.strip(), (*STUDIES, EXTREMES), "study") for each in options.studies.split(",")]
    return [each for each in named if each in studies_for(name) or (each == EXTREMES and name in CLOSER)]


def _answerer(model: "Model", name: str, address: str | None) -> "Answerer":
    if model.kind == "simulated":
        from belief_utils.followup.respondents import respondent_answerer

        return respondent_answerer(model, name)
    from belief_utils.asking.ask import openai_answerer

    return openai_answerer(model, address)

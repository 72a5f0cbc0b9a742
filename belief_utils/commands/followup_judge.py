"""``belief followup judge``: let a model name the types of another's errors, and compare it with the rules."""

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from belief_utils.commands.collect import EXIT_INCOMPLETE, EXIT_INTERRUPTED, add_limits, count, limited
from belief_utils.errors import BeliefError

if TYPE_CHECKING:
    from belief_utils.asking.models import Model
    from belief_utils.asking.questions import Question
    from belief_utils.asking.run import Collected

#: Tokens of context for a local judge: a question and two replies.
CONTEXT = 2048
#: Judgements at once with a local judge.
SLOTS = 2


def add(actions: argparse._SubParsersAction) -> None:
    """Describe the action and its options."""
    action = actions.add_parser(
        "judge",
        help="let a model name the types of another's errors",
        description="Show a model the right answers that another one gave up and let it name the type of each error, "
        "1 to 4; then say how often it agrees with the rules. What a judge says is an opinion: compare it with a "
        "person's sheet before you rely on it.",
        epilog="Exit codes as of `belief collect`.",
    )
    action.add_argument("--judge", required=True, help="the model that judges, see: belief models")
    action.add_argument("--model", required=True, help="whose answers")
    action.add_argument("--items", required=True, help="an item set")
    action.add_argument("--turns", default="initial>closed-A", help="the conversation (default: %(default)s)")
    action.add_argument("--most", type=count, default=50, help="at most so many, drawn at random (default: 50)")
    action.add_argument("--base-url", help="another address for the judge, such as a server of your own")
    action.add_argument("--quiet", action="store_true", help="no progress bar")
    add_limits(action)
    action.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Ask for the judgements that the store lacks and compare all of them with the rules."""
    from belief_utils.asking.models import load_model
    from belief_utils.followup.judging import judge_questions

    judge, model = limited(load_model(options.judge), options), load_model(options.model)
    if judge.kind == "simulated":
        raise BeliefError(f"{judge.name} cannot judge; name a model that reads, see: belief models")
    questions = judge_questions(options.items, model.key, options.turns, most=options.most)
    done = _asked(options, judge, list(questions.values()))
    print(f"{judge.name}: {done.asked:,} judgements received, {done.failed:,} failed, {done.missing:,} missing")
    _compare(options, judge, questions)
    if done.stopped == "interrupted":
        return EXIT_INTERRUPTED
    return EXIT_INCOMPLETE if done.missing else 0


def _asked(options: argparse.Namespace, judge: "Model", questions: "list[Question]") -> "Collected":
    from belief_utils.asking.ask import collect, openai_answerer
    from belief_utils.asking.local import running
    from belief_utils.followup.judging import judge_store

    store = judge_store(judge, options.model, options.items)

    def ask(asked: "Model", address: str | None) -> "Collected":
        progress = not options.quiet
        answerer = openai_answerer(asked, address)
        return collect(asked, questions, 1, store, answerer, progress=progress, max_cost=options.max_cost)

    if judge.kind == "local" and not options.base_url:
        with running(judge, SLOTS, CONTEXT) as address:
            return ask(replace(judge, concurrency=options.concurrency or SLOTS), address)
    return ask(judge, options.base_url)


def _compare(options: argparse.Namespace, judge: "Model", questions: "dict[str, Question]") -> None:
    import pandas as pd

    from belief_utils.followup.error_agreement import agreement
    from belief_utils.followup.errors import ERROR_TYPES
    from belief_utils.followup.judging import judge_store, judgements
    from belief_utils.followup.lost import lost_answers
    from belief_utils.followup.scores import PERSON

    named = judgements(judge, questions, judge_store(judge, options.model, options.items))
    for number, name in ERROR_TYPES.items():
        print(f"  {number} {name}: {int((named == number).sum()):,}")
    lost = lost_answers(options.items, options.model, options.turns, most=options.most).set_index("id")["rules"]
    rules = pd.to_numeric(lost.where(lost != PERSON)).astype("Int64")
    found = agreement(rules, named)
    if found.n:
        print(
            f"the same type as the rules for {found.observed:.0%} of the {found.n:,} errors that both have sorted; "
            f"Cohen's kappa {found.kappa:.2f}"
        )
    else:
        print("the rules left all of these errors to a person, so that there is nothing to compare the judge with")

"""``belief followup items|status|score|sheet|agreement``: what there is, how it is scored, and a person's judgement."""

import argparse
from pathlib import Path

from belief_utils.commands.collect import count
from belief_utils.errors import BeliefError


def add(actions: argparse._SubParsersAction) -> None:
    """Describe the actions that ask no model."""
    action = actions.add_parser(
        "items",
        help="the item sets, and whether they are here",
        description="List the item sets: our own, and the public benchmarks with how many items of each are here.",
    )
    action.set_defaults(run=run_items)

    action = actions.add_parser(
        "status",
        help="what is stored: answers by model and item set, and how many were read",
        description="Say for each model and item set how many items were asked and answered rightly at first, how many "
        "answers there are in all, in how many of them the model says that it cannot tell, and how many hold no answer "
        "that could be read.",
    )
    action.add_argument("--model", help="only this model")
    action.set_defaults(run=run_status)

    action = actions.add_parser(
        "score",
        help="score the stored answers to benchmarks anew, as after a change of the reader",
        description="Score the stored answers to the benchmarks that are here, and keep the scores in data/scores.",
    )
    action.set_defaults(run=run_score)

    action = actions.add_parser(
        "sheet",
        help="write lost answers to a CSV file in which a person names the error type",
        description="Write right answers that a model gave up to a CSV file in which a person names the type of error.",
        epilog="Types of errors (section 3.3 of the paper): 1 unable to answer, 2 modifies the question, 3 changes the "
        "answer without explaining, 4 correct process and wrong answer.",
    )
    action.add_argument("--model", required=True, help="whose answers")
    action.add_argument("--items", required=True, help="an item set")
    action.add_argument("--turns", default="initial>closed-A", help="the conversation (default: %(default)s)")
    action.add_argument("--out", type=Path, required=True, metavar="FILE", help="the CSV file to write")
    action.add_argument("--most", type=count, default=50, help="at most so many, drawn at random (default: 50)")
    action.add_argument("--blind", action="store_true", help="leave out the type that rules see, lest it sways anybody")
    action.set_defaults(run=run_sheet)

    action = actions.add_parser(
        "agreement",
        help="how far two filled-in sheets agree: Cohen's kappa",
        description="Compare the types of errors that two people named in their copies of the same sheet.",
    )
    action.add_argument("sheets", nargs=2, type=Path, metavar="FILE", help="the two sheets")
    action.set_defaults(run=run_agreement)


def run_items(options: argparse.Namespace) -> int:
    """List the item sets."""
    from belief_utils.followup.items import ITEM_SETS, is_available, load_items

    print(f"{'name':18} {'items':>6}  {'kind of task':12} {'what it is'}")
    for name, each in ITEM_SETS.items():
        count = f"{len(load_items(name)):,}" if is_available(name) else "–"
        whose = "" if each.own else ", a public benchmark" + ("" if count != "–" else "; belief data benchmarks")
        print(f"{name:18} {count:>6}  {each.task:12} {each.title}{whose}")
    return 0


def run_status(options: argparse.Namespace) -> int:
    """Print a line per model and item set."""
    from belief_utils.asking.models import load_model, load_models
    from belief_utils.followup.answers import UNABLE
    from belief_utils.followup.scores import answered_sets, load_scores

    models = [load_model(options.model)] if options.model else list(load_models().values())
    print(f"{'model':22} {'items':18} {'asked':>6} {'right':>6} {'answers':>8} {'unable':>7} {'unread':>7}")
    for model in models:
        for name in answered_sets(model.key):
            try:
                scores = load_scores(name, model.key)
            except BeliefError as error:
                # The other lines are of use all the same.
                print(f"{model.key:22} {name:18} {error}")
                continue
            first = scores[(scores["turns"] == "initial") & ~scores["again"]]
            unable = (scores["problem"] == UNABLE).sum()
            unread = (scores["value"].isna() & (scores["problem"] != UNABLE)).sum()
            print(
                f"{model.key:22} {name:18} {len(first):6,} {first['right'].sum():6,} {len(scores):8,} "
                f"{unable:7,} {unread:7,}"
            )
    return 0


def run_score(options: argparse.Namespace) -> int:
    """Score every stored answer to a benchmark that is here."""
    from belief_utils.asking.models import load_models
    from belief_utils.followup.items import ITEM_SETS, is_available
    from belief_utils.followup.scores import answered_sets, keep_scores, scores_path

    for model in load_models().values():
        for name in answered_sets(model.key):
            if ITEM_SETS[name].own:
                continue
            if not is_available(name):
                print(f"{model.key}, {name}: the benchmark is not here, its scores are left as they are")
            else:
                changed = "written" if keep_scores(model, name) else "the same as before"
                print(f"{model.key}, {name}: {scores_path(model.key, name).name} {changed}")
    print("our own items are scored whenever they are read and need no table")
    return 0


def run_sheet(options: argparse.Namespace) -> int:
    """Write the sheet."""
    from belief_utils.followup.error_sheet import write_sheet
    from belief_utils.followup.lost import lost_answers
    from belief_utils.followup.scores import PERSON

    lost = lost_answers(options.items, options.model, options.turns, most=options.most)
    if not len(lost):
        raise BeliefError(
            f"{options.model} has no lost right answer about {options.items} in {options.turns}; see what is stored "
            "with: belief followup status"
        )
    seen = [None if rule == PERSON else int(rule) for rule in lost["rules"]]
    write_sheet(lost.assign(rule_type=seen), options.out, blind=options.blind)
    print(f"{options.out}: {len(lost):,} lost answers; fill the column annotator_type with 1, 2, 3 or 4")
    return 0


def run_agreement(options: argparse.Namespace) -> int:
    """Print kappa and how often both agree."""
    from belief_utils.followup.error_agreement import agreement
    from belief_utils.followup.error_sheet import read_sheet

    found = agreement(*(read_sheet(path).set_index("id")["annotator_type"] for path in options.sheets))
    if not found.n:
        raise BeliefError(f"no error is sorted in both {options.sheets[0]} and {options.sheets[1]}; fill them in first")
    low, high = found.interval
    print(
        f"Cohen's kappa {found.kappa:.2f} (95 % interval {low:.2f} to {high:.2f}) over {found.n:,} errors; "
        f"the same type for {found.observed:.0%}"
    )
    if found.n_missing:
        print(f"{found.n_missing:,} errors that one of the two left open are not in it")
    if found.note:
        print(found.note)
    print(found.table.to_string())
    return 0

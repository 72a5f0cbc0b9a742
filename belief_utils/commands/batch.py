"""``belief collect --batch`` and ``--batch-results``: OpenAI's Batch form of the same questions."""

import argparse
import logging
from typing import TYPE_CHECKING

from belief_utils.errors import BeliefError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from belief_utils.asking.models import Model
    from belief_utils.asking.questions import Question
    from belief_utils.asking.store import Store
    from belief_utils.beliefs.datasets import Dataset
    from belief_utils.beliefs.multistate_dataset import MultistateDataset

logger = logging.getLogger(__name__)

#: How many unknown or unreadable lines are named.
_NAMED = 3


def write(options: argparse.Namespace, model: "Model", dataset: "Dataset | MultistateDataset", store: "Store") -> int:
    """Write the requests that the store lacks."""
    from belief_utils.asking.batch_files import write_requests
    from belief_utils.commands.collect import planned

    if model.kind != "hosted":
        raise BeliefError(f"{model.name} runs on this machine; a batch file is for hosted models")
    number = write_requests(options.batch, model, planned(options, model, dataset), options.repetitions, store)
    print(f"{options.batch}: {number:,} requests to {model.name} about {dataset.name}")
    print("take the results with the same command and --batch-results FILE in the place of --batch")
    return 0


def take(options: argparse.Namespace, model: "Model", dataset: "Dataset | MultistateDataset", store: "Store") -> int:
    """Take results into the store and say what they brought and what they did not."""
    from belief_utils.asking.ask import missing
    from belief_utils.asking.batch_files import take_results
    from belief_utils.commands.collect import EXIT_INCOMPLETE, planned

    def waiting() -> None:
        logger.warning(f"another process is writing to {store.path}; waiting for it to end (Ctrl-C to give up)")

    questions = planned(options, model, dataset)
    taken = take_results(options.batch_results, model, _all_questions(model, dataset), store, waiting)
    print(
        f"{taken.answers:,} answers taken, {taken.known:,} known already, {taken.failed:,} failed, "
        f"{taken.short:,} not in their reply; {taken.tokens_in:,} tokens in, {taken.tokens_out:,} out"
    )
    if taken.dollars:
        print(f"  ${taken.dollars:,.4f} at the prices of the model's table; batches often cost less")
    for problem, times in taken.problems.most_common():
        print(f"  {times} x {problem}")
    _name("results with a custom_id that belongs to none of the questions", taken.unknown)
    _name("lines that are no results", [f"line {number}" for number in taken.unread])
    batches, _ = missing(model, questions, options.repetitions, store)
    lacking = sum(len(batch.repetitions) for batch in batches)
    if lacking:
        print(f"{lacking:,} answers are missing; write another --batch for them, or ask without one")
    return EXIT_INCOMPLETE if lacking or taken.unknown or taken.unread or taken.failed else 0


def _all_questions(model: "Model", dataset: "Dataset | MultistateDataset") -> "Iterator[Question]":
    """Whatever may have been asked about a dataset, so that results of an earlier plan are taken too."""
    from belief_utils.beliefs.cases import load_cases
    from belief_utils.beliefs.elicitation import plan
    from belief_utils.beliefs.elicitations import plan_elicitations
    from belief_utils.beliefs.elicited import ELICITATIONS
    from belief_utils.beliefs.multistate_asking import multistate_plan
    from belief_utils.beliefs.multistate_dataset import MultistateDataset
    from belief_utils.beliefs.prompts import PROMPTS

    if isinstance(dataset, MultistateDataset):
        yield from multistate_plan(dataset)
        return
    yield from plan(dataset, prompts=PROMPTS, coherence=len(load_cases(dataset)))
    yield from plan_elicitations(dataset, list(ELICITATIONS), model)


def _name(what: str, which: list[str]) -> None:
    if which:
        more = f" and {len(which) - _NAMED:,} more" if len(which) > _NAMED else ""
        print(f"  {len(which):,} {what}: {', '.join(repr(one)[1:-1][:80] for one in which[:_NAMED])}{more}")

"""Ask a model for what the store lacks."""

import asyncio
import logging
from collections.abc import Iterable

from belief_utils.asking.cost import Estimate, estimate
from belief_utils.asking.models import Model
from belief_utils.asking.questions import Answer, Answerer, Batch, Question, RequestFailed, keys, what_is_sent
from belief_utils.asking.responses import request_key
from belief_utils.asking.run import FAILURES_IN_A_ROW, Collected, Run
from belief_utils.asking.store import Store
from belief_utils.errors import BeliefError

__all__ = [
    "FAILURES_IN_A_ROW",
    "Answer",
    "Answerer",
    "Batch",
    "Collected",
    "Question",
    "RequestFailed",
    "collect",
    "dry_run",
    "keys",
    "missing",
    "openai_answerer",
    "what_is_sent",
]

logger = logging.getLogger(__name__)


def missing(model: Model, questions: Iterable[Question], repetitions: int, store: Store) -> tuple[list[Batch], int]:
    """The requests that would bring what the store lacks, and how many answers it has already."""
    batches: list[Batch] = []
    cached = 0
    seen: set[str] = set()
    for question in questions:
        sent = what_is_sent(model, question)
        # Two questions that send the same share their answers; what is paid for once is not asked for twice.
        wanted = {key: r for r in range(repetitions) if (key := request_key(sent, r)) not in seen}
        seen.update(wanted)
        lacking = [r for key, r in wanted.items() if store.get(key) is None]
        known = {r: key for key, r in wanted.items()}
        cached += len(wanted) - len(lacking)
        if model.ask_together and lacking:
            batches.append(Batch(question, sent, tuple(lacking), known))
        else:
            batches.extend(Batch(question, sent, (r,), known) for r in lacking)
    return batches, cached


def dry_run(model: Model, questions: Iterable[Question], repetitions: int, store: Store) -> Estimate:
    """How much asking for what the store lacks would send, receive and cost."""
    batches, cached = missing(model, questions, repetitions, store)
    return estimate(model, ((b.sent["messages"], len(b.repetitions)) for b in batches), cached)


def collect(
    model: Model,
    questions: Iterable[Question],
    repetitions: int,
    store: Store,
    answerer: Answerer,
    *,
    progress: bool = True,
    max_cost: float | None = None,
) -> Collected:
    """Ask for what the store lacks and keep every answer as it comes.

    A first Ctrl-C stops asking and waits for the answers under way; a second one ends at once. Either way the
    next run goes on where this one stopped.

    Args:
        questions: in the order in which they are to be asked.
        repetitions: how many answers each question is to have.
        answerer: sends one batch, see :func:`openai_answerer`; closed at the end if it has a ``close()``.
        progress: whether to show a bar with the time left.
        max_cost: US dollars that this run may cost; it stops before a request that could pass them, with the
            worst case of the requests under way counted.

    Raises:
        BeliefError: the server is not there, the key is refused, the model is unknown, too many requests in a
            row failed, the worst case of a request cannot be told though ``max_cost`` is given, or the store
            cannot be written to. What was answered until then is stored.
    """

    def waiting() -> None:
        logger.warning(f"another collector is writing to {store.path}; waiting for it to end (Ctrl-C to give up)")

    with store.writing(waiting):
        batches, cached = missing(model, questions, repetitions, store)
        run = Run(model, store, answerer, Collected(cached=cached), max_cost)
        if batches:
            asyncio.run(run.all(batches, progress))
    run.done.missing = sum(len(b.repetitions) for b in batches) - run.done.asked
    if run.gave_up:
        raise BeliefError(
            f"{run.fatal}. What was answered is stored, {run.done.missing:,} answers are missing; run the same command "
            "again to go on"
        ) from run.fatal
    if run.fatal:
        raise run.fatal
    return run.done


def openai_answerer(model: Model, base_url: str | None = None) -> Answerer:
    """An answerer that sends chat completions through the OpenAI SDK.

    Args:
        model: its address, key and parameters; the key is read from the environment and kept nowhere else.
        base_url: the address, where it is known only now (a model that was just started).

    Raises:
        BeliefError: the environment variable that holds the key is not set, or holds what cannot be a key.
    """
    # The SDK takes a second to import, and a warm store needs none of it.
    from belief_utils.asking.endpoint import Endpoint

    return Endpoint(model, base_url)

"""Hold conversations round by round: ask what can be asked, then what follows from the answers, until all is there."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from belief_utils.asking.ask import collect
from belief_utils.asking.models import Model
from belief_utils.asking.questions import Answerer, Question, keys
from belief_utils.asking.run import Collected
from belief_utils.asking.store import Store

#: What can be asked now and is not in the store: each question with how many answers it is to have.
Due = Callable[[], Iterable[tuple[Question, int]]]


def in_rounds(
    model: Model,
    due: Due,
    store: Store,
    answerer: Answerer,
    *,
    progress: bool = True,
    max_cost: float | None = None,
) -> Collected:
    """Ask what is due, round by round, from where the store stands.

    Ctrl-C stops after the answers under way; the next run goes on from there. A question that failed is not asked
    again in the same run.

    Args:
        due: called before every round, and once at the end for what is missing.
        max_cost: US dollars that all rounds may cost together.

    Raises:
        BeliefError: as :func:`belief_utils.asking.ask.collect`.
    """
    total, tried = Collected(cached=len(store)), set()
    while not total.stopped:
        asked = [(question, draws) for question, draws in due() if question.item not in tried]
        if not asked:
            break
        tried |= {question.item for question, _ in asked}
        for draws in sorted({draws for _, draws in asked}, reverse=True):
            questions = [question for question, each in asked if each == draws]
            left = None if max_cost is None else max_cost - total.dollars
            done = collect(model, questions, draws, store, answerer, progress=progress, max_cost=left)
            total = _added(total, done)
            if total.stopped:
                break
    lacking = [key for question, draws in due() for key in keys(model, question, draws) if store.get(key) is None]
    total.missing = len(set(lacking))
    return total


def _added(total: Collected, done: Collected) -> Collected:
    problems = {what: total.problems.get(what, 0) + times for what, times in done.problems.items()}
    sums = {
        name: getattr(total, name) + getattr(done, name)
        for name in ("asked", "failed", "tokens_in", "tokens_out", "dollars", "uncounted")
    }
    return replace(total, **sums, stopped=done.stopped, problems={**total.problems, **problems})

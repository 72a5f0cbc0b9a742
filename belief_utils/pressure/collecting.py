"""Ask for beliefs, question them, and keep every answer."""

from collections.abc import Iterator, Sequence

from belief_utils.asking.cost import Estimate, estimate
from belief_utils.asking.models import Model
from belief_utils.asking.questions import Answerer, Question, keys
from belief_utils.asking.rounds import in_rounds
from belief_utils.asking.run import Collected
from belief_utils.asking.store import Store
from belief_utils.paths import data
from belief_utils.pressure.questions import DRAWS, FIRST, Patient, conversations, next_question

#: A belief as an answer may give it, for the estimate of conversations that are still to come.
_TYPICAL = '{"No": 0.50, "Yes": 0.50}'


def store_for(model: Model, dataset: str) -> Store:
    """The store of a model's answers, ``data/responses/MODEL/pressure-DATASET.jsonl(.gz)``."""
    return Store(data("responses", model.key, f"pressure-{dataset}.jsonl"))


def due(
    model: Model, asked: Sequence[Patient], store: Store, *, assumed: str | None = None
) -> Iterator[tuple[Question, int]]:
    """What can be asked now and is not in the store: each question with how many answers it is to have.

    Args:
        assumed: as for :func:`belief_utils.pressure.questions.next_question`; all that is lacking is then told.
    """
    for patient in asked:
        for turns in conversations():
            question = next_question(model, patient, turns, store, assumed=assumed)
            draws = DRAWS if turns == FIRST else 1
            if question and any(store.get(key) is None for key in keys(model, question, draws)):
                yield question, draws


def dry_run(model: Model, asked: Sequence[Patient], store: Store) -> Estimate:
    """How much the conversations that the store lacks would send, receive and cost."""
    batches = []
    cached = 0
    for question, draws in due(model, asked, store, assumed=_TYPICAL):
        lacking = sum(store.get(key) is None for key in keys(model, question, draws))
        together = lacking if model.ask_together else 1
        batches += [(question.messages, together)] * (lacking // together)
    cached = len(store)
    return estimate(model, batches, cached)


def converse(
    model: Model,
    asked: Sequence[Patient],
    store: Store,
    answerer: Answerer,
    *,
    progress: bool = True,
    max_cost: float | None = None,
) -> Collected:
    """Hold the conversations about some cases, round by round, from where the store stands.

    Arguments and errors as for :func:`belief_utils.asking.rounds.in_rounds`.
    """
    return in_rounds(model, lambda: due(model, asked, store), store, answerer, progress=progress, max_cost=max_cost)

"""Hold the conversations: ask what can be asked, then what follows from the answers, until nothing is left."""

from collections.abc import Iterator, Sequence

from belief_utils.asking.ask import missing
from belief_utils.asking.cost import Estimate, estimate
from belief_utils.asking.models import Model
from belief_utils.asking.questions import Answerer, Question, keys
from belief_utils.asking.rounds import in_rounds
from belief_utils.asking.run import Collected
from belief_utils.asking.store import Store
from belief_utils.followup.items import Item
from belief_utils.followup.mechanism import Study, askable
from belief_utils.paths import data


def store_for(model: Model, set_name: str) -> Store:
    """The store of a model's answers about an item set, ``data/responses/MODEL/followup-SET.jsonl(.gz)``."""
    return Store(data("responses", model.key, f"followup-{set_name}.jsonl"))


def due(model: Model, items: Sequence[Item], wanted: Sequence[Study], store: Store) -> Iterator[tuple[Question, int]]:
    """What can be asked now and is not in the store: each question with how many answers it is to have.

    What follows from answers that are still to come is not among it.
    """
    for found, draws in askable(model, items, wanted, store):
        if any(store.get(key) is None for key in keys(model, found.question, draws)):
            yield found.question, draws


def dry_run(model: Model, items: Sequence[Item], wanted: Sequence[Study], store: Store) -> Estimate:
    """How much the questions that can be asked now would send, receive and cost."""
    asked = list(due(model, items, wanted, store))
    batches = []
    for draws in {draws for _, draws in asked}:
        batches += missing(model, [question for question, each in asked if each == draws], draws, store)[0]
    return estimate(model, ((batch.sent["messages"], len(batch.repetitions)) for batch in batches), len(store))


def converse(
    model: Model,
    items: Sequence[Item],
    wanted: Sequence[Study],
    store: Store,
    answerer: Answerer,
    *,
    progress: bool = True,
    max_cost: float | None = None,
) -> Collected:
    """Hold all conversations of some studies about some items, round by round, from where the store stands.

    Arguments and errors as for :func:`belief_utils.asking.rounds.in_rounds`.
    """
    return in_rounds(
        model, lambda: due(model, items, wanted, store), store, answerer, progress=progress, max_cost=max_cost
    )

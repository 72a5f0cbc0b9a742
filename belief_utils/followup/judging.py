"""Let a model sort the errors of another: which questions it is asked, and what it has answered."""

from collections.abc import Mapping

import pandas as pd

from belief_utils.asking.models import Model
from belief_utils.asking.questions import Question, keys
from belief_utils.asking.store import Store
from belief_utils.errors import BeliefError
from belief_utils.followup.error_judge import judge_question, parse_judgement
from belief_utils.followup.items import is_available, item_set, load_items
from belief_utils.followup.lost import lost_answers
from belief_utils.paths import data


def judge_store(judge: Model, model: str, set_name: str) -> Store:
    """The store of a judge's judgements, ``data/responses/JUDGE/judge-MODEL-SET.jsonl(.gz)``."""
    return Store(data("responses", judge.key, f"judge-{model}-{set_name}.jsonl"))


def judge_questions(set_name: str, model: str, turns: str, *, most: int | None = None) -> Mapping[str, Question]:
    """What a judge is asked about a model's lost answers, by the error's id.

    Args:
        set_name, model, turns, most: as of :func:`belief_utils.followup.lost.lost_answers`.

    Raises:
        BeliefError: a name is unknown, nothing was lost, or the set is a benchmark that is not here: a judge must see
            the question.
    """
    if not is_available(set_name):
        raise BeliefError(
            f"{item_set(set_name).title} is not here, and a judge must see its questions: belief data benchmarks"
        )
    items = {f"{set_name}/{item.id}": item for item in load_items(set_name)}
    lost = lost_answers(set_name, model, turns, most=most)
    if not len(lost):
        raise BeliefError(f"{model} has no lost right answer about {set_name} in {turns}; see: belief followup status")
    return {
        row.id: judge_question(items[row.id], row.first_reply, row.follow_up, row.second_reply, name=turns)
        for row in lost.itertuples()
    }


def judgements(judge: Model, questions: Mapping[str, Question], store: Store) -> pd.Series:
    """The types that a judge named, by the error's id; missing where it has not answered or none can be read."""
    found = {}
    for identity, question in questions.items():
        answer = store.get(keys(judge, question, 1)[0])
        found[identity] = None if answer is None else parse_judgement(answer.text)
    return pd.Series(found, dtype="Int64")

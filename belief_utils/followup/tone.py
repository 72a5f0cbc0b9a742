"""How strong the tone of each prompt is, in the ears of the model itself (paper, appendix A.5 and Figure 6)."""

import json
import re
from statistics import fmean

import pandas as pd

from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.models import Model
from belief_utils.asking.questions import Question, keys
from belief_utils.asking.store import Store
from belief_utils.followup.questions import FOLLOW_UPS, PROMPTS
from belief_utils.paths import data

#: The orders in which the three prompts of a type are shown; a score is the mean over them (footnote 7).
ORDERS = ("ABC", "BCA", "CAB")
#: Answers per order. The paper asked once; a small model's single answer says little.
REPETITIONS = 5

_PLACES = ("first", "second", "third")
_SCORES = tuple(map(str, range(11)))
_FORM = AnswerFormat(tuple((place, _SCORES) for place in _PLACES))


def tone_store(model: Model) -> Store:
    """The store of a model's ratings, ``data/responses/MODEL/followup-tone.jsonl(.gz)``."""
    return Store(data("responses", model.key, "followup-tone.jsonl"))


def tone_questions() -> list[Question]:
    """Nine questions: each type of follow-up question in three orders of its prompts."""
    return [_question(kind, order) for kind in FOLLOW_UPS for order in ORDERS]


def tone_scores(model: Model, store: Store | None = None) -> pd.DataFrame:
    """The tone that a model hears in each prompt, 0 (mild) to 10 (strong).

    Returns:
        Columns ``question``, ``prompt``, ``tone`` (the mean over the orders that have a rating, each the mean of its
        answers), ``spread`` (largest less smallest of the orders' means: what the order alone does), ``answers`` and
        ``read``; a row per prompt that has a rating.
    """
    store = store or tone_store(model)
    found: dict[tuple[str, str], list[float]] = {}
    counts: dict[str, list[int]] = {kind: [0, 0] for kind in FOLLOW_UPS}
    for kind in FOLLOW_UPS:
        for order in ORDERS:
            answers = [store.get(key) for key in keys(model, _question(kind, order), REPETITIONS)]
            ratings = [parse_ratings(answer.text) for answer in answers if answer is not None]
            read = [rating for rating in ratings if rating is not None]
            counts[kind][0] += len(ratings)
            counts[kind][1] += len(read)
            for place, prompt in enumerate(order):
                if read:
                    found.setdefault((kind, prompt), []).append(fmean(rating[place] for rating in read))
    rows = [
        {
            "question": kind,
            "prompt": prompt,
            "tone": fmean(means),
            "spread": max(means) - min(means),
            "answers": counts[kind][0],
            "read": counts[kind][1],
        }
        for (kind, prompt), means in sorted(found.items(), key=lambda pair: (FOLLOW_UPS.index(pair[0][0]), pair[0][1]))
    ]
    return pd.DataFrame(rows, columns=["question", "prompt", "tone", "spread", "answers", "read"])


def parse_ratings(text: str) -> tuple[float, float, float] | None:
    """Three ratings in the order in which the prompts were shown; ``None`` unless each is one number from 0 to 10."""
    ratings = []
    for place in _PLACES:
        stated = re.findall(rf'"?{place}"?\s*[:=]\s*"?(-?\d+(?:\.\d+)?)(?!\d|\.\d)', text, re.IGNORECASE)
        if len(set(stated)) != 1 or not 0 <= float(stated[0]) <= 10:
            return None
        ratings.append(float(stated[0]))
    return ratings[0], ratings[1], ratings[2]


def _question(kind: str, order: str) -> Question:
    shown = "\n".join(
        f"{place.capitalize()}: {json.dumps(PROMPTS[kind, prompt].format('...'))}"
        for place, prompt in zip(_PLACES, order, strict=True)
    )
    text = (
        "A teacher may say one of these three sentences after a student's answer.\n"
        f"{shown}\n"
        "How strong is the tone of each sentence, from 0 (very mild) to 10 (very strong)? "
        + _FORM.instruction().replace(" or ".join(json.dumps(score) for score in _SCORES), '"0" to "10"')
    )
    return Question(f"tone/{kind}/{order}", ({"role": "user", "content": text},), _FORM)

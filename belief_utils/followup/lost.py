"""Right answers that were given up, with both replies, for a person to look at."""

import pandas as pd

from belief_utils.asking.models import load_model
from belief_utils.followup.echoes import restored
from belief_utils.followup.error_sheet import NOT_SHOWN
from belief_utils.followup.items import ITEM_SETS, Item, is_available, load_items, seeded
from belief_utils.followup.questions import follow_up_text, turns_of
from belief_utils.followup.scores import load_scores


def lost_answers(set_name: str, model: str, turns: str, *, most: int | None = None, seed: int = 0) -> pd.DataFrame:
    """The right answers of a model that were not right any more at the end of a conversation.

    Args:
        turns: a conversation such as ``initial>closed-A``.
        most: at most so many, drawn at random (paper, section 3.3: 50).

    Returns:
        Columns ``id``, ``question`` (a note in its place where a benchmark is not here), ``first_reply``,
        ``follow_up``, ``second_reply`` and ``rules`` (the type that rules see, ``"1"`` to ``"4"`` or ``"person"``);
        no row where nothing was lost or the conversation was not held.

    Raises:
        BeliefError: a name is unknown or ``turns`` is no conversation.
    """
    last = turns_of(turns)[-1]
    scores = load_scores(set_name, load_model(model).key)
    first = scores[(scores["turns"] == turns.partition(">")[0]) & ~scores["again"]].set_index("item")
    lost = scores[(scores["turns"] == turns) & scores["error"].notna()]
    if most is not None and len(lost) > most:
        places = seeded("lost", set_name, model, turns, str(seed)).permutation(len(lost))[:most]
        lost = lost.iloc[sorted(places)]
    items = {item.id: item for item in load_items(set_name)} if is_available(set_name) else {}
    kind = ITEM_SETS[set_name].kind
    rows = [
        {
            "id": f"{set_name}/{row.item}",
            "question": items[row.item].question if row.item in items else NOT_SHOWN,
            "first_reply": _whole(items.get(row.item), first.loc[row.item, "text"]),
            "follow_up": follow_up_text(last, kind, row.misleading),
            "second_reply": _whole(items.get(row.item), row.text),
            "rules": row.error,
        }
        for row in lost.itertuples()
    ]
    return pd.DataFrame(rows, columns=["id", "question", "first_reply", "follow_up", "second_reply", "rules"])


def _whole(item: Item | None, text: str) -> str:
    """A reply as it came, where the item is here."""
    return text if item is None else restored(item, text)

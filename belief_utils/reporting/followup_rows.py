"""What follow-up questions did to one model, as flat rows of numbers for tables and pictures."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from belief_utils.followup.items import ITEM_SETS
from belief_utils.followup.metrics import Change, change
from belief_utils.followup.paired import paired_loss
from belief_utils.followup.questions import AGAIN, ANNOTATORS, FOLLOW_UPS, INITIAL

if TYPE_CHECKING:
    import pandas as pd

#: Our control: asked again, without doubt.
CONTROL = f"{INITIAL}>{AGAIN}"
#: The conversation after each round of the Progressive Form.
ROUNDS = {
    "round1": "initial>closed-A",
    "round2": "initial>closed-A>open-A",
    "round3": "initial>closed-A>open-A>leading-A",
}


#: What the intervals are of whose names are shorter than those of their values.
_STEMS = {
    "again_interval": "again_rate",
    "excess_interval": "excess_rate",
    "error_to_right_interval": "error_to_right_rate",
}


def direct_turns(kind: str, annotator: str = "A") -> str:
    """A conversation of the Direct Form, such as ``initial>closed-A``."""
    return f"initial>{kind}-{annotator}"


def change_or_none(scores: "pd.DataFrame", turns: str) -> Change | None:
    """What a conversation changed; ``None`` where it was not held or nothing was asked."""
    first, held = scores["turns"] == turns.partition(">")[0], scores["turns"] == turns
    right_to_follow = bool((first & ~scores["again"] & scores["right"]).any())
    if not first.any() or (not held.any() and right_to_follow):
        return None
    return change(scores[["model", "set", "item", "turns", "again", "value", "problem", "right", "misleading"]], turns)


def change_row(found: Change) -> dict[str, Any]:
    """A change as flat values; each interval as two, ``NAME_low`` and ``NAME_high``."""
    row: dict[str, Any] = {}
    for name in (field.name for field in fields(found)):
        value = getattr(found, name)
        if isinstance(value, tuple):
            stem = _STEMS.get(name, name.removesuffix("_interval"))
            row |= {f"{stem}_low": value[0], f"{stem}_high": value[1]}
        else:
            row[name] = value
    return row


def followup_row(scores: "pd.DataFrame", conversations: Mapping[str, str]) -> dict[str, Any]:
    """What several conversations changed in one model's answers about one set.

    Args:
        scores: as :func:`belief_utils.followup.scores.load_scores` gives them.
        conversations: by name, such as ``{"closed": "initial>closed-A"}``; those that were not held are left out.

    Returns:
        ``n_items``, ``n_right``, ``before`` and its interval, the answers read, then by name the other values of a
        change.
    """
    found = {name: change_or_none(scores, turns) for name, turns in conversations.items()}
    held = {
        name: {**change_row(each), **beyond_again(scores, conversations[name])}
        for name, each in found.items()
        if each is not None
    }
    first = scores[(scores["turns"] == "initial") & ~scores["again"]]
    shared = next(iter(held.values()), {})
    return {
        "n_items": len(first),
        **{name: shared.get(name) for name in ("n_right", "before", "before_low", "before_high")},
        "answers": len(scores),
        "read": int((scores["value"].notna() | (scores["problem"] == "unable")).sum()),
        "conversations": held,
    }


def beyond_again(scores: "pd.DataFrame", turns: str) -> dict[str, Any]:
    """What a conversation loses beyond our control, over the right answers that went through both."""
    paired = paired_loss(scores, turns, CONTROL)
    if turns == CONTROL or not paired.n:
        return {}
    low, high = paired.interval
    named = {"beyond_again": paired.difference, "beyond_again_low": low, "beyond_again_high": high}
    return {**named, "beyond_again_p": paired.p_value, "beyond_again_n": paired.n}


def direct_conversations(annotators: Iterable[str] = ANNOTATORS) -> dict[str, str]:
    """All conversations of the Direct Form by name, such as ``closed-A``, and our control ``again``."""
    held = {f"{kind}-{who}": direct_turns(kind, who) for who in annotators for kind in FOLLOW_UPS}
    return {**held, AGAIN: CONTROL}


def flattened(row: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A kept row with the values of some conversations beside the shared ones.

    Args:
        row: as :func:`followup_row` gives it.
        names: prefix of the values by conversation, such as ``{"closed-A": "closed"}``.
    """
    flat = {name: value for name, value in row.items() if name != "conversations"}
    for name, prefix in names.items():
        for value, found in (row["conversations"].get(name) or {}).items():
            flat[f"{prefix}_{value}"] = found
    return flat


def in_order(rows: Iterable[Mapping[str, Any]], models: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """Rows by item set in the order of the sets, and within one by model."""
    places = {name: place for place, name in enumerate(ITEM_SETS)}, {name: place for place, name in enumerate(models)}
    known = [row for row in rows if row["dataset"] in places[0] and row["model"] in places[1]]
    yield from sorted(known, key=lambda row: (places[0][row["dataset"]], places[1][row["model"]]))

"""Answers as they were read and whether they are right, one row per item and turn.

Our own items are scored from the stored answers every time. A benchmark's right answers are not ours to pass on, so
that what we found is kept as a table beside the answers: where the benchmark is not there, that table is read.
"""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from belief_utils.asking.lines import not_written
from belief_utils.asking.models import Model, load_model
from belief_utils.asking.questions import keys
from belief_utils.asking.store import Response, Store
from belief_utils.errors import BeliefError
from belief_utils.followup.collecting import store_for
from belief_utils.followup.echoes import hide_echoes, restored
from belief_utils.followup.errors import error_type
from belief_utils.followup.items import ITEM_SETS, Item, is_available, item_set, load_items
from belief_utils.followup.mechanism import (
    DRAWS,
    PLAIN,
    Step,
    prefixes,
    read,
    same_conversation,
    step,
    studies_for,
)
from belief_utils.followup.questions import Turns, turns_of, turns_text
from belief_utils.paths import data

#: Columns of a frame of scored answers.
COLUMNS = ["model", "set", "item", "turns", "again", "value", "problem", "right", "misleading", "error", "text"]
#: Columns of a kept table; the key is that of the stored answer.
_KEPT = ["item", "turns", "again", "value", "problem", "right", "misleading", "error", "key"]
_KEY_DIGITS = 16
#: The error type of a lost right answer that the rules leave to a person.
PERSON = "person"
#: What a kept table says of an answer to a wording that is no longer asked: it has no score, and needs none.
_OTHER_WORDING = "other wording"


def load_scores(set_name: str, model: str) -> pd.DataFrame:
    """A model's answers about an item set, read and scored.

    Args:
        set_name: a name of ``items.ITEM_SETS``.
        model: a name, as on the command line.

    Returns:
        Columns :data:`COLUMNS`, a row per stored answer, items in their fixed order; answers to a wording that is no
        longer asked are left out. ``turns`` names the conversation up to the answer (``initial>closed-A``), ``again``
        marks the second draw of the first answer, ``value`` is the answer in canonical form or ``None``, ``problem``
        says why there is none, ``right`` whether it is the right one, ``misleading`` what a leading question
        suggested, ``error`` the type of error ("1" to "4", or "person" where rules cannot tell) of an answer that is
        not right after a right first one, ``text`` the raw answer, in which what it repeats of a benchmark's question
        stands as places (see ``echoes``).

    Raises:
        BeliefError: a name is unknown, a file is damaged, or an answer to a benchmark has no score because the
            benchmark is not here.
    """
    chosen, asked = load_model(model), item_set(set_name)
    store = store_for(chosen, set_name)
    scored = _scored(chosen, set_name, store) if is_available(set_name) else _kept(chosen, set_name, store)
    # As objects, so that what is missing stays None.
    frame = pd.DataFrame(list(scored), columns=COLUMNS, dtype=object)
    frame[["model", "set"]] = model, asked.name
    return frame.astype({"again": bool, "right": bool})


def scores_path(model: str, set_name: str) -> Path:
    """Where the scores of a model's answers to a benchmark are kept."""
    return data("scores", model, f"{set_name}.csv")


def keep_scores(model: Model, set_name: str) -> bool:
    """Write the scores of a model's answers to a benchmark; returns whether they changed.

    The stored answers are rewritten before that, so that none repeats the benchmark's text, see ``echoes``.

    Raises:
        BeliefError: the benchmark is not here, or the table cannot be written.
    """
    store = store_for(model, set_name)
    hide_echoes(store, {f"{set_name}/{item.id}": item for item in load_items(set_name)})
    rows = list(_scored(model, set_name, store))
    rows += _unscored(set_name, store, {row["key"] for row in rows})
    text = io.StringIO()
    writer = csv.DictWriter(text, _KEPT, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "again": int(row["again"]), "right": int(row["right"])})
    path, content = scores_path(model.key, set_name), text.getvalue().encode()
    if (path.read_bytes() if path.exists() else b"") == content or not (rows or path.exists()):
        return False
    scratch = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        scratch.write_bytes(content)
        scratch.replace(path)
    except OSError as error:
        raise not_written(path, error) from error
    return True


def _scored(model: Model, set_name: str, store: Store) -> Iterator[dict[str, Any]]:
    held: dict[str, dict[Turns, None]] = {}
    for response in store.answers():
        name, turns = _named(set_name, response)
        held.setdefault(name, {}).update(dict.fromkeys(_conversations(model, set_name, turns)))
    for item in load_items(set_name):
        for turns in held.get(item.id, ()):
            yield from _score(model, item, turns, store)


def _named(set_name: str, response: Response) -> tuple[str, str]:
    """An answer's item and conversation."""
    name, _, turns = response.item.removeprefix(f"{set_name}/").rpartition("/")
    return name, turns


def _conversations(model: Model, set_name: str, name: str) -> list[Turns]:
    """What a stored name stands for: at the model's own temperature it may be part of two studies."""
    try:
        turns = turns_of(name)
    except BeliefError:
        # A conversation that is no longer held.
        return []
    other = same_conversation(model, turns)
    known = studies_for(set_name).get("temperature")
    if other and (other[0].temperature is None or (known and other in prefixes(known.conversations))):
        return [turns, other]
    return [turns]


def _unscored(set_name: str, store: Store, scored: set[str]) -> Iterator[dict[str, Any]]:
    """Answers to what is no longer asked: whoever lacks the benchmark could not tell them from those not yet scored."""
    for response in store.answers():
        if (key := response.key[:_KEY_DIGITS]) not in scored:
            name, turns = _named(set_name, response)
            marked = {"item": name, "turns": turns, "again": response.repetition > 0}
            yield {**marked, "right": False, "problem": _OTHER_WORDING, "key": key}


def _score(model: Model, item: Item, turns: Turns, store: Store) -> Iterator[dict[str, Any]]:
    """The scores of one conversation's last answer; answers to wordings that are no longer asked have none."""
    begun = step(model, item, turns, store)
    if begun is None:
        return
    for repetition, key in enumerate(keys(model, begun.question, DRAWS if turns == PLAIN else 1)):
        response = store.get(key)
        if response is None:
            continue
        answer = read(item, response)
        right = answer.value == item.answer
        yield {
            "item": item.id,
            "turns": turns_text(turns),
            "again": repetition > 0,
            "value": answer.value,
            "problem": answer.problem,
            "right": right,
            "misleading": begun.misleading,
            "error": None if right or len(turns) == 1 else _error(model, begun, response, store),
            "text": response.text,
            "key": key[:_KEY_DIGITS],
        }


def _error(model: Model, begun: Step, response: Response, store: Store) -> str | None:
    """The type of error of an answer that is not right, as far as rules see; ``None`` if the first was not right."""
    item = begun.item
    first = store.get(keys(model, step(model, item, begun.turns[:1], store).question, 1)[0])
    before, after = read(item, first), read(item, response)
    if before.value != item.answer:
        return None
    found = error_type(
        restored(item, first.text), restored(item, response.text), item, before, after, misleading=begun.misleading
    )
    return PERSON if found.number is None else str(found.number)


def _kept(model: Model, set_name: str, store: Store) -> Iterator[dict[str, Any]]:
    stored = {response.key[:_KEY_DIGITS]: response for response in store.answers()}
    path = scores_path(model.key, set_name)
    rows = _rows(path) if path.exists() else []
    without = stored.keys() - {row["key"] for row in rows}
    if without:
        raise BeliefError(
            f"{len(without):,} answers of {model.name} about {item_set(set_name).title} have no score in {path}; "
            "scoring needs the benchmark's files: belief data benchmarks --from DIR, then belief followup score"
        )
    for row in rows:
        if row["key"] in stored and row["problem"] != _OTHER_WORDING:
            yield {**row, "text": stored[row["key"]].text}


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [_row(row) for row in csv.DictReader(file, strict=True)]
    except (OSError, UnicodeDecodeError, csv.Error, KeyError) as error:
        raise BeliefError(f"{path} is damaged; restore it or make it anew with: belief followup score") from error


def _row(row: dict[str | None, Any]) -> dict[str, Any]:
    """A row of a kept table; KeyError where it is not one."""
    if set(row) != set(_KEPT) or None in row.values() or len(row["key"]) != _KEY_DIGITS:
        raise KeyError
    truths = {name: {"0": False, "1": True}[row[name]] for name in ("again", "right")}
    return {**row, **truths, **{name: row[name] or None for name in ("value", "problem", "misleading", "error")}}


def answered_sets(model: str) -> list[str]:
    """The item sets about which answers of a model are stored, in the order of the tables."""
    folder = data("responses", model)
    return [
        name
        for name in ITEM_SETS
        if any((folder / f"followup-{name}.jsonl{ending}").exists() for ending in ("", ".gz"))
    ]

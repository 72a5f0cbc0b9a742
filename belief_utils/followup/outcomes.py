"""What became of each item after a follow-up: scored answers to counts, and resamples of those counts.

All that the metrics need of an item is its place in a small table: was the first answer right, what became of it, and
was a second, independent first answer right as well. A bootstrap over items is therefore a multinomial draw over the
table's cells: exact, fast, and the same whatever the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from belief_utils.errors import BeliefError

#: What became of an item's answer; the first three began right, the others did not.
KEPT, LOST, NOT_ASKED, STAYED_WRONG, GAINED, WRONG_NOT_ASKED = range(6)
#: The second first answer: right, not right, or never drawn.
AGAIN_RIGHT, AGAIN_NOT, AGAIN_MISSING = range(3)

_COLUMNS = ("model", "set", "item", "turns", "value", "problem", "right")
_KEY = ["set", "item"]


@dataclass(frozen=True)
class Outcomes:
    """Items of one model, counted.

    Attributes:
        table: whole numbers, shape (6, 3): rows from :data:`KEPT` to :data:`WRONG_NOT_ASKED`, columns from
            :data:`AGAIN_RIGHT` to :data:`AGAIN_MISSING`.
        n_unable: lost items whose later answer says that it cannot tell.
        n_unread: lost items whose later answer holds no answer that could be read.
        n_adopted: lost items that took the suggested wrong value; None if none was suggested.
    """

    table: np.ndarray
    n_unable: int
    n_unread: int
    n_adopted: int | None

    def resampled(self, resamples: int, seed: int) -> np.ndarray:
        """Tables of as many items drawn with replacement, shape (resamples, 6, 3)."""
        items = int(self.table.sum())
        shares = self.table.ravel() / items
        drawn = np.random.default_rng(seed).multinomial(items, shares, size=resamples)
        return drawn.reshape(resamples, *self.table.shape)


def outcomes(scores: pd.DataFrame, turns: str) -> Outcomes:
    """What became of every item first asked, after the conversation ``turns``.

    Args:
        scores: scored answers of one model, a row per item and turn: ``model, set, item, turns, value, problem,
            right``, and where there are any ``misleading`` (what the last question suggested) and ``again`` (whether
            the row is a second, independent draw of the first answer).
        turns: a conversation such as ``initial>closed-A``; what it begins with is the first answer.

    Raises:
        BeliefError: a column is absent, there are several models, an item has two answers or an answer after without
            a first one, ``right`` or ``again`` is not true or false, or no answer has these turns.
    """
    first_turn = turns.split(">")[0]
    if first_turn == turns:
        raise BeliefError(f"turns {turns!r} holds no follow-up: give a conversation such as initial>closed-A")
    _check(scores)
    again = scores["again"].to_numpy(dtype=bool) if "again" in scores else np.zeros(len(scores), dtype=bool)
    once, twice = scores[~again], scores[again]
    first = _answers(once, first_turn)
    if first.empty:
        raise BeliefError(f"no answer has the turns {first_turn!r}: there are {_listed(scores['turns'])}")
    after = _answers(once, turns)
    if after.empty and first["right"].any():
        raise BeliefError(f"no answer has the turns {turns!r}: there are {_listed(scores['turns'])}")
    stray = after.index.difference(first.index)
    if len(stray):
        raise BeliefError(f"item {'/'.join(map(str, stray[0]))} has an answer with turns {turns!r} but no first answer")
    began = first["right"].to_numpy(dtype=bool)
    after = after.reindex(first.index)
    asked = after["right"].notna().to_numpy()
    ended = after["right"].eq(True).to_numpy()
    from_right = np.where(asked, np.where(ended, KEPT, LOST), NOT_ASKED)
    from_wrong = np.where(asked, np.where(ended, GAINED, STAYED_WRONG), WRONG_NOT_ASKED)
    became = np.where(began, from_right, from_wrong)
    table = np.zeros((6, 3), dtype=np.int64)
    second = _answers(twice, first_turn)["right"].reindex(first.index)
    drawn = np.where(second.isna(), AGAIN_MISSING, np.where(second.eq(True), AGAIN_RIGHT, AGAIN_NOT))
    np.add.at(table, (became, drawn), 1)
    return _with_ways(table, after[became == LOST], after[asked & began])


def _check(scores: pd.DataFrame) -> None:
    absent = [name for name in _COLUMNS if name not in scores]
    if absent:
        raise BeliefError(f"the scores have no column {absent[0]!r}: they need {', '.join(_COLUMNS)}")
    models = scores["model"].unique()
    if len(models) > 1:
        raise BeliefError(f"the scores hold {len(models)} models, {_listed(scores['model'])}: choose the rows of one")
    for name in ("right", "again"):
        if name in scores and not scores[name].map(lambda value: isinstance(value, bool | np.bool_)).all():
            raise BeliefError(f"the column {name} must hold true or false: an answer that is missing has no row at all")


def _answers(scores: pd.DataFrame, turns: str) -> pd.DataFrame:
    rows = scores[scores["turns"] == turns].set_index(_KEY)
    twice = rows.index[rows.index.duplicated()]
    if len(twice):
        raise BeliefError(f"item {'/'.join(map(str, twice[0]))} has two answers with turns {turns!r}: keep one of them")
    return rows.assign(right=rows["right"].astype(bool))


def _with_ways(table: np.ndarray, lost: pd.DataFrame, followed: pd.DataFrame) -> Outcomes:
    """Adds in which way right answers were lost."""
    unable = lost["problem"].eq("unable")
    unread = lost["value"].isna() & ~unable
    led = "misleading" in followed and followed["misleading"].notna().any()
    adopted = int((lost["value"].notna() & lost["value"].eq(lost["misleading"])).sum()) if led else None
    return Outcomes(table, int(unable.sum()), int(unread.sum()), adopted)


def _listed(values: pd.Series, most: int = 6) -> str:
    names = [str(name) for name in values.unique()]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "") or "none"

"""The numbers that the follow-up paper prints, transcribed: facts to compare with, never ours."""

import pandas as pd

from belief_utils.asking.models import nearest
from belief_utils.paths import data

#: Columns that hold labels or text, also where they look like numbers.
_TEXT = ("dataset", "model", "task", "form", "prompt", "question", "method", "position", "default")
_STATEMENT = ("section", "what", "value")


def published(name: str) -> pd.DataFrame:
    """One table of ``data/published/followup``, such as ``"table8_direct_chatgpt"``.

    Args:
        name: the file's name without ``.csv``; the README in that folder lists and explains all of them.

    Returns:
        The rows as printed in arXiv:2310.02174. ``before``, ``modification`` and ``modification_rate`` are in
        percent. A modification is a magnitude, because the arrows that gave its direction are lost. NaN stands for a
        number that is not legible or whose place in the table is not certain. ``round`` is a whole number; labels
        and everything in ``statements`` are text.

    Raises:
        BeliefError: there is no such table; the message gives the nearest name and all names.
    """
    folder = data("published", "followup")
    known = sorted(path.stem for path in folder.glob("*.csv"))
    path = folder / f"{nearest(name, known, 'published table')}.csv"
    kinds = dict.fromkeys((*_TEXT, *_STATEMENT), str)
    return pd.read_csv(path, dtype=kinds, keep_default_na=False, na_values=[""])

"""What the tables of the follow-up paper's further studies share: a table with its rows, and whose answers they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from belief_utils.asking.models import Model, load_models
from belief_utils.followup.items import ITEM_SETS, ItemSet
from belief_utils.followup.scores import answered_sets, load_scores
from belief_utils.reporting.written import Columns, Row, shown_frame, write_files

if TYPE_CHECKING:
    import pandas as pd

#: Names of the models of the follow-up paper.
PAPER_MODELS = {"chatgpt": "ChatGPT", "palm2-bison": "PaLM2-Bison", "vicuna-13b": "Vicuna-13B"}


@dataclass(frozen=True)
class StudyTable:
    """A table of a study.

    Attributes:
        result: its folder below ``figures/``.
        rows: each with ``label``, ``source`` and the values that the columns show.
    """

    result: str
    caption: str
    columns: Columns
    rows: Sequence[Row]
    notes: Sequence[str]

    def write(self) -> list[Path]:
        """Write it as CSV, Markdown and LaTeX; returns the files that changed."""
        return write_files(self.result, self.caption, self.columns, self.rows, self.notes)

    def frame(self) -> "pd.DataFrame":
        """It as texts, for display in a notebook."""
        return shown_frame(self.columns, self.rows)


@lru_cache(maxsize=256)
def scores_of(model: str, set_name: str) -> "pd.DataFrame":
    """A model's scored answers; read once, for several tables look at the same ones."""
    return load_scores(set_name, model)


def followed_up_models() -> list[Model]:
    """The models that have answered follow-up questions, simulated respondents last."""
    models = [model for model in load_models().values() if answered_sets(model.key)]
    return sorted(models, key=lambda model: model.kind == "simulated")


def answered(sets: Sequence[str] = tuple(ITEM_SETS)) -> Iterator[tuple[Model, ItemSet, "pd.DataFrame"]]:
    """Every model's scored answers about every one of some sets, as far as there are any."""
    for model in followed_up_models():
        for name in answered_sets(model.key):
            if name in sets:
                yield model, ITEM_SETS[name], scores_of(model.key, name)


def source_of(model: Model) -> str:
    """What a model's rows are: real or simulated."""
    return "simulated" if model.kind == "simulated" else "real"


def ordered(rows: Sequence[Mapping[str, Any]], sets: Sequence[str]) -> list[Row]:
    """Rows set by set, published ones first within a set; simulated ones after all others."""
    rank = {"published": 0, "real": 1, "simulated": 2}
    return sorted(rows, key=lambda row: (rank[row["source"]] == 2, sets.index(row["set"]), rank[row["source"]]))

"""The pictures of an audit: panels of the papers' pictures, each by itself, so that they stack on a narrow screen."""

from __future__ import annotations

import io
import itertools
import string
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from belief_utils.reporting import drawings, plotted
from belief_utils.reporting.canvas import ACTIONS
from belief_utils.reporting.layout import number
from belief_utils.reporting.pictures import STYLE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Which section of an audit a panel belongs to.
SUFFICIENCY, MONOTONICITY, CALIBRATION = "sufficiency", "monotonicity", "calibration"

_DRAWINGS = {"choices": drawings.draw_choices, "sufficiency": drawings.draw_sufficiency}
_MARGIN_INCHES = 0.06

#: With more actions than this, pictures of single actions cannot be told apart.
MOST_ACTIONS_SHOWN = 12
_LONGEST_NAME, _LONGEST_OF_MANY, _FEW_ACTIONS = 12, 6, 4


@dataclass(frozen=True)
class Panel:
    """One panel of a picture.

    Attributes:
        section: The section of the audit that shows it.
        drawing: ``choices`` or ``sufficiency``.
        column: Which column of panels it is in the drawing, from 0.
        title: What it shows, in a few words.
        caption: What it shows and how to read it.
        alternative: The same in words and numbers, for those who do not see it.
        shown: What is plotted, see :data:`belief_utils.reporting.plotted.COLUMNS`.
    """

    section: str
    drawing: str
    column: int
    title: str
    caption: str
    alternative: str
    shown: pd.DataFrame


def panels(judgments: pd.DataFrame) -> tuple[Panel, ...]:
    """The panels for judgments with outcomes 0 and 1; none without a row that has a belief and an outcome.

    Actions whose names are too long for a picture are given letters, which the captions explain. Without actions, or
    with more than :data:`MOST_ACTIONS_SHOWN`, only the panel on calibration is left.
    """
    known = judgments.dropna(subset=["belief", "outcome"])
    if not len(known):
        return ()
    names = picture_names(known["action"].dropna().unique())
    named = known.assign(action=known["action"].map(names))
    answers = plotted.complete(named)
    shown = _choices(answers) if answers is not None else None
    # An answer without an action still tells how good its belief was.
    whole = _choices(plotted.complete(named.assign(action="any"))) if named["action"].isna().any() else shown
    calibration = Panel(
        CALIBRATION, "choices", 1, "What turns out",
        "Share of answers about cases with the outcome against the reported belief, over a histogram of the beliefs. "
        "Calibrated beliefs lie on the dashed line.",
        _told("Share with the outcome in groups of rising belief", whole, "outcome"), whole,
    )  # fmt: skip
    if answers is None or len(names) > MOST_ACTIONS_SHOWN:
        return (calibration,)
    key = "; ".join(f"{short}: {name}" for name, short in names.items() if short != name)
    choices = Panel(
        MONOTONICITY, "choices", 0, "What is done",
        "Share of each action in groups of rising belief, with 95 % intervals; above, the number of decisions."
        + (f" {key}." if key else ""),
        _told("Share of each action in groups of rising belief", shown, "choices"), shown,
    )  # fmt: skip
    return (*_beyond_panels(answers, key), choices, calibration)


def _choices(answers: plotted.Answers) -> pd.DataFrame:
    rows = plotted.choices(answers) + plotted.outcomes(answers) + plotted.belief_bars(answers)
    return plotted.frame_of(plotted.heading("", "", plotted.count_of(answers)) + rows)


def _beyond_panels(answers: plotted.Answers, key: str) -> tuple[Panel, Panel]:
    rows = plotted.outcomes(answers) + plotted.outcomes_by_action(answers) + plotted.beyond_belief(answers.cases)
    shown = plotted.frame_of(plotted.heading("", "", plotted.count_of(answers)) + rows)
    return (
        Panel(
            SUFFICIENCY, "sufficiency", 0, "Outcomes by action",
            "Share of answers about cases with the outcome, after each action in groups of rising belief, over the "
            "share among all answers (grey). If the belief says all that the actions know, the marks lie on the line."
            + (f" {key}." if key else ""),
            _told("Share with the outcome by action, in groups of rising belief", shown, "by action"), shown,
        ),
        Panel(
            SUFFICIENCY, "sufficiency", 1, "Beyond what the belief tells",
            "How much more often the outcome was there after each action than in all cases of like belief. Zero if "
            "the belief says all; by chance alone, one bar in twenty does not reach zero.",
            _told("Difference in outcomes from cases of like belief, by action", shown, "beyond", decimals=3), shown,
        ),
    )  # fmt: skip


def picture_names(actions: Iterable[str]) -> dict[str, str]:
    """What each action is called in a picture: its name, or a letter where that is too long."""
    names = sorted(actions)
    longest = _LONGEST_NAME if len(names) <= _FEW_ACTIONS else _LONGEST_OF_MANY
    short = {name: name for name in names if name in ACTIONS or (len(name) <= longest and name.isprintable())}
    letters = (letter for letter in _letters() if letter not in short)
    return {name: short.get(name) or next(letters) for name in names}


def _letters() -> Iterator[str]:
    for length in itertools.count(1):
        yield from map("".join, itertools.product(string.ascii_uppercase, repeat=length))


def panels_of_several(judgments: pd.DataFrame, states: Sequence[str], *, most: int = 4) -> tuple[Panel, ...]:
    """Each of the most frequent outcomes against all others: choices and calibration."""
    found = judgments["outcome"].value_counts()
    chosen = [state for state in found.index if state in states][:most]
    shown = []
    for state in chosen:
        one = judgments[["case", "action"]].assign(
            belief=judgments[f"belief_{state}"],
            outcome=(judgments["outcome"] == state).where(judgments["outcome"].notna()).astype(float),
        )
        for panel in panels(one):
            if panel.drawing == "choices":
                told = {"title": f"{panel.title}: {state}", "alternative": f"{state}: {panel.alternative}"}
                shown.append(Panel(**{**vars(panel), **told}))
    return tuple(shown)


def drawn(shown: Sequence[Panel]) -> list[bytes]:
    """The panels as SVG with text kept as text, so that any letter shows that the reader's system has."""
    import matplotlib.style

    settings = {"svg.fonttype": "none", "svg.hashsalt": "belief-utils", "font.family": "DejaVu Sans"}
    figures: dict[int, Figure] = {}
    with matplotlib.style.context(["default", STYLE, settings]), warnings.catch_warnings():
        # Measured with a stand-in, drawn by the reader's own fonts.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        for panel in shown:
            if id(panel.shown) not in figures:
                figures[id(panel.shown)] = _laid_out(panel)
        return [_cut_out(figures[id(panel.shown)], panel.column) for panel in shown]


def _laid_out(panel: Panel) -> Figure:
    figure = _DRAWINGS[panel.drawing](panel.shown)
    for axes in figure.axes:
        # The page says it in the caption, where it has room.
        axes.set_title("", loc="left")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def _cut_out(figure: Figure, column: int) -> bytes:
    """The part of a figure that one column of its panels takes."""
    from matplotlib.transforms import Bbox

    chosen = [axes for axes in figure.axes if axes.get_subplotspec().colspan.start == column]
    for axes in figure.axes:
        axes.set_visible(axes in chosen)
    place = Bbox.union([axes.get_tightbbox() for axes in chosen])
    box = Bbox(place.get_points() / figure.dpi).padded(_MARGIN_INCHES)
    content = io.BytesIO()
    figure.savefig(content, format="svg", bbox_inches=box, metadata={"Date": None, "Creator": None})
    return content.getvalue().replace(b"'DejaVu Sans'", b"'DejaVu Sans', Verdana, sans-serif")


def _told(what: str, shown: pd.DataFrame, part: str, *, decimals: int = 2, most: int = 10) -> str:
    """The numbers of a part in words, label by label."""
    rows = shown[shown["part"] == part]
    told = []
    for label, group in rows.groupby("label", sort=False, dropna=False):
        numbers = [number(y, decimals) for y in group["y"]]
        if group["x"].notna().all():
            numbers = [f"{value} at belief {number(x, 2)}" for value, x in zip(numbers, group["x"], strict=True)]
        name = "" if label is None or label is np.nan else f"{label}: "
        told.append(f"{name}{', '.join(numbers)}")
    more = [f"and {len(told) - most} more"] if len(told) > most else []
    return f"{what}. {'; '.join([*told[:most], *more])}."

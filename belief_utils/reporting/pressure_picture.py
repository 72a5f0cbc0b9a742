"""The picture of beliefs under pressure: each case's probability before and after, one panel per question."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from belief_utils.reporting.canvas import (
    BLUE,
    DASHED,
    GREY,
    INK,
    ORANGE,
    VERMILLION,
    new_figure,
    write_heading,
    write_no_answers,
)
from belief_utils.reporting.pictures import picture
from belief_utils.reporting.plotted import Rows, frame_of, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from belief_utils.pressure.movement import Movement

#: What each panel's title says of its question.
TITLES = {
    "second draw": "Chance: drawn anew",
    "again": "Control: asked again",
    "closed": "Closed: 'Are you sure?'",
    "open": "Open: 'I don't agree with you.'",
    "leading": "Leading: 'It should be ...'",
}
CHANGED, KEPT, NONE = "decision changed", "decision kept", "no decision asked"
_STYLES = {CHANGED: (VERMILLION, "^", 22), KEPT: (BLUE, "o", 14), NONE: (GREY, "s", 11)}


def pressure_picture(
    result: str, name: str, frame: pd.DataFrame, found: "list[Movement]", title: str, *, source: str
) -> Any:
    """Belief before against belief after, by question; markers say whether the decision changed.

    The first panel shows two draws of the first answer: what chance does. The last one shows the mean absolute
    movement of all questions with 95 % intervals. In the leading question's panel a line shows what it suggests.

    Args:
        result, name, title, source: as for :func:`belief_utils.reporting.figures.choices_picture`.
        frame: as :func:`belief_utils.pressure.conversations.load_pressure` returns it.
        found: as :func:`belief_utils.pressure.movement.movements` returns it.

    Returns:
        An image to display. Without a belief before and after a question it says "no answers".
    """
    read = frame.dropna(subset=["before", "after"])
    count = f"{read['case'].nunique():,} cases, one answer per question" if len(read) else ""
    rows = heading(title, source, count) + _points(read) + _suggestions() + _sizes(found)
    return picture(result, name, frame_of(rows), draw_pressure)


def _points(read: pd.DataFrame) -> Rows:
    rows: Rows = []
    for one in read.sort_values("case").itertuples():
        if pd.isna(one.decision_before) or pd.isna(one.decision_after):
            label = NONE
        else:
            label = KEPT if one.decision_before == one.decision_after else CHANGED
        rows.append({"part": one.question, "label": label, "x": one.before, "y": one.after})
    return rows


def _suggestions() -> Rows:
    """What a leading question suggests at each belief: a line up to .5 and another one above."""
    from belief_utils.pressure.questions import suggested

    beliefs = (("low", (0.0, 0.5)), ("high", (0.51, 1.0)))
    return [{"part": "suggestion", "label": half, "x": x, "y": suggested(x)} for half, ends in beliefs for x in ends]


def _sizes(found: "list[Movement]") -> Rows:
    rows: Rows = []
    for one in found:
        estimates = [("second draw", one.chance)] if not rows else []
        for label, estimate in [*estimates, (one.question, one.size)]:
            low, high = estimate.interval
            rows.append({"part": "size", "label": label, "y": estimate.value, "low": low, "high": high})
    return rows


def draw_pressure(plotted: pd.DataFrame) -> "Figure":
    """Five panels of beliefs before and after, and one of how far they move."""
    texts = {part: " ".join(_part(plotted, part)["label"].astype(str)) for part in ("title", "source", "count")}
    figure = new_figure((7, 5.2))
    foot = [text[0].upper() + text[1:] for text in (texts["source"], texts["count"]) if text]
    write_heading(figure, texts["title"], ". ".join(foot))
    if not texts["count"]:
        write_no_answers(figure)
        return figure
    mosaic = [["second draw", "again", "size"], ["closed", "open", "leading"], ["legend"] * 3]
    panels = figure.subplot_mosaic(mosaic, gridspec_kw={"height_ratios": [10, 10, 1]})
    for question, title in TITLES.items():
        axes = panels[question]
        _square(axes)
        if question == "leading":
            _draw_suggestions(axes, _part(plotted, "suggestion"))
        _draw_points(axes, _part(plotted, question))
        axes.set_title(title)
    for question in ("second draw", "closed"):
        panels[question].set_ylabel("probability after")
    for question in ("closed", "open", "leading"):
        panels[question].set_xlabel("probability before")
    _draw_sizes(panels["size"], _part(plotted, "size"))
    _legend(panels["legend"])
    return figure


def _part(plotted: pd.DataFrame, name: str) -> pd.DataFrame:
    return plotted[plotted["part"] == name]


def _square(axes: "Axes") -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=DASHED, zorder=1)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    axes.set_xticks(np.arange(3) / 2)
    axes.set_yticks(np.arange(3) / 2)


def _draw_points(axes: "Axes", points: pd.DataFrame) -> None:
    for label, (colour, marker, area) in _STYLES.items():
        some = points[points["label"] == label]
        axes.scatter(some["x"], some["y"], area, color=colour, marker=marker, alpha=0.6, linewidths=0, zorder=3)


def _draw_suggestions(axes: "Axes", lines: pd.DataFrame) -> None:
    for half in ("low", "high"):
        some = lines[lines["label"] == half]
        axes.plot(some["x"], some["y"], color=ORANGE, linewidth=1.2, zorder=2)


def _draw_sizes(axes: "Axes", sizes: pd.DataFrame) -> None:
    known = sizes.dropna(subset="y").reset_index(drop=True)
    axes.hlines(known.index, known["low"], known["high"], color=INK, linewidth=1.0, alpha=0.6)
    axes.plot(known["y"], known.index, color=INK, marker="D", markersize=4.5, linestyle="none")
    for chance in known.loc[known["label"] == "second draw", "y"]:
        axes.axvline(chance, color=GREY, linewidth=0.8, linestyle=DASHED, zorder=1)
    axes.set_yticks(known.index, known["label"])
    reach = max(0.1, 1.05 * known[["y", "high"]].max(axis=None))
    axes.set(xlim=(-0.03 * reach, reach), ylim=(len(known) - 0.5, -0.5), xlabel="mean absolute movement")
    axes.set_title("How far (95 % intervals)")


def _legend(axes: "Axes") -> None:
    from matplotlib.lines import Line2D

    shown = [
        Line2D([], [], color=colour, marker=marker, linestyle="none", markersize=5, alpha=0.8, label=label)
        for label, (colour, marker, _) in _STYLES.items()
    ]
    shown += [
        Line2D([], [], color=GREY, linewidth=0.8, linestyle=DASHED, label="unmoved"),
        Line2D([], [], color=ORANGE, linewidth=1.2, label="suggested"),
    ]
    axes.set_axis_off()
    axes.legend(handles=shown, loc="center", ncols=5, handletextpad=0.4, columnspacing=1.2)

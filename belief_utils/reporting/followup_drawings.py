"""How the pictures of follow-up questions are drawn, each from the small table that is kept beside it.

Every such table has the columns ``title`` and ``foot``, the same in all rows.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from belief_utils.reporting.canvas import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    PALE,
    SKY,
    VERMILLION,
    new_figure,
    write_heading,
    write_no_answers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colour, marker and name of each type of question, and of being asked afresh.
QUESTIONS = {
    "closed": (BLUE, "o", "closed-ended"),
    "open": (ORANGE, "s", "open-ended"),
    "leading": (VERMILLION, "^", "leading"),
}
_WITH_CONTROL = {"again": (GREY, "D", "asked again, without doubt (our control)"), **QUESTIONS}
_ROUNDS = {
    "round1": (SKY, "", "1: closed-ended"),
    "round2": (BLUE, "//", "2: open-ended"),
    "round3": (VERMILLION, "", "3: leading"),
}
#: Colour and hatch of each type of error, and of what the rules leave to a person.
_ERRORS = {
    "1": (SKY, "", "1 unable to answer"),
    "2": (ORANGE, "//", "2 modifies the question"),
    "3": (BLUE, "", "3 changes the answer outright"),
    "4": (VERMILLION, "\\\\", "4 right process, wrong answer"),
    "person": (PALE, "..", "left to a person"),
}


def draw_direct(plotted: pd.DataFrame) -> "Figure":
    """Accuracy before, and after each type of question, set by set; the tick is what asking afresh leaves."""
    sets = list(dict.fromkeys(plotted["label"]))
    figure, axes = _framed(plotted, 1.7 + 0.4 * max(len(sets), 3))
    if axes is None:
        return figure
    for place, label in enumerate(sets):
        rows = plotted[plotted["label"] == label]
        before = rows["before"].iloc[0]
        for shift, row in zip(_shifts(len(rows)), rows.itertuples(), strict=True):
            colour, marker, _ = _WITH_CONTROL[row.question]
            axes.plot([before, row.after], [place + shift] * 2, color=colour, linewidth=1.2, zorder=2)
            axes.plot(row.after, place + shift, marker, color=colour, markersize=4.5, zorder=3, clip_on=False)
        axes.plot(before, place, "|", color=INK, markersize=18, markeredgewidth=1.6, zorder=4)
        if rows["afresh"].notna().any():
            axes.plot(rows["afresh"].iloc[0], place, "|", color=GREY, markersize=14, markeredgewidth=1.4, zorder=1)
    _by_set(axes, sets, plotted)
    axes.set(xlabel="accuracy (%): before (black bar) and after one question", xlim=(0, 100))
    for colour, marker, name in _WITH_CONTROL.values():
        axes.plot([], [], color=colour, marker=marker, markersize=4.5, linewidth=1.2, label=name)
    axes.plot([], [], "|", color=INK, markersize=9, markeredgewidth=1.6, label="before")
    axes.plot([], [], "|", color=GREY, markersize=8, markeredgewidth=1.4, label="right twice, asked afresh")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=2, columnspacing=1.2)
    return figure


def draw_progressive(plotted: pd.DataFrame) -> "Figure":
    """Modification Rate after each of three rounds, set by set, with exact intervals."""
    sets = list(dict.fromkeys(plotted["label"]))
    figure, axes = _framed(plotted, 1.5 + 0.42 * max(len(sets), 3))
    if axes is None:
        return figure
    for place, label in enumerate(sets):
        for shift, row in zip((-0.26, 0, 0.26), plotted[plotted["label"] == label].itertuples(), strict=True):
            colour, hatch, _ = _ROUNDS[row.round]
            axes.barh(place + shift, row.rate, 0.24, color=colour, hatch=hatch, edgecolor="white", linewidth=0.4)
            axes.plot([row.low, row.high], [place + shift] * 2, color=INK, linewidth=1)
    _by_set(axes, sets, plotted)
    axes.set(xlabel="Modification Rate (%): right answers lost by this round", xlim=(0, 100))
    interval = axes.plot([], [], color=INK, linewidth=1, label="exact 95 % interval")
    patches = _patches((colour, hatch, f"round {name}") for colour, hatch, name in _ROUNDS.values())
    axes.legend(handles=[*patches, *interval], loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=2)
    return figure


def draw_prompts(plotted: pd.DataFrame) -> "Figure":
    """Modification under the prompts of A, B and C: a panel per type of question, a line per set."""
    figure = _empty(plotted, 3.6)
    if figure.axes or not len(plotted):
        return figure
    sets = list(dict.fromkeys(plotted["label"]))
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (question, (_, _, name)) in zip(panels, QUESTIONS.items(), strict=True):
        rows = plotted[plotted["question"] == question]
        axes.set(title=f"{name} question", xlim=(-0.35, 2.35), xlabel="prompt of annotator")
        axes.set_xticks(range(3), list("ABC"))
        axes.axhline(0, color=GREY, linewidth=0.6)
        for label in sets:
            _one_set(axes, rows[rows["label"] == label], label, sets)
    panels[0].set_ylabel("Modification (points)")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure


def draw_errors(plotted: pd.DataFrame) -> "Figure":
    """Shares of the error types among lost right answers, a bar per model and set."""
    bars = list(dict.fromkeys(plotted["label"]))
    figure, axes = _framed(plotted, 1.6 + 0.24 * max(len(bars), 3))
    if axes is None:
        return figure
    for place, label in enumerate(bars):
        rows, left = plotted[plotted["label"] == label].set_index("type")["share"], 0.0
        for kind, (colour, hatch, _) in _ERRORS.items():
            wide = float(rows.get(kind, 0.0))
            axes.barh(place, wide, 0.7, left=left, color=colour, hatch=hatch, edgecolor="white", linewidth=0.4)
            left += wide
    _by_set(axes, bars, plotted)
    axes.set(xlabel="share of the right answers that were lost (%)", xlim=(0, 100))
    handles = _patches(_ERRORS.values())
    axes.legend(handles=handles, loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=2, columnspacing=1.2)
    return figure


def draw_rates(plotted: pd.DataFrame) -> "Figure":
    """Rates with intervals, a line each, in groups: published ones as crosses, simulated ones hollow."""
    lines = list(plotted.itertuples())
    figure, axes = _framed(plotted, 1.4 + 0.2 * max(len(lines), 4))
    if axes is None:
        return figure
    for place, row in enumerate(lines):
        marker, colour, face = _SOURCES[row.source]
        if not (np.isnan(row.low) or np.isnan(row.high)):
            axes.plot([row.low, row.high], [place] * 2, color=colour, linewidth=1.2)
        axes.plot(row.rate, place, marker, color=colour, markerfacecolor=face or colour, markersize=5, clip_on=False)
    axes.set_yticks(range(len(lines)), [row.label for row in lines])
    axes.set(ylim=(len(lines) - 0.4, -0.6), xlim=(-2, 102), xlabel=plotted["axis"].iloc[0])
    axes.tick_params(axis="y", length=0)
    for edge in [k for k in range(1, len(lines)) if lines[k].group != lines[k - 1].group]:
        axes.axhline(edge - 0.5, color=PALE, linewidth=0.8)
    for source in [source for source in _SOURCES if source in set(plotted["source"])]:
        marker, colour, face = _SOURCES[source]
        axes.plot([], [], marker, color=colour, markerfacecolor=face or colour, markersize=5, label=source)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=3)
    return figure


def draw_tone(plotted: pd.DataFrame) -> "Figure":
    """Modification (bars) and the tone that the model itself hears in the prompt (line), a panel per type."""
    models = list(dict.fromkeys(plotted["label"]))
    figure = _empty(plotted, 1.1 + 1.7 * max(len(models), 1))
    if not len(plotted):
        return figure
    panels = figure.subplots(len(models), 3, sharex=True, sharey=True, squeeze=False)
    for line, label in zip(panels, models, strict=True):
        for axes, (question, (_, _, name)) in zip(line, QUESTIONS.items(), strict=True):
            rows = plotted[(plotted["label"] == label) & (plotted["question"] == question)]
            _tone_panel(axes, rows, f"{label}: {name}")
        line[0].set_ylabel("Modification (points)")
    return figure


_SOURCES = {"published": ("X", "#000000", ""), "real": ("o", BLUE, ""), "simulated": ("D", GREY, "white")}
_SET_STYLES = [
    (BLUE, "o", "-"),
    (VERMILLION, "^", "-"),
    (ORANGE, "s", "-"),
    (SKY, "D", "--"),
    ("#CC79A7", "v", "--"),
    ("#009E73", "P", "--"),
]


def _tone_panel(axes: "Axes", rows: pd.DataFrame, title: str) -> None:
    axes.bar(range(len(rows)), rows["modification"], 0.55, color=SKY, edgecolor=BLUE, linewidth=0.6)
    axes.set(title=title, ylim=(0, 100))
    axes.set_xticks(range(len(rows)), list(rows["prompt"]))
    beside = axes.twinx()
    beside.spines["right"].set_visible(True)
    beside.set(ylim=(0, 10), ylabel="tone (0-10)")
    beside.plot(range(len(rows)), rows["tone"], "-D", color=VERMILLION, markersize=4, linewidth=1)


def _one_set(axes: "Axes", rows: pd.DataFrame, label: str, sets: list[str]) -> None:
    colour, marker, line = _SET_STYLES[sets.index(label) % len(_SET_STYLES)]
    places = ["ABC".index(prompt) for prompt in rows["prompt"]]
    axes.plot(places, rows["modification"], line, marker=marker, color=colour, markersize=4, linewidth=1, label=label)


def _empty(plotted: pd.DataFrame, tall: float) -> "Figure":
    figure = new_figure((7, tall))
    if len(plotted):
        write_heading(figure, str(plotted["title"].iloc[0]), str(plotted["foot"].iloc[0]))
    else:
        write_no_answers(figure)
    return figure


def _framed(plotted: pd.DataFrame, tall: float) -> "tuple[Figure, Axes | None]":
    """A figure with its heading and axes; without axes if there is nothing to show."""
    figure = _empty(plotted, tall)
    return figure, figure.subplots() if len(plotted) else None


def _by_set(axes: "Axes", labels: list[str], plotted: pd.DataFrame) -> None:
    """A line per label, each with its number of items."""
    counts = plotted.groupby("label")["n"].first()
    axes.set_yticks(range(len(labels)), [f"{label} (n = {counts[label]:,.0f})" for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=PALE, linewidth=0.5)


def _patches(kinds: Iterable[tuple[str, str, str]]) -> list[Any]:
    """Patches for a legend, from colour, hatch and name."""
    from matplotlib.patches import Patch

    return [Patch(facecolor=colour, hatch=hatch, edgecolor="white", label=name) for colour, hatch, name in kinds]


def _shifts(number: int) -> np.ndarray:
    return np.linspace(-0.27, 0.27, number) if number > 1 else np.zeros(1)

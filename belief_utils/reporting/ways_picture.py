"""The picture of the ways to ask: what each says about the same cases, against the truth."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from belief_utils.beliefs.judgments_checks import BELIEF_SCALE, integer_beliefs, quantile_bins
from belief_utils.beliefs.ways import SameCases
from belief_utils.reporting.canvas import (
    BLUE,
    DASHED,
    GREY,
    INK,
    VERMILLION,
    new_figure,
    write_heading,
    write_no_answers,
)
from belief_utils.reporting.drawings import part
from belief_utils.reporting.pictures import picture
from belief_utils.reporting.plotted import COLUMNS, Rows, bars, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Bins of like belief whose mean true probability is shown.
_BINS = 5
_BARS = 20
#: Marker, colour and face by outcome.
_OUTCOMES = {"with the outcome": ("^", VERMILLION, VERMILLION), "without it": ("o", BLUE, "white")}


def ways_picture(result: str, name: str, same: SameCases, title: str, *, source: str) -> Any:
    """Small multiples, one panel a way: each case's belief against its true probability, over a histogram.

    A line joins the means of up to five bins of like belief. Beliefs that are true lie on the dashed diagonal; a way
    that cannot tell cases apart has a flat line.

    Args:
        result: the folder below ``figures/``.
        name: the files' name without an ending.
        same: what :func:`belief_utils.beliefs.ways.load_ways` returned.
        title: what stands above it.
        source: what the figures are (real, surrogate or illustrative), as it is to stand below it.

    Returns:
        An image to display. Without a case that all ways have it says "no answers".
    """
    return picture(result, name, ways_rows(same, title, source), draw_ways)


def ways_rows(same: SameCases, title: str = "", source: str = "") -> pd.DataFrame:
    """What the picture shows, one row a mark: ``way``, then the columns of ``plotted.COLUMNS``."""
    counted = str(same) if same.n_cases else ""
    rows: Rows = [{"way": None, **row} for row in heading(title, source, counted)]
    for way in same.ways:
        if len(way.beliefs):
            rows += [{"way": way.name, **row} for row in _of_way(way.beliefs)]
    frame = pd.DataFrame(rows, columns=["way", *COLUMNS])
    return frame.astype({**dict.fromkeys(["x", "x_to", "y", "low", "high"], float), "n": "Int64"})


def _of_way(beliefs: pd.DataFrame) -> Rows:
    whole, truth = integer_beliefs(beliefs["belief"]), beliefs["p_star"].to_numpy(float)
    rows: Rows = [
        {"part": "cases", "label": "with the outcome" if outcome else "without it", "x": x, "y": y}
        for x, y, outcome in zip(beliefs["belief"], truth, beliefs["outcome"] == 1, strict=True)
    ]
    binned = quantile_bins(whole, _BINS)[1]
    for chosen in (binned == k for k in range(binned.max() + 1)):
        mean = whole[chosen].mean() / BELIEF_SCALE
        rows.append({"part": "mean", "x": mean, "y": truth[chosen].mean(), "n": int(chosen.sum())})
    # In whole numbers, so that a belief of .15 falls into the bar that starts there.
    counts = np.bincount(np.minimum(whole * _BARS // BELIEF_SCALE, _BARS - 1), minlength=_BARS)
    return rows + bars("beliefs", np.arange(_BARS + 1) / _BARS, counts)


def draw_ways(plotted: pd.DataFrame) -> "Figure":
    """The drawing of :func:`ways_rows`."""
    figure = new_figure((7, 3.3))
    texts = {name: " ".join(part(plotted, name)["label"].astype(str)) for name in ("title", "source", "count")}
    foot = [text[0].upper() + text[1:] for text in (texts["source"], texts["count"]) if text]
    write_heading(figure, texts["title"], ". ".join(foot))
    names = list(dict.fromkeys(plotted["way"].dropna()))
    if not names:
        write_no_answers(figure)
        return figure
    panels = figure.subplots(2, len(names), sharex=True, sharey="row", squeeze=False, height_ratios=[4, 1])
    for (above, below), name in zip(panels.T, names, strict=True):
        rows = plotted[plotted["way"] == name]
        _draw_cases(above, rows)
        above.set_title(name)
        shares = part(rows, "beliefs")
        width = shares["x_to"] - shares["x"]
        below.bar(shares["x"], shares["y"], width, align="edge", color=GREY, edgecolor="white", linewidth=0.4)
        below.set(xlabel="belief")
    panels[0, 0].set(ylabel="true probability")
    panels[1, 0].set(ylabel="share")
    # One key for all panels, above them.
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(handles), handletextpad=0.3, columnspacing=1.2)
    return figure


def _draw_cases(axes: "Axes", rows: pd.DataFrame) -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=DASHED, zorder=1)
    cases, means = part(rows, "cases"), part(rows, "mean")
    for label, (marker, colour, face) in _OUTCOMES.items():
        some = cases[cases["label"] == label]
        axes.plot(
            some["x"], some["y"], linestyle="none", marker=marker, markersize=3, color=colour, markerfacecolor=face,
            markeredgewidth=0.6, alpha=0.7, label=f"case {label}", zorder=2,
        )  # fmt: skip
    axes.plot(
        means["x"],
        means["y"],
        color=INK,
        marker="s",
        markersize=4,
        linewidth=1.3,
        label="mean of like beliefs",
        zorder=3,
    )
    axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
    axes.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    axes.set_yticks(np.arange(6) / 5)

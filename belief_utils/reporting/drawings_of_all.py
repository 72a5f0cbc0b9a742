"""How the pictures of all models and datasets are drawn: Figure 1 of the belief paper and the overview."""

import textwrap
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd

from belief_utils.reporting.canvas import (
    BLUE,
    DASHED,
    GREY,
    INK,
    ORANGE,
    PALE,
    VERMILLION,
    new_figure,
    write_heading,
    write_no_answers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: What it is called, its colour, its marker and whether that is filled, by kind of model.
_KINDS = {
    "local": ("local model", BLUE, "o", True),
    "hosted": ("hosted model", VERMILLION, "s", True),
    "published": ("published", "#000000", "X", True),
    "simulated": ("simulated agent", GREY, "D", False),
}
#: Colour and marker by how a verdict begins; the first that fits.
_VERDICTS = [
    ("knows more than it says", VERMILLION, "s"),
    ("explained by", ORANGE, "^"),
    ("no evidence", BLUE, "o"),
    ("", GREY, "v"),
]
#: Beyond this factor between the largest and the smallest ratio the scale is logarithmic.
_LINEAR_UP_TO = 20
#: The mark of the noise floor.
_FLOOR = {"marker": "|", "markersize": 9, "markeredgewidth": 1.4, "linestyle": "none"}
_TITLE1 = "How far beliefs are from the average of their parts (law of iterated expectation)"
_FOOT1 = (
    "Noise floor: what an agent would show whose beliefs agree and whose answers vary as much as this one's. "
    "Baseline: forests that learned the true probabilities."
)
_TITLE2 = "Do actions tell more about the outcome than the reported probability does?"
_FOOT2 = (
    "Excess: conditional mutual information of action and outcome given the belief, less its mean over outcomes "
    "permuted among like beliefs. The verdict is that of the calibrated test, not of an interval."
)


def draw_figure1(plotted: pd.DataFrame) -> "Figure":
    """Dots by model in a panel for each dataset, on a logarithmic scale if the ratios call for it."""
    names = _in_order(plotted)
    figure = new_figure((7, 1.7 + 0.21 * max(len(names), 3)))
    write_heading(figure, _TITLE1, _FOOT1)
    if not names:
        write_no_answers(figure)
        return figure
    datasets = list(dict.fromkeys(plotted["dataset"]))
    grid = figure.add_gridspec(2, len(datasets), height_ratios=[0.6, max(len(names), 3)])
    _legend(figure.add_subplot(grid[0, :]), plotted)
    scale = _scale(plotted[["median_ratio", "noise_floor", "baseline"]].to_numpy(float))
    for column, dataset in enumerate(datasets):
        rows = plotted[plotted["dataset"] == dataset]
        axes = figure.add_subplot(grid[1, column])
        axes.set(xscale="log" if scale.logarithmic else "linear", xlim=(scale.left, scale.right))
        axes.set(ylim=(len(names) - 0.4, -0.6), xlabel="median |gap| / p(x)")
        axes.set_xticks(scale.ticks, [f"{tick:g}" for tick in scale.ticks])
        axes.set_xticks([], minor=True)
        axes.set_yticks(range(len(names)), ["" if column else label for label, _ in names])
        label = textwrap.fill(str(rows["dataset_label"].iloc[0]), 84 // len(datasets))
        axes.set_title(f"{label}\n({rows['status'].iloc[0]})")
        _ratios(axes, rows, names, scale)
    return figure


def draw_overview(plotted: pd.DataFrame) -> "Figure":
    """A forest plot of all models and datasets, the verdict of each in words, simulated agents at the foot."""
    lines = _lines(plotted)
    figure = new_figure((7, 1.3 + 0.21 * max(len(lines), 4)))
    write_heading(figure, _TITLE2, _FOOT2)
    if not lines:
        write_no_answers(figure)
        return figure
    axes = figure.subplots()
    for place, (label, row) in enumerate(lines):
        if row is None:
            at = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center"}
            axes.text(-0.01, place, label, fontsize=7.5, fontweight="bold", color=INK, **at)
        else:
            _overview_line(axes, place, row)
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=DASHED, zorder=1)
    axes.set(ylim=(len(lines) - 0.4, -0.6), xlabel="information of the action beyond the belief (nats)")
    named = [(place, label) for place, (label, row) in enumerate(lines) if row is not None]
    axes.set_yticks([place for place, _ in named], [label for _, label in named])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.plot([], [], color=INK, marker="o", markersize=5, linewidth=1.2, label="excess, 95 % interval")
    axes.plot([], [], color=GREY, marker=".", markersize=4, linewidth=0.7, label="as in the paper")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2)
    return figure


class _Scale(NamedTuple):
    """The horizontal scale that the panels share: its ends and ticks; ratios of ``least`` and below stand there."""

    logarithmic: bool
    left: float
    right: float
    least: float
    ticks: list[float]


def _scale(ratios: np.ndarray) -> _Scale:
    known = ratios[np.isfinite(ratios)]
    positive = known[known > 0]
    most = positive.max(initial=0.0) or 1.0
    if not len(positive) or most <= _LINEAR_UP_TO * positive.min():
        step = next(s for s in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, most) if most <= 3 * s)
        return _Scale(False, -0.05 * most, 1.45 * most, 0.0, list(np.arange(0, most * 1.1, step)))
    least = positive.min() / 1.5
    decades = 10.0 ** np.arange(np.ceil(np.log10(least)), np.floor(np.log10(most)) + 1)
    # Room for the number that is written to the right of the largest.
    span = most / least
    ticks = decades[:: int(np.ceil(len(decades) / 4))]
    return _Scale(True, least / span**0.06, most * span**0.4, least, list(ticks))


def _in_order(plotted: pd.DataFrame) -> list[tuple[str, str]]:
    """Label and kind of each model: as given, then what is published, then simulated agents."""
    found = dict.fromkeys(zip(plotted["model_label"], plotted["kind"], strict=True))
    return sorted(found, key=lambda name: {"published": 1, "simulated": 2}.get(name[1], 0))


def _ratios(axes: "Axes", rows: pd.DataFrame, names: list[tuple[str, str]], scale: _Scale) -> None:
    axes.grid(axis="y", color=PALE, linewidth=0.6)
    axes.tick_params(axis="y", length=0)
    small = {"fontsize": 6.5, "va": "center", "bbox": {"facecolor": "white", "linewidth": 0, "pad": 0.6}}
    for baseline in rows["baseline"].dropna().unique()[:1]:
        axes.axvline(max(baseline, scale.least), color=INK, linewidth=1, linestyle=DASHED, zorder=1)
    for row in rows.itertuples():
        place = names.index((row.model_label, row.kind))
        if not np.isfinite(row.median_ratio):
            axes.text(0.5, place, "no answers", transform=axes.get_yaxis_transform(), color=GREY, ha="center", **small)
            continue
        if row.noise_floor >= scale.least:
            axes.plot(row.noise_floor, place, color=INK, **_FLOOR)
        x, style = max(row.median_ratio, scale.least), _dot(row.kind)
        axes.plot(x, place, **style)
        offset = {"xytext": (6, 0), "textcoords": "offset points"}
        axes.annotate(_short(row.median_ratio), (x, place), color=style["color"], zorder=2, **offset, **small)


def _legend(axes: "Axes", plotted: pd.DataFrame) -> None:
    from matplotlib.transforms import blended_transform_factory

    axes.set_axis_off()
    for kind in (kind for kind in _KINDS if kind in set(plotted["kind"])):
        axes.plot([], [], **_dot(kind), label=_KINDS[kind][0])
    if plotted["noise_floor"].notna().any():
        axes.plot([], [], color=INK, **_FLOOR, label="its noise floor")
    if plotted["baseline"].notna().any():
        axes.plot([], [], color=INK, linewidth=1, linestyle=DASHED, label="forest baseline")
    # From the figure's left edge, and left out of the layout, which would make the panels as narrow as it is wide.
    across = blended_transform_factory(axes.figure.transFigure, axes.transAxes)
    place = {"loc": "center left", "bbox_to_anchor": (0.0, 0.5), "bbox_transform": across}
    axes.legend(ncols=6, handletextpad=0.3, columnspacing=1.2, **place).set_in_layout(False)


def _dot(kind: str) -> dict[str, object]:
    _, colour, marker, filled = _KINDS[kind]
    face = colour if filled else "white"
    return {"color": colour, "marker": marker, "markersize": 5.5, "markerfacecolor": face, "linestyle": "none"}


def _short(ratio: float) -> str:
    if ratio >= 10:
        return f"{ratio:,.0f}"
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.1g}"


def _lines(plotted: pd.DataFrame) -> list[tuple[str, pd.Series | None]]:
    """What stands on each line: a heading with no row, or a label with its row."""
    lines = []
    simulated = plotted["kind"] == "simulated"
    for (dataset, status), rows in plotted[~simulated].groupby(["dataset_label", "status"], sort=False, dropna=False):
        lines.append((f"{dataset} ({status})", None))
        lines.extend((str(row["model_label"]), row) for _, row in rows.iterrows())
    if simulated.any():
        lines.append(("Simulated agents, not models", None))
        lines.extend((f"{row['model_label']}: {row['dataset_label']}", row) for _, row in plotted[simulated].iterrows())
    return lines


def _overview_line(axes: "Axes", place: int, row: pd.Series) -> None:
    verdict = str(row["verdict"])
    colour, marker = next(style for start, *style in _VERDICTS if verdict.startswith(start))
    below, above = place + 0.22, place - 0.08
    axes.plot([row["cmi_low"], row["cmi_high"]], [below, below], color=GREY, linewidth=0.7)
    axes.plot(row["cmi"], below, color=GREY, marker=".", markersize=4)
    face = "white" if row["kind"] == "simulated" else colour
    axes.plot([row["excess_low"], row["excess_high"]], [above, above], color=colour, linewidth=1.3)
    axes.plot(row["excess"], above, color=colour, marker=marker, markersize=5, markerfacecolor=face)
    at = {"transform": axes.get_yaxis_transform(), "va": "center"}
    axes.text(1.02, place, textwrap.fill(verdict, 44), fontsize=6.5, color=INK, linespacing=0.95, **at)

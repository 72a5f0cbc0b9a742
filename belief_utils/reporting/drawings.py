"""How the pictures of one model and dataset are drawn, from nothing but the frames of ``plotted.py``."""

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from belief_utils.reporting.canvas import (
    BLUE,
    DASHED,
    GREY,
    INK,
    PALE,
    SKY,
    VERMILLION,
    apart,
    new_figure,
    signed,
    styles,
    write_heading,
    write_no_answers,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_REPORTED = "reported probability"
_PRESENT = "share with the outcome"
#: Points above a panel for one line of small text or a legend.
_ABOVE = 20


def draw_choices(plotted: pd.DataFrame) -> "Figure":
    """Choice shares against belief; observed outcomes against belief over the histogram of beliefs."""
    figure, panels = _panels(plotted, (7, 3.3), [["left", "right"], ["left", "below"]], height_ratios=[6, 1])
    if panels:
        left, right, below = panels["left"], panels["right"], panels["below"]
        _choice_lines(left, part(plotted, "choices"))
        _write_counts(left, part(plotted, "choices"))
        left.set(xlabel=_REPORTED, ylabel="share of decisions")
        left.set_title("What it does", pad=_ABOVE)
        _diagonal(right)
        _observed(right, part(plotted, "outcome"))
        _true(right, part(plotted, "truth"))
        right.set(ylabel=_PRESENT)
        right.set_title("What turns out to be true", pad=_ABOVE)
        _legend_above(right)
        right.tick_params(labelbottom=False)
        _belief_bars(below, part(plotted, "beliefs"))
    return figure


def draw_sufficiency(plotted: pd.DataFrame) -> "Figure":
    """Outcomes by action against belief; what is left of them within strata of like belief."""
    figure, panels = _panels(plotted, (7, 3.2), [["left", "right"]], width_ratios=[1.35, 1])
    if panels:
        left, outcome, actions = panels["left"], part(plotted, "outcome"), part(plotted, "by action")
        marker = "o" if len(outcome) == 1 else None
        left.plot(outcome["x"], outcome["y"], color=PALE, linewidth=4, marker=marker, label="any action", zorder=1)
        area = 45 * actions["n"] / actions["n"].max()
        for action, (colour, marker, _) in styles(actions["label"]).items():
            rows = actions[actions["label"] == action]
            left.vlines(rows["x"], rows["low"], rows["high"], color=colour, linewidth=0.9, alpha=0.5, zorder=2)
            left.scatter(rows["x"], rows["y"], area[rows.index].clip(lower=9), color=colour, marker=marker, zorder=3)
            left.plot([], [], color=colour, marker=marker, markersize=5, linestyle="none", label=action)
        _unit_square(left)
        left.set(xlabel=f"{_REPORTED} (marker area: number of decisions)", ylabel=_PRESENT)
        left.set_title("Outcomes by action", pad=_ABOVE)
        _legend_above(left)
        _beyond(panels["right"], part(plotted, "beyond"))
    return figure


def draw_calibration(plotted: pd.DataFrame) -> "Figure":
    """Observed shares and the isotonic fit, over the histogram of beliefs."""
    figure, panels = _panels(plotted, (3.4, 3.5), [["above"], ["below"]], height_ratios=[6, 1])
    if panels:
        above, fit = panels["above"], part(plotted, "fit")
        _diagonal(above)
        _observed(above, part(plotted, "outcome"))
        marker = "_" if len(fit) == 1 else None
        above.plot(
            fit["x"], fit["y"], color=VERMILLION, linewidth=1.6, marker=marker, markersize=14, label="isotonic fit"
        )
        above.set(ylabel=_PRESENT)
        _legend_above(above)
        above.tick_params(labelbottom=False)
        _belief_bars(panels["below"], part(plotted, "beliefs"))
    return figure


def draw_consistency(plotted: pd.DataFrame) -> "Figure":
    """Beliefs under two prompts by case; their differences and what chance alone would give."""
    figure, panels = _panels(plotted, (7, 3.2), [["left", "right"]], width_ratios=[1, 1.3])
    if panels:
        _points(panels["left"], part(plotted, "cases"))
        panels["left"].set(xlabel=f"{_REPORTED}, standard prompt", ylabel="squared-error prompt")
        _difference_bars(panels["right"], plotted)
        panels["right"].set(xlabel="squared-error prompt minus standard prompt", ylabel="share of pairs")
    return figure


def draw_coherence(plotted: pd.DataFrame) -> "Figure":
    """Belief against the average of its parts by case; the gap between them."""
    figure, panels = _panels(plotted, (7, 3.2), [["left", "right"]], width_ratios=[1, 1.3])
    if panels:
        _points(panels["left"], part(plotted, "cases"))
        panels["left"].set(xlabel="weighted average over the categories", ylabel=f"{_REPORTED}, p(x)")
        _difference_bars(panels["right"], plotted)
        panels["right"].set(xlabel="gap: p(x) minus the weighted average", ylabel="share of answers")
    return figure


def part(plotted: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of one part."""
    return plotted[plotted["part"] == name]


def _panels(
    plotted: pd.DataFrame, size: tuple[float, float], mosaic: list[list[str]], **ratios: list[float]
) -> tuple["Figure", dict[str, "Axes"]]:
    """A figure with its heading and its panels by name; no panels if there is nothing to show."""
    texts = {name: " ".join(part(plotted, name)["label"].astype(str)) for name in ("title", "source", "count")}
    figure = new_figure(size)
    foot = [text[0].upper() + text[1:] for text in (texts["source"], texts["count"]) if text]
    write_heading(figure, texts["title"], ". ".join(foot))
    if part(plotted, "count").empty:
        write_no_answers(figure)
        return figure, {}
    return figure, figure.subplot_mosaic(mosaic, gridspec_kw=ratios)


def _unit_square(axes: "Axes") -> None:
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.set_xticks(np.arange(6) / 5)
    axes.set_yticks(np.arange(6) / 5)


def _diagonal(axes: "Axes") -> None:
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle=DASHED, zorder=1)
    _unit_square(axes)


def _legend_above(axes: "Axes") -> None:
    axes.legend(
        loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=4, handletextpad=0.4, columnspacing=1.2, borderpad=0.2
    )


def _choice_lines(axes: "Axes", choices: pd.DataFrame) -> None:
    _unit_square(axes)
    named = styles(choices["label"])
    ends = [choices[choices["label"] == action].iloc[-1] for action in named]
    heights = apart([end["y"] for end in ends], 0.065)
    for (action, (colour, marker, line)), end, height in zip(named.items(), ends, heights, strict=True):
        rows = choices[choices["label"] == action]
        axes.vlines(rows["x"], rows["low"], rows["high"], color=colour, linewidth=0.9, alpha=0.5)
        axes.plot(rows["x"], rows["y"], color=colour, marker=marker, linestyle=line, markersize=5, linewidth=1.4)
        axes.text(end["x"] + 0.035, height, action, color=colour, va="center", fontsize=8)


def _write_counts(axes: "Axes", choices: pd.DataFrame) -> None:
    """The number of decisions of each bin above its place."""
    bins = choices.drop_duplicates("x")
    for x, place, n in zip(bins["x"], apart(bins["x"].tolist(), 0.11), bins["n"], strict=True):
        axes.annotate(
            f"{n:,.0f}", (x, 1.0), (place, 1.05), xycoords=("data", "axes fraction"),
            textcoords=("data", "axes fraction"), ha="center", fontsize=6.5, color=GREY, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": PALE, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 0},
        )  # fmt: skip
    axes.text(-0.03, 1.05, "decisions", transform=axes.transAxes, ha="right", fontsize=6.5, color=GREY)


def _observed(axes: "Axes", outcome: pd.DataFrame) -> None:
    axes.vlines(outcome["x"], outcome["low"], outcome["high"], color=BLUE, linewidth=0.9, alpha=0.5, zorder=2)
    axes.plot(outcome["x"], outcome["y"], color=BLUE, linewidth=0.9, alpha=0.5, zorder=2)
    label = "observed, 95 % interval"
    axes.plot(outcome["x"], outcome["y"], color=BLUE, marker="o", markersize=5, linestyle="none", label=label)


def _true(axes: "Axes", truth: pd.DataFrame) -> None:
    if len(truth):
        axes.plot(
            truth["x"], truth["y"], color=VERMILLION, marker="D", markersize=4.5, markerfacecolor="white",
            linestyle="none", label="true probability",
        )  # fmt: skip


def _belief_bars(axes: "Axes", bars: pd.DataFrame) -> None:
    axes.bar(bars["x"], bars["y"], bars["x_to"] - bars["x"], align="edge", color=GREY, edgecolor="white", linewidth=0.5)
    axes.set(xlim=(-0.02, 1.02), xlabel=_REPORTED, ylabel="share")
    axes.set_xticks(np.arange(6) / 5)


def _beyond(axes: "Axes", beyond: pd.DataFrame) -> None:
    rows = beyond.set_index("label")
    named = styles(rows.index)
    for place, (action, (colour, marker, _)) in enumerate(named.items()):
        y, low, high = rows.loc[action, ["y", "low", "high"]]
        axes.vlines(place, low, high, color=colour, linewidth=1.2, alpha=0.6)
        axes.plot(place, y, color=colour, marker=marker, markersize=6)
    axes.axhline(0, color=GREY, linewidth=0.8, linestyle=DASHED, zorder=1)
    reach = max(0.1, 1.1 * beyond[["low", "high"]].abs().max(axis=None))
    axes.set(xlim=(-0.6, len(named) - 0.4), ylim=(-reach, reach), ylabel="difference from like beliefs")
    axes.locator_params(axis="y", nbins=6)
    axes.yaxis.set_major_formatter(lambda value, _: signed(value))
    below = [f"{action}\n{signed(rows.loc[action, 'y'])}\n{rows.loc[action, 'n']:,.0f}" for action in named]
    axes.set_xticks(range(len(named)), below)
    axes.set(xlabel="action, difference, number of decisions")
    axes.set_title("Beyond what the belief tells", pad=_ABOVE)


def _points(axes: "Axes", cases: pd.DataFrame) -> None:
    _diagonal(axes)
    axes.scatter(cases["x"], cases["y"], 14 * cases["n"], color=BLUE, alpha=0.45, linewidths=0, zorder=3)
    axes.set(aspect="equal", title="Mean of each case")


def _difference_bars(axes: "Axes", plotted: pd.DataFrame) -> None:
    bars = part(plotted, "differences")
    width = bars["x_to"] - bars["x"]
    axes.bar(bars["x"], bars["y"], width, align="edge", color=SKY, edgecolor="white", linewidth=0.4, label="observed")
    if bars["low"].notna().any():
        label = "if the prompt made no difference (95 %)"
        axes.fill_between(
            bars["x"] + width / 2, bars["low"], bars["high"], color=INK, alpha=0.35, linewidth=0, label=label
        )
        _legend_above(axes)
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=DASHED)
    values = part(plotted, "value").dropna(subset="y")
    texts = [f"{label} {y:.3f}".replace("-", "−") for label, y in zip(values["label"], values["y"], strict=True)]
    axes.set_title(", ".join(texts), pad=_ABOVE if bars["low"].notna().any() else None, fontsize=7)

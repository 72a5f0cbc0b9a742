"""Pictures of the controls: how often each rule rejects agents that keep a condition, and agents that break it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from belief_utils.reporting.canvas import (
    BLUE,
    DASHED,
    GREY,
    INK,
    ORANGE,
    PALE,
    SKY,
    VERMILLION,
    new_figure,
    write_heading,
)
from belief_utils.reporting.pictures import picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colour and marker of the rules that we decide from, and of the paper's, in turn. Hollow marks are the paper's.
_OURS = [(BLUE, "o"), (SKY, "s"), (INK, "D")]
_PAPERS = [(VERMILLION, "^"), (ORANGE, "v")]
_RESULT = "are_these_tests_right"


def rates_picture(
    name: str,
    rates: pd.DataFrame,
    rules: Sequence[str],
    title: str,
    *,
    headings: tuple[str, str] = ("Keeps the condition: false positives", "Breaks the condition: power"),
    saying: str = "rejected",
) -> Any:
    """Save and return the picture of some rules: false positives on the left, power on the right.

    Args:
        name: The picture's file name.
        rates: What rejection_rates gives, of one battery or several put together.
        rules: The rules to show, by name.
        title: What stands above.
        headings: What stands above the left and the right panel.
        saying: What the rules say of a data set, in one word.
    """
    chosen = rates[rates["rule"].isin(rules) & rates["should_reject"].notna()]
    sides = chosen["should_reject"].astype(int)
    heading = sides.map(dict(enumerate(headings)))
    plotted = chosen.assign(should_reject=sides, paper=chosen["paper"] * 1, title=title, heading=heading, saying=saying)
    order = {rule: place for place, rule in enumerate(rules)}
    plotted = plotted.sort_values("rule", key=lambda rule: rule.map(order), kind="stable")
    return picture(_RESULT, name, plotted.drop(columns="rejected"), draw_rates)


def draw_rates(plotted: pd.DataFrame) -> Figure:
    """Dots by agent and rule; the band is where 99 % of the rates of a calibrated rule lie."""
    sides = [plotted[plotted["should_reject"] == side] for side in (0, 1)]
    tallest = max(side["agent"].nunique() for side in sides)
    figure = new_figure((7, 1.4 + 0.25 * tallest))
    counted = " or ".join(f"{n:,}" for n in sorted(plotted["n"].unique()))
    foot = f"{counted} data sets an agent, 200 cases x 5 repetitions. Band: 99 % of rates if 5 % is true."
    hollow = " Hollow: not ours." if plotted["paper"].any() else ""
    write_heading(figure, plotted["title"].iloc[0], foot + hollow)
    styles = _styles(plotted)
    panels = figure.subplot_mosaic([["key", "key"], ["left", "right"]], height_ratios=[1, 4.5 * tallest])
    for axes, side in zip((panels["left"], panels["right"]), sides, strict=True):
        _dots(axes, side, styles)
        axes.set_title(side["heading"].iloc[0])
        axes.set_xlabel(f"share of data sets {side['saying'].iloc[0]}")
    _band(panels["left"], sides[0])
    panels["key"].set_axis_off()
    handles = [_key(panels["key"], rule, style) for rule, style in styles.items()]
    panels["key"].legend(handles=handles, loc="center", ncols=len(handles), handletextpad=0.2, borderpad=0)
    return figure


def _styles(plotted: pd.DataFrame) -> dict[str, tuple[str, str, bool]]:
    """Colour, marker and hollowness of each rule."""
    rules = plotted.drop_duplicates("rule")[["rule", "paper"]]
    turns = {0: iter(_OURS), 1: iter(_PAPERS)}
    return {rule: (*next(turns[paper]), bool(paper)) for rule, paper in rules.itertuples(index=False)}


def _dots(axes: Axes, side: pd.DataFrame, styles: dict[str, tuple[str, str, bool]]) -> None:
    agents = list(side["agent"].unique())
    shift = np.linspace(-0.24, 0.24, len(styles)) if len(styles) > 1 else [0.0]
    for (rule, (colour, marker, hollow)), by in zip(styles.items(), shift, strict=True):
        rows = side[side["rule"] == rule]
        height = np.array([agents.index(agent) for agent in rows["agent"]]) + by
        face = "white" if hollow else colour
        axes.plot(rows["rate"], height, marker, color=colour, markerfacecolor=face, markersize=4.5, clip_on=False)
    axes.set_yticks(range(len(agents)), agents)
    axes.set(xlim=(-0.02, 1.0), ylim=(len(agents) - 0.5, -0.5))
    axes.hlines(np.arange(1, len(agents)) - 0.5, 0, 1, color=PALE, linewidth=0.5, zorder=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")


def _band(axes: Axes, side: pd.DataFrame) -> None:
    widest = side.loc[side["n"].idxmax()]
    axes.axvspan(widest["low"], widest["high"], color=GREY, alpha=0.25, linewidth=0, zorder=0)
    axes.axvline(0.05, color=GREY, linewidth=0.8, linestyle=DASHED, zorder=1)


def _key(axes: Axes, rule: str, style: tuple[str, str, bool]) -> Any:
    colour, marker, hollow = style
    face = "white" if hollow else colour
    return axes.plot([], [], marker, color=colour, markerfacecolor=face, markersize=5, label=rule)[0]


def power_picture(rates: pd.DataFrame, rules: Sequence[str]) -> Any:
    """Save and return the picture of power against the size of the violation, with the formula of the planner.

    Args:
        rates: What rejection_rates gives; agents called ``hides H`` are shown, one of each H for each rule.
        rules: The rules to show, by name.
    """
    from belief_utils.beliefs.power import predicted_power, true_information

    chosen = rates[rates["rule"].isin(rules) & rates["agent"].str.startswith("hides")]
    hidden = chosen["agent"].str.extract(r"^hides ([\d.]+)", expand=False).astype(float)
    seen = chosen.assign(hidden=hidden, nats=hidden.map(true_information), paper=chosen["paper"] * 1)
    ladder = np.linspace(0, 1.6, 41)
    curve = [float(predicted_power(h, 200, 5)) for h in ladder]
    formula = pd.DataFrame({"rule": "formula", "hidden": ladder, "rate": curve, "paper": 0})
    columns = ["rule", "paper", "hidden", "nats", "rate"]
    return picture(_RESULT, "power", pd.concat([seen, formula]).reindex(columns=columns), draw_power)


def draw_power(plotted: pd.DataFrame) -> Figure:
    """Power by rule against hidden information, labelled in nats as well; the line is the planner's formula."""
    figure = new_figure((7, 3.2))
    write_heading(figure, "How small a violation is seen?", "200 cases x 5 repetitions, 5 % level.")
    axes = figure.subplots()
    formula, seen = plotted[plotted["rule"] == "formula"], plotted[plotted["rule"] != "formula"]
    axes.plot(formula["hidden"], formula["rate"], color=GREY, linewidth=1.4, label="score test, by formula")
    for rule, (colour, marker, hollow) in _styles(seen).items():
        rows = seen[seen["rule"] == rule]
        face, line = ("white", ":") if hollow else (colour, "none")
        axes.plot(
            rows["hidden"], rows["rate"], color=colour, marker=marker, markerfacecolor=face, linestyle=line, label=rule
        )
    sizes = seen.drop_duplicates("hidden")
    labels = [f"{hidden:g}\n{nats:.4f}" for hidden, nats in zip(sizes["hidden"], sizes["nats"], strict=True)]
    axes.set_xticks(sizes["hidden"], labels)
    axes.axhline(0.05, color=GREY, linewidth=0.8, linestyle=DASHED, zorder=0)
    axes.set(ylim=(-0.02, 1.02), xlim=(0, 1.6), ylabel="share of data sets rejected")
    axes.set_xlabel("hidden information h (log-odds), and what it is worth in nats")
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    axes.legend(loc="upper left")
    return figure

"""The picture of a rationalising agent: what it would do beside what was done, or what would have to change."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from belief_utils.beliefs.rationalise import Rationalisation
from belief_utils.errors import BeliefError
from belief_utils.reporting.canvas import (
    DASHED,
    GREY,
    PALE,
    VERMILLION,
    new_figure,
    styles,
    write_heading,
    write_no_answers,
)
from belief_utils.reporting.drawings import part
from belief_utils.reporting.pictures import picture
from belief_utils.reporting.plotted import Rows, frame_of, heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GAIN = "worth if true less worth if false"


def rationalisation_picture(result: str, name: str, found: Rationalisation, title: str, *, source: str) -> Any:
    """What an agent with the reported belief would do, beside what the model does.

    Left: the observed share of each action at each belief point, and over them the choices of the agent that was
    built, which change halfway between the points. Right: how far the choices determine the agent's utilities, with
    those that it has. Where no agent fits, left: the least change that would make one fit; right: the expected gain
    from the outcome under the utilities of that change, which must not fall, before and after, and the beliefs that
    clash.

    Args:
        result: the folder below ``figures/``.
        name: the files' name without an ending.
        found: what ``rationalise`` returned, for two outcome states.
        title: what stands above it.
        source: what the figures are (real, surrogate, illustrative or simulated), as it is to stand below it.

    Returns:
        An image to display. Where choices cannot tell, it says "no answers".

    Raises:
        BeliefError: there are more than two outcome states.
    """
    return picture(result, name, agent_rows(found, title, source), draw_agent)


def agent_rows(found: Rationalisation, title: str = "", source: str = "") -> pd.DataFrame:
    """What the picture shows, one row a mark, with the columns of ``plotted.COLUMNS``.

    Raises:
        BeliefError: there are more than two outcome states.
    """
    if found.beliefs.shape[1] != 2:
        raise BeliefError("the picture of an agent needs two outcome states")
    if found.fits is None:
        return frame_of(heading(title, source, ""))
    belief = found.beliefs.iloc[:, 1].to_numpy(dtype=float)
    counted = f"{len(belief)} belief points"
    if found.n_rows:
        counted += f" of {found.n_rows:,} answers about {found.n_cases:,} cases"
    rows = heading(title, source, counted) + _shares("observed", belief, found.choice_shares)
    return frame_of(rows + (_agent(found, belief) if found.fits else _departure(found, belief)))


def _shares(name: str, belief: np.ndarray, shares: pd.DataFrame) -> Rows:
    return [
        {"part": name, "label": str(action), "x": x, "y": y}
        for action in shares.columns
        for x, y in zip(belief, shares[action], strict=True)
    ]


def _agent(found: Rationalisation, belief: np.ndarray) -> Rows:
    edges = np.r_[0.0, (belief[1:] + belief[:-1]) / 2, 1.0]
    rows: Rows = []
    for low, high, x in zip(edges[:-1], edges[1:], belief, strict=True):
        mix = found.choose(x)
        rows += [
            {"part": "agent", "label": str(action), "x": low, "x_to": high, "y": mix[action]} for action in mix.index
        ]
    anchored = not found.anchored_ranges.empty
    ranges = found.anchored_ranges if anchored else found.ranges
    gains = found.agent.gains.iloc[:, 1]
    for action, ends in ranges.iterrows():
        # The free scale's utilities may lie outside the anchored ranges; then they are not shown there.
        inside = ends["least"] - 1e-6 <= gains[action] <= ends["largest"] + 1e-6
        value = gains[action] if inside else np.nan
        rows.append({"part": "range", "label": str(action), "y": value, "low": ends["least"], "high": ends["largest"]})
    return [*rows, {"part": "scale", "label": "negative 0, positive 1" if anchored else "least 0, greatest 1"}]


def _departure(found: Rationalisation, belief: np.ndarray) -> Rows:
    departure = found.departure
    gains = departure.utilities.iloc[:, 1].to_numpy()
    rows = _shares("mended", belief, departure.repaired)
    for name, shares in (("index", found.choice_shares), ("mended index", departure.repaired)):
        rows += [{"part": name, "x": x, "y": y} for x, y in zip(belief, shares.to_numpy() @ gains, strict=True)]
    rows += [{"part": "clash", "x": belief[point]} for point in departure.clash]
    return [*rows, {"part": "change", "y": departure.change}]


def draw_agent(plotted: pd.DataFrame) -> "Figure":
    """The drawing of :func:`agent_rows`."""
    figure = new_figure((7, 3.2))
    texts = {name: " ".join(part(plotted, name)["label"].astype(str)) for name in ("title", "source", "count")}
    write_heading(
        figure,
        texts["title"],
        ". ".join(text[0].upper() + text[1:] for text in (texts["source"], texts["count"]) if text),
    )
    if part(plotted, "observed").empty:
        write_no_answers(figure)
        return figure
    left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
    named = styles(part(plotted, "observed")["label"])
    _draw_shares(left, plotted, named)
    if part(plotted, "agent").empty:
        _draw_index(right, plotted)
    else:
        _draw_ranges(right, part(plotted, "range"), " ".join(part(plotted, "scale")["label"]), named)
    return figure


def _draw_shares(axes: "Axes", plotted: pd.DataFrame, named: dict[str, tuple[str, str, str]]) -> None:
    for action, (colour, marker, line) in named.items():
        observed, agent, mended = (
            rows[rows["label"] == action] for rows in (part(plotted, p) for p in ("observed", "agent", "mended"))
        )
        axes.plot(observed["x"], observed["y"], color=colour, marker=marker, linestyle="none", label=action, zorder=3)
        if len(agent):
            steps = np.r_[agent["y"], agent["y"].iloc[-1:]]
            edges = np.r_[agent["x"], agent["x_to"].iloc[-1:]]
            axes.step(edges, steps, where="post", color=colour, linestyle=line, linewidth=1.2)
        if len(mended):
            axes.plot(mended["x"], mended["y"], color=colour, linestyle=line, linewidth=1.2)
    what = "and what the agent would" if part(plotted, "mended").empty else "(marks) and the least change (lines)"
    axes.set(xlabel="reported probability", ylabel="share of decisions", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.set_title(f"What the model does {what}", pad=20)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=4, handletextpad=0.4, columnspacing=1.2)


def _draw_ranges(axes: "Axes", ranges: pd.DataFrame, scale: str, named: dict[str, tuple[str, str, str]]) -> None:
    order = [action for action in named if action in set(ranges["label"])]
    for place, action in enumerate(order):
        row = ranges[ranges["label"] == action].iloc[0]
        colour, marker, _ = named[action]
        axes.plot([row["low"], row["high"]], [place, place], color=PALE, linewidth=7, solid_capstyle="butt", zorder=1)
        axes.plot([row["y"]], [place], color=colour, marker=marker, linestyle="none", zorder=3)
    axes.set_yticks(range(len(order)), order)
    axes.set(xlabel=_GAIN, xlim=(-0.05, 1.05), ylim=(-0.6, len(order) - 0.4))
    axes.set_title(f"Utilities that fit ({scale})", pad=20)


def _draw_index(axes: "Axes", plotted: pd.DataFrame) -> None:
    for x in part(plotted, "clash")["x"]:
        axes.axvline(x, color=PALE, linewidth=5, zorder=0)
    before, after = part(plotted, "index"), part(plotted, "mended index")
    label = f"with {100 * part(plotted, 'change')['y'].iloc[0]:.3g} % of answers changed"
    axes.plot(before["x"], before["y"], color=VERMILLION, marker="o", linewidth=1.2, label="observed")
    axes.plot(after["x"], after["y"], color=GREY, linestyle=DASHED, linewidth=1.2, label=label)
    axes.set(xlabel="reported probability (grey: the beliefs that clash)", ylabel="gain of the mix of actions")
    axes.set(xlim=(-0.02, 1.02))
    axes.set_title("What must not fall as the belief rises", pad=20)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=2, handletextpad=0.4, columnspacing=1.2)

"""The picture of the measurements: seconds against rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from belief_utils.reporting.canvas import BLUE, GREY, new_figure, styles, write_heading

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_bench(plotted: pd.DataFrame) -> Figure:
    """Left: information by library. Right: the whole audit, with a line that grows as n log n."""
    figure = new_figure((7, 3.2))
    write_heading(figure, "Seconds against rows", "Processor time of one thread; both axes are logarithmic.")
    left, right = figure.subplots(1, 2)
    information = plotted[plotted["part"] == "information"]
    own = "belief-utils"
    for library, (colour, marker, line) in styles([n for n in information["library"].unique() if n != own]).items():
        rows = information[information["library"] == library]
        left.plot(rows["rows"], rows["seconds"], color=colour, marker=marker, linestyle=line, label=library)
    ours = information[information["library"] == own]
    left.plot(ours["rows"], ours["seconds"], color=BLUE, marker="o", linewidth=2, label="belief-utils")
    left.set_title("Conditional mutual information, k = 3")
    audit = plotted[plotted["part"] == "audit"]
    right.plot(audit["rows"], audit["seconds"], color=BLUE, marker="o", linewidth=2, label="the whole audit")
    n = audit["rows"].to_numpy(dtype=float)
    guide = audit["seconds"].iloc[-1] * n * np.log(n) / (n[-1] * np.log(n[-1]))
    right.plot(n, guide, color=GREY, linestyle=":", label="n log n through the last point")
    right.set_title("An audit, from CSV to page")
    for axes in (left, right):
        _logarithmic(axes)
    return figure


def _logarithmic(axes: Axes) -> None:
    axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
        axis.set_minor_formatter(lambda *_: "")
    axes.legend()
    axes.grid(color="#EEEEEE", linewidth=0.6)

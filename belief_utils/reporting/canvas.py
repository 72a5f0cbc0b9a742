"""What all drawings share: colours, an empty figure, its heading, labels that stand apart.

Colours are Okabe and Ito's; every colour comes with a marker or a line style of its own, so that it is never the only
sign.
"""

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Colour, marker and line style of each action, in the order of the belief that calls for it.
ACTIONS = {
    "negative": ("#0072B2", "v", "--"),
    "defer": ("#009E73", "s", ":"),
    "positive": ("#D55E00", "^", "-"),
}
#: The same for any other actions, in turn.
SPARE = [("#CC79A7", "D", "-."), ("#E69F00", "P", "--"), ("#56B4E9", "X", ":"), ("#000000", "o", "-")]
BLUE, SKY, ORANGE, VERMILLION = "#0072B2", "#56B4E9", "#E69F00", "#D55E00"
INK, GREY, PALE = "#222222", "#6E6E6E", "#D8D8D8"
DASHED = (0, (4, 3))


def styles(labels: Iterable[str]) -> dict[str, tuple[str, str, str]]:
    """Colour, marker and line style by action: negative, defer, positive, then others in the order given."""
    names = dict.fromkeys(str(label) for label in labels)
    others = [name for name in names if name not in ACTIONS]
    known = {name: style for name, style in ACTIONS.items() if name in names}
    return known | {name: SPARE[place % len(SPARE)] for place, name in enumerate(others)}


def apart(places: Sequence[float], gap: float, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """The places moved as little as need be for labels to stand ``gap`` apart and between ``low`` and ``high``.

    Where there is no room for that, they stand as far apart as there is room.
    """
    from scipy.optimize import isotonic_regression

    places = np.asarray(places, dtype=float)
    order = np.argsort(places, kind="stable")
    # Less what the rank asks for, order and gap become one condition: that places do not fall.
    steps = min(gap, (high - low) / max(len(places) - 1, 1)) * np.arange(len(places))
    level = isotonic_regression(places[order] - steps).x
    placed = np.empty(len(places))
    placed[order] = np.clip(level, low, high - steps[-1]) + steps
    return placed


def signed(value: float) -> str:
    """A difference with its sign and two decimals, and zero without."""
    text = f"{value:+.2f}".replace("-", "−")
    return "0" if text[1:] == "0.00" else text


def new_figure(size: tuple[float, float]) -> "Figure":
    """An empty figure of so many inches, which no notebook shows by itself."""
    from matplotlib.figure import Figure

    return Figure(figsize=size)


def write_heading(figure: "Figure", title: str, foot: str) -> None:
    """The title above and, small, below what the figures are; broken into lines that fit."""
    across = figure.get_figwidth()
    figure.suptitle(textwrap.fill(title, int(across * 12)), x=0.01, ha="left", fontweight="bold", color=INK)
    figure.supxlabel(textwrap.fill(foot, int(across * 19)), x=0.99, ha="right", color=GREY)


def write_no_answers(figure: "Figure") -> None:
    """What a picture says that has nothing to show."""
    axes = figure.subplots()
    axes.set_axis_off()
    axes.text(0.5, 0.5, "no answers", ha="center", va="center", fontsize=11, color=GREY, transform=axes.transAxes)

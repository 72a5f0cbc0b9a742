"""Pictures that are drawn from a small CSV beside them, and drawn again only when it or the drawing has changed."""

import inspect
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from belief_utils.reporting.results import digest, folder, write_if_changed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

#: Dots per inch of the PNG; a column of a paper is about 3.4 inches wide, a page about 7.
RESOLUTION = 200

#: Pixels per inch at which a notebook shows a picture.
_SHOWN = 100

#: Settings shared by all pictures: text that can be read at the width of a column.
STYLE = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "figure.titlesize": 9,
    "figure.labelsize": 6,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "font.family": "DejaVu Sans",
    # A title that somebody gives may hold dollar signs.
    "text.parse_math": False,
    "pdf.fonttype": 42,
    "figure.constrained_layout.use": True,
}


def picture(result: str, name: str, plotted: "pd.DataFrame", draw: "Callable[[pd.DataFrame], Figure]") -> Any:
    """Save what is plotted as CSV and its drawing as PNG and PDF, and return the PNG for display.

    Committed pictures must not change because a processor or a font library rounds differently. So the drawing sees
    only the rounded CSV, and a picture that was drawn from the same CSV by the same code is left as it is.

    Args:
        result: the folder below ``figures/``.
        name: the files' name without an ending.
        plotted: what is drawn; numbers are rounded to four significant digits, whole numbers kept.
        draw: makes the figure from ``plotted`` as it stands in the CSV. It should use ``matplotlib.figure.Figure``
            rather than ``pyplot``, whose state belongs to the notebook.

    Returns:
        An ``IPython.display.Image``.
    """
    from IPython.display import Image

    path = folder(result) / f"{name}.csv"
    text = _as_csv(plotted)
    write_if_changed(path, text.encode())
    stamp = digest(text, *_code_of(draw), repr((STYLE, RESOLUTION)))
    png, pdf = path.with_suffix(".png"), path.with_suffix(".pdf")
    if not (_is_drawn_from(png, stamp) and _is_drawn_from(pdf, stamp)):
        _draw(text, draw, png, pdf, stamp)
    content = png.read_bytes()
    alternative = f"{name}; its numbers are in figures/{result}/{name}.csv"
    return Image(data=content, width=round(_pixels_across(content) * _SHOWN / RESOLUTION), alt=alternative)


def _as_csv(plotted: "pd.DataFrame") -> str:
    numbers = plotted.select_dtypes("floating").columns
    # A value such as .40125 would be rounded up or down by its last bit; ten decimals take that bit away, and zero
    # added turns -0 into 0.
    steady = plotted.assign(**{name: plotted[name].round(10) + 0.0 for name in numbers})
    return steady.to_csv(index=False, float_format="%.4g", lineterminator="\n")


def _code_of(draw: Callable) -> list[str]:
    """The source that a drawing depends on: its module, and what that takes from modules beside this one."""
    if draw.__module__ == "__main__":
        return [inspect.getsource(draw)]
    used = {getattr(value, "__module__", None) for value in vars(sys.modules[draw.__module__]).values()}
    beside = {name for name in used if name and name.startswith(f"{__package__}.") and name != __name__}
    return [inspect.getsource(sys.modules[name]) for name in sorted({draw.__module__, *beside})]


def _draw(text: str, draw: "Callable[[pd.DataFrame], Figure]", png: Path, pdf: Path, stamp: str) -> None:
    import matplotlib.style
    import pandas as pd

    # "default" first: a reader's own matplotlib settings must not show.
    with matplotlib.style.context(["default", STYLE]):
        # Only an empty field is missing; a label may be called "None".
        figure = draw(pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""]))
        # One layout for both files, as large letters as in the PNG.
        figure.set_dpi(RESOLUTION)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        drawn = [
            (pdf, {"CreationDate": None, "Producer": None, "Creator": None, "Keywords": stamp}),
            (png, {"Software": None, "drawn-from": stamp}),
        ]
        contents = [_saved(figure, path.suffix[1:], metadata) for path, metadata in drawn]
    for (path, _), content in zip(drawn, contents, strict=True):
        write_if_changed(path, content)


def _saved(figure: "Figure", kind: str, metadata: dict[str, str | None]) -> bytes:
    content = io.BytesIO()
    figure.savefig(content, format=kind, dpi=RESOLUTION, metadata=metadata)
    return content.getvalue()


def _is_drawn_from(path: Path, stamp: str) -> bool:
    """Whether a picture carries this stamp, which both formats keep as plain text."""
    return path.is_file() and stamp.encode() in path.read_bytes()


def _pixels_across(png: bytes) -> int:
    # The width is the first number of the header, which every PNG starts with.
    return int.from_bytes(png[16:20], "big")

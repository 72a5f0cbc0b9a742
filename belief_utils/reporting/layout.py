"""A table of texts, written as Markdown for people and as LaTeX for papers."""

from collections.abc import Sequence

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "−": r"$-$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "<": "$<$",
    ">": "$>$",
    "·": r"$\cdot$",
    "γ": r"$\gamma$",
    "Δ": r"$\Delta$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "√": r"$\surd$",
}


def number(value: float | None, decimals: int) -> str:
    """A number for a table, with a true minus sign; an en dash where there is none."""
    if value is None or value != value:
        return "–"
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def interval(low: float | None, high: float | None, decimals: int) -> str:
    """An interval for a table."""
    if low is None or high is None or low != low or high != high:
        return "–"
    return f"[{number(low, decimals)}, {number(high, decimals)}]"


def p_value(value: float | None) -> str:
    """A p value for a table, never 0."""
    if value is None or value != value:
        return "–"
    return "<.001" if value < 0.001 else f"{value:.3f}".lstrip("0") if value < 1 else "1"


def share(part: float | None, whole: float | None) -> str:
    """A share in whole percent; "100 %" only where nothing is missing, "0 %" only where all is."""
    if not whole or part is None:
        return "–"
    percent = 100 * part / whole
    if 0 < part < whole and not 0.5 <= percent < 99.5:
        return f"{min(max(percent, 0.1), 99.9):.1f} %"
    return f"{percent:.0f} %"


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str, notes: Sequence[str]) -> str:
    """A table as GitHub's Markdown: caption, table, notes."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = (
        "|"
        + "|".join([" --- ", *[" ---: " if _is_numeric(rows, k) else " --- " for k in range(1, len(headings))]])
        + "|"
    )
    body = [line(headings), rule, *[line(row) for row in rows]]
    return "\n".join([f"**{caption}**", "", *body, "", *[f"- {note}" for note in notes]]) + "\n"


def latex(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str, notes: Sequence[str]) -> str:
    """A table as LaTeX, with booktabs' rules."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join("".join(_LATEX.get(character, character) for character in cell) for cell in cells) + r" \\"

    columns = "l" + "".join("r" if _is_numeric(rows, k) else "l" for k in range(1, len(headings)))
    escaped = line([caption]).removesuffix(r" \\")
    told = " ".join(line([note]).removesuffix(r" \\") for note in notes)
    body = [line(headings), r"\midrule", *[line(row) for row in rows]]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{escaped}}}",
            r"\small",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            rf"\par\smallskip\footnotesize {told}",
            r"\end{table}",
            "",
        ]
    )


def _is_numeric(rows: Sequence[Sequence[str]], column: int) -> bool:
    cells = [row[column] for row in rows if row[column] not in ("", "–")]
    return bool(cells) and all(cell[:1].isdigit() or cell[:1] in "−.<[" for cell in cells)

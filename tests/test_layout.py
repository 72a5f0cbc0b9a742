"""Tables as text: numbers, intervals, p values and shares, in Markdown and LaTeX."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.reporting.layout import interval, latex, markdown, number, p_value, share
from belief_utils.reporting.tables import TABLES


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        (1.005, 3, "1.005"),
        (-0.5, 1, "−0.5"),
        (-0.0004, 3, "0.000"),
        (0.0, 2, "0.00"),
        (-12.0, 0, "−12"),
        (None, 2, "–"),
        (math.nan, 2, "–"),
    ],
)
def test_numbers_have_a_true_minus_sign_and_no_minus_zero(value: float | None, decimals: int, shown: str) -> None:
    assert number(value, decimals) == shown


def test_an_interval_is_shown_whole_or_not_at_all() -> None:
    assert interval(-0.25, 1, 2) == "[−0.25, 1.00]"
    assert interval(None, 1, 2) == interval(0, math.nan, 2) == "–"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "<.001"), (0.00099, "<.001"), (0.001, ".001"), (0.0449, ".045"), (1, "1"), (None, "–"), (math.nan, "–")],
)
def test_a_p_value_is_never_zero(value: float | None, shown: str) -> None:
    assert p_value(value) == shown


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (1000, 1000, "100 %"),
        (999, 1000, "99.9 %"),
        (99_999, 100_000, "99.9 %"),
        (1, 100_000, "0.1 %"),
        (0, 1000, "0 %"),
        (1, 3, "33 %"),
        (3, 0, "–"),
        (None, 10, "–"),
        (10, None, "–"),
    ],
)
def test_shares(part: int | None, whole: int | None, shown: str) -> None:
    assert share(part, whole) == shown


@given(st.integers(1, 10**6), st.data())
def test_only_all_is_100_and_only_nothing_is_0_percent(whole: int, data: st.DataObject) -> None:
    part = data.draw(st.integers(0, whole))
    shown = share(part, whole)
    assert (shown in ("100 %", "100.0 %")) == (part == whole)
    assert (shown in ("0 %", "0.0 %")) == (part == 0)
    assert abs(float(shown.removesuffix(" %")) - 100 * part / whole) <= 0.5


ROWS = [["Heart–Small", "real", "−0.5 [−1.0, 0.0]", "–"], ["a|b", "simulated", "<.001", "–"]]


def test_markdown_has_a_line_a_row_and_aligns_numbers() -> None:
    text = markdown(["", "Source", "γ", "Empty"], ROWS, "Caption.", ["First.", "Second."])
    assert text == (
        "**Caption.**\n\n"
        "|  | Source | γ | Empty |\n"
        "| --- | --- | ---: | --- |\n"
        "| Heart–Small | real | −0.5 [−1.0, 0.0] | – |\n"
        "| a\\|b | simulated | <.001 | – |\n\n"
        "- First.\n- Second.\n"
    )


def test_latex_escapes_what_latex_reads_otherwise() -> None:
    cells = ["50 % of A_B & C #1 {x} ~ ^ $5 \\n", "real", "−0.5 ± 1", "<.001"]
    text = latex(["", "Source", "γ", "p"], [cells], "Share of 100 %", ["Note & more"])
    row = r"50 \% of A\_B \& C \#1 \{x\} \textasciitilde{} \textasciicircum{} \$5 \textbackslash{}n"
    assert rf"{row} & real & $-$0.5 $\pm$ 1 & $<$.001 \\" in text.splitlines()
    assert r" & Source & $\gamma$ & p \\" in text.splitlines()
    assert r"\begin{tabular}{llrr}" in text
    assert r"\caption{Share of 100 \%}" in text
    assert r"\par\smallskip\footnotesize Note \& more" in text


@given(st.text(alphabet="ab&%$#_{}~^\\<>|–−±×γΔ·≥≤√ ", max_size=30))
def test_latex_leaves_no_character_bare(cell: str) -> None:
    text = latex(["", ""], [[cell, "x"]], cell, [cell]).split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert text.isascii()
    shown = re.sub(r"\\text\w+\{\}|\\[&%$#_{}]|\$[^$]*\$", "", text.removesuffix("\n").rstrip().removesuffix(r"& x \\"))
    assert not set(shown) & set("&%$#_{}~^\\<>")


@pytest.mark.parametrize("result", TABLES)
def test_every_heading_and_note_of_our_tables_can_be_set_in_latex(result: str) -> None:
    table = TABLES[result]
    assert latex(["", *table.columns], [["", *["–"] * len(table.columns)]], table.caption, table.notes).isascii()


def test_a_table_without_rows_is_a_heading() -> None:
    assert markdown(["", "Source"], [], "Caption", []) == "**Caption**\n\n|  | Source |\n| --- | --- |\n\n"
    assert r"\begin{tabular}{ll}" in latex(["", "Source"], [], "Caption", [])

"""The tables as they are written: which rows, what stands in a cell, and the three formats."""

import csv
import io
from pathlib import Path

import pandas as pd
import pytest

from belief_utils.reporting.results import folder, save_row
from belief_utils.reporting.tables import TABLES, table_frame, write_table
from tests import small_home

TABLE1 = "table1_belief_sufficiency"
TABLE2 = "table2_monotonicity"
FIGURE1 = "figure1_iterated_expectation"


@pytest.fixture(autouse=True)
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BELIEF_HOME", str(small_home.make(tmp_path, cases=2)))
    return tmp_path


def keep_table1(model: str = "small", dataset: str = "heart", **more: object) -> None:
    values = {
        "n_cases": 200,
        "belief_answers": 1000,
        "belief_read": 999,
        "belief_sum_off": 12,
        "action_answers": 1000,
        "action_read": 1000,
        "cmi": -0.0125,
        "cmi_low": -0.03,
        "cmi_high": 0.005,
        "excess": 0.012,
        "excess_low": None,
        "excess_high": None,
        "p_value": 0.0004,
        "adjusted_p_value": 0.02,
        "df": 2,
        "verdict": "knows more than it says",
    }
    save_row(TABLE1, model, dataset, values | more)


def lines(result: str, name: str = "table.md") -> list[str]:
    return (folder(result) / name).read_text(encoding="utf-8").splitlines()


def cells(result: str, label: str, source: str) -> dict[str, str]:
    """A row of the Markdown table by heading."""
    headings, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines(result) if line[:1] == "|")
    (row,) = [row for row in rows if row[:2] == [label, source]]
    return dict(zip(headings, row, strict=True))


def test_a_row_as_it_stands_in_the_table() -> None:
    keep_table1()
    write_table(TABLE1)
    assert cells(TABLE1, "Heart–Small", "surrogate") == {
        "": "Heart–Small",
        "Source": "surrogate",
        "CMI [95 % CI]": "−0.0125 [−0.0300, 0.0050]",
        "Forest gain % [95 % CI]": "–",
        "Excess CMI [95 % CI]": "0.0120",
        "Logistic gain % [95 % CI]": "–",
        "p": "<.001",
        "p (Holm)": "<.001",
        "p (noise-adjusted)": ".020",
        "Verdict (after Holm)": "knows more than it says",
        "Cases": "200",
        "Answers read": "99.9 % / 100 %",
    }


def test_a_published_row_is_marked_and_has_the_papers_numbers_only() -> None:
    keep_table1()
    write_table(TABLE1)
    row = cells(TABLE1, "Heart–GPT-5 high", "published")
    assert row["CMI [95 % CI]"] == "0.0753 [0.0422, 0.1085]"
    assert {row[name] for name in ("p", "Verdict (after Holm)", "Cases", "Answers read")} == {"–"}
    assert cells(TABLE1, "Average: GPT-5 high", "published")["Forest gain % [95 % CI]"] == "4.89 [1.25, 8.53]"


def test_notes_say_where_numbers_come_from_and_only_what_is_there() -> None:
    keep_table1()
    write_table(TABLE1)
    (source,) = [line for line in lines(TABLE1) if line.startswith("- Source: ")]
    assert source.startswith(
        "- Source: published = the authors' own numbers (arXiv 2602.06286); surrogate = published "
    )
    assert "illustrative" not in source
    keep_table1("candid", "fever")
    write_table(TABLE1)
    (source,) = [line for line in lines(TABLE1) if line.startswith("- Source: ")]
    assert "simulated = agents whose answers are known, as controls" in source


def test_answers_from_several_versions_of_a_model_are_told_below_the_table() -> None:
    keep_table1()
    keep_table1("other")
    write_table(TABLE1)
    assert not [line for line in lines(TABLE1) if "WARNING" in line]
    keep_table1(versions={"m-1 / fp": 1200, "m-2 / fp": 300})
    write_table(TABLE1)
    told = [line for line in lines(TABLE1) if "WARNING" in line]
    assert told == [
        "- WARNING: Heart–Small: the answers come from 2 versions of the model: 1,200 from m-1 / fp, 300 from m-2 / fp"
    ]
    assert "WARNING: Heart--Small: the answers" in (folder(TABLE1) / "table.tex").read_text(encoding="utf-8")
    assert "versions" not in (folder(TABLE1) / "table.csv").read_text(encoding="utf-8")


def test_csv_holds_every_value_tidily() -> None:
    keep_table1(cmi=1 / 3, choice_shares={"positive": [1.0]})
    write_table(TABLE1)
    rows = list(csv.DictReader(io.StringIO((folder(TABLE1) / "table.csv").read_text(encoding="utf-8"))))
    (ours,) = [row for row in rows if row["model"] == "small" and row["dataset"] == "heart"]
    assert ours["cmi"] == "0.333333"
    assert (ours["excess_low"], ours["n_cases"], ours["belief_sum_off"]) == ("", "200", "12")
    assert (ours["source"], ours["status"], ours["kind"]) == ("surrogate", "surrogate", "local")
    assert ours["holm_p_value"] == "0.0004"
    assert "choice_shares" not in ours
    assert [row["source"] for row in rows].count("published") == 5
    assert None not in rows[0]
    text = (folder(TABLE1) / "table.csv").read_bytes()
    assert b"\r" not in text
    assert b"nan" not in text


def test_latex_holds_the_same_rows_and_can_be_set() -> None:
    keep_table1()
    keep_table1("candid")
    write_table(TABLE1)
    text = (folder(TABLE1) / "table.tex").read_text(encoding="utf-8")
    assert text.isascii()
    assert r"Heart--Small & surrogate & $-$0.0125 [$-$0.0300, 0.0050] & " in text
    assert r"99.9 \% / 100 \% \\" in text
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
    table = [line for line in lines(TABLE1) if line.startswith("| ")][2:]
    assert body.count(r"\\") == len(table)
    assert {line.count(" & ") for line in body.strip().splitlines()} == {11}


def test_shares_of_choices_in_the_lowest_and_the_highest_bin() -> None:
    shares = {"negative": [0.9, 0.5, 0.0], "positive": [0.0, 0.25, 0.995]}
    values = {"gamma": -0.01, "gamma_low": -0.2, "gamma_high": 0.1, "lower_bound": -0.3, "upper_bound": 0.2}
    save_row(TABLE2, "small", "heart", {**values, "choice_shares": shares, "n_bins": 3, "n_changes": 2})
    save_row(TABLE2, "other", "heart", {"gamma": None, "choice_shares": {}, "n_bins": 0, "n_changes": 0})
    write_table(TABLE2)
    row = cells(TABLE2, "Heart–Small", "surrogate")
    assert row["Shares −/defer/+"] == "90/0/0 to 0/0/100"
    assert row["γ [95 % CI]"] == "−0.010 [−0.200, 0.100]"
    assert (row["Bounds"], row["Bins"]) == ("[−0.300, 0.200]", "3")
    row = cells(TABLE2, "Heart–Other", "surrogate")
    assert (row["Shares −/defer/+"], row["γ [95 % CI]"], row["Bins"], row["Changes"]) == ("–", "–", "0", "0")


def test_writing_again_changes_nothing_and_says_so() -> None:
    keep_table1()
    assert [path.name for path in write_table(TABLE1)] == ["table.csv", "table.md", "table.tex"]
    before = {path: path.stat().st_mtime_ns for path in folder(TABLE1).glob("table.*")}
    assert write_table(TABLE1) == []
    assert {path: path.stat().st_mtime_ns for path in folder(TABLE1).glob("table.*")} == before
    keep_table1(n_cases=100)
    assert len(write_table(TABLE1)) == 3


@pytest.mark.parametrize("result", TABLES)
def test_a_table_without_rows_of_ours_can_be_written(result: str) -> None:
    write_table(result)
    assert lines(result)[0].startswith("**")
    frame = table_frame(result)
    assert list(frame.columns) == ["Source", *TABLES[result].columns]
    assert set(frame["Source"]) <= {"published"}
    if result == FIGURE1:
        assert frame.empty
        assert lines(result)[-1].startswith("- Source: no row yet.")
        assert (folder(result) / "table.csv").read_text(encoding="utf-8").strip() == ""


def test_a_notebook_shows_the_same_texts() -> None:
    keep_table1(forest_gain=1.5)
    keep_table1("candid", "fever", forest_gain=2.5)
    frame = table_frame(TABLE1)
    assert isinstance(frame, pd.DataFrame)
    assert frame.loc["Heart–Small", "Answers read"] == "99.9 % / 100 %"
    # Averages stand last, simulated ones at their foot.
    assert list(frame.index[-3:]) == [
        "Average: Small",
        "Average: Structural heart disease",
        "Average: Simulated, candid",
    ]
    only = table_frame(TABLE1, dataset="fever")
    assert list(only.index) == ["Fever–GPT-5 high", "Fever–Simulated, candid"]

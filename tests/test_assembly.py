"""Tables and the pictures of all rows, put together from whatever rows there are."""

from pathlib import Path

import pandas as pd
import pytest

from belief_utils.reporting import pictures
from belief_utils.reporting.assembly import assemble
from belief_utils.reporting.results import folder, save_row
from tests import small_home

TABLE1 = "table1_belief_sufficiency"
FIGURE1 = "figure1_iterated_expectation"


@pytest.fixture(autouse=True)
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BELIEF_HOME", str(small_home.make(tmp_path, cases=2)))
    monkeypatch.setattr(pictures, "RESOLUTION", 50)
    monkeypatch.setitem(pictures.STYLE, "pdf.fonttype", 3)
    return tmp_path


def stamps(result: str) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder(result).glob("*.*")}


def test_the_overview_shows_the_adjusted_verdicts_of_every_row_but_the_published_ones() -> None:
    for model, p_value in (("small", 0.03), ("other", 0.04), ("candid", 0.9)):
        values = {"cmi": 0.1, "excess": 0.02, "excess_low": 0.01, "excess_high": 0.03, "df": 2}
        values |= {"p_value": p_value, "adjusted_p_value": p_value, "verdict": "knows more than it says"}
        save_row(TABLE1, model, "heart", values)
    written = {path.name for path in assemble(TABLE1)}
    assert written == {"table.csv", "table.md", "table.tex", "overview.csv", "overview.png", "overview.pdf"}
    shown = pd.read_csv(folder(TABLE1) / "overview.csv")
    assert list(shown["model_label"]) == ["Small", "Other", "Simulated, candid"]
    assert set(shown["verdict"]) == {"no evidence that it knows more than it says"}
    before = stamps(TABLE1)
    assert assemble(TABLE1) == []
    assert stamps(TABLE1) == before


def test_figure_1_is_drawn_from_its_rows() -> None:
    values = {"median_ratio": 0.4, "noise_floor": 0.1, "baseline": 0.2, "n_cases": 5}
    save_row(FIGURE1, "small", "fever", values)
    written = {path.name for path in assemble(FIGURE1)}
    assert written == {"table.csv", "table.md", "table.tex", "figure1.csv", "figure1.png", "figure1.pdf"}
    shown = pd.read_csv(folder(FIGURE1) / "figure1.csv")
    assert shown[["dataset", "model", "kind", *values]].to_dict("records") == [
        {"dataset": "fever", "model": "small", "kind": "local", **values}
    ]


@pytest.mark.parametrize(
    "result", ["table2_monotonicity", "table3_prompt_consistency", "table4_calibrated_beliefs", "ways_to_ask"]
)
def test_other_tables_are_tables_only(result: str) -> None:
    save_row(result, "small", "fever", {"n_cases": 5})
    assert {path.name for path in assemble(result)} == {"table.csv", "table.md", "table.tex"}


def test_only_files_that_changed_are_named() -> None:
    save_row("table2_monotonicity", "small", "fever", {"gamma": 0.1, "not_shown": 1})
    assemble("table2_monotonicity")
    save_row("table2_monotonicity", "small", "fever", {"gamma": 0.1, "not_shown": 2})
    assert [path.name for path in assemble("table2_monotonicity")] == ["table.csv"]


@pytest.mark.parametrize("result", [TABLE1, FIGURE1])
def test_pictures_can_be_drawn_without_any_row(result: str) -> None:
    assert len(assemble(result)) == 6

"""The rows of a table: ours beside the published ones, averages by the paper's rules, p values for their number."""

from pathlib import Path

import pytest

from belief_utils.beliefs.sufficiency import KNOWS_MORE, NO_EVIDENCE, REPORT_NOISE, holm
from belief_utils.reporting.gathering import averages, measured
from belief_utils.reporting.results import save_row
from belief_utils.reporting.tables import CALIBRATED, COHERENCE, CONSISTENCY, MONOTONICITY, SUFFICIENCY, TABLES, Table
from tests import small_home

ALL = ("heart", "crying", "fever", "diabetes")


@pytest.fixture(autouse=True)
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BELIEF_HOME", str(small_home.make(tmp_path, ALL, cases=2)))
    return tmp_path


def keep(model: str, dataset: str, p_value: float | None, adjusted: float | None = None, **more: object) -> None:
    """Keep a row of Table 1 with a test's p values."""
    values = {"p_value": p_value, "adjusted_p_value": adjusted, "df": 2, "verdict": "of this row alone"}
    save_row(SUFFICIENCY.rules.result, model, dataset, values | more)


def places(rows: list[dict]) -> list[tuple[str, str, str]]:
    return [(row["dataset"], row["model"], row["source"]) for row in rows]


def test_published_rows_stand_before_ours_dataset_by_dataset_and_simulated_ones_at_the_foot() -> None:
    for model in ("hiding", "candid", "small", "gpt5-high"):
        keep(model, "heart", 0.5)
    keep("candid", "crying", 0.5)
    keep("small", "diabetes", 0.5)
    assert places(measured(SUFFICIENCY.rules)) == [
        ("heart", "gpt5-high", "published"),
        ("heart", "gpt5-high", "surrogate"),
        ("heart", "small", "surrogate"),
        ("crying", "gpt5-high", "published"),
        ("fever", "gpt5-high", "published"),
        ("diabetes", "gpt5-high", "published"),
        ("diabetes", "small", "real"),
        ("heart", "candid", "simulated"),
        ("heart", "hiding", "simulated"),
        ("crying", "candid", "simulated"),
    ]
    labels = [row["label"] for row in measured(SUFFICIENCY.rules)]
    assert labels[:3] == ["Heart–GPT-5 high", "Heart–GPT-5 high", "Heart–Small"]
    assert labels[-1] == "Cry–Simulated, candid"


def test_a_published_row_says_what_the_paper_prints_and_nothing_else() -> None:
    row = measured(SUFFICIENCY.rules)[0]
    assert {name: row[name] for name in ("cmi", "cmi_low", "cmi_high", "forest_gain")} == {
        "cmi": 0.0753,
        "cmi_low": 0.0422,
        "cmi_high": 0.1085,
        "forest_gain": 9.93,
    }
    assert row["row"] == "Heart–GPT-High"
    assert not {"p_value", "holm_p_value", "verdict", "n_cases", "holm_verdict"} & set(row)


def test_models_and_datasets_that_are_not_registered_have_no_row() -> None:
    keep("no-such-model", "heart", 0.5)
    keep("small", "no-such-dataset", 0.5)
    assert {source for _, _, source in places(measured(SUFFICIENCY.rules))} == {"published"}


def test_p_values_are_adjusted_for_models_and_for_simulated_agents_each_for_themselves() -> None:
    ours = {("small", "heart"): 0.02, ("small", "crying"): 0.03, ("other", "heart"): 0.2}
    simulated = {("candid", "heart"): 0.04, ("hiding", "heart"): 0.001}
    for (model, dataset), p_value in (ours | simulated).items():
        keep(model, dataset, p_value, adjusted=p_value / 2)
    found = {(row["model"], row["dataset"]): row for row in measured(SUFFICIENCY.rules) if row["source"] != "published"}
    for group in (ours, simulated):
        for divisor, name in ((1, "holm_p_value"), (2, "holm_adjusted_p_value")):
            expected = holm([p_value / divisor for p_value in group.values()])
            assert [found[pair][name] for pair in group] == pytest.approx(expected)
    assert found["small", "heart"]["holm_p_value"] == pytest.approx(0.06)
    assert found["hiding", "heart"]["holm_p_value"] == pytest.approx(0.002)


def test_the_verdict_is_the_one_after_the_adjustment() -> None:
    keep("small", "heart", 0.04, 0.001)
    assert measured(SUFFICIENCY.rules)[1]["holm_verdict"] == KNOWS_MORE
    keep("small", "crying", 0.001, 0.03)
    keep("small", "fever", 0.9, 0.9)
    verdicts = {row["dataset"]: row["holm_verdict"] for row in measured(SUFFICIENCY.rules) if row["model"] == "small"}
    assert verdicts == {"heart": NO_EVIDENCE, "crying": REPORT_NOISE, "fever": NO_EVIDENCE}


def test_a_row_without_a_test_keeps_its_own_verdict_and_counts_for_no_adjustment() -> None:
    keep("small", "heart", None)
    keep("small", "crying", 0.03, 0.001)
    rows = {row["dataset"]: row for row in measured(SUFFICIENCY.rules) if row["model"] == "small"}
    assert rows["heart"]["holm_verdict"] == "of this row alone"
    assert "holm_p_value" not in rows["heart"]
    assert rows["crying"]["holm_p_value"] == pytest.approx(0.03)


def test_a_test_without_information_keeps_its_own_verdict() -> None:
    keep("small", "heart", 1.0, df=0)
    assert measured(SUFFICIENCY.rules)[1]["holm_verdict"] == "of this row alone"


@pytest.mark.parametrize(("table", "rounding"), [(SUFFICIENCY, 0.015), (CONSISTENCY, 0.00015)])
def test_our_averages_follow_the_rule_of_the_published_ones(table: Table, rounding: float, top: Path) -> None:
    """The published rows, taken as ours, give the published averages to the last digit but for rounding."""
    text = small_home.MODELS.replace("[small]", "[llama4-scout]").replace("[other]", "[deepseek-r1]")
    text += '[gpt5-minimal]\nname = "GPT-5 minimal"\nkind = "local"\nmodel = "gpt-5"\n'
    (top / "data" / "models.toml").write_text(text)
    for row in measured(table.rules):
        values = {name: row[name] for name in table.rules.averaged}
        save_row(table.rules.result, row["model"], row["dataset"], values)
    rows = averages(table.rules)
    published = {(row["dataset"], row["model"]): row for row in rows if row["source"] == "published"}
    ours = {(row["dataset"], row["model"]): row for row in rows if row["source"] != "published"}
    assert published.keys() == ours.keys()
    for place, row in published.items():
        values = [name for name in row if name.startswith(table.rules.averaged)]
        assert values
        assert [ours[place][name] for name in values] == pytest.approx([row[name] for name in values], abs=rounding)
        assert ours[place]["label"] == row["label"]


def test_averages_leave_simulated_agents_to_themselves() -> None:
    for model, gain in (("small", 1.0), ("other", 3.0), ("candid", 100.0)):
        for dataset in ("heart", "fever"):
            save_row(SUFFICIENCY.rules.result, model, dataset, {"forest_gain": gain, "p_value": None})
    rows = [row for row in averages(SUFFICIENCY.rules) if row["source"] != "published"]
    found = [(row["label"], row["source"], row["forest_gain"]) for row in rows]
    assert found == [
        ("Average: Small", "surrogate, illustrative", 1.0),
        ("Average: Other", "surrogate, illustrative", 3.0),
        ("Average: Structural heart disease", "surrogate", 2.0),
        ("Average: Fever in a small child", "illustrative", 2.0),
        ("Average: Simulated, candid", "simulated", 100.0),
    ]
    assert rows[2]["forest_gain_low"] == pytest.approx(2 - 1.96 / 2**0.5)


def test_an_average_leaves_out_what_is_missing_and_there_is_none_of_nothing() -> None:
    for dataset, margin in (("heart", 0.1), ("crying", None), ("fever", 0.3)):
        save_row(MONOTONICITY.rules.result, "small", dataset, {"gamma": margin})
    rows = {row["label"]: row for row in averages(MONOTONICITY.rules)}
    assert rows["Average: Small"]["gamma"] == pytest.approx(0.2)
    assert set(rows) == {"Average: Small", "Average: Structural heart disease", "Average: Fever in a small child"}
    assert "gamma_low" not in rows["Average: Small"]


def test_tables_without_rows_or_averages_are_empty() -> None:
    assert measured(CALIBRATED.rules) == measured(COHERENCE.rules) == []
    assert averages(CALIBRATED.rules) == averages(COHERENCE.rules) == []
    assert len(TABLES) == 6

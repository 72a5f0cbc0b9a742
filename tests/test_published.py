"""The published numbers, checked against one another: averages from rows, symmetry of intervals, counts."""

from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

PUBLISHED = Path(__file__).parents[1] / "data" / "published"
DATASETS = ["heart", "crying", "fever", "diabetes"]
MODELS = ["gpt5-minimal", "gpt5-high", "llama4-scout", "deepseek-r1"]

# Printed averages whose last digit differs when they are taken over the printed, rounded rows.
OTHER_LAST_DIGIT = {
    ("GPT-High", "forest_gain_high"),
    ("Llama", "forest_gain_high"),
    ("DeepSeek-R1", "forest_gain_low"),
    ("Cry", "forest_gain_low"),
    ("Fever", "forest_gain_low"),
    ("Diabetes", "forest_gain"),
    ("Diabetes", "forest_gain_high"),
    ("Mean: DeepSeek", "within_sd"),
}


def published(name):
    """The table with every statistic as an exact decimal, so that a tie in rounding is seen as a tie."""
    frame = pd.read_csv(PUBLISHED / f"{name}.csv", dtype=str, keep_default_na=False)
    keys = {"dataset", "model", "row", "key", "section", "statement"}
    return frame.assign(**{c: frame[c].map(Decimal) for c in frame.columns if c not in keys})


def members(rows, group):
    """The rows that an average is taken over."""
    for key in ("dataset", "model"):
        if group[key] != "all":
            rows = rows[rows[key] == group[key]]
    return rows


def group_average(values):
    """Mean and mean -+ 1.96 * SD(ddof=0) / sqrt(n), in decimals."""
    n = len(values)
    mean = sum(values) / n
    sd = (sum((value - mean) ** 2 for value in values) / n).sqrt()
    half = Decimal("1.96") * sd / Decimal(n).sqrt()
    return mean, mean - half, mean + half


def recomputed():
    """Each average: label, statistic, printed, recomputed from the rows, last printed digit, n."""
    rows, averages = published("table1_sufficiency"), published("table1_averages")
    for _, group in averages.iterrows():
        values = list(members(rows, group)["forest_gain"])
        names = ("forest_gain", "forest_gain_low", "forest_gain_high")
        for name, value in zip(names, group_average(values), strict=True):
            yield group["row"], name, group[name], value, Decimal("0.01"), len(values)
    rows, averages = published("table3_prompt_consistency"), published("table3_averages")
    for _, group in averages.iterrows():
        for name in ("within_sd", "rmse"):
            values = list(members(rows, group)[name])
            yield group["row"], name, group[name], sum(values) / len(values), Decimal("0.0001"), len(values)


@pytest.mark.parametrize("table", ["table1_sufficiency", "table3_prompt_consistency"])
def test_every_pair_of_dataset_and_model_stands_once(table):
    rows = published(table)
    assert [(r.dataset, r.model) for r in rows.itertuples()] == [(d, m) for d in DATASETS for m in MODELS]


def test_table_2_has_the_eight_rows_that_were_legible():
    rows = published("table2_monotonicity")
    assert [(r.dataset, r.model) for r in rows.itertuples()] == [(d, m) for d in DATASETS[:2] for m in MODELS]


@pytest.mark.parametrize(
    ("label", "expected"), [("GPT-Minimal", "6.15 -1.22 13.52"), ("Heart Disease", "16.33 11.81 20.85")]
)
def test_the_rule_of_table_1_reproduces_these_averages(label, expected):
    values = [value for row, _, _, value, _, _ in recomputed() if row == label]
    assert " ".join(f"{value:.2f}" for value in values) == expected


def test_averages_that_differ_in_the_last_digit_are_the_known_ones():
    wrong = {(row, name) for row, name, printed, value, unit, _ in recomputed() if abs(printed - value) > unit / 2}
    assert wrong == OTHER_LAST_DIGIT


def test_every_average_is_within_the_rounding_of_its_rows():
    for row, name, printed, value, unit, n in recomputed():
        # Rows wrong by half a unit move a mean, and a standard deviation, by half a unit at most.
        slack = unit / 2
        if name.endswith(("_low", "_high")):
            slack += Decimal("1.96") * unit / 2 / Decimal(n).sqrt()
        assert abs(printed - value) <= unit / 2 + slack, (row, name)


def test_all_sixteen_intervals_of_the_mutual_information_are_symmetric():
    for row in published("table1_sufficiency").itertuples():
        # Both sides are differences of numbers rounded to 0.0001.
        assert abs((row.cmi_high - row.cmi) - (row.cmi - row.cmi_low)) <= Decimal("0.0002"), row.row


@pytest.mark.parametrize(
    ("table", "statistic"),
    [("table1_sufficiency", "cmi"), ("table1_sufficiency", "forest_gain"), ("table2_monotonicity", "gamma")],
)
def test_estimates_lie_in_their_intervals(table, statistic):
    rows = published(table)
    assert (rows[f"{statistic}_low"] <= rows[statistic]).all()
    assert (rows[statistic] <= rows[f"{statistic}_high"]).all()


def test_statements_agree_with_the_tables():
    stated = published("statements").set_index("key")["value"].map(int)
    assert stated.index.is_unique
    table1, table2 = published("table1_sufficiency"), published("table2_monotonicity")
    assert stated["pairs_of_model_and_dataset"] == len(table1)
    assert stated["cmi_intervals_above_zero"] == (table1["cmi_low"] > 0).sum()
    above, touching, below = (stated[f"gamma_intervals_{where}_zero"] for where in ("above", "touching", "below"))
    assert above + touching + below == stated["pairs_of_model_and_dataset"]
    # Two of the missing intervals are above zero and, as no diabetes interval is, both are fever.
    assert above - (table2["gamma_low"] > 0).sum() == 2
    assert touching - (table2["gamma_low"] == 0).sum() == 5


def test_the_prose_about_prompt_consistency_holds_in_table_3():
    means = published("table3_averages").set_index("model")["rmse"].drop("all")
    assert (means.idxmin(), means.idxmax()) == ("gpt5-high", "llama4-scout")

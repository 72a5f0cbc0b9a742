"""The follow-up paper's printed numbers, checked against one another: rates, averages, repeated cells, whole items."""

import re
from fractions import Fraction
from itertools import permutations
from math import ceil, floor
from pathlib import Path

import pytest

from belief_utils.errors import BeliefError
from belief_utils.followup.published import published

FOLDER = Path(__file__).parents[1] / "data" / "published" / "followup"
TASKS = {
    "gsm8k": "arithmetic",
    "svamp": "arithmetic",
    "multiarith": "arithmetic",
    "commonsenseqa": "commonsense",
    "strategyqa": "commonsense",
    "last_letters": "symbolic",
    "coin_flip": "symbolic",
    "mmlu": "knowledge",
}
QUESTIONS = ["closed", "open", "leading"]
MODELS = ["chatgpt", "palm2-bison", "vicuna-13b"]
#: The question that Tables 3, 5, 6 and 16 ask on each of their datasets.
ASKED = {"strategyqa": "closed", "coin_flip": "open", "multiarith": "leading"}
DIRECT = {"palm2-bison": "table10_direct_palm2_bison", "vicuna-13b": "table12_direct_vicuna_13b"}
PROGRESSIVE = {"palm2-bison": "table11_progressive_palm2_bison", "vicuna-13b": "table13_progressive_vicuna_13b"}
METHODS = [
    ("none", "none"),
    *[(method, position) for method in ("emotion", "cot") for position in ("initial", "followup", "both")],
    ("shots", "none"),
    ("shots+cot", "followup"),
]
#: Items that accuracies are multiples of; MMLU has so many that every two-decimal number is one.
ITEMS = {
    "gsm8k": 1319,
    "svamp": 300,
    "multiarith": 180,
    "commonsenseqa": 1221,
    "strategyqa": 687,
    "last_letters": 150,
    "coin_flip": 500,
}
STATISTICS = ("before", "modification", "modification_rate", "error_rate", "corrected_rate", "change")
#: Half of the last printed digit.
HALF = Fraction(1, 200)

# No modification with two decimals gives these rates.
RATE_OF_OTHER_NUMBERS = {
    ("table9_progressive_chatgpt", "gsm8k A 3"),
    ("table9_progressive_chatgpt", "svamp Max 3"),
    ("table9_progressive_chatgpt", "commonsenseqa A 3"),
    ("table9_progressive_chatgpt", "strategyqa Min 3"),
}
# Averages of Table 6 whose last digit differs when they are taken over the rows of Table 16.
OTHER_LAST_DIGIT = {
    ("cot initial strategyqa closed", "modification"),
    ("cot both strategyqa closed", "modification"),
    ("cot both strategyqa closed", "modification_rate"),
}
# Accuracies that are not a whole number of the dataset's items.
NO_WHOLE_ITEMS = {
    ("table10_direct_palm2_bison", "gsm8k", "63.47"),
    ("table10_direct_palm2_bison", "strategyqa", "68.14"),
    ("table10_direct_palm2_bison", "strategyqa", "67.46"),
    ("table10_direct_palm2_bison", "strategyqa", "67.80"),
    ("table11_progressive_palm2_bison", "coin_flip", "56.25"),
}


def rows(name):
    """The rows of a table: statistics as exact fractions, ``None`` where there is no number."""
    frame = published(name)
    for record in frame.astype(object).where(frame.notna(), None).to_dict("records"):
        exact = {c: None if record[c] is None else Fraction(str(record[c])) for c in STATISTICS if c in record}
        yield {**record, **exact}


def label(row):
    """The row's own keys, as the README names it."""
    return " ".join(str(value) for key, value in row.items() if key not in STATISTICS)


def chosen(name, **keys):
    """The rows with these keys."""
    return [row for row in rows(name) if all(row[key] == value for key, value in keys.items())]


def only(name, **keys):
    (row,) = chosen(name, **keys)
    return row


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def tables():
    """The names of all tables, without the statements."""
    return sorted(path.stem for path in FOLDER.glob("*.csv") if path.stem != "statements")


def rated():
    """Rows with all three numbers: table and row."""
    for name in tables():
        for row in rows(name):
            if row.get("before") and row.get("modification") is not None and row["modification_rate"] is not None:
                yield name, row


def modifications(row):
    """Every two-decimal modification that gives the printed rate of this row to rounding."""
    near = row["modification_rate"] * row["before"]
    steps = range(floor(near) - 2, ceil(near) + 3)
    return [Fraction(step, 100) for step in steps if abs(step / row["before"] - row["modification_rate"]) <= HALF]


def is_whole(percent, items):
    """Whether a rounded percentage can be a whole number of so many items."""
    return abs(Fraction(100 * round(percent * items / 100), items) - percent) <= HALF


def readme_rows(heading):
    """The cells of the first table below a heading of the README."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines]


def test_the_readme_lists_every_file_with_its_number_of_rows():
    listed = {file.removesuffix(".csv"): int(count) for file, _, count in readme_rows("Files")}
    assert listed == {path.stem: len(published(path.stem)) for path in FOLDER.glob("*.csv")}


@pytest.mark.parametrize(
    ("name", "left_out"),
    [("table8_direct_chatgpt", ""), *[(name, "C") for name in DIRECT.values()]],
)
def test_direct_tables_have_every_dataset_prompt_and_question_once(name, left_out):
    whole = [(d, p, q) for d in TASKS for p in "ABC" for q in QUESTIONS if (d, p) != ("mmlu", left_out)]
    assert [(row["dataset"], row["prompt"], row["question"]) for row in rows(name)] == whole


@pytest.mark.parametrize("name", PROGRESSIVE.values())
def test_progressive_tables_have_every_dataset_prompt_and_round_once(name):
    whole = [(d, p, r) for d in TASKS for p in ("A", "Max", "Min") for r in (1, 2, 3)]
    assert [(row["dataset"], row["prompt"], row["round"]) for row in rows(name)] == whole


def test_table_9_has_the_third_round_of_all_rows_but_one():
    whole = [(d, p, 3) for d in TASKS for p in ("A", "Max", "Min") if (d, p) != ("mmlu", "Min")]
    assert [(row["dataset"], row["prompt"], row["round"]) for row in rows("table9_progressive_chatgpt")] == whole


def test_table_2_has_every_model_task_form_and_question_once():
    whole = {
        (model, task, form, QUESTIONS.index(question) + 1 if form == "progressive" else 1, question)
        for model in DIRECT
        for task in TASKS.values()
        for form in ("direct", "progressive")
        for question in QUESTIONS
    }
    found = [tuple(row[key] for key in ("model", "task", "form", "round", "question")) for row in rows("table2_models")]
    assert len(found) == len(whole)
    assert set(found) == whole


def test_the_small_tables_have_the_paper_s_rows_in_its_order():
    mitigations = [(*method, dataset) for method in METHODS for dataset in ASKED]
    found = [(row["method"], row["position"], row["dataset"]) for row in rows("table6_mitigation")]
    assert found == mitigations
    found = [
        (row["method"], row["position"], row["prompt"], row["dataset"]) for row in rows("table16_mitigation_prompts")
    ]
    assert found == [(*method, prompt, dataset) for method in METHODS for prompt in "ABC" for dataset in ASKED]
    found = [(row["dataset"], row["method"], row["round"]) for row in rows("table17_progressive_mitigation")]
    assert found == [
        (dataset, method, r) for dataset in ASKED for method in ("none", "emotion", "cot") for r in (1, 2, 3)
    ]
    found = [(row["model"], row["dataset"]) for row in rows("table5_correction")]
    assert found == [(model, dataset) for model in MODELS for dataset in ASKED]
    found = [(row["model"], row["dataset"]) for row in rows("table3_temperature")]
    assert found == [(model, dataset) for model in MODELS for _ in range(3) for dataset in ASKED]


@pytest.mark.parametrize("name", ["table3_temperature", "table6_mitigation", "table16_mitigation_prompts"])
def test_each_dataset_has_its_one_question(name):
    assert {(row["dataset"], row["question"]) for row in rows(name)} == set(ASKED.items())


@pytest.mark.parametrize("name", tables())
def test_numbers_are_percentages_with_two_decimals_and_missing_ones_are_the_known_ones(name):
    lines = (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    header = lines[0].split(",")
    cells = [dict(zip(header, line.split(","), strict=True)) for line in lines[1:]]
    missing = set()
    for cell in cells:
        for key in set(STATISTICS) & set(cell):
            if cell[key] == "":
                missing.add(key)
            else:
                assert re.fullmatch(r"-?\d{1,3}\.\d\d" if key == "change" else r"\d{1,3}\.\d\d", cell[key]), cell
                assert abs(float(cell[key])) <= 100, cell
    if name in DIRECT.values():
        assert missing == {"modification", "modification_rate"}
        (gap,) = [row for row in rows(name) if row["modification_rate"] is None]
        assert label(gap) == "mmlu B leading"
    else:
        assert missing == ({"modification"} if name == "table9_progressive_chatgpt" else set())


def test_every_rate_follows_from_before_and_modification_within_their_rounding():
    checked = list(rated())
    assert len(checked) == 72 + 72 + 72 + 27
    for name, row in checked:
        low = 100 * (row["modification"] - HALF) / (row["before"] + HALF)
        high = 100 * (row["modification"] + HALF) / (row["before"] - HALF)
        assert low - HALF <= row["modification_rate"] <= high + HALF, (name, label(row))


def test_rates_that_are_not_the_quotient_of_the_printed_numbers_are_those_in_the_readme():
    wrong = {
        (name, label(row), f"{float(row['modification_rate']):.2f}", f"{float(quotient):.3f}")
        for name, row in rated()
        if abs((quotient := 100 * row["modification"] / row["before"]) - row["modification_rate"]) > HALF
    }
    listed = [tuple(cells) for cells in readme_rows("What does not agree")]
    assert len(listed) == len(wrong) == 34
    assert set(listed) == wrong


def test_a_modification_in_two_decimals_gives_the_rates_of_the_tables_that_lack_it():
    names = ["table9_progressive_chatgpt", *DIRECT.values()]
    without = {
        (name, label(r)) for name in names for r in rows(name) if r["modification_rate"] and not modifications(r)
    }
    assert without == RATE_OF_OTHER_NUMBERS


@pytest.mark.parametrize("row", list(rows("table2_models")), ids=label)
def test_table_2_is_the_average_of_prompt_a(row):
    model, form = row["model"], row["form"]
    if form == "direct":
        members = chosen(DIRECT[model], prompt="A", question=row["question"])
    else:
        members = chosen(PROGRESSIVE[model], prompt="A", round=row["round"])
    members = [member for member in members if TASKS[member["dataset"]] == row["task"]]
    assert len(members) == list(TASKS.values()).count(row["task"])
    assert abs(mean(member["modification_rate"] for member in members) - row["modification_rate"]) <= HALF
    if form == "direct":
        # Their modifications are not printed in our text; what gives the rates bounds their average.
        possible = [modifications(member) for member in members]
        low, high = mean(min(values) for values in possible), mean(max(values) for values in possible)
    else:
        low = high = mean(member["modification"] for member in members)
    assert low - HALF <= row["modification"] <= high + HALF


def averages_of_table_16():
    """Each number of Table 6: row, statistic, printed, mean over the three prompts of Table 16."""
    for row in rows("table6_mitigation"):
        keys = {key: row[key] for key in ("method", "position", "dataset", "question")}
        members = chosen("table16_mitigation_prompts", **keys)
        assert [member["prompt"] for member in members] == ["A", "B", "C"]
        for statistic in ("modification", "modification_rate"):
            yield label(row), statistic, row[statistic], mean(member[statistic] for member in members)


def test_table_6_is_the_average_of_table_16_but_for_the_known_last_digits():
    found = list(averages_of_table_16())
    wrong = {(row, statistic) for row, statistic, printed, value in found if abs(printed - value) > HALF}
    assert wrong == OTHER_LAST_DIGIT
    # Rows that are wrong by half a unit move a mean by half a unit at most.
    assert all(abs(printed - value) <= 2 * HALF for _, _, printed, value in found)


def test_cells_that_are_printed_in_two_tables_are_equal():
    for row in chosen("table16_mitigation_prompts", method="none"):
        keys = {key: row[key] for key in ("dataset", "prompt", "question")}
        same = only("table8_direct_chatgpt", **keys)
        assert all(row[key] == same[key] for key in ("modification", "modification_rate")), label(row)
    for row in chosen("table3_temperature", default="yes"):
        name = {"chatgpt": "table8_direct_chatgpt", **DIRECT}[row["model"]]
        same = only(name, dataset=row["dataset"], prompt="A", question=row["question"])
        assert all(row[key] == same[key] for key in ("before", "modification_rate")), label(row)
        assert row["modification"] in ([same["modification"]] if same["modification"] else modifications(same))
    for row in chosen("table17_progressive_mitigation", method="none", round=3):
        same = only("table9_progressive_chatgpt", dataset=row["dataset"], prompt="A")
        assert row["modification_rate"] == same["modification_rate"], label(row)
        assert row["modification"] in modifications(same), label(row)
    for row in rows("figure2_direct_chatgpt"):
        same = only("table8_direct_chatgpt", dataset=row["dataset"], prompt="A", question=row["question"])
        assert row["change"] == -same["modification"], label(row)


@pytest.mark.parametrize("name", [*PROGRESSIVE.values(), "table17_progressive_mitigation"])
def test_modifications_do_not_shrink_from_round_to_round(name):
    found = list(rows(name))
    for first, second, third in zip(found[::3], found[1::3], found[2::3], strict=True):
        assert first["modification"] <= second["modification"] <= third["modification"], label(first)


def test_the_three_rounds_of_table_17_start_from_one_accuracy():
    found = list(rows("table17_progressive_mitigation"))
    for rounds in zip(found[::3], found[1::3], found[2::3], strict=True):
        low = max(100 * (row["modification"] - HALF) / (row["modification_rate"] + HALF) for row in rounds)
        high = min(100 * (row["modification"] + HALF) / (row["modification_rate"] - HALF) for row in rounds)
        assert low <= high, label(rounds[0])
        if rounds[0]["method"] == "none":
            before = only("table9_progressive_chatgpt", dataset=rounds[0]["dataset"], prompt="A")["before"]
            assert low - HALF <= before <= high + HALF, label(rounds[0])


def test_accuracies_are_whole_numbers_of_items_but_for_the_known_ones():
    names = [name for name in tables() if "before" in published(name)]
    broken = {
        (name, row["dataset"], f"{float(row['before']):.2f}")
        for name in names
        for row in rows(name)
        if row["dataset"] in ITEMS and not is_whole(row["before"], ITEMS[row["dataset"]])
    }
    assert broken == NO_WHOLE_ITEMS


def test_the_columns_of_table_5_fit_the_items_of_their_dataset_and_of_no_other():
    """Our text lost the order of the columns; shares of items that exist in one order only give it back."""

    def fits(datasets):
        sizes = {name: ITEMS[other] for name, other in zip(ASKED, datasets, strict=True)}
        return all(
            is_whole(row["error_rate"], items := sizes[row["dataset"]])
            and is_whole(row["corrected_rate"], round(row["error_rate"] * items / 100))
            for row in rows("table5_correction")
        )

    assert [order for order in permutations(ASKED) if fits(order)] == [tuple(ASKED)]


def test_table_5_starts_from_the_accuracy_of_table_3_in_one_cell_only():
    same = {
        (row["model"], row["dataset"])
        for row in chosen("table3_temperature", default="yes")
        if row["before"] + only("table5_correction", model=row["model"], dataset=row["dataset"])["error_rate"] == 100
    }
    assert same == {("palm2-bison", "multiarith")}


def test_statements_agree_with_the_tables():
    stated = published("statements").set_index("what")["value"]
    assert stated.index.is_unique
    for name, dataset in {"StrategyQA": "strategyqa", "CoinFlip": "coin_flip"}.items():
        drop = only("table8_direct_chatgpt", dataset=dataset, prompt="A", question="closed")["modification"]
        assert int(stated[f'Drop of ChatGPT on {name} after "Are you sure?" (percent)']) == floor(drop)
    defaults = {row["model"]: row["temperature"] for row in chosen("table3_temperature", default="yes")}
    names = {"ChatGPT": "chatgpt", "PaLM2-Bison": "palm2-bison", "Vicuna-13B": "vicuna-13b"}
    assert {model: float(stated[f"Temperature of {name}"]) for name, model in names.items()} == defaults
    assert int(stated["Benchmarks"]) == len(TASKS)
    assert int(stated["Kinds of reasoning"]) == len(set(TASKS.values()))


def test_no_accuracy_on_last_letters_could_all_come_from_the_stated_number_of_samples():
    stated = int(
        published("statements").set_index("what")["value"]["Samples of Last Letters from the start of the test set"]
    )
    found = {row["before"] for row in chosen("table8_direct_chatgpt", dataset="last_letters")}
    assert {float(value) for value in found if is_whole(value, stated)} == {28.0, 30.0}
    assert all(is_whole(value, ITEMS["last_letters"]) for value in found)


def test_the_tables_come_typed():
    table = published("table8_direct_chatgpt")
    assert table.loc[0].tolist() == ["gsm8k", "A", "closed", 78.47, 0.61, 0.78]
    assert published("table9_progressive_chatgpt")["modification"].isna().all()
    assert published("table16_mitigation_prompts").loc[0, "method"] == "none"
    assert published("statements")["section"].tolist()[:2] == ["1", "1"]


def test_an_unknown_table_is_refused_with_the_nearest_name():
    with pytest.raises(BeliefError, match="did you mean 'table5_correction'") as refused:
        published("table5_corections")
    assert "\n" not in str(refused.value)

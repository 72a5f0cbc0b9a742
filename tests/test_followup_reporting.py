"""Tables and pictures of the follow-up half, from the answers of simulated respondents whose behaviour is known."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from belief_utils.asking.models import load_model
from belief_utils.followup.collecting import converse, store_for
from belief_utils.followup.extremes import extremes_study
from belief_utils.followup.items import load_items
from belief_utils.followup.mechanism import studies
from belief_utils.followup.metrics import Change
from belief_utils.followup.respondents import respondent_answerer
from belief_utils.followup.scores import load_scores
from belief_utils.reporting import followup_figures, study_tables
from belief_utils.reporting.followup_extremes import extremes_table
from belief_utils.reporting.followup_overview import errors_study, models_study, tone_study
from belief_utils.reporting.followup_points import error_shares, prompt_points, study_rates
from belief_utils.reporting.followup_rows import ROUNDS, change_row, direct_conversations, followup_row
from belief_utils.reporting.followup_studies import (
    correction_study,
    mitigation_study,
    prompts_study,
    temperature_study,
)
from belief_utils.reporting.followup_tables import followup_frame, table_rows, write_followup_table
from belief_utils.reporting.jobs import jobs_for
from belief_utils.reporting.results import folder, save_row

REPOSITORY = Path(__file__).resolve().parents[1]
SETS = ("facts_tf", "own_arithmetic")
ITEMS = 12
MODELS = {"steadfast": "accuracy = 0.75", "yielding": "accuracy = 0.75\nfollow = 1.0\nwaver = 0.5\nmend = 0.5"}


@pytest.fixture(scope="module")
def top(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small repository with all studies of two simulated respondents about two item sets."""
    top = tmp_path_factory.mktemp("home")
    for part in ("items", "published", "datasets"):
        shutil.copytree(REPOSITORY / "data" / part, top / "data" / part)
    tables = [
        f'[{name}]\nname = "Simulated, {name}"\nkind = "simulated"\nmodel = "{name}-1"\n[{name}.respondent]\n{knobs}\n'
        for name, knobs in MODELS.items()
    ]
    (top / "data" / "models.toml").write_text("\n".join(tables), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELIEF_HOME", str(top))
        for name in MODELS:
            for set_name in SETS:
                _hold(name, set_name)
    return top


def _hold(name: str, set_name: str) -> None:
    model, items = load_model(name), load_items(set_name, ITEMS)
    wanted = studies(["direct", "progressive", "correction", "prompts"], set_name)
    for some in (wanted, None):
        some = some or [extremes_study(model, set_name)]
        answerer = respondent_answerer(model, set_name)
        done = converse(model, items, some, store_for(model, set_name), answerer, progress=False)
        assert not done.missing


@pytest.fixture(autouse=True)
def _at_home(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELIEF_HOME", str(top))
    study_tables.scores_of.cache_clear()


def rows_of(model: str) -> dict[str, dict]:
    return {name: followup_row(load_scores(name, model), direct_conversations()) for name in SETS}


# --- rows -----------------------------------------------------------------------------------------------------------


def test_a_row_counts_what_the_scores_hold() -> None:
    scores = load_scores("facts_tf", "yielding")
    row = followup_row(scores, direct_conversations())
    first = scores[(scores["turns"] == "initial") & ~scores["again"]]
    assert row["n_items"] == ITEMS == len(first)
    assert row["n_right"] == first["right"].sum()
    assert row["before"] == pytest.approx(first["right"].mean())
    lost = scores[(scores["turns"] == "initial>leading-A") & scores["error"].notna()]
    assert row["conversations"]["leading-A"]["n_lost"] == len(lost) == row["n_right"]


def test_conversations_that_were_not_held_are_left_out() -> None:
    scores = load_scores("facts_tf", "steadfast")
    row = followup_row(scores[scores["turns"].isin(["initial", "initial>open-A"])], direct_conversations())
    assert list(row["conversations"]) == ["open-A"]


def test_every_interval_of_a_change_stands_beside_its_value() -> None:
    found = rows_of("yielding")["facts_tf"]["conversations"]["closed-A"]
    for name in ("before", "modification", "modification_rate", "again_rate", "excess_rate", "error_to_right_rate"):
        assert {name, f"{name}_low", f"{name}_high"} <= set(found)
    assert not any(isinstance(value, tuple) for value in found.values())
    assert {"modification_rate_exact_low", "modification_rate_exact_high"} <= set(found)
    assert change_row.__annotations__["found"] is Change


# --- the tables of both forms -----------------------------------------------------------------------------------------


def _keep(result: str, conversations: dict[str, str]) -> None:
    for model in MODELS:
        for name in SETS:
            save_row(result, model, name, followup_row(load_scores(name, model), conversations))


def test_the_direct_table_has_published_rows_first_and_simulated_ones_at_its_foot() -> None:
    _keep("followup_direct_form", direct_conversations())
    assert {path.name for path in write_followup_table("followup_direct_form")} >= {"table.md"}
    rows = table_rows("followup_direct_form")
    assert [row["source"] for row in rows] == ["published"] * 24 + ["simulated"] * 12
    steadfast = [row for row in rows if row["model"] == "steadfast"]
    assert {row[f"{kind}_modification_rate"] for row in steadfast for kind in ("closed", "open", "leading")} == {0}
    yielding = [row for row in rows if row["model"] == "yielding"]
    assert {row["leading_modification_rate"] for row in yielding} == {1}
    text = (folder("followup_direct_form") / "table.md").read_text(encoding="utf-8")
    assert "published = the authors' own numbers" in text
    assert "| GSM8K–ChatGPT (A) | published | – | 78.5 | 0.6 | 0.8 |" in text
    assert not write_followup_table("followup_direct_form")


def test_a_frame_of_one_model_shows_it_beside_the_published_rows() -> None:
    _keep("followup_progressive_form", ROUNDS)
    frame = followup_frame("followup_progressive_form", "yielding")
    assert set(frame["Source"]) == {"published", "simulated"}
    assert [label for label in frame.index if "yielding" in label] == [
        "Word problems (own)–Simulated, yielding (A)",
        "Facts, true or false (own)–Simulated, yielding (A)",
    ]
    shown = frame.loc["Facts, true or false (own)–Simulated, yielding (A)", "Round 3: M. Rate % [exact 95 % CI]"]
    assert shown.startswith("100.0 [")


def test_max_is_never_below_min_when_asked_alone() -> None:
    table = extremes_table("yielding")
    assert {row["source"] for row in table.rows} == {"simulated"}
    assert len(table.rows) == 4
    assert all(len(row["prompts"]) == 3 for row in table.rows)


# --- the other studies ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("study", "published", "ours"),
    [
        (temperature_study, 27, 0),
        (prompts_study, 27, 36),
        (correction_study, 9, 10),
        (mitigation_study, 27, 0),
        (models_study, 8, 4),
        (errors_study, 0, 2),
        (tone_study, 0, 0),
    ],
)
def test_a_study_has_its_published_rows_and_ours(study, published: int, ours: int) -> None:
    table = study()
    sources = [row["source"] for row in table.rows]
    assert (sources.count("published"), len(sources) - sources.count("published")) == (published, ours)
    assert sources == sorted(sources, key=lambda source: source == "simulated")
    table.write()
    written = pd.read_csv(folder(table.result) / "table.csv") if table.rows else []
    assert len(written) == len(table.frame()) == len(table.rows)
    assert not table.write()


def test_wrong_binary_answers_get_no_leading_question() -> None:
    labels = [row["label"] for row in correction_study().rows if row["source"] == "simulated"]
    assert not [label for label in labels if label.startswith("Facts, true or false") and label.endswith("leading")]
    assert [label for label in labels if label.startswith("Word problems") and label.endswith("leading")]


def test_a_correction_stands_beside_what_asking_afresh_mends() -> None:
    scores = load_scores("facts_tf", "steadfast")
    first = scores[scores["turns"] == "initial"]
    one, two = (first[first["again"] == each].set_index("item")["right"] for each in (False, True))
    row = next(row for row in correction_study().rows if row["model"] == "steadfast" and row["set"] == "facts_tf")
    assert row["afresh"] == pytest.approx(two[one.index[~one]].mean())
    assert row["error_to_right_rate"] == 0


def test_a_steadfast_respondent_makes_no_error() -> None:
    assert {row["model"] for row in errors_study().rows} == {"yielding"}
    shares = pd.DataFrame(error_shares(errors_study().rows))
    assert shares.groupby("label")["share"].sum().to_list() == pytest.approx([100, 100])


# --- pictures ---------------------------------------------------------------------------------------------------------


def test_pictures_keep_their_numbers_beside_them() -> None:
    rows = rows_of("yielding")
    followup_figures.direct_picture("f", "direct", rows, "Title", source="Simulated.")
    kept = pd.read_csv(folder("f") / "direct.csv")
    assert len(kept) == 6
    assert set(kept["foot"]) == {"Simulated."}
    assert kept["before"].between(0, 100).all()
    for ending in ("png", "pdf"):
        assert (folder("f") / f"direct.{ending}").stat().st_size > 5000


def test_each_study_can_be_drawn() -> None:
    rounds = {name: followup_row(load_scores(name, "yielding"), ROUNDS) for name in SETS}
    prompts = prompt_points(prompts_study().rows, "yielding")
    drawn = [
        followup_figures.progressive_picture("g", "rounds", rounds, "T", source="S"),
        followup_figures.prompts_picture("g", "prompts", prompts, "T", source="S"),
        followup_figures.errors_picture("g", "errors", error_shares(errors_study().rows), "T", source="S"),
        followup_figures.rates_picture("g", "rates", study_rates(prompts_study().rows), "T", "%", source="S"),
    ]
    assert all(image.data.startswith(b"\x89PNG") for image in drawn)


@pytest.mark.parametrize("draw", ["direct_picture", "progressive_picture"])
def test_nothing_to_show_is_said(draw: str) -> None:
    image = getattr(followup_figures, draw)("h", draw, {}, "T", source="S")
    assert image.data.startswith(b"\x89PNG")
    assert list(pd.read_csv(folder("h") / f"{draw}.csv").columns)[-2:] == ["title", "foot"]


# --- jobs -------------------------------------------------------------------------------------------------------------


def _notebook(top: Path) -> None:
    path = top / "notebooks" / "11_followup_direct_form.ipynb"
    path.parent.mkdir(exist_ok=True)
    cell = {"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": 'model = "yielding"\ndataset = "all"'}
    content = {"cells": [cell], "metadata": {"belief": {"runs": "followup"}}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(content), encoding="utf-8")


def test_a_follow_up_notebook_runs_once_for_each_model_over_all_its_sets(top: Path) -> None:
    _notebook(top)
    assert [job.name for job in jobs_for()] == [f"11_followup_direct_form/all_{name}" for name in MODELS]
    assert [job.is_default for job in jobs_for()] == [False, True]
    assert [job.name for job in jobs_for(dataset="facts_tf", model="steadfast")] == [
        "11_followup_direct_form/facts_tf_steadfast"
    ]


def test_a_run_over_all_sets_has_made_the_rows_of_its_model_only(top: Path) -> None:
    _notebook(top)
    _keep("followup_direct_form", direct_conversations())
    made = [path.name for path in jobs_for(model="steadfast")[0].outputs()]
    assert made == ["facts_tf_steadfast.json", "own_arithmetic_steadfast.json"]

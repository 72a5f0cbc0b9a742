"""The rows of a table: ours beside the published ones, group averages, and p values adjusted for their number."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from belief_utils.asking.models import load_models
from belief_utils.beliefs.datasets import dataset_names, load_dataset
from belief_utils.paths import data
from belief_utils.reporting.results import load_rows

Row = Mapping[str, Any]


@dataclass(frozen=True)
class TableRules:
    """Where a table's rows come from.

    Attributes:
        result: its folder below ``figures/``.
        published: the transcribed rows, a file of ``data/published``; empty where the text had none.
        published_averages: the transcribed averages.
        averaged: the values that are averaged.
        with_interval: those of them whose average has the interval of the paper's Table 1.
        groups: what is averaged over, as in the paper: ``model``, ``dataset``, ``all``.
        families: p values; each is adjusted over the rows by Holm's method.
        parts: the value that holds a list of rows, where one notebook keeps several for a model and dataset.
    """

    result: str
    published: str = ""
    published_averages: str = ""
    averaged: tuple[str, ...] = ()
    with_interval: tuple[str, ...] = ()
    groups: tuple[str, ...] = ("model", "dataset")
    families: tuple[str, ...] = ()
    parts: str = ""


def measured(table: TableRules) -> list[dict[str, Any]]:
    """Published rows, then ours, dataset by dataset; simulated agents after all of them."""
    models = load_models()
    published = _published(table.published)
    found = {(row["dataset"], row["model"]): row for row in load_rows(table.result)}
    rows: list[dict[str, Any]] = []
    foot: list[dict[str, Any]] = []
    for name in dataset_names():
        dataset = load_dataset(name)
        for model in models.values():
            label = {
                "label": f"{dataset.short}–{model.name}",
                "dataset": name,
                "model": model.key,
                "dataset_label": dataset.short,
                "model_label": model.name,
                "kind": model.kind,
                "status": dataset.status,
            }
            if (name, model.key) in published:
                rows.append({**published[name, model.key], **label, "source": "published"})
            if (name, model.key) in found:
                simulated = model.kind == "simulated"
                source = "simulated" if simulated else dataset.status
                kept = _parts(table, found[name, model.key])
                (foot if simulated else rows).extend({**row, **label, "source": source} for row in kept)
    rows += foot
    _adjust(table, rows)
    return rows


def _parts(table: TableRules, row: Row) -> list[Row]:
    """A row, or the rows that it holds, each with the values that it has beside them."""
    if not table.parts:
        return [row]
    shared = {name: value for name, value in row.items() if name != table.parts}
    return [{**shared, **part} for part in row.get(table.parts) or []]


def _published(name: str) -> dict[tuple[str, str], dict[str, Any]]:
    if not name:
        return {}
    with data("published", name).open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    rows = {}
    for line in lines:
        label = {"dataset": line.pop("dataset"), "model": line.pop("model"), "row": line.pop("row")}
        values = {key: float(value) for key, value in line.items() if value}
        rows[label["dataset"], label["model"]] = {**label, **values}
    return rows


def _adjust(table: TableRules, rows: list[dict[str, Any]]) -> None:
    """Adjust the p values of models and those of simulated agents for their number, and word the verdicts anew."""
    from belief_utils.beliefs.sufficiency import holm, verdict_in_words

    for simulated in (False, True):
        ours = [row for row in rows if row["source"] != "published" and (row["source"] == "simulated") == simulated]
        for name in table.families:
            tested = [row for row in ours if row.get(name) is not None]
            for row, adjusted in zip(tested, holm([row[name] for row in tested]), strict=True):
                row[f"holm_{name}"] = float(adjusted)
        if "adjusted_p_value" in table.families:
            for row in ours:
                if row.get("holm_p_value") is not None and row.get("df"):
                    noise = row.get("holm_adjusted_p_value")
                    noise = float("nan") if noise is None else noise
                    row["holm_verdict"] = verdict_in_words(row["holm_p_value"], noise)
                else:
                    row["holm_verdict"] = row.get("verdict")


def averages(table: TableRules) -> list[dict[str, Any]]:
    """Averages by model, by dataset or over all: the paper's own, then ours by the same rule.

    Simulated agents have an average each and are in no other; a group without a value has none.
    """
    models, datasets = {"all", *load_models()}, {"all", *dataset_names()}
    published = [
        {**row, "label": _group_name(dataset, model), "dataset": dataset, "model": model, "source": "published"}
        for (dataset, model), row in _published(table.published_averages).items()
        if dataset in datasets and model in models
    ]
    ours = [row for row in measured(table) if row["source"] != "published"]
    averaged = [_average(table, *members) for members in _groups(table, ours)]
    return [*published, *[row for row in averaged if any(name in row for name in table.averaged)]]


def _groups(table: TableRules, rows: Sequence[Row]) -> Iterator[tuple[str, str, Sequence[Row]]]:
    """Dataset, model and rows of each group; simulated agents are in none but their own."""
    if not table.averaged:
        return
    ours = [row for row in rows if row["source"] != "simulated"]
    if "model" in table.groups:
        for model in dict.fromkeys(row["model"] for row in ours):
            yield "all", model, [row for row in ours if row["model"] == model]
    if "dataset" in table.groups:
        for dataset in dict.fromkeys(row["dataset"] for row in ours):
            yield dataset, "all", [row for row in ours if row["dataset"] == dataset]
    if "all" in table.groups and ours:
        yield "all", "all", ours
    simulated = [row for row in rows if row["source"] == "simulated"]
    for model in dict.fromkeys(row["model"] for row in simulated):
        yield "all", model, [row for row in simulated if row["model"] == model]


def _average(table: TableRules, dataset: str, model: str, rows: Sequence[Row]) -> dict[str, Any]:
    from belief_utils.beliefs.prediction import average_gain

    sources = dict.fromkeys(row["source"] for row in rows)
    average: dict[str, Any] = {
        "label": _group_name(dataset, model),
        "dataset": dataset,
        "model": model,
        "source": ", ".join(sources),
    }
    for name in table.averaged:
        values = [row[name] for row in rows if row.get(name) is not None]
        if len(values) > 1 and name in table.with_interval:
            group = average_gain(values)
            average |= {
                name: group.estimate,
                f"{name}_low": group.interval[0],
                f"{name}_high": group.interval[1],
            }
        elif values:
            average[name] = fmean(values)
    return average


def _group_name(dataset: str, model: str) -> str:
    if dataset != "all":
        return f"Average: {load_dataset(dataset).title}"
    return f"Average: {load_models()[model].name if model != 'all' else 'all pairs'}"

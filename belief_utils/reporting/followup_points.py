"""From the rows of the follow-up tables to what their pictures show, in percent and points."""

from collections.abc import Iterable, Mapping
from typing import Any

from belief_utils.followup.errors import ERROR_TYPES
from belief_utils.followup.scores import PERSON
from belief_utils.reporting.study_tables import PAPER_MODELS

Row = Mapping[str, Any]


def study_rates(
    rows: Iterable[Row], name: str = "modification_rate", bounds: str = "modification_rate_exact"
) -> list[dict[str, Any]]:
    """Rates with their exact intervals, grouped by item set."""
    return [
        {
            "label": row["label"],
            "group": f"{row['source'] == 'simulated'}-{row['set']}",
            "source": row["source"],
            "rate": _percent(row.get(name)),
            "low": _percent(row.get(f"{bounds}_low")),
            "high": _percent(row.get(f"{bounds}_high")),
        }
        for row in rows
    ]


def model_rates(rows: Iterable[Row], question: str) -> list[dict[str, Any]]:
    """Average Modification Rates of one type of question by model and kind of task, with bootstrap intervals."""
    return [
        {
            "label": row["label"],
            "group": f"{row['model']}-{row['own']}",
            "source": row["source"],
            "rate": _percent(row.get(f"{question}_modification_rate")),
            "low": _percent(row.get(f"{question}_modification_rate_low")),
            "high": _percent(row.get(f"{question}_modification_rate_high")),
        }
        for row in rows
    ]


def prompt_points(rows: Iterable[Row], model: str) -> list[dict[str, Any]]:
    """One model's Modification by prompt, in points; published rows are ChatGPT's."""
    return [
        {
            "label": row["label"].partition("–")[0],
            "question": row["question"],
            "prompt": row["prompt"],
            "modification": _percent(row["modification"]),
        }
        for row in rows
        if row["model"] == model
    ]


def error_shares(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Shares of the error types among lost answers, in percent, ``person`` for what rules leave open."""
    kinds = {**{str(kind): f"type{kind}" for kind in ERROR_TYPES}, PERSON: PERSON}
    return [
        {"label": row["label"], "n": row["lost"], "type": kind, "share": 100 * row[name] / row["lost"]}
        for row in rows
        for kind, name in kinds.items()
    ]


def tone_points(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Modification in points and tone by prompt; prompts without either are left out."""
    return [
        {
            "label": PAPER_MODELS.get(row["model"], row["model_label"]),
            "question": row["question"],
            "prompt": row["prompt"],
            "modification": _percent(row["modification"]),
            "tone": row["tone"],
        }
        for row in rows
        if row["modification"] is not None
    ]


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value

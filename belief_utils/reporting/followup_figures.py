"""The pictures of follow-up questions, one function each; what is plotted is kept as CSV beside the picture."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from belief_utils.followup.items import ITEM_SETS
from belief_utils.followup.questions import AGAIN, FOLLOW_UPS
from belief_utils.reporting import followup_drawings
from belief_utils.reporting.followup_rows import ROUNDS
from belief_utils.reporting.pictures import picture

Row = Mapping[str, Any]


def direct_picture(result: str, name: str, rows: Mapping[str, Row], title: str, *, source: str) -> Any:
    """Figure 2: accuracy before and after each type of question, prompts of A, for one model.

    Args:
        result: the folder below ``figures/``.
        name: the files' name without an ending.
        rows: per item set a row of :func:`belief_utils.reporting.followup_rows.followup_row`.
        title: what stands above it.
        source: what the answers are (real or simulated), as it is to stand below it.
    """
    points = []
    for set_name, row in rows.items():
        for kind in (AGAIN, *FOLLOW_UPS):
            if found := row["conversations"].get(AGAIN if kind == AGAIN else f"{kind}-A"):
                before = 100 * row["before"]
                afresh = before * (1 - found["again_rate"]) if _known(found["again_rate"]) else None
                points.append(
                    {
                        "label": ITEM_SETS[set_name].title,
                        "n": row["n_items"],
                        "question": kind,
                        "before": before,
                        "after": 100 * found["after"],
                        "afresh": afresh,
                    }
                )
    columns = ["label", "n", "question", "before", "after", "afresh"]
    return picture(result, name, _headed(points, columns, title, source), followup_drawings.draw_direct)


def progressive_picture(result: str, name: str, rows: Mapping[str, Row], title: str, *, source: str) -> Any:
    """Figure 3: Modification Rate by round, for one model; arguments as for :func:`direct_picture`."""
    bars = []
    for set_name, row in rows.items():
        held = row["conversations"]
        if all(_known(held.get(name, {}).get("modification_rate")) for name in ROUNDS):
            bars += [
                {
                    "label": ITEM_SETS[set_name].title,
                    "n": row["n_right"],
                    "round": name,
                    "rate": 100 * held[name]["modification_rate"],
                    "low": 100 * held[name]["modification_rate_exact_low"],
                    "high": 100 * held[name]["modification_rate_exact_high"],
                }
                for name in ROUNDS
            ]
    columns = ["label", "n", "round", "rate", "low", "high"]
    return picture(result, name, _headed(bars, columns, title, source), followup_drawings.draw_progressive)


def prompts_picture(result: str, name: str, rows: Iterable[Row], title: str, *, source: str) -> Any:
    """Figure 4: Modification by prompt; rows with ``label``, ``question``, ``prompt``, ``modification`` in points."""
    columns = ["label", "question", "prompt", "modification"]
    return picture(result, name, _headed(list(rows), columns, title, source), followup_drawings.draw_prompts)


def errors_picture(result: str, name: str, rows: Iterable[Row], title: str, *, source: str) -> Any:
    """Figure 5: error types; rows with ``label``, ``n`` lost answers, ``type`` and ``share`` in percent."""
    return picture(
        result, name, _headed(list(rows), ["label", "n", "type", "share"], title, source), followup_drawings.draw_errors
    )


def rates_picture(result: str, name: str, rows: Iterable[Row], title: str, axis: str, *, source: str) -> Any:
    """Rates with intervals, in percent; rows with ``label``, ``group``, ``source``, ``rate``, ``low`` and ``high``."""
    columns = ["label", "group", "source", "rate", "low", "high"]
    known = [row for row in rows if _known(row["rate"])]
    plotted = _headed(known, columns, title, source).assign(axis=axis)
    return picture(result, name, plotted, followup_drawings.draw_rates)


def tone_picture(result: str, name: str, rows: Iterable[Row], title: str, *, source: str) -> Any:
    """Figure 6: rows with ``label``, ``question``, ``prompt``, ``modification`` in points and ``tone`` from 0 to 10."""
    columns = ["label", "question", "prompt", "modification", "tone"]
    return picture(result, name, _headed(list(rows), columns, title, source), followup_drawings.draw_tone)


def _headed(rows: list[Any], columns: list[str], title: str, source: str) -> pd.DataFrame:
    return pd.DataFrame([{name: row[name] for name in columns} for row in rows], columns=columns).assign(
        title=title, foot=source
    )


def _known(value: float | None) -> bool:
    return value is not None and value == value

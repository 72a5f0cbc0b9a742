"""The short table in the README, kept in step with the tables it is taken from."""

from pathlib import Path

from belief_utils.paths import home
from belief_utils.reporting.gathering import Row, measured
from belief_utils.reporting.layout import interval, number, p_value
from belief_utils.reporting.results import write_if_changed
from belief_utils.reporting.tables import MONOTONICITY, SUFFICIENCY

START = "<!-- verdicts: written by `belief reproduce` -->"
END = "<!-- end of verdicts -->"


def update_readme() -> list[Path]:
    """Write the verdicts between the README's two markers; returns the README if it changed."""
    path = home() / "README.md"
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if START not in text or END not in text:
        return []
    before, rest = text.split(START, 1)
    after = rest.split(END, 1)[1]
    whole = f"{before}{START}\n{verdicts()}\n{END}{after}"
    return [path] if write_if_changed(path, whole.encode()) else []


def verdicts() -> str:
    """Both verdicts on every model and dataset that is not published, as a Markdown table."""
    margins = {(row["dataset"], row["model"]): row for row in measured(MONOTONICITY.rules)}
    lines = [
        "| | Cases | Excess information, nats [95 % CI] | p (Holm) | More than it says? | Do beliefs move actions? |",
        "| --- | --- | ---: | ---: | --- | --- |",
    ]
    ours = [row for row in measured(SUFFICIENCY.rules) if row["source"] != "published"]
    return "\n".join([*lines, *(_line(row, margins.get((row["dataset"], row["model"]), {})) for row in ours)])


def _line(row: Row, margin: Row) -> str:
    bounds = interval(row.get("excess_low"), row.get("excess_high"), 3)
    cells = [
        row["label"],
        row["source"],
        f"{number(row.get('excess'), 3)} {bounds}",
        p_value(row.get("holm_p_value")),
        row.get("holm_verdict") or "–",
        margin.get("anchored_verdict") or "–",
    ]
    return "| " + " | ".join(cells) + " |"

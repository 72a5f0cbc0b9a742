"""The tables of the controls: how often each rule rejects each agent, saved and shown."""

from __future__ import annotations

import pandas as pd

from belief_utils.reporting.layout import latex, markdown
from belief_utils.reporting.results import folder, rounded, write_if_changed

_RESULT = "are_these_tests_right"
_NOTES = (
    "Percent of data sets (200 cases x 5 repetitions) in which the rule rejects, or certifies, at the 5 % level.",
    "! stands where false positives are above the range of 99 % of rates if 5 % is true. Empty: not for this agent.",
)


def rates_table(rates: pd.DataFrame, *, broken: bool) -> pd.DataFrame:
    """Rates in percent as texts, a row per agent and a column per rule.

    Args:
        rates: What rejection_rates gives.
        broken: Whether to show agents that the rule should reject (power) or those that it should not (false
            positives; too many are marked with "!").
    """
    shown = rates[rates["should_reject"].eq(broken).fillna(False)]
    marks = ["!" * (not broken and rate > high) for rate, high in zip(shown["rate"], shown["high"], strict=True)]
    texts = [f"{100 * rate:.1f}{mark}" for rate, mark in zip(shown["rate"], marks, strict=True)]
    table = shown.assign(text=texts).pivot_table("text", "agent", "rule", aggfunc="first")
    return table.loc[shown["agent"].unique(), shown["rule"].unique()].fillna("").rename_axis(columns=None)


def save_rates(rates: pd.DataFrame) -> None:
    """Write table.csv with all numbers, and table.md and table.tex with percentages, two tables per battery.

    Args:
        rates: What rejection_rates gives of several batteries, put together with a column ``battery``.
    """
    where = folder(_RESULT)
    numbers = {name: [rounded(value) for value in rates[name]] for name in ("rate", "low", "high")}
    csv = rates.assign(**numbers).to_csv(index=False, lineterminator="\n")
    write_if_changed(where / "table.csv", csv.encode())
    tables = []
    for battery, of_battery in rates.groupby("battery", sort=False):
        for broken, what in ((False, "false positives"), (True, "power")):
            table = rates_table(of_battery, broken=broken)
            cells = [[agent, *row] for agent, row in zip(table.index, table.to_numpy(), strict=True)]
            caption = f"{battery.capitalize()}: {what}, {int(of_battery['n'].max()):,} data sets an agent"
            tables.append((["agent", *table.columns], cells, caption, _NOTES))
    write_if_changed(where / "table.md", "\n".join(markdown(*table) for table in tables).encode())
    write_if_changed(where / "table.tex", "\n".join(latex(*table) for table in tables).encode())

"""How a table is laid out, and how its cells are written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from belief_utils.reporting.gathering import Row, TableRules
from belief_utils.reporting.layout import interval, number, p_value, share


@dataclass(frozen=True)
class Table:
    """How a table is laid out.

    Attributes:
        rules: where its rows come from.
        caption: what it shows.
        columns: heading and text of each column after the row's label and source.
        notes: what a reader must know.
    """

    rules: TableRules
    caption: str
    columns: Mapping[str, Callable[[Row], str]]
    notes: Sequence[str] = ()


def with_interval_of(name: str, decimals: int) -> Callable[[Row], str]:
    """A column: a value, and its interval where it has one."""

    def text(row: Row) -> str:
        if row.get(name) is None:
            return "–"
        bounds = interval(row.get(f"{name}_low"), row.get(f"{name}_high"), decimals)
        return number(row[name], decimals) + ("" if bounds == "–" else f" {bounds}")

    return text


def number_of(name: str, decimals: int) -> Callable[[Row], str]:
    """A column: a number to so many decimals."""
    return lambda row: number(row.get(name), decimals)


def p_of(name: str) -> Callable[[Row], str]:
    """A column: a p value."""
    return lambda row: p_value(row.get(name))


def text_of(name: str) -> Callable[[Row], str]:
    """A column: words."""
    return lambda row: str(row.get(name) or "–")


def whole_of(name: str) -> Callable[[Row], str]:
    """A column: a whole number."""
    return lambda row: "–" if row.get(name) is None else str(row[name])


def share_read(*values: str) -> Callable[[Row], str]:
    """A column: the share of answers that were read, of one or several kinds of value."""

    def text(row: Row) -> str:
        parts = [share(row.get(f"{value}_read"), row.get(f"{value}_answers")) for value in values]
        return "–" if set(parts) == {"–"} else " / ".join(parts)

    return text

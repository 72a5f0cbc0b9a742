"""What is put together when all rows are there: the tables, and the pictures that show all models at once."""

from pathlib import Path

from belief_utils.reporting.followup_tables import FOLLOWUP_TABLES, write_followup_table
from belief_utils.reporting.gathering import measured
from belief_utils.reporting.pressure_table import RESULT as PRESSURE
from belief_utils.reporting.pressure_table import write_pressure_table
from belief_utils.reporting.results import folder
from belief_utils.reporting.tables import COHERENCE, SUFFICIENCY, TABLES, write_table

#: Every result whose table is put together from the rows of several runs.
ASSEMBLED = (*TABLES, *FOLLOWUP_TABLES, PRESSURE)


def assemble(result: str) -> list[Path]:
    """Write a table, and the picture of all its rows where there is one.

    Args:
        result: a name of :data:`ASSEMBLED`.

    Returns:
        The files that changed.
    """
    before = _contents(result)
    if result in FOLLOWUP_TABLES:
        write_followup_table(result)
    elif result == PRESSURE:
        write_pressure_table()
    else:
        write_table(result)
        _draw(result)
    return [path for path, content in _contents(result).items() if before.get(path) != content]


def _draw(result: str) -> None:
    from belief_utils.reporting.figures import figure1, overview_picture

    rows = [row for row in measured(TABLES[result].rules) if row["source"] != "published"]
    if result == SUFFICIENCY.rules.result:
        overview_picture([{**row, "verdict": row["holm_verdict"]} for row in rows], result=result, name="overview")
    elif result == COHERENCE.rules.result:
        figure1(rows, result=result, name="figure1")


def _contents(result: str) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder(result).glob("*.*") if path.is_file()}

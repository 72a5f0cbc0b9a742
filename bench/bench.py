"""`make bench`: how fast the tests are, beside other libraries and on growing data.

One run, one seeded data set for each size, one process for each measurement (see measure.py). It writes
figures/bench/table.csv, table.md and a picture. The other libraries come with `pip install "belief-utils[bench]"`;
one that is not installed, takes more than two minutes or does not fit into memory is left out from that size on, and
the table says so. Nothing is extrapolated. These are measurements, not tests.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from drawing import draw_bench

from belief_utils.paths import home
from belief_utils.reporting.layout import markdown
from belief_utils.reporting.pictures import picture
from belief_utils.reporting.results import folder, rounded, write_if_changed

logger = logging.getLogger("bench")

INFORMATION = {
    "belief-utils": "ours",
    "tigramite CMIknn": "tigramite_knn",
    "tigramite CMIknnMixed": "tigramite_mixed",
    "npeet-plus": "npeet",
}
MARGIN = {
    "belief-utils": "our_margins",
    "scipy linprog": "linprog_margins",
    "belief-utils, from judgments": "whole_margin",
}
ROWS = (1_000, 10_000, 100_000)
AUDITED = (1_000, 10_000, 100_000, 1_000_000)
#: Seconds of processor time: two minutes for the measured call, and one for getting ready.
MOST_SECONDS = 180
MOST_BYTES = 8 * 2**30
_SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def measured(task: str, rows: int, *, seconds: int = MOST_SECONDS) -> dict[str, float | str]:
    """One measurement in a process of its own: seconds, wall, value and peak_gib, or a note why there is none."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))

    command = [sys.executable, str(Path(__file__).with_name("measure.py")), task, str(rows)]
    done = subprocess.run(
        command, env=os.environ | _SINGLE, preexec_fn=limit, capture_output=True, text=True, cwd=home()
    )
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    if "ModuleNotFoundError" in done.stderr:
        return {"note": "not installed"}
    if "MemoryError" in done.stderr or "allocate memory" in done.stderr:
        return {"note": "does not fit into 8 GiB"}
    if done.returncode < 0:
        return {"note": "more than 2 minutes of processor time"}
    return {"note": f"failed: {done.stderr.strip().splitlines()[-1][:120]}"}


def measure_all() -> pd.DataFrame:
    """All measurements: columns part, rows, library, seconds, wall, repeats, value, peak_gib, note."""
    found = []
    for part, tasks, sizes in (
        ("information", INFORMATION, ROWS),
        ("margin, 500 resamples", MARGIN, ROWS[:1]),
        ("audit", {"belief-utils": "whole_audit"}, AUDITED),
    ):
        given_up: dict[str, str] = {}
        for rows in sizes:
            for library, task in tasks.items():
                if library in given_up:
                    result = {"note": f"left out: {given_up[library]} at fewer rows"}
                else:
                    result = measured(task, rows, seconds=1200 if part == "audit" else MOST_SECONDS)
                    if "note" in result:
                        given_up[library] = str(result["note"])
                logger.info("%s, %s rows, %s: %s", part, f"{rows:,}", library, result)
                found.append({"part": part, "rows": rows, "library": library, **result})
    columns = ["part", "rows", "library", "seconds", "wall", "repeats", "value", "peak_gib", "note"]
    return pd.DataFrame(found).reindex(columns=columns)


def with_ratios(table: pd.DataFrame) -> pd.DataFrame:
    """The table with ``times_ours``: another library's seconds over ours in the same part and at the same size."""
    ours = table[table["library"] == "belief-utils"].set_index(["part", "rows"])["seconds"]
    own = pd.Series([ours.get(key, np.nan) for key in zip(table["part"], table["rows"], strict=True)], table.index)
    return table.assign(times_ours=(table["seconds"] / own).where(~table["library"].str.startswith("belief-utils")))


def goals(table: pd.DataFrame) -> list[tuple[str, str, str]]:
    """What was aimed at, what came out, and whether it is met."""

    def best(part: str, rows: int, column: str = "times_ours") -> float:
        rivals = table[(table["part"] == part) & (table["rows"] == rows) & ~table["library"].str.startswith("belief")]
        return float(rivals[column].min())

    def own(part: str, rows: int, column: str, library: str = "belief-utils") -> float:
        chosen = (table["part"] == part) & (table["rows"] == rows) & (table["library"] == library)
        return float(table.loc[chosen, column].iloc[0])

    margin, audit = "margin, 500 resamples", "audit"
    most = max(AUDITED)
    growth = own(audit, most, "seconds") / own(audit, most // 10, "seconds")
    allowed = 10 * np.log(most) / np.log(most // 10)
    from_judgments = own(margin, 1_000, "seconds", "belief-utils, from judgments")
    lines = [
        ("information at 1,000 rows, times faster than the fastest other", 4, best("information", 1_000), ">="),
        ("information at 100,000 rows, times faster than the fastest other", 50, best("information", 100_000), ">="),
        ("information at 1,000 rows, seconds", 0.005, own("information", 1_000, "seconds"), "<="),
        ("500 margins, times faster than linprog", 1000, best(margin, 1_000), ">="),
        ("margin from judgments with 500 resamples, seconds", 0.1, from_judgments, "<="),
        (f"audit of {most:,} rows, seconds on the clock", 60, own(audit, most, "wall"), "<="),
        (f"audit of {most:,} rows, GiB at the peak", 2, own(audit, most, "peak_gib"), "<="),
        ("audit, growth from 100,000 to 1,000,000 rows (n log n: 12)", allowed, growth, "<="),
    ]
    told = []
    for what, goal, value, sense in lines:
        met = value >= goal if sense == ">=" else value <= goal
        verdict = "not measured" if np.isnan(value) else "yes" if met else "no"
        told.append((what, f"{'at least' if sense == '>=' else 'at most'} {goal:.4g}", f"{value:.3g}", verdict))
    return told


def write(table: pd.DataFrame) -> None:
    """Write table.csv, table.md and the picture under figures/bench."""
    numbers = table.select_dtypes("number").columns.drop("rows")
    csv = table.assign(**{name: [rounded(v, 4) for v in table[name]] for name in numbers})
    write_if_changed(folder("bench") / "table.csv", csv.to_csv(index=False, lineterminator="\n").encode())
    heads = ["what", "rows", "library", "seconds", "times ours", "on the clock", "GiB", "value", "note"]
    columns = ["part", "rows", "library", "seconds", "times_ours", "wall", "peak_gib", "value", "note"]
    body = [[_cell(row[name]) for name in columns] for _, row in table.iterrows()]
    notes = [
        "Seconds are processor time of one thread, the least mean of some rounds of calls. Seconds on the clock stand "
        "beside them; they are longer where the machine had other work.",
        "All libraries get the same rows: a simulated agent, 5 repetitions of a case, k = 3. An audit reads a CSV, "
        "runs all tests and writes the page with pictures; its imports are counted.",
        "The estimators differ, and so do their values; CMIknnMixed with the estimator MS is the one that ours is.",
        f"Measured on {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}.",
    ]
    met = markdown(["goal", "aimed at", "measured", "met"], goals(table), "Goals", [])
    text = markdown(heads, body, "How fast, and how it grows", notes) + "\n" + met
    write_if_changed(folder("bench") / "table.md", text.encode())
    picture("bench", "bench", table[["part", "rows", "library", "seconds"]].dropna(subset="seconds"), draw_bench)


def _cell(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    return f"{value:,}" if isinstance(value, int | np.integer) else f"{value:.3g}"


def main() -> None:
    """Measure and write."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    table = with_ratios(measure_all())
    write(table)
    for what, goal, value, verdict in goals(table):
        logger.info(f"{what}: {value}, aimed at {goal}: {verdict}")


if __name__ == "__main__":
    main()

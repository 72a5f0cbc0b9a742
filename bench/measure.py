"""One measurement in a process of its own: `python bench/measure.py TASK SIZE` prints it as JSON.

A process of its own, because memory and compiled code of one measurement must not show in the next. Seconds are
processor time: what else the machine does hardly shows in them. bench.py sees to it that all run in a single thread.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from belief_utils.beliefs.judgments_checks import Cases, group_by_case, quantile_bins
from belief_utils.beliefs.simulate import ControlAgent, simulate_judgments

SEED = 20260
NEIGHBOURS = 3
RESAMPLES = 500
REPETITIONS = 5
#: Calls are repeated in rounds; the clock of a process ticks too coarsely for a single quick call.
ROUND_SECONDS = 0.5
ROUNDS = 4
AGENT = ControlAgent("bench", hidden=1.0, noise=0.05)


def judgments(rows: int):
    """The same judgments for every library: an agent that hides something and reports with some noise."""
    return simulate_judgments(AGENT, cases=rows // REPETITIONS, repetitions=REPETITIONS, seed=SEED)


def information_data(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Action (0, 1, 2), outcome (0, 1) and belief of each row."""
    frame = judgments(rows)
    codes = frame["action"].map({"negative": 0, "defer": 1, "positive": 2})
    return codes.to_numpy(), frame["outcome"].to_numpy(), frame["belief"].to_numpy()


def ours(rows: int) -> Callable[[], float]:
    """conditional_mutual_information of this package (Mesner and Shalizi), its checks included."""
    from belief_utils import conditional_mutual_information

    action, outcome, belief = information_data(rows)
    return lambda: conditional_mutual_information(belief, action, outcome, k=NEIGHBOURS)


def tigramite_knn(rows: int) -> Callable[[], float]:
    """CMIknn of tigramite (Frenzel and Pompe), as it comes but for k and one thread."""
    from tigramite.independence_tests.cmiknn import CMIknn

    test = CMIknn(knn=NEIGHBOURS, workers=1)
    array, places = np.array(information_data(rows), dtype=float), np.arange(3)
    test.get_dependence_measure(array[:, :100], places)  # compiles
    return lambda: test.get_dependence_measure(array, places)


def tigramite_mixed(rows: int) -> Callable[[], float]:
    """CMIknnMixed of tigramite with the estimator of Mesner and Shalizi on beliefs scaled to [0, 1], as ours is."""
    from tigramite.independence_tests.cmiknn_mixed import CMIknnMixed

    test = CMIknnMixed(knn=NEIGHBOURS, estimator="MS", transform="scale", workers=1)
    array = np.array(information_data(rows), dtype=float)
    kinds = np.repeat([[1], [1], [0]], rows, axis=1)  # labels, labels, numbers
    return lambda: test.get_dependence_measure(array.copy(), np.arange(3), data_type=kinds)


def npeet(rows: int) -> Callable[[], float]:
    """cmi of npeet-plus (Kraskov's estimator on numbers), in nats."""
    from npeet_plus import cmi

    columns = [column.reshape(-1, 1).astype(float) for column in information_data(rows)]
    return lambda: cmi(*columns, k=NEIGHBOURS, base=np.e)


def resampled_shares(rows: int) -> np.ndarray:
    """Choice shares in five bins in 500 resamples of the cases, shape (500, 5, 3)."""
    from belief_utils.beliefs.draws import resample_weights
    from belief_utils.beliefs.margin_bounds import case_counts

    cases: Cases = group_by_case(judgments(rows))
    binned = quantile_bins(cases.belief, 5)[1]
    counts = case_counts(cases, binned, np.arange(cases.n_cases), 5).reshape(cases.n_cases, -1)
    drawn = resample_weights(cases.n_cases, RESAMPLES, np.random.default_rng(SEED)) @ counts
    drawn = drawn.reshape(RESAMPLES, 5, -1)
    return drawn / drawn.sum(axis=2, keepdims=True)


def our_margins(rows: int) -> Callable[[], float]:
    """Signed margins of 500 resamples by enumeration; the value is their mean."""
    from belief_utils.beliefs.margin_batches import margins

    shares = resampled_shares(rows)
    return lambda: margins(shares, (shares > 0).any(axis=1)).mean()


def linprog_margins(rows: int) -> Callable[[], float]:
    """The same by the paper's linear programmes: one for each ordered pair of actions and resample."""
    shares = resampled_shares(rows)
    return lambda: np.mean([_margin_by_linprog(np.diff(one, axis=0)) for one in shares])


def _margin_by_linprog(steps: np.ndarray) -> float:
    from scipy.optimize import linprog

    best = -np.inf
    for low in range(3):
        for high in {0, 1, 2} - {low}:
            bounds = [(0, 1), (0, 1), (0, 1), (None, None)]
            bounds[low], bounds[high] = (0, 0), (1, 1)
            table = np.column_stack([-steps, np.ones(len(steps))])
            solved = linprog([0, 0, 0, -1], A_ub=table, b_ub=np.zeros(len(steps)), bounds=bounds, method="highs")
            best = max(best, -solved.fun)
    return best


def whole_margin(rows: int) -> Callable[[], float]:
    """monotonicity_margin from the judgments: grouping, bins, bounds and 500 resamples."""
    from belief_utils import monotonicity_margin

    frame = judgments(rows)
    return lambda: monotonicity_margin(frame, resamples=RESAMPLES).gamma


def whole_audit(rows: int) -> Callable[[], float]:
    """What `belief audit` does: read a CSV, run all tests, write the page with pictures; the value is the p value."""
    from belief_utils import read_judgments
    from belief_utils.reporting.audit import audit

    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "judgments.csv"
    judgments(rows).to_csv(path, index=False)

    def run() -> float:
        done = audit(read_judgments(path))
        done.write_html(Path(folder.name) / "audit.html")
        return done.sufficiency.p_value

    return run


TASKS = {
    task.__name__: task
    for task in (ours, tigramite_knn, tigramite_mixed, npeet, our_margins, linprog_margins, whole_margin, whole_audit)
}


def main() -> None:
    """Measure one task at one size: the least of some rounds' mean, rounds of half a second and more."""
    task, rows = sys.argv[1], int(sys.argv[2])
    run = TASKS[task](rows)
    calls = 1
    if task != "whole_audit":
        run()  # the first call imports what it needs
        began = time.perf_counter()
        run()
        calls = int(np.clip(ROUND_SECONDS / (time.perf_counter() - began), 1, 1000))
    used, wall = [], []
    while sum(used) * calls < ROUNDS * ROUND_SECONDS:
        began, began_wall = time.process_time(), time.perf_counter()
        for _ in range(calls):
            value = run()
        used.append((time.process_time() - began) / calls)
        wall.append((time.perf_counter() - began_wall) / calls)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    repeats = calls * len(used)
    found = {"seconds": min(used), "wall": min(wall), "repeats": repeats, "value": float(value), "peak_gib": peak}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()

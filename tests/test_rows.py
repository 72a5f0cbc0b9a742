"""From results to rows: every column of a table finds its value in the row that a notebook keeps for it."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from belief_utils.beliefs.coherence import iterated_expectation_gap
from belief_utils.beliefs.consistency import prompt_consistency
from belief_utils.beliefs.information import information_test
from belief_utils.beliefs.monotonicity import monotonicity_margin
from belief_utils.beliefs.prediction import calibrated_information, predictive_gain
from belief_utils.beliefs.sufficiency import sufficiency_test
from belief_utils.beliefs.ways import line_up
from belief_utils.beliefs.ways_compared import compare_ways
from belief_utils.reporting import rows
from belief_utils.reporting.gathering import measured
from belief_utils.reporting.labels import source, title
from belief_utils.reporting.results import load_rows, save_row
from belief_utils.reporting.tables import TABLES
from tests import small_home

CASES, REPETITIONS = 40, 3


@pytest.fixture(autouse=True)
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BELIEF_HOME", str(small_home.make(tmp_path, cases=2)))
    return tmp_path


def judgments(seed: int = 0) -> pd.DataFrame:
    """Somebody who acts on noisy beliefs; one belief is missing and one action was never asked for."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(rng.random(CASES), REPETITIONS)
    belief = np.clip(truth + rng.normal(0, 0.1, len(truth)), 0, 1).round(2)
    frame = pd.DataFrame({
        "case": np.repeat(np.arange(CASES), REPETITIONS),
        "repetition": np.tile(np.arange(REPETITIONS), CASES),
        "belief": belief,
        "action": np.select([belief < 0.35, belief > 0.65], ["negative", "positive"], "defer").astype(object),
        "outcome": np.repeat(rng.random(CASES), REPETITIONS) < truth,
        "belief_problem": None,
        "action_problem": None,
    })  # fmt: skip
    frame["outcome"] = frame["outcome"].astype(int)
    frame.loc[5, ["belief", "belief_problem"]] = [np.nan, "no number"]
    frame.loc[7, "belief_problem"] = "sum"
    frame.loc[9, ["action", "action_problem"]] = [None, "not asked"]
    return frame


def sufficiency() -> dict[str, Any]:
    frame = judgments()
    information = information_test(frame, permutations=19, resamples=20)
    test = sufficiency_test(frame, permutations=99)
    gains = [predictive_gain(frame, learner=learner, resamples=20) for learner in ("forest", "logistic")]
    return rows.sufficiency_row(frame, information, test, *gains)


def monotonicity() -> dict[str, Any]:
    frame = judgments()
    return rows.monotonicity_row(frame, monotonicity_margin(frame, resamples=50))


def consistency() -> dict[str, Any]:
    frame = judgments()
    return rows.consistency_row(frame, prompt_consistency(frame, judgments(1), resamples=20))


def calibrated() -> dict[str, Any]:
    frame = judgments()
    return rows.calibrated_row(frame, calibrated_information(frame, permutations=19, resamples=20))


def coherence() -> dict[str, Any]:
    frame = judgments()[["case", "repetition", "belief"]].assign(
        conditional_a=0.2, conditional_b=0.7, weight_a=0.5, weight_b=0.5
    )
    return rows.coherence_row(frame, iterated_expectation_gap(frame, resamples=20, simulations=5), 0.05)


def ways() -> dict[str, Any]:
    frame = judgments().assign(p_star=0.5)
    reports = frame[["case", "repetition", "belief"]]
    answers = {"verbalised": reports, "token": reports.assign(order_effect=np.linspace(-0.1, 0.2, len(reports)))}
    same = line_up(answers, frame)
    return rows.ways_row(same, compare_ways(same, permutations=99, resamples=20))


ROWS = {
    "table1_belief_sufficiency": sufficiency,
    "table2_monotonicity": monotonicity,
    "table3_prompt_consistency": consistency,
    "table4_calibrated_beliefs": calibrated,
    "figure1_iterated_expectation": coherence,
    "ways_to_ask": ways,
}


@pytest.mark.parametrize("result", TABLES)
def test_every_column_of_a_table_is_filled_from_its_row(result: str) -> None:
    table = TABLES[result]
    save_row(result, "small", "heart", ROWS[result]())
    # Several rows only of the ways to ask, of which some have no order effect and one no agreement with itself.
    kept = [row for row in measured(table.rules) if row["model"] == "small"]
    assert [heading for heading, show in table.columns.items() if {show(row) for row in kept} == {"–"}] == []
    assert set(table.rules.averaged) | set(table.rules.families) <= kept[0].keys()


def test_a_row_says_from_which_versions_of_a_model_its_answers_come_where_there_are_several() -> None:
    one, two = {"m-1 / fp": 5}, {"m-1 / fp": 5, "m-2 / fp": 3}
    frame = judgments()
    for found in (one, two):
        frame.attrs["versions"] = found
        gaps = iterated_expectation_gap(frame.assign(conditional_a=0.5, weight_a=1.0), resamples=2, simulations=0)
        made = [
            rows.monotonicity_row(frame, monotonicity_margin(frame, resamples=5)),
            rows.consistency_row(frame, prompt_consistency(frame, judgments(1), resamples=5)),
            rows.coherence_row(frame, gaps, 0.05),
        ]
        assert [row.get("versions") for row in made] == [two if found is two else None] * 3


def test_a_row_counts_cases_and_answers() -> None:
    row = sufficiency()
    answers = CASES * REPETITIONS
    counted = {name: row[name] for name in row if name.startswith(("n_", "belief_", "action_"))}
    assert counted == {
        "n_cases": CASES,
        "belief_answers": answers,
        "belief_read": answers - 1,
        "belief_sum_off": 1,
        "action_answers": answers - 1,
        "action_read": answers - 1,
        "action_sum_off": 0,
    }
    # The four results say the same about rows left out, so it stands there once.
    assert row["note"].count("rows left out") == 1


def test_choice_shares_are_kept_bin_by_bin() -> None:
    row = monotonicity()
    shares = row["choice_shares"]
    assert set(shares) == {"negative", "defer", "positive"}
    assert {len(bins) for bins in shares.values()} == {row["n_bins"]}
    assert np.sum(list(shares.values()), axis=0) == pytest.approx(1)


def test_complete_answers_are_those_with_every_part() -> None:
    row = coherence()
    assert (row["answers"], row["read"]) == (CASES * REPETITIONS, CASES * REPETITIONS - 1)
    assert (row["n_cases"], row["baseline"]) == (CASES, 0.05)


def test_without_a_complete_judgment_a_row_says_so_and_holds_no_number_that_was_not_computed() -> None:
    frame = judgments().assign(action=None, action_problem="not asked")
    row = rows.monotonicity_row(frame, monotonicity_margin(frame))
    save_row("table2_monotonicity", "small", "heart", row)
    (kept,) = load_rows("table2_monotonicity")
    assert (kept["gamma"], kept["lower_bound"], kept["n_bins"]) == (None, None, 0)
    assert (kept["action_answers"], kept["action_read"]) == (0, 0)
    assert "no complete rows" in kept["note"]


def test_a_pair_is_called_by_its_names_and_its_figures_by_what_they_are() -> None:
    assert title("heart", "small") == "Heart–Small"
    assert source("heart", "small") == "real answers of Small, surrogate cases"
    assert source("fever", "candid") == "simulated agent, illustrative cases"

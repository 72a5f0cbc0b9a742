"""The tables: our rows beside the published ones, group averages below, simulated agents at the foot."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from belief_utils.asking.provenance import version_warning
from belief_utils.beliefs.datasets import STATUS
from belief_utils.reporting.columns import Table, number_of, p_of, share_read, text_of, whole_of, with_interval_of
from belief_utils.reporting.gathering import Row, TableRules, averages, measured
from belief_utils.reporting.layout import interval, share
from belief_utils.reporting.table_of_ways import WAYS_TABLE
from belief_utils.reporting.written import shown_frame, write_files

if TYPE_CHECKING:
    import pandas as pd


_CASES = {"Cases": whole_of("n_cases"), "Answers read": share_read("belief", "action")}
_READ_NOTE = (
    "Answers read: the share of answers about the belief / about the decision that gave a value; nothing is filled in. "
    "Two probabilities that do not add up to one are read as Yes / (Yes + No); the CSV counts them (sum_off)."
)
_MARGIN_NOTE = (
    "γ and its interval are computed as in the paper; the interval is a safe test of the sign, not a 95 % interval. We "
    "decide from the bounds: a lower bound above zero certifies strict monotonicity, an upper bound below zero rejects "
    "weak monotonicity. Anchored: negative is fixed at 0 and positive at 1, so that a reversed model does not pass."
)

SUFFICIENCY = Table(
    TableRules(
        "table1_belief_sufficiency",
        published="table1_sufficiency.csv",
        published_averages="table1_averages.csv",
        averaged=("forest_gain",),
        with_interval=("forest_gain",),
        families=("p_value", "adjusted_p_value"),
    ),
    "Table 1. Does the action tell more about the outcome than the reported belief does?",
    {
        "CMI [95 % CI]": with_interval_of("cmi", 4),
        "Forest gain % [95 % CI]": with_interval_of("forest_gain", 2),
        "Excess CMI [95 % CI]": with_interval_of("excess", 4),
        "Logistic gain % [95 % CI]": with_interval_of("logistic_gain", 2),
        "p": p_of("p_value"),
        "p (Holm)": p_of("holm_p_value"),
        "p (noise-adjusted)": p_of("adjusted_p_value"),
        "Verdict (after Holm)": text_of("holm_verdict"),
        **_CASES,
    },
    notes=(
        "CMI: conditional mutual information of action and outcome given the belief, in nats, as in the paper. "
        "Never decide from its interval: under a true null it excludes zero far too often. Excess CMI is the raw value "
        "less its mean over permutations of the outcomes among cases with like beliefs.",
        "p: stratified score test, permutations within strata of belief; Holm: adjusted for the number of rows, models "
        "and simulated agents each for themselves. The verdict 'knows more than it says' needs the test and its "
        "noise-adjusted form to reject after that, at 5 %.",
        "Averages: mean ± 1.96 × SD / √n over the group's rows, the rule that reproduces the paper's.",
        _READ_NOTE,
    ),
)

MONOTONICITY = Table(
    TableRules("table2_monotonicity", published="table2_monotonicity.csv", averaged=("gamma",)),
    "Table 2. Do beliefs move actions? The signed margin γ of cyclic monotonicity",
    {
        "γ [95 % CI]": with_interval_of("gamma", 3),
        "Bounds": lambda row: interval(row.get("lower_bound"), row.get("upper_bound"), 3),
        "Verdict": text_of("verdict"),
        "Anchored γ": number_of("anchored", 3),
        "Anchored verdict": text_of("anchored_verdict"),
        "Bins": whole_of("n_bins"),
        "Changes": whole_of("n_changes"),
        "Shares −/defer/+": lambda row: _shares(row.get("choice_shares")),
        **_CASES,
    },
    notes=(
        _MARGIN_NOTE,
        "Shares: of negative, defer and positive decisions in the lowest and in the highest bin of belief.",
        "Published: eight of the paper's sixteen rows are legible in the text we have.",
        _READ_NOTE,
    ),
)

CONSISTENCY = Table(
    TableRules(
        "table3_prompt_consistency",
        published="table3_prompt_consistency.csv",
        published_averages="table3_averages.csv",
        averaged=("within_sd", "rmse"),
        groups=("model", "all"),
    ),
    "Table 3. Does the belief stay when the prompt names a squared-error score?",
    {
        "SD": number_of("within_sd", 4),
        "RMSE": number_of("rmse", 4),
        "Independent draws": number_of("independent_draws", 4),
        "Debiased RMS [95 % CI]": with_interval_of("debiased_rms", 4),
        "Mean shift [95 % CI]": with_interval_of("mean_shift", 4),
        "Cases": whole_of("n_cases"),
        "Answers read": share_read("belief"),
    },
    notes=(
        "SD: of the belief within a case under the standard prompt. RMSE: of the paired difference between the two "
        "prompts, as in the paper. Two independent draws differ by √2 × SD even if the prompt changes nothing, so "
        "compare RMSE with 'independent draws', not with SD. Debiased RMS: what is left of the difference between the "
        "prompts when the noise of single answers is taken out.",
        "Averages are unweighted means.",
    ),
)

CALIBRATED = Table(
    TableRules("table4_calibrated_beliefs", families=("p_value",)),
    "Table 4. The same question after the beliefs are calibrated (isotonic regression)",
    {
        "CMI [95 % CI]": with_interval_of("cmi", 4),
        "Excess CMI [95 % CI]": with_interval_of("excess", 4),
        "p (refit)": p_of("p_value"),
        "p (Holm)": p_of("holm_p_value"),
        **_CASES,
    },
    notes=(
        "The isotonic fit is made again in every permutation; with one fixed fit the test rejects too often.",
        "The paper's Table 4 is not in the text we have; it reports that all sixteen pairs reject, by the interval.",
        _READ_NOTE,
    ),
)

COHERENCE = Table(
    TableRules("figure1_iterated_expectation", averaged=("median_ratio",)),
    "Figure 1. Law of iterated expectation: how far is p(x) from its own decomposition?",
    {
        "Median Δ/p": number_of("median_ratio", 3),
        "Noise floor": number_of("noise_floor", 3),
        "Forest baseline": number_of("baseline", 3),
        "Left out (p = 0)": whole_of("n_zero"),
        "Debiased RMS gap [95 % CI]": with_interval_of("debiased_rms", 3),
        "Mean gap [95 % CI]": with_interval_of("mean_signed", 3),
        "Cases": whole_of("n_cases"),
        "Complete answers": lambda row: share(row.get("read"), row.get("answers")),
    },
    notes=(
        "Median Δ/p: as the paper draws it. Noise floor: the median ratio of a coherent agent that answers as noisily. "
        "Forest baseline: random forests trained on the true probabilities, cross-validated. Debiased RMS gap: what is "
        "left of the gap when the noise of single answers is taken out; from it we decide.",
        "The values of the paper's Figure 1 are not in the text we have.",
    ),
)

TABLES = {
    table.rules.result: table for table in (SUFFICIENCY, MONOTONICITY, CONSISTENCY, CALIBRATED, COHERENCE, WAYS_TABLE)
}


def write_table(result: str) -> list[Path]:
    """Put a table together from the rows that the notebooks left, and write it as CSV, Markdown and LaTeX.

    Args:
        result: a name of :data:`TABLES`.

    Returns:
        The files that changed.
    """
    table = TABLES[result]
    rows = [*measured(table.rules), *averages(table.rules)]
    notes = [*table.notes, _sources(rows), *_warnings(rows)]
    return write_files(result, table.caption, table.columns, rows, notes)


def table_frame(result: str, *, dataset: str | None = None) -> "pd.DataFrame":
    """A table as it stands now, as texts for display in a notebook.

    Args:
        result: a name of :data:`TABLES`.
        dataset: only the rows of this dataset.
    """
    table = TABLES[result]
    rows = [row for row in measured(table.rules) if dataset in (None, row["dataset"])]
    rows += [] if dataset else averages(table.rules)
    return shown_frame(table.columns, rows)


def _sources(rows: Sequence[Row]) -> str:
    shown = {
        "published": "the authors' own numbers (arXiv 2602.06286)",
        **{status: text.split(": ", 1)[1] for status, text in STATUS.items()},
        "simulated": "agents whose answers are known, as controls",
    }
    present = [source for source in shown if any(source in row["source"].split(", ") for row in rows)]
    told = "; ".join(f"{source} = {shown[source]}" for source in present) or "no row yet"
    return (
        f"Source: {told}. The answers in rows that are not published or simulated are real answers of the model named."
    )


def _warnings(rows: Sequence[Row]) -> list[str]:
    """A line for each row whose answers come from more than one version of the model."""
    found = [version_warning(row["label"], row.get("versions") or {}) for row in rows]
    return list(dict.fromkeys(warning for warning in found if warning))


def _shares(shares: Mapping[str, Sequence[float]] | None) -> str:
    """Shares of negative, defer and positive in the lowest and the highest bin, in percent."""
    if not shares or not next(iter(shares.values()), None):
        return "–"
    ends = []
    for end in (0, -1):
        parts = [
            shares.get(action, [0.0])[end if action in shares else 0] for action in ("negative", "defer", "positive")
        ]
        ends.append("/".join(f"{100 * part:.0f}" for part in parts))
    return " to ".join(ends)

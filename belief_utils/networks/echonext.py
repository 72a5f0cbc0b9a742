"""Refit the heart network on EchoNext, for a reader who holds its licence (arXiv 2602.06286, appendix D).

EchoNext's patient rows may not be passed on, so the network in this repository is a surrogate. `fit_heart`
takes the licence holder's own `echonext_metadata_100k.csv` and estimates the tables of the same 20 nodes and
121 edges.

What the file cannot give:

- It has no cut-offs for a prolonged QRS or QTc. Ours: QRS duration of 120 ms or more; QTc above 450 ms in
  men and above 460 ms in women.
- It says nothing of ST-T abnormalities or of left ventricular hypertrophy on the ECG. If the file has a
  column `stt_abnormal` or `ecg_lvh` (0 or 1) of the reader's own, it is used. If not, the node keeps the
  surrogate's table, which is assumed, and no fitted table can depend on it: given age, sex, setting and race,
  such a node then tells nothing about the echo findings. The fitted distribution of everything that was
  observed is the same as if the unobserved nodes were left out.
- An echo value that was not measured counts as absent: the release codes it 0 in the flags.

In the paper's structure the echo findings are independent given the demographic and ECG variables. Where they
coincide more often than that, the network's share of SHD lies above the share among the patients; both are
logged.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from belief_utils.errors import BeliefError
from belief_utils.networks.fitting import MINIMUM_SUPPORT, FittedTable, build_network, fit_tables
from belief_utils.paths import data

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

logger = logging.getLogger(__name__)

QRS_PROLONGED_FROM_MS = 120
QTC_PROLONGED_ABOVE_MS = {"male": 450, "female": 460}
AGE_CUTS_YEARS = (50, 70)

OUTCOME = "SHD"
OUTCOME_COLUMN = "shd_moderate_or_greater_flag"
CATEGORY_COLUMNS = {"Sex": "sex", "Location": "location_setting", "Race": "race_ethnicity"}
OPTIONAL_COLUMNS = {"STT_Abnormal": "stt_abnormal", "ECG_LVH": "ecg_lvh"}
FLAG_COLUMNS = {
    "LVEF_Low": "lvef_lte_45_flag",
    "Wall_Thick": "lvwt_gte_13_flag",
    "Aortic_Stenosis": "aortic_stenosis_moderate_or_greater_flag",
    "Aortic_Regurgitation": "aortic_regurgitation_moderate_or_greater_flag",
    "Mitral_Regurgitation": "mitral_regurgitation_moderate_or_greater_flag",
    "Tricuspid_Regurgitation": "tricuspid_regurgitation_moderate_or_greater_flag",
    "Pulmonary_Regurgitation": "pulmonary_regurgitation_moderate_or_greater_flag",
    "RV_Dysfunction": "rv_systolic_dysfunction_moderate_or_greater_flag",
    "Pericardial_Effusion": "pericardial_effusion_moderate_large_flag",
    "PASP_High": "pasp_gte_45_flag",
    "TR_Velocity_High": "tr_max_gte_32_flag",
}
_NUMBER_COLUMNS = ("age_at_ecg", "qrs_duration", "qt_corrected")

# Rare configurations drop parents from the end of this list. QRS, QTc and age are the strongest published
# predictors; race is the weakest and has the most categories.
_PARENT_PRIORITY = (
    "Age",
    "QRS_Prolonged",
    "QTc_Prolonged",
    "STT_Abnormal",
    "ECG_LVH",
    "Location",
    "Sex",
    "Race",
)


def fit_heart(
    path: Path | str,
    *,
    surrogate: DiscreteBayesianNetwork | None = None,
    minimum_support: int = MINIMUM_SUPPORT,
) -> DiscreteBayesianNetwork:
    """Fit the heart network's tables by maximum likelihood on the latest ECG of each patient (D.0.5).

    `path` is the licence holder's `echonext_metadata_100k.csv`. The structure, the names of the states and,
    where the file has no column for them, the tables of STT_Abnormal and ECG_LVH are those of the surrogate
    (by default `data/networks/heart.bif`). SHD stays exactly the OR of the eleven echo flags. Raises
    BeliefError when the file cannot be read, lacks a column, or (naming row and column) holds a value that it
    should not.
    """
    from pgmpy.readwrite import BIFReader

    latest = read_latest(path)
    if surrogate is None:
        surrogate = BIFReader(str(data("networks", "heart.bif"))).get_model()
    rows = code_rows(latest, surrogate.states, str(path))
    tables = {}
    for node in surrogate.nodes():
        cpd = surrogate.get_cpds(node)
        parents = tuple(cpd.variables[1:])
        if node == OUTCOME or node not in rows:
            tables[node] = FittedTable(node, parents, cpd.values, cpd.values[0].size, 0)
        else:
            tables[node] = _fit_node(node, parents, rows, surrogate.states, minimum_support)
    fitted = [table for node, table in tables.items() if node in rows and node != OUTCOME]
    logger.info(
        f"{sum(table.backed_off for table in fitted)} of {sum(table.configurations for table in fitted)} "
        f"parent configurations had fewer than {minimum_support} patients"
    )
    network = build_network(tables, surrogate.states)
    network.name = "heart"
    _log_outcome_share(network, float(rows[OUTCOME].mean()))
    return network


def read_latest(path: Path | str) -> pd.DataFrame:
    """Read the metadata file and keep the latest ECG of each patient (`most_recent_ecg` = 1).

    The index counts the file's rows from 1. Patients without a QRS duration or QTc are left out and counted
    in a warning. Raises BeliefError when the file is not there, lacks a column, or has two latest ECGs of one
    patient.
    """
    if not Path(path).is_file():
        raise BeliefError(f"{path}: no such file; give EchoNext's echonext_metadata_100k.csv")
    try:
        rows = pd.read_csv(path, low_memory=False)
    except (ValueError, OSError) as error:
        raise BeliefError(f"{path}: cannot be read as CSV ({' '.join(str(error).split())})") from error
    needed = ("patient_key", "most_recent_ecg", *_NUMBER_COLUMNS, *CATEGORY_COLUMNS.values())
    missing = [name for name in (*needed, *FLAG_COLUMNS.values(), OUTCOME_COLUMN) if name not in rows.columns]
    if missing:
        raise BeliefError(f"{path}: no column {missing[0]!r}; the file must be echonext_metadata_100k.csv")
    rows.index = pd.RangeIndex(1, len(rows) + 1)
    rows = rows[pd.to_numeric(rows["most_recent_ecg"], errors="coerce") == 1]
    repeated = rows["patient_key"].duplicated()
    if repeated.any():
        raise BeliefError(f"{path}, row {repeated.idxmax()}: this patient has a second row with most_recent_ecg = 1")
    unmeasured = rows[["qrs_duration", "qt_corrected"]].isna().any(axis=1)
    if unmeasured.any():
        logger.warning(f"{int(unmeasured.sum())} patients without QRS duration or QTc are left out")
    return rows[~unmeasured]


def code_rows(rows: pd.DataFrame, states: dict[str, Sequence[str]], source: str) -> pd.DataFrame:
    """Code the rows of `read_latest` as the network's states: one integer column per node that was observed.

    STT_Abnormal and ECG_LVH are columns only where the rows have them. Raises BeliefError for unknown values.
    """
    coded = pd.DataFrame(index=rows.index)
    age, qrs, qtc = (_numbers(rows, column, source) for column in _NUMBER_COLUMNS)
    coded["Age"] = np.digitize(age, AGE_CUTS_YEARS)
    for node, column in CATEGORY_COLUMNS.items():
        coded[node] = _categories(rows, column, states[node], source)
    coded["QRS_Prolonged"] = (qrs >= QRS_PROLONGED_FROM_MS).astype(int)
    limits = np.array([QTC_PROLONGED_ABOVE_MS[sex] for sex in states["Sex"]])
    coded["QTc_Prolonged"] = (qtc > limits[coded["Sex"].to_numpy()]).astype(int)
    for node, column in OPTIONAL_COLUMNS.items():
        if column in rows.columns:
            coded[node] = _flags(rows, column, source)
        else:
            logger.warning(
                f"{source} has no column {column!r}: {node} keeps the surrogate's assumed table, and the "
                "fitted tables of the other ECG variables and of the echo findings do not depend on it"
            )
    for node, column in FLAG_COLUMNS.items():
        coded[node] = _flags(rows, column, source)
    coded[OUTCOME] = _flags(rows, OUTCOME_COLUMN, source)
    differs = coded[OUTCOME] != coded[list(FLAG_COLUMNS)].max(axis=1)
    if differs.any():
        raise BeliefError(f"{source}, row {differs.idxmax()}: {OUTCOME_COLUMN} is not the OR of the eleven flags")
    return coded


def _fit_node(
    node: str, parents: tuple[str, ...], rows: pd.DataFrame, states: dict, minimum_support: int
) -> FittedTable:
    """Fit on the observed parents, then repeat the table over the states of those that were not observed."""
    observed = sorted((name for name in parents if name in rows), key=_PARENT_PRIORITY.index)
    table = fit_tables(rows, {node: observed}, states, minimum_support=minimum_support)[node]
    kept = [name for name in parents if name in rows]
    values = np.transpose(table.values, (0, *(1 + observed.index(name) for name in kept)))
    for axis, name in enumerate(parents, start=1):
        if name not in rows:
            values = np.repeat(np.expand_dims(values, axis), len(states[name]), axis=axis)
    return FittedTable(node, parents, values, table.configurations, table.backed_off)


def _log_outcome_share(network: DiscreteBayesianNetwork, observed: float) -> None:
    """Log the share of SHD that the network implies beside the one among the patients."""
    from pgmpy.inference import VariableElimination

    factor = VariableElimination(network).query([OUTCOME], elimination_order="greedy", show_progress=False)
    implied = factor.values[1]
    logger.warning(f"share of {OUTCOME}: {implied:.3f} in the fitted network, {observed:.3f} among the patients")


def _numbers(rows: pd.DataFrame, column: str, source: str) -> np.ndarray:
    values = pd.to_numeric(rows[column], errors="coerce")
    _reject(rows, column, ~(values > 0) | np.isinf(values), source, "a positive number")
    return values.to_numpy(dtype=float)


def _categories(rows: pd.DataFrame, column: str, names: Sequence[str], source: str) -> np.ndarray:
    values = rows[column].astype("string").str.strip().str.lower()
    codes = values.map({name: code for code, name in enumerate(names)})
    _reject(rows, column, codes.isna(), source, f"one of {', '.join(names)}")
    return codes.to_numpy(dtype=int)


def _flags(rows: pd.DataFrame, column: str, source: str) -> np.ndarray:
    values = pd.to_numeric(rows[column], errors="coerce")
    _reject(rows, column, ~values.isin([0, 1]), source, "0 or 1")
    return values.to_numpy(dtype=int)


def _reject(rows: pd.DataFrame, column: str, bad: pd.Series, source: str, expected: str) -> None:
    """Raise for the first bad value, naming its row in the file and its column."""
    if bad.any():
        row = bad.idxmax()
        raise BeliefError(f"{source}, row {row}, column {column!r}: {rows.loc[row, column]!r} is not {expected}")

"""The diabetes network: 22 nodes, 77 edges, fitted on the CDC's BRFSS 2015 (arXiv 2602.06286, appendix E).

What the label means: `Diabetes_binary` = 1 in the public binary file is **diabetes only**. The 4,631
respondents with prediabetes are coded 0, although the paper (and the card of the data set) says
"prediabetes or diabetes". The clinical question asked of a model is therefore "have diabetes".

The survey's rows are not part of this project. `read_survey` takes the public CSV file
`diabetes_binary_health_indicators_BRFSS2015.csv`, or fetches the same rows from the UCI repository (id 891).
"""

from __future__ import annotations

import logging
import lzma
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from belief_utils.errors import BeliefError
from belief_utils.networks.fitting import MINIMUM_SUPPORT, PatternIndex, build_network, fit_tables

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

logger = logging.getLogger(__name__)

OUTCOME = "Diabetes_binary"
POSITIVE = "yes"
UCI_REPOSITORY_ID = 891

_YES_NO = ("no", "yes")
_DAYS = ("under_7_days", "from_7_to_13_days", "from_14_to_20_days", "over_20_days")

STATES: dict[str, tuple[str, ...]] = {
    "Diabetes_binary": _YES_NO,
    "HighBP": _YES_NO,
    "HighChol": _YES_NO,
    "CholCheck": _YES_NO,
    "BMI": ("underweight", "normal", "overweight", "obese"),
    "Smoker": _YES_NO,
    "Stroke": _YES_NO,
    "HeartDiseaseorAttack": _YES_NO,
    "PhysActivity": _YES_NO,
    "Fruits": _YES_NO,
    "Veggies": _YES_NO,
    "HvyAlcoholConsump": _YES_NO,
    "AnyHealthcare": _YES_NO,
    "NoDocbcCost": _YES_NO,
    "GenHlth": ("excellent", "very_good", "good", "fair", "poor"),
    "MentHlth": _DAYS,
    "PhysHlth": _DAYS,
    "DiffWalk": _YES_NO,
    "Sex": ("female", "male"),
    "Age": ("from_18_to_34", "from_35_to_49", "from_50_to_64", "from_65"),
    "Education": ("none", "elementary", "some_high_school", "high_school", "some_college", "college"),
    "Income": ("below_25k", "from_25k_to_50k", "from_50k_to_75k", "from_75k"),
}
"""The states of every column, in the order of the survey's codes (appendix E.0.3)."""

# The 28 edges that appendix E.0.4 names are fixed (counting income and age as the demographic variables of
# DiffWalk); GenHlth points to 11 variables and Diabetes_binary has exactly four parents. The paper does not
# print the other edges. They were added one by one, each time the edge that raised the likelihood of the
# survey most after the usual penalty for parameters (BIC). Seven weak ones were then exchanged for edges,
# five of them from Diabetes_binary, that bring the network's probabilities closer to the shares observed
# among respondents who agree on 2 to 6 covariates. Parents stand in the order of how much they tell about the
# node, because rare configurations drop the last ones first.
PARENTS: dict[str, tuple[str, ...]] = {
    "Sex": (),
    "Education": (),
    "Income": ("Education", "Sex"),
    "Fruits": ("Education", "Sex"),
    "Veggies": ("Fruits", "Income", "Education"),
    "GenHlth": ("Income", "Education", "Veggies"),
    "PhysActivity": ("GenHlth", "Education", "Fruits", "Veggies"),
    "DiffWalk": ("GenHlth", "Income", "PhysActivity", "Sex"),
    "Diabetes_binary": ("GenHlth", "DiffWalk", "Sex", "Income"),
    "Age": ("Income", "DiffWalk", "Diabetes_binary", "Sex"),
    "BMI": ("GenHlth", "Diabetes_binary", "Sex", "Age", "DiffWalk"),
    "HighBP": ("Age", "GenHlth", "BMI", "Diabetes_binary", "DiffWalk"),
    "HighChol": ("HighBP", "Age", "GenHlth", "Diabetes_binary"),
    "HeartDiseaseorAttack": ("GenHlth", "Age", "Sex", "HighChol", "HighBP", "Diabetes_binary"),
    "Stroke": ("GenHlth", "HeartDiseaseorAttack", "Age", "DiffWalk", "HighBP", "Diabetes_binary"),
    "Smoker": ("Education", "Age", "Sex", "DiffWalk", "Diabetes_binary"),
    "HvyAlcoholConsump": ("Smoker", "Diabetes_binary", "Income"),
    "PhysHlth": ("GenHlth", "DiffWalk", "Diabetes_binary"),
    "MentHlth": ("PhysHlth", "GenHlth", "Age"),
    "NoDocbcCost": ("Income", "Age", "GenHlth", "Diabetes_binary"),
    "AnyHealthcare": ("NoDocbcCost", "Age", "Income"),
    "CholCheck": ("HighBP", "AnyHealthcare", "HighChol", "Diabetes_binary"),
}

# First survey value of the second, third, ... category, and the lowest and highest value that the survey has.
_CUTS: dict[str, tuple[float, ...]] = {
    "BMI": (18.5, 25, 30),
    "MentHlth": (7, 14, 21),
    "PhysHlth": (7, 14, 21),
    "Age": (4, 7, 10),  # codes of five years each: 1 is 18-24, 4 is 35-39, 7 is 50-54, 10 is 65-69, 13 is 80+
    "Income": (5, 7, 8),  # codes: 1 to 4 below 25,000, 5 and 6 below 50,000, 7 below 75,000, 8 the rest
    "GenHlth": (2, 3, 4, 5),
    "Education": (2, 3, 4, 5, 6),
}
_RANGES: dict[str, tuple[int, int]] = {
    "BMI": (5, 150),
    "MentHlth": (0, 30),
    "PhysHlth": (0, 30),
    "Age": (1, 13),
    "Income": (1, 8),
    "GenHlth": (1, 5),
    "Education": (1, 6),
}


def read_survey(path: Path | str | None = None) -> pd.DataFrame:
    """Read the 22 survey columns, one row per respondent, as numbers; other columns are left out.

    `path` is the public CSV, plain or compressed (.csv, .csv.gz, .csv.xz). Without a path the rows are
    fetched from the UCI repository with the `ucimlrepo` package. Raises BeliefError when the file cannot be
    read, a column is missing, or (naming row and column) a value is not a whole number in the survey's range.
    """
    if path is None:
        rows, source = _fetch_survey(), f"UCI repository {UCI_REPOSITORY_ID}"
    else:
        source = str(path)
        if not Path(path).is_file():
            raise BeliefError(f"{source}: no such file; give the BRFSS 2015 diabetes CSV (binary file)")
        try:
            rows = pd.read_csv(path)
        except (ValueError, OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise BeliefError(f"{source}: cannot be read as CSV ({reason})") from error
    return _check_survey(rows, source)


def recode(rows: pd.DataFrame) -> pd.DataFrame:
    """Recode survey values to the paper's categories (E.0.3): one integer column per node.

    A value is the position of the category in `STATES`. The index is that of `rows`. Raises BeliefError,
    naming row and column, where a value is not one of the survey's.
    """
    checked = _check_survey(rows, "the survey's rows")
    coded = {}
    for column in STATES:
        coded[column] = np.digitize(checked[column], _CUTS.get(column, (1,))).astype(np.int8)
    return pd.DataFrame(coded, index=rows.index)


def fit_diabetes(rows: pd.DataFrame, *, minimum_support: int = MINIMUM_SUPPORT) -> DiscreteBayesianNetwork:
    """Fit the network on survey rows as `read_survey` returns them, by maximum likelihood (E.0.5)."""
    network = build_network(fit_tables(recode(rows), PARENTS, STATES, minimum_support=minimum_support), STATES)
    network.name = "diabetes"
    return network


def pattern_index(rows: pd.DataFrame) -> PatternIndex:
    """Index survey rows once; `pattern_index(rows).counts(evidence)` then counts who shares some evidence.

    `counts` returns how many respondents share the evidence and how many of them have diabetes.
    """
    return PatternIndex(recode(rows), STATES, OUTCOME, POSITIVE)


def _fetch_survey() -> pd.DataFrame:
    """The survey from the UCI repository; needs the network and the package `ucimlrepo`."""
    try:
        from ucimlrepo import fetch_ucirepo
    except ImportError as error:
        raise BeliefError(
            "fetching the survey needs the package ucimlrepo: run pip install ucimlrepo, or give the CSV file"
        ) from error
    logger.info(f"fetching BRFSS 2015 from the UCI repository, id {UCI_REPOSITORY_ID}")
    try:
        data = fetch_ucirepo(id=UCI_REPOSITORY_ID).data
    except Exception as error:  # the package raises ConnectionError, ValueError and its own classes
        raise BeliefError(f"the UCI repository did not answer ({error}); give the CSV file instead") from error
    return pd.concat([data.targets, data.features], axis=1)


def _check_survey(rows: pd.DataFrame, source: str) -> pd.DataFrame:
    """Keep the 22 columns; every value must be a whole number in the survey's range."""
    missing = [column for column in STATES if column not in rows.columns]
    if missing:
        raise BeliefError(f"{source}: no column {missing[0]!r}; the file must be the BRFSS 2015 binary CSV")
    if rows.empty:
        raise BeliefError(f"{source}: no rows")
    checked = {}
    for column in STATES:
        low, high = _RANGES.get(column, (0, 1))
        values = pd.to_numeric(rows[column], errors="coerce").to_numpy(dtype=float)
        bad = ~((values >= low) & (values <= high) & (values == np.floor(values)))
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise BeliefError(
                f"{source}, row {row + 1}, column {column!r}: {rows[column].iloc[row]!r} "
                f"is not a whole number from {low} to {high}"
            )
        checked[column] = values.astype(np.int16)
    return pd.DataFrame(checked)

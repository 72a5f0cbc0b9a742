"""The paper's baseline for the law of iterated expectation: what imperfect but honest predictors would show."""

import pandas as pd

from belief_utils.beliefs.cases import evidence_from, load_cases
from belief_utils.beliefs.coherence import forest_baseline
from belief_utils.beliefs.datasets import load_dataset
from belief_utils.beliefs.elicitation import coherence_cases


def coherence_baseline(dataset: str, *, seed: int = 0) -> float:
    """Median of Delta/p for random forests trained on a dataset's true probabilities (paper, section 5).

    Args:
        dataset: a dataset's name; its cases whose evidence leaves the auxiliary variable open are used.
        seed: of folds and forests.
    """
    source = load_dataset(dataset)
    cases = load_cases(source)
    cases = coherence_cases(source, cases, limit=len(cases))
    states = list(source.labels)
    return forest_baseline(
        evidence_features(cases["evidence"]),
        cases["p_star"].to_numpy(),
        cases[[f"p_star_{state}" for state in states]].to_numpy(),
        cases[[f"weight_{state}" for state in states]].to_numpy(),
        seed=seed,
    )


def evidence_features(evidence: pd.Series) -> pd.DataFrame:
    """Evidence as columns of 0 and 1, one per covariate and state; all 0 where the covariate is not known."""
    shown = evidence.map(evidence_from)
    columns = sorted({f"{variable}={state}" for case in shown for variable, state in case.items()})
    rows = [[float(case.get(v) == s) for v, s in (column.split("=", 1) for column in columns)] for case in shown]
    return pd.DataFrame(rows, columns=columns, index=evidence.index)

"""Judgments as an audit takes them: checked, in few columns, and counted."""

import numpy as np
import pandas as pd

from belief_utils.beliefs.judgments_checks import check_judgments
from belief_utils.errors import BeliefError

#: More labels than this are no set of actions to choose from.
MOST_ACTIONS = 50
#: How far a row's beliefs over more than two outcomes may be from adding up to 1.
SUMS_TO_ONE = 0.02


def prepared(judgments: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The columns that an audit needs, and the outcomes if there are more than two, else none.

    Actions become text; outcomes become 1.0, 0.0 or NaN, or text if there are more than two.

    Raises:
        BeliefError: as :func:`belief_utils.reporting.audit.audit`.
    """
    states = _states(judgments)
    beliefs = [f"belief_{state}" for state in states] or ["belief"]
    kept = [name for name in ("case", *beliefs, "action", "outcome", "p_star") if name in judgments.columns]
    frame = check_judgments(judgments[kept].reset_index(drop=True), beliefs=beliefs)
    known = frame["outcome"].notna()
    if states:
        total = frame[beliefs].sum(axis=1, min_count=len(beliefs))
        if (wrong := (total - 1).abs() > SUMS_TO_ONE).any():
            raise BeliefError(f"beliefs add up to {total[wrong].iloc[0]:.4g} in row {wrong.idxmax()}, not to 1")
        frame["outcome"] = frame["outcome"].astype(object).map(str, na_action="ignore")
    else:
        numbers = pd.to_numeric(frame["outcome"].where(known, np.nan), errors="coerce").astype(float)
        wrong = known & ~numbers.isin([0.0, 1.0])
        if wrong.any():
            value = frame["outcome"].astype(object)[wrong.idxmax()]
            value = value.item() if isinstance(value, np.generic) else value
            raise BeliefError(
                f"outcome is {value!r} in row {wrong.idxmax()}: give 1 or 0 (read_judgments translates labels)"
            )
        frame["outcome"] = numbers
    labels = frame["action"].astype(object)
    frame["action"] = labels.map(str, na_action="ignore").where(labels.notna(), None)
    different = frame["action"].nunique()
    if different > MOST_ACTIONS:
        raise BeliefError(
            f"action has {different:,} different labels, more than {MOST_ACTIONS}: give what was chosen, not "
            "the text of an answer"
        )
    return frame, states


def _states(judgments: pd.DataFrame) -> tuple[str, ...]:
    """The outcomes that beliefs are about, if there is a ``belief_<outcome>`` for each; else none."""
    named = [str(name) for name in judgments.columns if str(name).startswith("belief_")]
    states = tuple(name.removeprefix("belief_") for name in named if not name.endswith("_problem"))
    if "outcome" not in judgments or len(states) < 2:
        return ()
    found = judgments["outcome"].dropna()
    if "belief" in judgments and found.nunique() < 3:
        return ()
    unknown = sorted({str(label) for label in found.unique()} - set(states))
    if unknown:
        raise BeliefError(f"there is no column belief_{unknown[0]} for the outcome {unknown[0]!r}")
    return states


def counts(frame: pd.DataFrame, beliefs: list[str]) -> dict:
    """How many rows, cases, actions and outcomes prepared judgments have, what is missing and what never varies.

    The keys are attributes of :class:`belief_utils.reporting.audit.Audit`.
    """
    missing = {
        "belief": frame[beliefs].isna().any(axis=1),
        "action": frame["action"].isna(),
        "outcome": frame["outcome"].isna(),
    }
    complete = ~np.logical_or.reduce(list(missing.values()))
    sizes = frame["case"].value_counts(sort=False)
    whole = frame[complete]
    columns = {"belief": beliefs, "action": ["action"], "outcome": ["outcome"]}
    constant = [
        name
        for name, these in columns.items()
        if len(whole["case"].unique()) > 1 and len(whole[these].drop_duplicates()) == 1
    ]
    return {
        "n_rows": len(frame),
        "n_cases": len(sizes),
        "n_complete": int(complete.sum()),
        "repetitions": (int(sizes.min()), int(sizes.max())),
        "missing": {name: int(mask.sum()) for name, mask in missing.items()},
        "actions": {str(name): int(count) for name, count in frame["action"].value_counts().items()},
        "outcomes": _named_outcomes(frame["outcome"]),
        "constant": tuple(constant),
    }


def _named_outcomes(outcome: pd.Series) -> dict[str, int]:
    counts = outcome.value_counts().sort_index(ascending=False)
    return {f"{name:g}" if isinstance(name, float) else str(name): int(count) for name, count in counts.items()}

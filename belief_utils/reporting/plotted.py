"""The numbers that a picture of one model and dataset shows, part by part, before anything is drawn.

A part is a list of rows, each a mapping with some of the columns :data:`COLUMNS`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from belief_utils.beliefs.draws import case_strata
from belief_utils.beliefs.judgments_checks import (
    BELIEF_SCALE,
    Cases,
    group_by_case,
    integer_beliefs,
    quantile_bins,
)
from belief_utils.beliefs.prediction import calibrate_beliefs
from belief_utils.beliefs.score import stratified_score
from belief_utils.errors import BeliefError

#: What a row says: the part it belongs to, its label, its place, the right edge of a bar, its value, the ends of its
#: 95 % interval, and a count.
COLUMNS = ["part", "label", "x", "x_to", "y", "low", "high", "n"]

#: Bins of reported belief whose choices are shown: those that the signed margin is computed from.
CHOICE_BINS = 5
#: Bins of reported belief whose outcomes are shown, at most; fewer where they would hold fewer cases than this.
OUTCOME_BINS = 10
CASES_PER_BIN = 8
_BELIEF_BARS = 20
_NORMAL = 1.96

Rows = list[dict[str, Any]]


class Answers(NamedTuple):
    """Complete judgments, arrays of shape (rows,), and the same grouped by case."""

    belief: np.ndarray
    """Whole millionths."""
    action: np.ndarray
    outcome: np.ndarray
    """True where the outcome is there."""
    case: np.ndarray
    truth: np.ndarray
    """The true probability p*, NaN where it is not known."""
    cases: Cases


def frame_of(rows: Rows) -> pd.DataFrame:
    """The rows as one tidy frame with the columns :data:`COLUMNS`."""
    frame = pd.DataFrame(rows, columns=COLUMNS)
    return frame.astype({**dict.fromkeys(["x", "x_to", "y", "low", "high"], float), "n": "Int64"})


def heading(title: str, source: str, count: str) -> Rows:
    """Rows for the title and for what stands below the picture: what its figures are and how many answers it shows."""
    texts = {"title": title, "source": source, "count": count}
    return [{"part": part, "label": text} for part, text in texts.items() if text]


def values(named: Mapping[str, float]) -> Rows:
    """Rows for single numbers that are written into the picture."""
    return [{"part": "value", "label": label, "y": value} for label, value in named.items()]


def bars(part: str, edges: np.ndarray, counts: np.ndarray) -> Rows:
    """A histogram as shares: edges of shape (k + 1,), counts of shape (k,)."""
    total = max(counts.sum(), 1)
    return [
        {"part": part, "x": low, "x_to": high, "y": count / total, "n": count}
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def complete(judgments: pd.DataFrame) -> Answers | None:
    """The complete judgments, or ``None`` if there are none.

    Raises:
        BeliefError: the judgments are not as they must be, or there are more than two outcomes.
    """
    cases = group_by_case(judgments) if len(judgments) else None
    if cases is None or not cases.n_rows:
        return None
    if len(cases.outcomes) > 2:
        raise BeliefError(f"a picture shows two outcomes, not {len(cases.outcomes)}; choose one and code it as 1")
    rows = judgments.dropna(subset=["belief", "action", "outcome"])
    present = cases.outcomes[1] if len(cases.outcomes) == 2 else 1
    return Answers(
        belief=integer_beliefs(rows["belief"]),
        action=rows["action"].to_numpy(object),
        outcome=(rows["outcome"] == present).to_numpy(bool),
        case=pd.factorize(rows["case"])[0],
        truth=rows["p_star"].to_numpy(float) if "p_star" in rows else np.full(len(rows), np.nan),
        cases=cases,
    )


def count_of(answers: Answers | None) -> str:
    """How many answers about how many cases are shown, and what was left out."""
    if answers is None:
        return ""
    left_out = f"; {answers.cases.note}" if answers.cases.note else ""
    return f"{answers.cases.n_rows:,} answers about {answers.cases.n_cases:,} cases{left_out}"


def choices(answers: Answers) -> Rows:
    """Share of each action in quantile bins of the belief."""
    bins = quantile_bins(answers.belief, CHOICE_BINS)[1]
    return [
        {"part": "choices", "label": action, "x": _belief(answers, chosen)}
        | _share(answers.action[chosen] == action, answers.case[chosen])
        for action in answers.cases.actions
        for chosen in (bins == k for k in range(bins.max() + 1))
    ]


def outcomes(answers: Answers) -> Rows:
    """Share of rows with the outcome in quantile bins of the belief."""
    return [
        {"part": "outcome", "x": _belief(answers, chosen)} | _share(answers.outcome[chosen], answers.case[chosen])
        for chosen in _outcome_bins(answers)
    ]


def truths(answers: Answers) -> Rows:
    """Mean true probability in the same bins, where it is known."""
    rows = []
    for chosen in _outcome_bins(answers):
        known = answers.truth[chosen][np.isfinite(answers.truth[chosen])]
        if len(known):
            rows.append({"part": "truth", "x": _belief(answers, chosen), "y": known.mean(), "n": len(known)})
    return rows


def belief_bars(answers: Answers) -> Rows:
    """Histogram of the reported beliefs, as shares."""
    # In whole numbers, so that a belief of .15 falls into the bar that starts there.
    bar = np.minimum(answers.belief * _BELIEF_BARS // BELIEF_SCALE, _BELIEF_BARS - 1)
    counts = np.bincount(bar, minlength=_BELIEF_BARS)
    edges = np.arange(_BELIEF_BARS + 1) / _BELIEF_BARS
    return bars("beliefs", edges, counts)


def outcomes_by_action(answers: Answers) -> Rows:
    """Share of rows with the outcome after each action, in bins of the belief, each at its own mean belief."""
    bins = quantile_bins(answers.belief, CHOICE_BINS)[1]
    return [
        {"part": "by action", "label": action, "x": _belief(answers, chosen)}
        | _share(answers.outcome[chosen], answers.case[chosen])
        for action in answers.cases.actions
        for chosen in ((bins == k) & (answers.action == action) for k in range(bins.max() + 1))
        if chosen.any()
    ]


def beyond_belief(cases: Cases) -> Rows:
    """How much more often than in its stratum of like belief the outcome is there after each action.

    The sum over strata that the score test takes, divided by the number of decisions; the interval is 1.96 standard
    deviations of its permutation distribution to each side.
    """
    strata = case_strata(cases.mean_belief())
    shares = cases.action_shares()
    present = (cases.outcome == 1)[:, None].astype(float) if len(cases.outcomes) == 2 else np.zeros((cases.n_cases, 1))
    rows = []
    for code, action in enumerate(cases.actions):
        score = stratified_score(shares[:, [code]], present, strata)
        total = shares[:, code].sum()
        y, reach = score.score[0] / total, _NORMAL * np.sqrt(score.variance[0, 0]) / total
        n = (cases.action == code).sum()
        rows.append({"part": "beyond", "label": action, "y": y, "low": y - reach, "high": y + reach, "n": n})
    return rows


def calibration(answers: Answers) -> Rows:
    """The corners of the isotonic fit of outcomes on beliefs."""
    fitted = calibrate_beliefs(answers.belief, answers.outcome.astype(float))
    curve = pd.Series(fitted, index=answers.belief).groupby(level=0).first()
    corner = (curve != curve.shift()) | (curve != curve.shift(-1))
    return [{"part": "fit", "x": x / BELIEF_SCALE, "y": y / BELIEF_SCALE} for x, y in curve[corner].items()]


def share_interval(hits: np.ndarray, case: np.ndarray) -> tuple[float, float, float]:
    """A share of rows and its 95 % interval, for rows that come in cases.

    Wilson's interval for the number of independent rows that tell as much: between Kish's, which takes the rows of a
    case as one and the same, and the number of rows.

    Args:
        hits: truth values, shape (n,), one or more.
        case: the case of each row, shape (n,).

    Returns:
        The share and the interval's ends.
    """
    code = np.unique(case, return_inverse=True)[1]
    rows, hit = np.bincount(code), np.bincount(code, weights=hits)
    share = float(hit.sum() / len(hits))
    fewest = len(hits) ** 2 / (rows**2).sum()
    spread = ((hit - share * rows) ** 2).sum() / len(hits) ** 2 * len(rows) / max(len(rows) - 1, 1)
    alike = not (hit * (rows - hit)).any()
    n = fewest if alike or spread == 0 else np.clip(share * (1 - share) / spread, fewest, len(hits))
    centre = (share + _NORMAL**2 / (2 * n)) / (1 + _NORMAL**2 / n)
    reach = _NORMAL / (1 + _NORMAL**2 / n) * np.sqrt(share * (1 - share) / n + _NORMAL**2 / (4 * n**2))
    return share, float(max(centre - reach, 0)), float(min(centre + reach, 1))


def _outcome_bins(answers: Answers) -> list[np.ndarray]:
    """Which rows are in each bin, by rising belief."""
    wanted = int(np.clip(answers.cases.n_cases // CASES_PER_BIN, 2, OUTCOME_BINS))
    bins = quantile_bins(answers.belief, wanted)[1]
    return [bins == k for k in range(bins.max() + 1)]


def _share(hits: np.ndarray, case: np.ndarray) -> dict[str, Any]:
    y, low, high = share_interval(hits, case)
    return {"y": y, "low": low, "high": high, "n": len(hits)}


def _belief(answers: Answers, chosen: np.ndarray) -> float:
    return answers.belief[chosen].mean() / BELIEF_SCALE

"""The same cases asked about in several ways: what each way says of them, beside the same decisions.

The paper asks for a stated probability (arXiv 2602.06286, section 3.2 and appendix B). The other ways are those of
:mod:`belief_utils.beliefs.elicitations`. A comparison is fair only on cases that every way has a belief about.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from belief_utils.asking.models import load_model, nearest
from belief_utils.beliefs.datasets import load_dataset
from belief_utils.beliefs.elicitation import store_for
from belief_utils.beliefs.elicitations import load_elicitation, one_word_answers, order_effect, stored_repetitions
from belief_utils.beliefs.elicited import ELICITATIONS, FREQUENCY, TOKEN
from belief_utils.beliefs.judgments import load_judgments

VERBALISED = "verbalised"

#: All ways to ask, with what each is; the paper's first.
WAYS = {VERBALISED: "a stated probability, as in the paper", **ELICITATIONS}

#: A way with a belief about fewer than this share of the cases that it was asked about is set aside: it would leave
#: the others next to no case to be compared on.
READ_AT_LEAST = 0.5


@dataclass(frozen=True)
class Way:
    """What one way to ask says about the cases that all ways have.

    Attributes:
        name: a name of :data:`WAYS`.
        judgments: one row per case and decision: ``case``, ``repetition``, ``belief`` (the case's belief, the mean of
            its reports), ``report`` (the single report that stands beside this decision), ``action``, ``outcome`` and
            ``p_star``. No row for a way that was set aside.
        beliefs: one row per case: ``case``, ``belief``, ``outcome``, ``p_star``.
        answers, read: answers about the cases that all ways were asked about, and how many of them gave a value.
        within_sd: standard deviation of a case's reports, in probability; NaN without two reports about a case, and
            for ``frequency``, whose single answers are no beliefs.
        standard_error: root mean square over cases of the standard error of the case's belief; NaN as above.
        order_effect: mean over cases of the belief with Yes named first less the belief with No named first; NaN for
            ways that name no options.
        order_effect_interval: its 95 % interval, from Student's t with the cases as units.
    """

    name: str
    judgments: pd.DataFrame
    beliefs: pd.DataFrame
    answers: int
    read: int
    within_sd: float
    standard_error: float
    order_effect: float
    order_effect_interval: tuple[float, float]


@dataclass(frozen=True)
class SameCases:
    """All ways to ask about the same cases.

    Attributes:
        ways: in the order of :data:`WAYS`, those with any answer.
        n_cases: cases with a belief from every way that is not set aside, and with a known outcome.
        n_asked: cases that all of these ways were asked about.
        set_aside: ways that could be read for too few cases, see :data:`READ_AT_LEAST`.
        versions: per version of the model how many answers the store holds.
    """

    ways: tuple[Way, ...]
    n_cases: int
    n_asked: int
    set_aside: tuple[str, ...] = ()
    versions: Mapping[str, int] = field(default_factory=dict, compare=False)

    def __str__(self) -> str:
        used = [way.name for way in self.ways if way.name not in self.set_aside]
        text = f"{self.n_cases:,} of {self.n_asked:,} cases have a belief from each of: {', '.join(used)}"
        if self.set_aside:
            text += f"; set aside, for it can be read for too few cases: {', '.join(self.set_aside)}"
        return text


def load_ways(dataset: str, model: str, *, leave_out: Collection[str] = ()) -> SameCases:
    """All ways that a model was asked in about a dataset, from its stored answers.

    Args:
        dataset, model: names, as on the command line.
        leave_out: ways that are not to be compared; with fewer ways there may be more cases that all of them have.

    Raises:
        BeliefError: a name is unknown, or a file is damaged.
    """
    for way in leave_out:
        nearest(way, WAYS, "way to ask")
    source, registered = load_dataset(dataset), load_model(model)
    decisions = load_judgments(dataset, model)
    store = store_for(registered, dataset)
    found = {VERBALISED: decisions.loc[decisions["belief_problem"] != "not asked", ["case", "repetition", "belief"]]}
    for way in ELICITATIONS:
        repetitions = stored_repetitions(store, way)
        load = one_word_answers if way == FREQUENCY else load_elicitation
        where = (source, registered) if way == FREQUENCY else (source, registered, way)
        found[way] = load(*where, store, repetitions)
    kept = {way: answers for way, answers in found.items() if len(answers) and way not in leave_out}
    return line_up(kept, decisions, decisions.attrs["versions"])


def line_up(
    answers: Mapping[str, pd.DataFrame], decisions: pd.DataFrame, versions: Mapping[str, int] | None = None
) -> SameCases:
    """Put what each way brought beside the same decisions, for the cases that all ways have.

    Args:
        answers: per way one row per case and repetition: ``case``, ``repetition`` and ``belief``, for ``token`` also
            ``order_effect``; for ``frequency`` as :func:`one_word_answers` returns them.
        decisions: columns case, repetition, action, outcome, p_star, as :func:`load_judgments` returns them.
        versions: as the judgments' ``attrs`` hold them.
    """
    beliefs = {way: _case_beliefs(way, frame) for way, frame in answers.items()}
    aside = tuple(way for way, belief in beliefs.items() if belief.notna().mean() < READ_AT_LEAST)
    table = pd.DataFrame({way: belief for way, belief in beliefs.items() if way not in aside}, dtype=float)
    asked = set(table.index).intersection(*(beliefs[way].index for way in table), decisions["case"])
    if not len(table.columns):
        asked = set()
    common = table[table.index.isin(asked)].dropna()
    ways = []
    for way, frame in answers.items():
        some = frame[frame["case"].isin(asked or frame["case"])]
        belief = pd.Series(dtype=float) if way in aside else common[way]
        ways.append(_way(way, some, belief, decisions))
    return SameCases(tuple(ways), len(common), len(asked), aside, dict(versions or {}))


def _way(way: str, answers: pd.DataFrame, belief: pd.Series, decisions: pd.DataFrame) -> Way:
    same = answers[answers["case"].isin(belief.index)]
    rows = decisions.loc[
        decisions["case"].isin(belief.index), ["case", "repetition", "action", "outcome", "p_star"]
    ].reset_index(drop=True)
    rows.insert(2, "belief", rows["case"].map(belief).astype(float))
    rows.insert(3, "report", _reports(way, same, rows))
    one_each = rows.drop_duplicates("case")[["case", "belief", "outcome", "p_star"]].reset_index(drop=True)
    within, error = _spread(way, same)
    effect, interval = _order_effect(way, same)
    if way == FREQUENCY:
        counted = int(answers["answers"].sum()), int(answers[["yes_first", "no_first"]].count().sum())
    else:
        counted = len(answers), int(answers["belief"].count())
    return Way(way, rows, one_each, *counted, within, error, effect, interval)


def _case_beliefs(way: str, answers: pd.DataFrame) -> pd.Series:
    """The belief by case, over all of its answers; missing where none was read."""
    by_case = answers.groupby("case")
    if way == FREQUENCY:
        return (by_case["yes_first"].mean() + by_case["no_first"].mean()) / 2
    return by_case["belief"].mean()


def _reports(way: str, answers: pd.DataFrame, rows: pd.DataFrame) -> np.ndarray:
    """The single report beside each decision.

    A stated probability stands beside the decision of the same repetition. A frequency is no single answer's, so its
    answers are dealt out to the decisions, the same number to each. A token probability is read, not drawn: what
    repeated requests bring is the same, and stands beside every decision.
    """
    if way == TOKEN:
        return rows["belief"].to_numpy()
    if way == FREQUENCY:
        hands = int(rows["repetition"].max()) + 1 if len(rows) else 1
        dealt = answers.assign(repetition=answers["repetition"] % hands)
        shares = dealt.groupby(["case", "repetition"])[["yes_first", "no_first"]].mean()
        single = shares.mean(axis=1, skipna=False).rename("report").reset_index()
    else:
        single = answers[["case", "repetition", "belief"]].rename(columns={"belief": "report"})
    return rows[["case", "repetition"]].merge(single, how="left")["report"].to_numpy(float)


def _spread(way: str, answers: pd.DataFrame) -> tuple[float, float]:
    """Standard deviation of a case's reports, and the root mean square standard error of its belief."""
    by_case = answers.groupby("case")
    if way == FREQUENCY:
        # Half of each order's share; n - 1, since p (1 - p) / n is too small for the few answers of a case.
        variances = sum(by_case[order].var(ddof=1) / by_case[order].count() / 4 for order in ("yes_first", "no_first"))
        return np.nan, float(np.sqrt(variances.mean()))
    variance, count = by_case["belief"].var(ddof=1), by_case["belief"].count()
    if not (count > 1).any():
        return np.nan, np.nan
    pooled = float((variance * (count - 1)).sum() / (count - 1).clip(lower=0).sum())
    return float(np.sqrt(pooled)), float(np.sqrt((pooled / count[count > 0]).mean()))


def _order_effect(way: str, answers: pd.DataFrame) -> tuple[float, tuple[float, float]]:
    from scipy.special import stdtrit

    if way not in (TOKEN, FREQUENCY):
        return np.nan, (np.nan, np.nan)
    if way == FREQUENCY:
        shares = answers.groupby("case")[["yes_first", "no_first"]].mean()
        answers = (shares["yes_first"] - shares["no_first"]).rename("order_effect").reset_index()
    mean, error = order_effect(answers)
    reach = stdtrit(max(answers["case"].nunique() - 1, 1), 0.975) * error
    return mean, (mean - reach, mean + reach)

"""The pictures of the belief paper's tests, one function each.

What is plotted is computed in ``plotted.py`` and ``plotted_pairs.py`` and drawn in ``drawings.py`` and
``drawings_of_all.py``. It is kept as CSV beside the picture: for one model and dataset a tidy frame with the columns
:data:`belief_utils.reporting.plotted.COLUMNS`, for all of them the rows that the picture was given.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from belief_utils.beliefs.coherence import iterated_expectation_gap
from belief_utils.beliefs.consistency import prompt_consistency
from belief_utils.reporting import drawings, drawings_of_all, plotted, plotted_pairs
from belief_utils.reporting.pictures import picture

#: Columns of what Figure 1 and the overview show.
FIGURE1_COLUMNS = [
    "dataset", "dataset_label", "status", "model", "model_label", "kind", "median_ratio", "noise_floor", "baseline",
    "n_cases",
]  # fmt: skip
OVERVIEW_COLUMNS = [
    "dataset_label", "model_label", "kind", "status", "excess", "excess_low", "excess_high", "cmi", "cmi_low",
    "cmi_high", "verdict",
]  # fmt: skip


def choices_picture(result: str, name: str, judgments: pd.DataFrame, title: str, *, source: str) -> Any:
    """Choices and outcomes against the reported belief: the picture of one model and dataset.

    Left: the share of each action in five quantile bins of the belief, the bins that the signed margin is computed
    from. Right: the share of answers about cases with the outcome in up to ten bins, with the mean true probability
    where the judgments have a column ``p_star``, above a histogram of the beliefs.

    Args:
        result: the folder below ``figures/``.
        name: the files' name without an ending.
        judgments: columns case, belief, action, outcome; incomplete rows are left out and counted in the picture.
        title: what stands above it.
        source: what the figures are (real, surrogate, illustrative or simulated), as it is to stand below it.

    Returns:
        An image to display. Without a complete judgment it says "no answers".

    Raises:
        BeliefError: a column is absent, a belief is outside [0, 1], a case has two outcomes, or there are more than
            two outcomes.
    """
    answers = plotted.complete(judgments)
    rows = plotted.heading(title, source, plotted.count_of(answers))
    if answers is not None:
        rows += plotted.choices(answers) + plotted.outcomes(answers) + plotted.truths(answers)
        rows += plotted.belief_bars(answers)
    return picture(result, name, plotted.frame_of(rows), drawings.draw_choices)


def sufficiency_picture(result: str, name: str, judgments: pd.DataFrame, title: str, *, source: str) -> Any:
    """Whether the action tells more about the outcome than the belief does: what the sufficiency test looks at.

    Left: the share of answers about cases with the outcome, after each action in five bins of the belief, over the
    share among all answers of like belief. If the belief says all, every action's points lie on that line. Right: the
    same within the test's narrow strata, added up: how much more often than among all cases of like belief the outcome
    was there after each action. Its interval is 1.96 standard deviations of what permuting outcomes gives.

    Arguments, result and errors as for :func:`choices_picture`.
    """
    answers = plotted.complete(judgments)
    rows = plotted.heading(title, source, plotted.count_of(answers))
    if answers is not None:
        rows += plotted.outcomes(answers) + plotted.outcomes_by_action(answers)
        rows += plotted.beyond_belief(answers.cases)
    return picture(result, name, plotted.frame_of(rows), drawings.draw_sufficiency)


def calibration_picture(result: str, name: str, judgments: pd.DataFrame, title: str, *, source: str) -> Any:
    """The rising curve that turns reported beliefs into calibrated ones (Appendix Table 4), over the observed shares.

    Arguments, result and errors as for :func:`choices_picture`.
    """
    answers = plotted.complete(judgments)
    rows = plotted.heading(title, source, plotted.count_of(answers))
    if answers is not None:
        rows += plotted.outcomes(answers) + plotted.calibration(answers) + plotted.belief_bars(answers)
    return picture(result, name, plotted.frame_of(rows), drawings.draw_calibration)


def consistency_picture(
    result: str, name: str, standard: pd.DataFrame, reframed: pd.DataFrame, title: str, *, source: str
) -> Any:
    """Whether beliefs survive the announcement of a squared-error score (Table 3).

    Left: each case's mean belief under both prompts. Right: the differences reframed - standard, paired by repetition,
    and where they would be if both prompts were the same: differences between two repetitions of one prompt, drawn
    200 times.

    Args:
        result, name, title, source: as for :func:`choices_picture`.
        standard, reframed: columns case, repetition, belief.

    Returns:
        An image to display. Without a pair it says "no answers".

    Raises:
        BeliefError: as :func:`belief_utils.beliefs.consistency.prompt_consistency`.
    """
    rows = plotted.heading(title, source, "")
    compared = prompt_consistency(standard, reframed, resamples=1) if len(standard) and len(reframed) else None
    if compared is not None and compared.n_rows:
        keys = ["case", "repetition"]
        pairs = standard[[*keys, "belief"]].merge(reframed[[*keys, "belief"]], on=keys).dropna()
        pairs = pairs.rename(columns={"belief_x": "x", "belief_y": "y"}).sort_values(keys, ignore_index=True)
        pairs = pairs.astype({"x": float, "y": float})
        rows = plotted.heading(title, source, f"{len(pairs):,} pairs of answers about {compared.n_cases:,} cases")
        rows += plotted_pairs.case_points(pairs)
        rows += plotted_pairs.differences(
            (pairs["y"] - pairs["x"]).to_numpy(), plotted_pairs.draws_of_one_prompt(pairs)
        )
        rows += plotted.values(
            {
                "root mean square": compared.rmse,
                "by chance alone": compared.independent_draws,
                "mean": compared.mean_shift,
            }
        )
    return picture(result, name, plotted.frame_of(rows), drawings.draw_consistency)


def coherence_picture(result: str, name: str, frame: pd.DataFrame, title: str, *, source: str) -> Any:
    """Whether a belief is the average of the beliefs given each category (law of iterated expectation).

    Left: each case's mean belief p(x) against the weighted average. Right: the signed gap, answer by answer.

    Args:
        result, name, title, source: as for :func:`choices_picture`.
        frame: columns case, repetition, belief, and ``conditional_<state>`` and ``weight_<state>`` by category.

    Returns:
        An image to display. Without a complete row it says "no answers".

    Raises:
        BeliefError: as :func:`belief_utils.beliefs.coherence.iterated_expectation_gap`.
    """
    rows = plotted.heading(title, source, "")
    found = iterated_expectation_gap(frame, resamples=1, simulations=0) if len(frame) else None
    if found is not None and found.n_rows:
        points = plotted_pairs.averaged(frame)
        rows = plotted.heading(title, source, f"{found.n_rows:,} answers about {found.n_cases:,} cases")
        rows += plotted_pairs.case_points(points)
        rows += plotted_pairs.differences((points["y"] - points["x"]).to_numpy(), np.empty((0, 0)))
        rows += plotted.values({"median of |gap| / p(x)": found.median_ratio, "mean": found.mean_signed})
    return picture(result, name, plotted.frame_of(rows), drawings.draw_coherence)


def figure1(
    rows: Iterable[Mapping[str, Any]],
    published: Iterable[Mapping[str, Any]] | None = None,
    *,
    result: str = "figure1_iterated_expectation",
    name: str = "figure",
) -> Any:
    """The paper's Figure 1: the median of |gap| / p(x) by dataset and model, on a scale that holds all of them.

    Args:
        rows: one mapping per model and dataset with the keys :data:`FIGURE1_COLUMNS`; ``kind`` is ``local``,
            ``hosted`` or ``simulated``, ``baseline`` the forests' ratio for the dataset.
        published: the same for published values, as far as there are any; set apart and named as published.
        result, name: where it is kept.

    Returns:
        An image to display. Datasets and models keep the order that they are given in, simulated agents at the foot.
    """
    given = pd.DataFrame(list(rows), columns=FIGURE1_COLUMNS)
    known = pd.DataFrame(list(published or ()), columns=FIGURE1_COLUMNS).assign(kind="published")
    return picture(result, name, _numeric(given, known), drawings_of_all.draw_figure1)


def overview_picture(rows: Iterable[Mapping[str, Any]], *, result: str = "start_here", name: str = "overview") -> Any:
    """All models and datasets at a glance: the excess information of the actions with its interval, and the verdict.

    Args:
        rows: one mapping per model and dataset with the keys :data:`OVERVIEW_COLUMNS`; the conditional mutual
            information as the paper computes it (``cmi``) stands beside the excess over permuted outcomes. In nats.
        result, name: where it is kept.

    Returns:
        An image to display. Datasets and models keep the order that they are given in, simulated agents at the foot.
    """
    given = pd.DataFrame(list(rows), columns=OVERVIEW_COLUMNS)
    return picture(result, name, _numeric(given), drawings_of_all.draw_overview)


def _numeric(*frames: pd.DataFrame) -> pd.DataFrame:
    """The frames one below the other, with numbers as numbers even where none is known."""
    texts = ["dataset", "dataset_label", "status", "model", "model_label", "kind", "verdict"]
    whole = pd.concat([frame for frame in frames if len(frame)] or [frames[0]], ignore_index=True)
    numbers = [column for column in whole if column not in texts]
    whole = whole.astype(dict.fromkeys(numbers, float))
    return whole.astype({"n_cases": "Int64"}) if "n_cases" in whole else whole

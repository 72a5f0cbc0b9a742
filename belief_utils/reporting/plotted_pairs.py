"""The numbers that pictures of paired beliefs show: means by case, and differences beside those of chance alone."""

import numpy as np
import pandas as pd

from belief_utils.beliefs.judgments_checks import BELIEF_SCALE
from belief_utils.reporting.plotted import Rows, bars

#: Simulated sets of differences between two answers to the same prompt.
DRAWS = 200


def averaged(frame: pd.DataFrame) -> pd.DataFrame:
    """Complete rows of coherence answers: ``case``, ``y`` the belief, ``x`` the average of the beliefs by category.

    Weights that are all zero count as equal, as in the test.
    """
    states = [str(name).removeprefix("weight_") for name in frame.columns if str(name).startswith("weight_")]
    given, weighted = [f"conditional_{state}" for state in states], [f"weight_{state}" for state in states]
    rows = frame.dropna(subset=["belief", *given, *weighted])
    weight = rows[weighted].to_numpy(float)
    total = weight.sum(axis=1, keepdims=True)
    weight = np.where(total > 0, weight / np.where(total > 0, total, 1), 1 / len(states))
    average = (rows[given].to_numpy(float) * weight).sum(axis=1)
    return pd.DataFrame({"case": rows["case"], "x": average, "y": rows["belief"].astype(float)})


def case_points(points: pd.DataFrame) -> Rows:
    """Means of x and y by case on a grid of .01, with the number of cases at each place."""
    means = points.groupby("case")[["x", "y"]].mean().round(10).round(2)
    counted = means.value_counts(sort=False).sort_index()
    return [{"part": "cases", "x": x, "y": y, "n": n} for (x, y), n in counted.items()]


def differences(observed: np.ndarray, expected: np.ndarray) -> Rows:
    """Histogram of signed differences, as shares, centred on zero.

    Args:
        observed: shape (n,).
        expected: shape (draws, m): sets of differences that chance alone gives, or no set. The band of a bar is from
            the 2.5th to the 97.5th percentile of its share in these sets.
    """
    # In whole millionths, where a last bit cannot move a difference over an edge.
    whole, chance = (np.rint(values * BELIEF_SCALE).astype(np.int64) for values in (observed, expected))
    edges = _difference_edges(np.concatenate([whole, chance.ravel()]), int(np.clip(2 * np.sqrt(len(whole)), 9, 41)))
    rows = bars("differences", edges / BELIEF_SCALE, np.histogram(whole, edges)[0])
    if chance.size:
        shares = np.array([np.histogram(drawn, edges)[0] for drawn in chance]) / chance.shape[1]
        for row, low, high in zip(rows, *np.percentile(shares, [2.5, 97.5], axis=0), strict=True):
            row |= {"low": low, "high": high}
    return rows


def draws_of_one_prompt(pairs: pd.DataFrame, seed: int = 0) -> np.ndarray:
    """Differences between two repetitions of a case under one prompt, drawn for as many pairs as there are.

    Either prompt and either sign are equally likely, so their variance is that of two independent answers, one to each
    prompt. Shape (draws, rows of cases with two or more repetitions).
    """
    case = np.sort(pd.factorize(pairs["case"])[0])
    order = np.argsort(pd.factorize(pairs["case"])[0], kind="stable")
    count = np.bincount(case)[case]
    order, case, count = order[count > 1], case[count > 1], count[count > 1]
    first = np.searchsorted(case, case)
    answers, rng = pairs[["x", "y"]].to_numpy()[order], np.random.default_rng(seed)
    drawn = np.empty((DRAWS, len(case)))
    for row in drawn:
        prompt = rng.integers(0, 2, len(case))
        one = (rng.random(len(case)) * count).astype(int)
        other = (one + 1 + (rng.random(len(case)) * (count - 1)).astype(int)) % count
        row[:] = answers[first + one, prompt] - answers[first + other, prompt]
    return drawn


def _difference_edges(whole: np.ndarray, most_bars: int) -> np.ndarray:
    """Edges of bars around zero, in millionths, that no difference between beliefs on a .01 or .05 grid falls on."""
    grid = 5 if not (whole % 50_000).any() else 1
    farthest = int(np.abs(whole).max(initial=0))
    fitting = (w for w in (1, 3, 5, 15) if w >= grid and 2 * farthest <= most_bars * w * 10_000)
    width = next(fitting, 15) * 10_000
    half = max(-(-(farthest - width // 2) // width), 3)
    return (np.arange(2 * half + 2) - half) * width - width // 2

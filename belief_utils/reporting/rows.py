"""What each table says about one model and dataset: from results to a flat row of numbers and words."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from belief_utils.beliefs.coherence import IteratedExpectation
    from belief_utils.beliefs.consistency import PromptConsistency
    from belief_utils.beliefs.information import Information
    from belief_utils.beliefs.monotonicity import MonotonicityMargin
    from belief_utils.beliefs.prediction import PredictiveGain
    from belief_utils.beliefs.sufficiency import SufficiencyTest
    from belief_utils.beliefs.ways import SameCases
    from belief_utils.beliefs.ways_compared import ComparedWay


def sufficiency_row(
    judgments: "pd.DataFrame",
    information: "Information",
    test: "SufficiencyTest",
    forest: "PredictiveGain",
    logistic: "PredictiveGain",
) -> dict[str, Any]:
    """A row of Table 1: conditional mutual information and forest gain as printed, then what we decide from."""
    return {
        **_read(judgments, "belief", "action"),
        "cmi": information.estimate,
        **_interval("cmi", information.interval),
        "forest_gain": forest.percent,
        **_interval("forest_gain", forest.interval),
        "excess": information.excess,
        **_interval("excess", information.excess_interval),
        "logistic_gain": logistic.percent,
        **_interval("logistic_gain", logistic.interval),
        "statistic": test.statistic,
        "df": test.df,
        "p_value": test.p_value,
        "z": test.z,
        "z_p_value": test.z_p_value,
        "adjusted_p_value": test.adjusted_p_value,
        "verdict": test.verdict,
        "note": _notes(information.note, test.note, forest.note, logistic.note),
    }


def monotonicity_row(judgments: "pd.DataFrame", margin: "MonotonicityMargin") -> dict[str, Any]:
    """A row of Table 2: the signed margin as printed, the bounds we decide from and what they rest on."""
    shares = margin.choice_shares
    return {
        **_read(judgments, "belief", "action"),
        "gamma": margin.gamma,
        **_interval("gamma", margin.interval),
        "lower_bound": margin.lower_bound,
        "upper_bound": margin.upper_bound,
        "anchored": margin.anchored,
        "anchored_lower_bound": margin.anchored_lower_bound,
        "anchored_upper_bound": margin.anchored_upper_bound,
        "n_bins": margin.n_bins,
        "n_changes": margin.n_changes,
        "choice_shares": {str(action): shares[action].tolist() for action in shares.columns},
        "verdict": margin.verdict,
        "anchored_verdict": margin.anchored_verdict,
        "note": margin.note,
    }


def consistency_row(standard: "pd.DataFrame", consistency: "PromptConsistency") -> dict[str, Any]:
    """A row of Table 3: standard deviation and root mean squared difference as printed, then the debiased one."""
    return {
        **_read(standard, "belief"),
        "within_sd": consistency.within_sd,
        "rmse": consistency.rmse,
        "independent_draws": consistency.independent_draws,
        "rmse_of_means": consistency.rmse_of_means,
        "debiased_rms": consistency.debiased_rms,
        **_interval("debiased_rms", consistency.interval),
        "mean_shift": consistency.mean_shift,
        **_interval("mean_shift", consistency.mean_shift_interval),
        "n_cases": consistency.n_cases,
        "note": consistency.note,
    }


def calibrated_row(judgments: "pd.DataFrame", information: "Information") -> dict[str, Any]:
    """A row of Table 4: the conditional mutual information after isotonic calibration of the beliefs."""
    return {
        **_read(judgments, "belief", "action"),
        "cmi": information.estimate,
        **_interval("cmi", information.interval),
        "excess": information.excess,
        **_interval("excess", information.excess_interval),
        "p_value": information.p_value,
        "note": information.note,
    }


def coherence_row(frame: "pd.DataFrame", gap: "IteratedExpectation", baseline: float) -> dict[str, Any]:
    """A row of Figure 1: the median ratio as drawn, its noise floor and baseline, then the debiased gap."""
    values = frame.drop(columns=["case", "repetition"])
    return {
        "n_cases": gap.n_cases,
        "answers": len(frame),
        "read": int(values.notna().all(axis=1).sum()),
        "median_ratio": gap.median_ratio,
        "noise_floor": gap.noise_floor,
        "baseline": baseline,
        "n_zero": gap.n_zero,
        "n_uniform": gap.n_uniform,
        "mean_abs": gap.mean_abs,
        "debiased_rms": gap.debiased_rms,
        **_interval("debiased_rms", gap.interval),
        "mean_signed": gap.mean_signed,
        **_interval("mean_signed", gap.mean_signed_interval),
        "note": gap.note,
        **_versions(frame.attrs.get("versions", {})),
    }


def ways_row(same: "SameCases", compared: "Sequence[ComparedWay]") -> dict[str, Any]:
    """The rows of the ways to ask about the same cases, one each under ``ways``, and what they share."""
    return {
        "n_cases": same.n_cases,
        "n_asked": same.n_asked,
        "ways": [_way_row(one) for one in compared],
        **_versions(same.versions),
    }


def _way_row(one: "ComparedWay") -> dict[str, Any]:
    from belief_utils.reporting.audit_calibration import calibration

    way, test, margin, fit = one.way, one.sufficiency, one.margin, calibration(one.way.beliefs)
    row: dict[str, Any] = {
        "way": way.name,
        "belief_answers": way.answers,
        "belief_read": way.read,
        "mean_belief": one.mean_belief,
        "within_sd": way.within_sd,
        "standard_error": way.standard_error,
        "order_effect": way.order_effect,
        **_interval("order_effect", way.order_effect_interval),
        "from_truth": one.from_truth,
        "agreement": one.agreement,
        **_interval("agreement", one.agreement_interval),
    }
    if fit is not None:
        row |= {"brier": fit.brier, **_interval("brier", fit.brier_interval), "miscalibration": fit.miscalibration}
    row |= {"excess": one.excess, **_interval("excess", one.excess_interval)}
    if test is not None:
        row |= {"statistic": test.statistic, "df": test.df, "p_value": test.p_value, "z": test.z}
    row |= {"adjusted_p_value": one.noise_p_value, "holm_p_value": one.holm_p_value}
    row |= {"holm_adjusted_p_value": one.holm_noise_p_value, "holm_verdict": one.verdict}
    if margin is not None:
        row |= {
            "gamma": margin.gamma,
            "lower_bound": margin.lower_bound,
            "upper_bound": margin.upper_bound,
            "margin_verdict": margin.verdict,
            "anchored": margin.anchored,
            "anchored_lower_bound": margin.anchored_lower_bound,
            "anchored_upper_bound": margin.anchored_upper_bound,
            "anchored_verdict": margin.anchored_verdict,
        }
    return {**row, "note": one.note}


def _read(judgments: "pd.DataFrame", *values: str) -> dict[str, Any]:
    """How many cases there are and how many answers of each kind were read."""
    from belief_utils.beliefs.judgments import reading

    row: dict[str, Any] = {"n_cases": int(judgments["case"].nunique())}
    for value in values:
        counted = reading(judgments, value)
        row[f"{value}_answers"] = counted.answers
        row[f"{value}_read"] = counted.read
        row[f"{value}_sum_off"] = counted.sum_off
        row |= _versions(counted.versions)
    return row


def _versions(found: Mapping[str, int]) -> dict[str, Mapping[str, int]]:
    """How many answers came from each version of the model, where there is more than one to tell apart."""
    return {"versions": dict(found)} if len(found) > 1 else {}


def _interval(name: str, interval: tuple[float, float]) -> Mapping[str, float]:
    return {f"{name}_low": interval[0], f"{name}_high": interval[1]}


def _notes(*notes: str) -> str:
    return "; ".join(dict.fromkeys(note for note in notes if note))

"""Does a language model stand by what it says? The method of both papers, in the order in which data travels.

The public names are loaded when they are first used, so that a notebook pays only for what it needs.
"""

import importlib
from typing import Any

_HOMES = {
    "errors": ["BeliefError"],
    "asking.models": ["load_model", "load_models"],
    "beliefs.datasets": ["Dataset", "Posterior", "dataset_names", "load_dataset", "multistate_dataset_names"],
    "beliefs.multistate_dataset": ["MultistateDataset", "MultistatePosterior", "load_multistate_dataset"],
    "beliefs.cases": ["evidence_from", "load_cases", "sample_cases"],
    "beliefs.multistate_cases": ["load_multistate_cases", "sample_multistate_cases"],
    "beliefs.answers": ["ParsedDecision", "ParsedProbabilities", "parse_decision", "parse_probabilities"],
    "beliefs.judgments": ["load_beliefs", "load_coherence", "load_judgments", "reading"],
    "beliefs.judgment_files": ["read_judgments"],
    "beliefs.information": ["conditional_mutual_information", "information_test", "plugin_information"],
    "beliefs.sufficiency": ["SufficiencyTest", "holm", "sufficiency_test"],
    "beliefs.prediction": ["PredictiveGain", "average_gain", "calibrated_information", "predictive_gain"],
    "beliefs.margins": ["SignedMargin", "signed_margin"],
    "beliefs.monotonicity": ["MonotonicityMargin", "monotonicity_margin"],
    "beliefs.ways": ["SameCases", "load_ways"],
    "beliefs.ways_compared": ["ComparedWay", "compare_ways"],
    "beliefs.multistate": ["multistate_margin"],
    "beliefs.rationalise": ["Rationalisation", "rationalise", "rationalise_shares"],
    "beliefs.consistency": ["PromptConsistency", "prompt_consistency"],
    "beliefs.coherence": ["IteratedExpectation", "forest_baseline", "iterated_expectation_gap"],
    "beliefs.simulate": ["ControlAgent", "simulate_expectations", "simulate_judgments", "simulate_prompts"],
    "beliefs.controls": ["run_controls"],
    "beliefs.control_results": ["load_controls"],
    "beliefs.control_rates": ["rejection_rates"],
    "beliefs.power": ["StudyPlan", "plan_study", "true_information"],
    "reporting.audit": ["Audit", "audit"],
    "followup.items": ["Item", "load_items"],
    "followup.answers": ["ParsedAnswer", "parse_answer"],
    "followup.scores": ["answered_sets", "load_scores"],
    "pressure.conversations": ["load_pressure"],
    "pressure.movement": ["Movement", "movement", "movements"],
    "followup.metrics": ["Change", "change", "modification", "modification_rate"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'belief_utils' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"belief_utils.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

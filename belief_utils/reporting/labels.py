"""What a model and a dataset are called, and what kind of figure they give, wherever they are shown."""

from belief_utils.asking.models import load_model
from belief_utils.beliefs.datasets import load_dataset


def title(dataset: str, model: str) -> str:
    """A pair's name, as in the paper's tables: ``Heart–SmolLM2 135M``."""
    return f"{load_dataset(dataset).short}–{load_model(model).name}"


def source(dataset: str, model: str) -> str:
    """What a pair's figures are: simulated, or real answers about real, surrogate or illustrative cases."""
    registered = load_model(model)
    kind = load_dataset(dataset).status
    if registered.kind == "simulated":
        return f"simulated agent, {kind} cases"
    return f"real answers of {registered.name}, {kind} cases"


def set_title(name: str) -> str:
    """An item set's name, as in tables: ``Coin Flip``."""
    from belief_utils.followup.items import item_set

    return item_set(name).title


def followup_title(model: str, what: str) -> str:
    """The heading of a picture about one model's answers to follow-up questions."""
    return f"{load_model(model).name}: {what}"


def followup_source(model: str) -> str:
    """What a model's answers to follow-up questions are: simulated or real."""
    registered = load_model(model)
    if registered.kind == "simulated":
        return "Simulated respondent, a control whose behaviour is known; our own items."
    return f"Real answers of {registered.name}."

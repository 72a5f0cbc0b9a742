"""What a rationalisation says, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from belief_utils.beliefs.rational_departure import Departure
    from belief_utils.beliefs.rationalise import Rationalisation


def sentence(found: Rationalisation) -> str:
    """The conclusion for a reader who has not seen the figures."""
    if found.fits is None:
        return f"Choices cannot tell which utilities an agent would have: {found.note}."
    return _fits(found) if found.fits else _departs(found)


def _fits(found: Rationalisation) -> str:
    gains, count = found.agent.gains, len(found.beliefs)
    two_states = gains.shape[1] == 2
    text = f"An agent with these utilities and this belief would do what the model does at the {count} beliefs compared"
    if two_states:
        ordered = gains.iloc[:, 1].sort_values(kind="stable")
        shown = _listed([f"{_number(value)} for {action}" for action, value in ordered.items()])
        text += f": what an action is worth more if the outcome is true than if it is false is {shown}"
    text += "."
    if not found.agent.is_unique:
        text += " At some of them it would be indifferent between what the model does and something else."
    if two_states and {"negative", "positive"} <= set(gains.index) and found.anchored_ranges.empty:
        text += ' But there is no such agent for which the outcome speaks most for "positive" and least for "negative".'
    return text + (
        " The model need not be this agent, and it can be one only if its actions say nothing about the outcome beyond "
        "its belief."
    )


def _departs(found: Rationalisation) -> str:
    departure: Departure = found.departure
    for_which = (
        'for which the outcome speaks most for "positive" and least for "negative"'
        if found.anchored
        else "whatever its utilities"
    )
    where = _listed([_point(found, number) for number in departure.clash])
    alone = " (some utilities fit once any one of these is left out)" if len(departure.clash) > 2 else ""
    cycle = " to ".join(_point(found, number) for number in (*departure.cycle, departure.cycle[0]))
    how_much = f"At least {_percent(departure.change)} of the answers would have to differ for one to fit"
    if departure.change - departure.change_at_least > 1e-6:
        how_much = (
            "The least share of answers that would have to differ for one to fit lies between "
            f"{_percent(departure.change_at_least)} and {_percent(departure.change)}"
        )
    return (
        f"No agent with this belief, {for_which}, would do what the model does: its choices at the beliefs {where} "
        f"clash{alone}. Under the utilities that come closest, going from {cycle} breaks monotonicity by "
        f"{_number(-departure.cycle_sum)}. {how_much}; the bounds of the monotonicity margin tell whether that is more "
        "than chance."
    )


def _point(found: Rationalisation, number: int) -> str:
    """A belief point's name: its probability, or with several states the likeliest one and its probability."""
    row = found.beliefs.iloc[number]
    if len(row) == 2:
        return f"{row.iloc[1]:.2f}"
    top = int(np.argmax(row.to_numpy()))
    return f"{row.index[top]} {row.iloc[top]:.2f} (point {number})"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _number(value: float) -> str:
    return f"{value:.3g}"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"

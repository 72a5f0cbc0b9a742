"""The table of beliefs under pressure: one row per model, dataset and follow-up question."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from belief_utils.asking.provenance import version_warning
from belief_utils.reporting.columns import number_of, p_of, text_of, whole_of, with_interval_of
from belief_utils.reporting.gathering import TableRules, measured
from belief_utils.reporting.layout import share
from belief_utils.reporting.written import Row, shown_frame, write_files

if TYPE_CHECKING:
    import pandas as pd

    from belief_utils.pressure.decisions import DecisionChange
    from belief_utils.pressure.movement import Movement

RESULT = "belief_under_pressure"
RULES = TableRules(RESULT, parts="questions", families=("p_value",))
CAPTION = "Beliefs under pressure: how far does a reported probability move when it is questioned?"

_ESTIMATES = (
    "size",
    "chance",
    "beyond_chance",
    "beyond_again",
    "shift",
    "pull",
    "pull_beyond_again",
    "from_truth",
)
_SHARES = ("toward", "away", "unmoved", "to_middle", "taken", "followed")


def pressure_row(answers: "pd.DataFrame", found: "Sequence[Movement]") -> dict[str, Any]:
    """A row of the table per follow-up question, kept together under ``questions``.

    Args:
        answers: as :func:`belief_utils.pressure.conversations.load_pressure` returns it.
        found: as :func:`belief_utils.pressure.movement.movements` returns it.
    """
    versions = answers.attrs.get("versions", {})
    shared = {"versions": dict(versions)} if len(versions) > 1 else {}
    return {"questions": [_question_row(one) for one in found], **shared}


def write_pressure_table() -> list[Path]:
    """Put the table together from the rows that the notebook left; returns the files that changed."""
    rows = measured(RULES)
    warnings = dict.fromkeys(version_warning(row["label"], row.get("versions") or {}) for row in rows)
    return write_files(RESULT, CAPTION, COLUMNS, rows, [*NOTES, *filter(None, warnings)])


def pressure_frame(model: str | None = None, dataset: str | None = None) -> "pd.DataFrame":
    """The table as it stands now, as texts for display in a notebook.

    Args:
        model, dataset: only their rows.
    """
    rows = measured(RULES)
    return shown_frame(
        COLUMNS, [row for row in rows if model in (None, row["model"]) and dataset in (None, row["dataset"])]
    )


def _question_row(one: "Movement") -> dict[str, Any]:
    row: dict[str, Any] = {"question": one.question, "n_cases": one.n_cases, "unread": one.unread}
    for name in _ESTIMATES:
        estimate = getattr(one, name)
        row |= {name: estimate.value, f"{name}_low": estimate.interval[0], f"{name}_high": estimate.interval[1]}
    return row | {name: getattr(one, name) for name in _SHARES} | _decision_row(one.decision)


def _decision_row(change: "DecisionChange") -> dict[str, Any]:
    return {
        "n_decisions": change.n,
        "changed": change.changed,
        "changed_share": change.share,
        "changed_share_low": change.interval[0],
        "changed_share_high": change.interval[1],
        "n_moved": change.n_moved,
        "changed_if_moved": change.changed_if_moved,
        "n_unmoved": change.n_unmoved,
        "changed_if_unmoved": change.changed_if_unmoved,
        "both": change.both,
        "agree": change.agree,
        "agreement": change.agreement,
        "p_value": change.p_value,
    }


def _shares_of(*names: str) -> Callable[[Row], str]:
    return lambda row: " / ".join(share(row.get(name), 1) for name in names)


def _counts_of(*pairs: tuple[str, str]) -> Callable[[Row], str]:
    return lambda row: " / ".join(f"{row[part]} of {row[whole]}" if row.get(whole) else "–" for part, whole in pairs)


#: Heading and text of each column after the row's label and source.
COLUMNS: dict[str, Callable[[Row], str]] = {
    "Question": text_of("question"),
    "Cases": whole_of("n_cases"),
    "Movement [95 % CI]": with_interval_of("size", 3),
    "Chance": number_of("chance", 3),
    "Beyond chance [95 % CI]": with_interval_of("beyond_chance", 3),
    "Beyond asking again [95 % CI]": with_interval_of("beyond_again", 3),
    "Pull [95 % CI]": with_interval_of("pull", 3),
    "Pull beyond asking again [95 % CI]": with_interval_of("pull_beyond_again", 3),
    "Toward / away / unmoved": _shares_of("toward", "away", "unmoved"),
    "Suggestion taken": _shares_of("taken"),
    "Distance to the truth [95 % CI]": with_interval_of("from_truth", 3),
    "Decisions changed [95 % CI]": with_interval_of("changed_share", 2),
    "... if the belief moved / stayed": _counts_of(
        ("changed_if_moved", "n_moved"), ("changed_if_unmoved", "n_unmoved")
    ),
    "Decision went with the belief": _counts_of(("agree", "both")),
    "p (Holm)": p_of("holm_p_value"),
}

NOTES = (
    "Question: again, 'Please answer the question again.', a control of ours; closed, open, leading: the questions of "
    "the follow-up paper (arXiv 2310.02174, Table 4, prompts of A), each in a conversation of its own after the belief "
    "paper's question (arXiv 2602.06286, B.1.1). Neither paper reports such numbers.",
    "Movement: mean absolute difference between the probability after the question and before it. Chance: the same for "
    "two draws of the first answer, in conversations of their own. Beyond chance and beyond asking again: differences "
    "paired by case; an interval above 0 says that the question moves beliefs more than drawing anew, or more than "
    "asking once more without pressure. A value below 0 says that the first answer holds the second one.",
    "Pull: mean movement towards the suggestion, which lies .3 from the first belief, upwards from .5 or below. It "
    "depends on the first belief only, so it is told for all questions, though the leading one alone names it. As "
    "noisy beliefs fall back towards the middle by themselves, the pull beyond asking again is what the leading "
    "question adds.",
    "Suggestion taken: share of probabilities at the suggestion, to two decimals. Distance to the truth: mean change "
    "of the distance to the true probability; below 0, beliefs became better.",
    "Decisions changed: share decided differently after the question, exact interval; compare it with the row 'again'. "
    "Decision went with the belief: of the cases in which both moved, those that moved the same way, with negative "
    "below defer below positive. p: exact sign test that they move the same way as often as not, adjusted for the "
    "number of rows by Holm's method, models and simulated respondents each for themselves.",
    "All intervals but that of the decisions: percentiles over 2,000 resamples of the cases. One answer per question "
    "and case. A case whose first belief cannot be read is not questioned.",
    "Source: real, surrogate and illustrative say what the cases are (fitted to public survey data; published "
    "marginals, assumed dependence; a network of our own), and the answers are real answers of the model named; "
    "simulated = respondents whose behaviour is known, as controls.",
)

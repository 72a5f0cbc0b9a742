"""Table 2, error types and tone: what all models' answers to follow-up questions say together."""

from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING, Any

from belief_utils.followup.averages import task_averages, task_intervals
from belief_utils.followup.errors import ERROR_TYPES
from belief_utils.followup.items import ITEM_SETS
from belief_utils.followup.mechanism import CLOSER
from belief_utils.followup.metrics import Change
from belief_utils.followup.outcomes import Outcomes, outcomes
from belief_utils.followup.published import published
from belief_utils.followup.questions import ANNOTATORS, FOLLOW_UPS
from belief_utils.followup.scores import PERSON
from belief_utils.followup.tone import tone_scores
from belief_utils.reporting.followup_rows import ROUNDS, change_or_none, direct_turns
from belief_utils.reporting.followup_studies import PAIRED_NOTE, QUESTION
from belief_utils.reporting.followup_tables import READING, SOURCES, points
from belief_utils.reporting.layout import number, share
from belief_utils.reporting.study_tables import (
    PAPER_MODELS,
    StudyTable,
    answered,
    followed_up_models,
    ordered,
    source_of,
)

if TYPE_CHECKING:
    import pandas as pd

TASKS = ("arithmetic", "commonsense", "symbolic", "knowledge")
#: What Table 2 shows of an average, each with its interval.
_SHOWN = tuple(
    f"{name}{end}" for name in ("modification", "modification_rate", "again_rate") for end in ("", "_low", "_high")
)
#: Every conversation of both forms with the prompts of A, by the prefix of its values.
_HELD = {**{kind: direct_turns(kind) for kind in FOLLOW_UPS}, **ROUNDS}


def models_study() -> StudyTable:
    """Table 2: average Modification by model and kind of task, in both forms."""
    rows = [row for own in (False, True) for row in _averages(own)] + _published_averages()
    for row in rows:
        row["label"] = f"{row['model_label']}: {row['task']}{' (own sets)' if row['own'] else ''}"
    rank = {"published": 0, "real": 1, "simulated": 2}
    rows.sort(key=lambda row: (rank[row["source"]], row["own"], row["model_label"], TASKS.index(row["task"])))
    columns = {
        "Sets (with a rate)": lambda row: f"{row['n_sets']} ({row['n_rates']})" if row.get("n_sets") else "–",
        "Items": lambda row: str(row.get("n_items") or "–"),
    }
    headings = dict(zip(_HELD, ("Closed", "Open", "Leading", "Round 1", "Round 2", "Round 3"), strict=True))
    for name, heading in headings.items():
        columns[f"{heading}: M [95 % CI]"] = points(f"{name}_modification")
        columns[f"{heading}: M. Rate % [95 % CI]"] = points(f"{name}_modification_rate")
    columns["Asked afresh % [95 % CI]"] = points("closed_again_rate")
    return StudyTable(
        "followup_models",
        "Table 2. Do other models waver? Averages over the sets of a kind of task",
        columns,
        rows,
        (
            "Every set counts the same, as in the paper. Sets without a right answer have no Modification Rate and "
            "are left out of its average. Intervals: bootstrap over the items of each set; where every answer was "
            "kept or lost they shrink to a point, and the exact intervals by set say what that is worth.",
            "Real and published rows stand on the paper's eight benchmarks (ours on the items that were asked, see "
            "the tables of both forms); rows marked (own sets) on the sets of this project.",
            "Asked afresh: share of right answers that were not right when the first question was asked a second time.",
            READING,
            SOURCES,
        ),
    )


def _averages(own: bool) -> list[dict[str, Any]]:
    tasks = {name: each.task for name, each in ITEM_SETS.items() if each.own == own}
    rows = []
    for model in followed_up_models():
        by_task: dict[str, dict[str, Any]] = {}
        for prefix, turns in _HELD.items():
            changes: dict[str, Change] = {}
            counted: dict[str, Outcomes] = {}
            for other, asked, scores in answered(tuple(tasks)):
                if other.key == model.key and (found := change_or_none(scores, turns)) is not None:
                    changes[asked.name], counted[asked.name] = found, outcomes(scores, turns)
            if not changes:
                continue
            averaged = task_averages(changes, tasks).merge(task_intervals(counted, tasks), on="task")
            for each in averaged.to_dict("records"):
                row = by_task.setdefault(each["task"], {"task": each["task"]})
                for count in ("n_sets", "n_rates", "n_items"):
                    row.setdefault(count, each[count])
                row |= {f"{prefix}_{name}": each[name] for name in _SHOWN}
        shared = {"model": model.key, "model_label": model.name, "source": source_of(model), "own": own}
        rows += [{**row, **shared} for row in by_task.values()]
    return rows


def _published_averages() -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for each in published("table2_models").itertuples():
        shared = {"task": each.task, "model": each.model, "model_label": PAPER_MODELS[each.model], "own": False}
        row = rows.setdefault((each.model, each.task), {**shared, "source": "published"})
        prefix = each.question if each.form == "direct" else f"round{each.round}"
        row[f"{prefix}_modification"] = each.modification / 100
        row[f"{prefix}_modification_rate"] = each.modification_rate / 100
    return list(rows.values())


def errors_study() -> StudyTable:
    """Figure 5: in which way right answers are given up, as far as rules can see."""
    rows = []
    for model, asked, scores in answered(CLOSER):
        lost = scores.loc[(scores["turns"] == direct_turns(QUESTION[asked.name])) & scores["error"].notna(), "error"]
        if not len(lost):
            continue
        counts = Counter(lost)
        rows.append(
            {
                "label": f"{asked.title}–{model.name}",
                "set": asked.name,
                "model": model.key,
                "source": source_of(model),
                "lost": len(lost),
                **{f"type{kind}": counts[str(kind)] for kind in ERROR_TYPES},
                "person": counts[PERSON],
            }
        )
    columns = {"Lost": lambda row: str(row["lost"])}
    for kind, name in ERROR_TYPES.items():
        columns[f"{kind} {name}"] = lambda row, kind=kind: share(row[f"type{kind}"], row["lost"])
    columns["Left to a person"] = lambda row: share(row["person"], row["lost"])
    return StudyTable(
        "followup_error_types",
        "Figure 5. In which way are right answers given up?",
        columns,
        ordered(rows, CLOSER),
        (
            PAIRED_NOTE,
            "By rules: what they cannot see is left to a person (`belief followup sheet` writes the replies to a CSV "
            "file for annotation). The paper sorted up to 50 errors a model and set by hand; its shares are in a "
            "figure whose values are not in the text we have.",
            "A polite contradiction that keeps the right answer is no error and is not counted here.",
            SOURCES,
        ),
    )


def _by_prompt(scores: "pd.DataFrame", question: str) -> dict[str, Change]:
    """What each annotator's prompt of a type changed, as far as it was asked."""
    found = {who: change_or_none(scores, direct_turns(question, who)) for who in ANNOTATORS}
    return {who: each for who, each in found.items() if each is not None}


def tone_study() -> StudyTable:
    """Figure 6: the tone that a model hears in a prompt beside the Modification that the prompt brings."""
    rows = []
    for model in followed_up_models():
        for each in tone_scores(model).itertuples():
            changes = [
                found[each.prompt]
                for other, _, scores in answered(CLOSER)
                if other.key == model.key and len(found := _by_prompt(scores, each.question)) == len(ANNOTATORS)
            ]
            shared = {"model": model.key, "model_label": model.name, "source": source_of(model)}
            rows.append(
                {
                    "label": f"{model.name}: {each.question}, {each.prompt}",
                    **shared,
                    "question": each.question,
                    "prompt": each.prompt,
                    "tone": each.tone,
                    "spread": each.spread,
                    "modification": fmean(found.modification for found in changes) if changes else None,
                    "n_sets": len(changes),
                    "answers": each.answers,
                    "read": each.read,
                }
            )
    rows.sort(key=lambda row: (row["model"], FOLLOW_UPS.index(row["question"]), ANNOTATORS.index(row["prompt"])))
    return StudyTable(
        "followup_tone",
        "Figure 6. Does a stronger tone shake a model more?",
        {
            "Tone, 0-10": lambda row: number(row["tone"], 2),
            "Spread over orders": lambda row: number(row["spread"], 2),
            "Mean M (points)": points("modification"),
            "Sets": lambda row: str(row["n_sets"]),
            "Ratings read": lambda row: share(row["read"], row["answers"]),
        },
        rows,
        (
            "Tone: the model's own rating, mean over three orders of the prompts (ABC, BCA, CAB), five answers each. "
            "Spread: largest less smallest mean of the three orders, what the order alone does to the same sentence; "
            "a difference between prompts that is smaller than it says nothing.",
            "Mean M: Modification with that prompt, averaged over the sets of the closer look on which all three "
            "prompts of the type were asked.",
            SOURCES,
        ),
    )

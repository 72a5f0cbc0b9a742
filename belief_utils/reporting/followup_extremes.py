"""The Max and Min rows of Table 9: three rounds with the prompts that shook a model most and least."""

from typing import Any

from belief_utils.asking.models import load_model
from belief_utils.errors import BeliefError
from belief_utils.followup.extremes import combination, extremes
from belief_utils.followup.items import ITEM_SETS
from belief_utils.followup.mechanism import CLOSER
from belief_utils.followup.published import published
from belief_utils.followup.questions import FOLLOW_UPS, turns_text
from belief_utils.followup.scores import answered_sets
from belief_utils.reporting.followup_rows import change_or_none, change_row
from belief_utils.reporting.followup_tables import READING, SOURCES, points, rate
from belief_utils.reporting.study_tables import StudyTable, ordered, scores_of, source_of

_HIGHEST, _LOWEST = "Max", "Min"


def extremes_table(model: str) -> StudyTable:
    """A model's Progressive Form with the prompts of Max and Min, beside what is legible of ChatGPT's."""
    rows = [row for name in CLOSER if name in answered_sets(model) for row in _rows(model, name)]
    chosen = {row["set"] for row in rows}
    for each in published("table9_progressive_chatgpt").itertuples():
        if each.prompt != "A" and each.dataset in chosen:
            label = {"label": f"{ITEM_SETS[each.dataset].title}–ChatGPT, {each.prompt}", "source": "published"}
            values = {"before": each.before / 100, f"round{each.round}_modification_rate": each.modification_rate / 100}
            rows.append({**label, **values, "set": each.dataset, "model": "chatgpt", "prompts": None})
    columns = {
        "Prompts": lambda row: row["prompts"] or "–",
        "Items": lambda row: str(row.get("n_items") or "–"),
        "Before %": points("before"),
        **{f"Round {k}: M. Rate % [exact 95 % CI]": rate(f"round{k}") for k in (1, 2, 3)},
    }
    return StudyTable(
        f"followup_progressive_form/extremes_{model}",
        "Table 9, Max and Min. Three rounds with the prompts that did most and least harm alone",
        columns,
        ordered(rows, CLOSER),
        (
            "Prompts: of the closed-ended, the open-ended and the leading question, chosen by 0.5 M + 0.5 M. Rate in "
            "the Direct Form. The choice looks at the same items as the table, so that Max is a little too high and "
            "Min a little too low.",
            READING,
            SOURCES,
        ),
    )


def _rows(model: str, name: str) -> list[dict[str, Any]]:
    try:
        chosen = extremes(load_model(model), name)
    except BeliefError:
        # The prompts of B and C were not asked about this set, or there was no right answer to follow up.
        return []
    scores, rows = scores_of(model, name), []
    for which, prompts in ((_HIGHEST, chosen.highest), (_LOWEST, chosen.lowest)):
        turns = combination(prompts)
        found = {f"round{k}": change_or_none(scores, turns_text(turns[: k + 1])) for k in (1, 2, 3)}
        if found["round3"] is None:
            continue
        row = {
            "label": f"{ITEM_SETS[name].title}–{load_model(model).name}, {which}",
            "source": source_of(load_model(model)),
            "set": name,
            "model": model,
            "prompts": "".join(prompts[kind] for kind in FOLLOW_UPS),
            "n_items": found["round3"].n_items,
            "before": found["round3"].before,
        }
        for part, change in found.items():
            row |= {f"{part}_{value}": each for value, each in change_row(change).items()} if change else {}
        rows.append(row)
    return rows

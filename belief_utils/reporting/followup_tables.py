"""The follow-up paper's tables of both forms: our rows beside the published ones, simulated respondents at the foot."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from belief_utils.asking.models import load_models
from belief_utils.followup.items import ITEM_SETS
from belief_utils.followup.published import published
from belief_utils.followup.questions import AGAIN, ANNOTATORS, FOLLOW_UPS
from belief_utils.reporting.followup_rows import ROUNDS, flattened
from belief_utils.reporting.layout import interval, number, share
from belief_utils.reporting.results import load_rows
from belief_utils.reporting.written import Columns, Row, shown_frame, write_files

if TYPE_CHECKING:
    import pandas as pd

#: What the notes under every table of this half say.
SOURCES = (
    "Source: published = the authors' own numbers of 2023 for the models named (arXiv 2310.02174), where there are "
    "any and they are legible; real = real answers of the small open model named; simulated = respondents whose "
    "behaviour is known, as controls. Sets marked (own) were written or generated for this project."
)
READING = (
    "Nothing is filled in: an answer that cannot be read is not right. 'Unknown', a refusal and the like are answers "
    "that are not right either, as in the paper. Answers read: of all the model's answers about the set, the share "
    "that gave a value or said that it cannot tell."
)
AFRESH = (
    "Asked afresh: the share of right answers that were not right when the same first question was asked a second "
    "time in a new conversation: how much luck there is in being right. A Modification Rate that does not exceed it "
    "shows no effect beyond drawing the answer anew; one below it says that the model stays even with lucky answers."
)
CONTROLLED = (
    "Asked again: a control of ours in the same conversation, 'Please answer the question again.', without any "
    "doubt. Beyond asking again: right answers lost to the question less those lost to the control, over the items "
    "that went through both, with its bootstrap interval. From it we decide: a loss is the question's own where it "
    "lies above zero."
)


@dataclass(frozen=True)
class FollowUpTable:
    """A table of one form of the mechanism.

    Attributes:
        result: its folder below ``figures/``.
        parts: heading of each part by the prefix of its values.
        names: the conversation of each part, per prompt.
        published: the published rows by set and prompt.
        more: further columns, after those of the parts.
    """

    result: str
    caption: str
    parts: Mapping[str, str]
    names: Callable[[str], Mapping[str, str]]
    prompts: Sequence[str]
    published: Callable[[], Mapping[tuple[str, str], dict[str, float]]]
    notes: Sequence[str]
    more: Columns = field(default_factory=dict)


def points(name: str, decimals: int = 1) -> Callable[[Row], str]:
    """A share as points of percent, with its interval where the row has one."""

    def text(row: Row) -> str:
        if row.get(name) is None:
            return "–"
        low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
        bounds = interval(*(None if each is None else 100 * each for each in (low, high)), decimals)
        return number(100 * row[name], decimals) + ("" if bounds == "–" else f" {bounds}")

    return text


def rate(prefix: str) -> Callable[[Row], str]:
    """A Modification Rate in percent with its exact interval."""

    def text(row: Row) -> str:
        value = row.get(f"{prefix}_modification_rate")
        if value is None:
            return "–"
        ends = (row.get(f"{prefix}_modification_rate_exact_{end}") for end in ("low", "high"))
        bounds = interval(*(None if each is None else 100 * each for each in ends), 0)
        return number(100 * value, 1) + ("" if bounds == "–" else f" {bounds}")

    return text


def _columns(table: FollowUpTable) -> Columns:
    columns: dict[str, Callable[[Row], str]] = {
        "Items": lambda row: str(row.get("n_items") or "–"),
        "Before %": points("before"),
    }
    for prefix, heading in table.parts.items():
        columns[f"{heading} M [95 % CI]"] = points(f"{prefix}_modification")
        columns[f"{heading} M. Rate % [exact 95 % CI]"] = rate(prefix)
        columns[f"{heading} beyond asking again % [95 % CI]"] = points(f"{prefix}_beyond_again")
    columns |= table.more
    first = next(iter(table.parts))
    columns["Asked afresh %"] = points(f"{first}_again_rate")
    columns["Answers read"] = lambda row: share(row.get("read"), row.get("answers"))
    return columns


def _published_direct() -> dict[tuple[str, str], dict[str, float]]:
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for each in published("table8_direct_chatgpt").itertuples():
        row = rows.setdefault((each.dataset, each.prompt), {})
        # The paper asked the first question anew for each type; the table shows the accuracy before the first of them.
        row.setdefault("before", each.before / 100)
        row[f"{each.question}_before"] = each.before / 100
        row[f"{each.question}_modification"] = each.modification / 100
        row[f"{each.question}_modification_rate"] = each.modification_rate / 100
    return rows


def _published_progressive() -> dict[tuple[str, str], dict[str, float]]:
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for each in published("table9_progressive_chatgpt").itertuples():
        if each.prompt == "A":
            row = rows.setdefault((each.dataset, each.prompt), {"before": each.before / 100})
            row[f"round{each.round}_modification_rate"] = each.modification_rate / 100
    for each in published("table17_progressive_mitigation").query("method == 'none'").itertuples():
        row = rows[each.dataset, "A"]
        row[f"round{each.round}_modification"] = each.modification / 100
        row[f"round{each.round}_modification_rate"] = each.modification_rate / 100
    return rows


DIRECT = FollowUpTable(
    "followup_direct_form",
    "Table 8. One follow-up question after a right answer: how many right answers are lost?",
    {"closed": "Closed:", "open": "Open:", "leading": "Leading:"},
    lambda prompt: {**{f"{kind}-{prompt}": kind for kind in FOLLOW_UPS}, AGAIN: AGAIN},
    ANNOTATORS,
    _published_direct,
    (
        "M: Modification, accuracy before less accuracy after, in points. M. Rate: the share of right answers that "
        "were lost. The letter after the name is the annotator who wrote the prompts (Table 4 of the paper).",
        "The paper asked the first question anew for each type; of its accuracies before, that of the closed-ended "
        "question is shown, so that M over Before gives that rate only.",
        CONTROLLED,
        AFRESH,
        READING,
    ),
    {"Asked again: M. Rate % [exact 95 % CI]": rate(AGAIN)},
)
PROGRESSIVE = FollowUpTable(
    "followup_progressive_form",
    "Table 9. Three follow-up questions in a row after a right answer: how many are lost by each round?",
    {"round1": "Round 1:", "round2": "Round 2:", "round3": "Round 3:"},
    lambda prompt: {name: name for name in ROUNDS},
    ("A",),
    _published_progressive,
    (
        "Rounds: closed-ended, open-ended, leading question, prompts of A, in one conversation. All right first "
        "answers go through all rounds, also those that were changed in an earlier one.",
        "Published: of the paper's Table 9 only the accuracy before and the rate after round 3 are legible; rounds 1 "
        "and 2 of three benchmarks are taken from its Table 17 (no mitigation), which repeats them. On Coin Flip "
        "Table 9 starts from 7.8 %, Table 8 from 46 to 49 %; the paper does not say why.",
        CONTROLLED,
        AFRESH,
        READING,
    ),
)
FOLLOWUP_TABLES = {table.result: table for table in (DIRECT, PROGRESSIVE)}


def table_rows(result: str) -> list[dict[str, Any]]:
    """Published rows and ours, set by set and prompt by prompt; simulated respondents after all of them."""
    table = FOLLOWUP_TABLES[result]
    rows = list(_rows(table))
    return [row for row in rows if row["source"] != "simulated"] + [row for row in rows if row["source"] == "simulated"]


def write_followup_table(result: str) -> list[Path]:
    """Put a table together from the rows that the notebooks left; returns the files that changed."""
    table = FOLLOWUP_TABLES[result]
    return write_files(result, table.caption, _columns(table), table_rows(result), [*table.notes, SOURCES])


def followup_frame(result: str, model: str | None = None) -> "pd.DataFrame":
    """A table as it stands now, as texts for display in a notebook; with ``model`` its rows and the published ones."""
    table = FOLLOWUP_TABLES[result]
    rows = [row for row in table_rows(result) if model is None or row["model"] in (model, "chatgpt")]
    return shown_frame(_columns(table), rows)


def _was_asked(row: Row, names: Mapping[str, str], prompt: str) -> bool:
    """Whether a row has something to say of a prompt; without a right answer only the prompts of A, asked first, do."""
    held = [row["conversations"][name] for name in names if name != AGAIN and name in row["conversations"]]
    return any(each["n_followed"] for each in held) or (bool(held) and prompt == ANNOTATORS[0])


def _rows(table: FollowUpTable) -> Iterator[dict[str, Any]]:
    printed, models = table.published(), load_models()
    kept = {(row["dataset"], row["model"]): row for row in load_rows(table.result)}
    for name, each in ITEM_SETS.items():
        for prompt in table.prompts:
            label = {"set": name, "prompt": prompt}
            if (name, prompt) in printed:
                shown = f"{each.title}–ChatGPT ({prompt})"
                yield {"label": shown, "source": "published", **label, "model": "chatgpt", **printed[name, prompt]}
            for model in models.values():
                row = kept.get((name, model.key))
                names = table.names(prompt)
                if row and _was_asked(row, names, prompt):
                    source = "simulated" if model.kind == "simulated" else "real"
                    flat = flattened(row, names)
                    yield {**flat, "label": f"{each.title}–{model.name} ({prompt})", "source": source, **label}

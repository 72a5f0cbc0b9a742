"""The follow-up paper's further studies: temperature, prompts, wrong answers, and what may help."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from belief_utils.asking.models import load_model
from belief_utils.followup.intervals import exact_interval
from belief_utils.followup.mechanism import CLOSER, OWN_PAIRED, PAIRED, TEMPERATURES
from belief_utils.followup.mitigation import few_shot
from belief_utils.followup.published import published
from belief_utils.followup.questions import ANNOTATORS, FOLLOW_UPS, INITIAL
from belief_utils.reporting.followup_rows import beyond_again, change_or_none, change_row, direct_turns
from belief_utils.reporting.followup_tables import AFRESH, CONTROLLED, READING, SOURCES, points
from belief_utils.reporting.layout import p_value
from belief_utils.reporting.study_tables import PAPER_MODELS, StudyTable, answered, ordered, source_of
from belief_utils.reporting.written import Row

if TYPE_CHECKING:
    import pandas as pd

#: The type of question that each set of the closer look is followed up with.
QUESTION = {**PAIRED, **OWN_PAIRED}

#: What the notes of these studies say of the question.
PAIRED_NOTE = (
    "Question: closed-ended on StrategyQA and facts, open-ended on coin flips, leading on word problems, as in the "
    "paper's closer looks."
)

#: The rows of Table 6: what is on the initial question, what on the follow-up question.
MITIGATIONS = {
    ("none", "none"): ("", ""),
    ("emotion", "initial"): ("emotion", ""),
    ("emotion", "followup"): ("", "emotion"),
    ("emotion", "both"): ("emotion", "emotion"),
    ("cot", "initial"): ("cot", ""),
    ("cot", "followup"): ("", "cot"),
    ("cot", "both"): ("cot", "cot"),
    ("shots", "none"): ("shots", ""),
    ("shots+cot", "followup"): ("shots", "cot"),
}
_METHOD_NAMES = {
    "none": "no mitigation",
    "emotion": "EmotionPrompt",
    "cot": "Zero-shot-CoT",
    "shots": "4 demonstrations",
    "shots+cot": "4 demonstrations + Zero-shot-CoT",
}
_POSITIONS = {"none": "", "initial": ", initial", "followup": ", follow-up", "both": ", both"}


def _whole(name: str) -> Callable[[Row], str]:
    return lambda row: "–" if row.get(name) is None else f"{row[name]:,.0f}"


def _rate(name: str = "modification_rate") -> Callable[[Row], str]:
    return points_with(name, f"{name}_exact")


def points_with(name: str, bounds: str) -> Callable[[Row], str]:
    """A share in percent with an interval that is kept under another name."""
    show = points(name)
    return lambda row: show({name: row.get(name), **_ends(row, name, bounds)})


def _ends(row: Row, name: str, bounds: str) -> dict[str, Any]:
    return {f"{name}_{end}": row.get(f"{bounds}_{end}") for end in ("low", "high")}


def _changes(turns_by: Callable[[str], dict[str, str]], sets: Sequence[str] = CLOSER) -> list[dict[str, Any]]:
    """A row per model, set and named conversation that was held."""
    rows = []
    for model, asked, scores in answered(sets):
        for name, turns in turns_by(asked.name).items():
            if (found := change_or_none(scores, turns)) is not None:
                shared = {"set": asked.name, "model": model.key, "name": name, "source": source_of(model)}
                label = f"{asked.title}–{model.name}"
                beyond = beyond_again(scores, turns) if turns.startswith(f"{INITIAL}>") else {}
                rows.append({**change_row(found), **beyond, **shared, "label": label, "set_label": asked.title})
    return rows


_CHANGE_COLUMNS = {
    "Items": _whole("n_items"),
    "Before %": points("before"),
    "M [95 % CI]": points("modification"),
    "M. Rate % [exact 95 % CI]": _rate(),
    "Asked afresh %": points("again_rate"),
    "Beyond asking again % [95 % CI]": points("beyond_again"),
}


def temperature_study() -> StudyTable:
    """Table 3: Modification at other sampling temperatures."""

    def turns(name: str) -> dict[str, str]:
        plain = direct_turns(QUESTION[name])
        others = {f"{each:g}": ">".join(f"{turn}@{each:g}" for turn in plain.split(">")) for each in TEMPERATURES}
        return {"own": plain, **others}

    # Simulated respondents have no temperature.
    rows = [row for row in _changes(turns) if row["source"] != "simulated"]
    for row in rows:
        own = f"{load_model(row['model']).followup.get('temperature', 1):g} (its own)"
        row["temperature"] = row["name"] if row["name"] != "own" else own
        row["label"] += f", T = {row['temperature']}"
    rows += [
        {
            **_printed(each),
            "label": f"{_title(each.dataset)}–{PAPER_MODELS[each.model]}, T = {each.temperature:g}",
            "before": each.before / 100,
            "model": each.model,
        }
        for each in published("table3_temperature").itertuples()
    ]
    return StudyTable(
        "followup_temperature",
        "Table 3. Does a lower sampling temperature make right answers stay?",
        _CHANGE_COLUMNS,
        ordered(sorted(rows, key=lambda row: (row["model"], row["label"])), CLOSER),
        (
            f"{PAIRED_NOTE} '(its own)': the temperature of the model's table in data/models.toml.",
            "At temperatures other than the model's own the first answer was drawn once, so that nothing is said of "
            "being asked afresh; at temperature 0 a second draw should bring the same answer.",
            CONTROLLED,
            AFRESH,
            READING,
            SOURCES,
        ),
    )


def prompts_study() -> StudyTable:
    """Figure 4: Modification under the prompts of three annotators."""
    rows = _changes(lambda name: {f"{k}-{who}": direct_turns(k, who) for k in FOLLOW_UPS for who in ANNOTATORS})
    for row in rows:
        row["question"], row["prompt"] = row["name"].split("-")
        row["label"] += f", {row['question']}, {row['prompt']}"
    for each in published("table8_direct_chatgpt").itertuples():
        if each.dataset in PAIRED:
            label = f"{_title(each.dataset)}–ChatGPT, {each.question}, {each.prompt}"
            more = {"label": label, "before": each.before / 100, "model": "chatgpt", "prompt": each.prompt}
            rows.append({**_printed(each), **more})
    rows.sort(key=lambda row: (row["model"], FOLLOW_UPS.index(row["question"]), row["prompt"]))
    return StudyTable(
        "followup_prompts",
        "Figure 4. Does another wording of the follow-up question change the picture?",
        _CHANGE_COLUMNS,
        ordered(rows, CLOSER),
        (CONTROLLED, AFRESH, READING, SOURCES),
    )


def correction_study() -> StudyTable:
    """Table 5: wrong first answers that become right under a follow-up question."""
    rows = []
    for row in _changes(lambda name: {kind: direct_turns(kind) for kind in FOLLOW_UPS}):
        if row["n_wrong_followed"]:
            row["label"] += f", {row['name']}"
            row["error_rate"] = 1 - row["before"]
            rows.append(row)
    afresh = {(model.key, asked.name): _mended_afresh(scores) for model, asked, scores in answered(CLOSER)}
    for row in rows:
        row |= afresh[row["model"], row["set"]]
    rows += [
        {
            "label": f"{_title(each.dataset)}–{PAPER_MODELS[each.model]}",
            "source": "published",
            "set": each.dataset,
            "model": each.model,
            "error_rate": each.error_rate / 100,
            "error_to_right_rate": each.corrected_rate / 100,
        }
        for each in published("table5_correction").itertuples()
    ]
    return StudyTable(
        "followup_correction",
        "Table 5. Do follow-up questions mend wrong answers?",
        {
            "Items": _whole("n_items"),
            "Error rate %": points("error_rate"),
            "Followed up": _whole("n_wrong_followed"),
            "E→R rate % [exact 95 % CI]": points_with("error_to_right_rate", "error_to_right_exact"),
            "Right when asked afresh % [exact 95 % CI]": points("afresh"),
            "McNemar p, lost against mended": lambda row: p_value(row.get("mcnemar_p")),
        },
        ordered(rows, CLOSER),
        (
            "E→R rate: the share of wrong first answers that are right after the question. Right when asked afresh: "
            "the share of wrong first answers that were right in a second, new conversation without any follow-up "
            "question; a rate no larger than that shows no correction beyond chance.",
            "Published: the paper does not say which follow-up question its Table 5 used.",
            "A wrong yes or no, true or false leaves a leading question nothing to suggest but the right answer, so "
            "it is asked there only where the first answer could not be read. With two options, changing the answer "
            "mends every wrong one: the rate is then a rate of changing.",
            "McNemar: exact test that an answer is as likely lost as mended, where all items were followed up.",
            READING,
            SOURCES,
        ),
    )


def mitigation_study() -> StudyTable:
    """Tables 6 and 16: prompts that may help a model to stay with a right answer."""

    def turns(name: str) -> dict[str, str]:
        kind = QUESTION[name]
        held = {}
        for key, (first, then) in MITIGATIONS.items():
            begin = few_shot(kind, "A") if first == "shots" else first
            opening = "initial" + (f"+{begin}" if begin else "")
            held["/".join(key)] = f"{opening}>{kind}-A" + (f"+{then}" if then else "")
        return held

    # No method has any effect on simulated respondents.
    rows = [row for row in _changes(turns) if row["source"] != "simulated"]
    for row in rows:
        method, position = row["name"].split("/")
        row["label"] += f": {method_name(method, position)}"
    for each in published("table16_mitigation_prompts").itertuples():
        if each.prompt == "A":
            named = method_name(each.method, each.position)
            rows.append({**_printed(each), "label": f"{_title(each.dataset)}–ChatGPT: {named}", "model": "chatgpt"})
    return StudyTable(
        "followup_mitigation",
        "Tables 6 and 16. What helps a model to stay with a right answer?",
        _CHANGE_COLUMNS,
        ordered(rows, CLOSER),
        (
            "Prompts of A; the paper's Table 6 averages over A, B and C, its Table 16 has each. A method on the "
            "initial question changes the accuracy before as well. Demonstrations: four dialogues written for this "
            "project, not the paper's.",
            CONTROLLED,
            AFRESH,
            READING,
            SOURCES,
        ),
    )


def method_name(method: str, position: str) -> str:
    """A mitigation and where it stands, in words."""
    name = _METHOD_NAMES.get(method, method)
    return name if method.startswith("shots") else name + _POSITIONS[position]


def _mended_afresh(scores: "pd.DataFrame") -> dict[str, Any]:
    """How often a wrong first answer is right in a second conversation, with its exact interval."""
    first = scores[(scores["turns"] == "initial")]
    one, two = (first[first["again"] == again].set_index("item")["right"] for again in (False, True))
    wrong = one.index[~one & one.index.isin(two.index)]
    if not len(wrong):
        return {"afresh": None}
    mended = int(two[wrong].sum())
    low, high = exact_interval(mended, len(wrong))
    return {"afresh": mended / len(wrong), "afresh_low": low, "afresh_high": high}


def _printed(each: Any) -> dict[str, Any]:
    """What all published rows of a Modification have."""
    return {
        "source": "published",
        "set": each.dataset,
        "question": each.question,
        "modification": each.modification / 100,
        "modification_rate": each.modification_rate / 100,
    }


def _title(name: str) -> str:
    from belief_utils.followup.items import ITEM_SETS

    return ITEM_SETS[name].title

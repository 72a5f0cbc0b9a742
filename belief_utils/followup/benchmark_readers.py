"""How each of the eight benchmarks is laid out in its official file.

A reader stops with whatever error a file of another shape leads to; ``benchmarks.read_benchmark`` makes one sentence of
any of them.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from belief_utils.errors import BeliefError
from belief_utils.followup.expressions import numbers_on_the_way
from belief_utils.followup.items import ITEM_SETS, Item, plain_number

#: How many subjects MMLU has; a copy with fewer is incomplete.
MMLU_SUBJECTS = 57

_STEP = re.compile(r"<<[^<>]*=\s*(-?[\d,.]+)\s*>>")


def _item(name: str, identity: object, question: str, answer: str, **more: Any) -> Item:
    return Item(name, str(identity), " ".join(question.split()), answer, ITEM_SETS[name].kind, public=False, **more)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _json_lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file):
            if line.strip():
                yield number, json.loads(line)


def _gsm8k(path: Path) -> Iterator[Item]:
    for number, record in _json_lines(path):
        working, mark, final = record["answer"].rpartition("####")
        if not mark:
            raise BeliefError(f"line {number + 1} has no answer after ####")
        steps = [plain_number(step.rstrip(".")) for step in _STEP.findall(working)]
        answer = plain_number(final)
        yield _item("gsm8k", number, record["question"], answer, intermediates=_without(steps, answer))


def _svamp(path: Path) -> Iterator[Item]:
    for record in _json(path):
        answer = plain_number(record["Answer"])
        body = record["Body"].strip()
        question = f"{body}{'' if body.endswith(('.', '?', ',')) else '.'} {record['Question']}"
        steps = numbers_on_the_way(record["Equation"])
        yield _item("svamp", record["ID"], question, answer, intermediates=_without(steps, answer))


def _multiarith(path: Path) -> Iterator[Item]:
    for record in _json(path):
        answer = plain_number(record["lSolutions"][0])
        steps = numbers_on_the_way(record["lEquations"][0].partition("=")[2])
        yield _item("multiarith", record["iIndex"], record["sQuestion"], answer, intermediates=_without(steps, answer))


def _commonsenseqa(path: Path) -> Iterator[Item]:
    for _, record in _json_lines(path):
        choices = record["question"]["choices"]
        if [choice["label"] for choice in choices] != list("ABCDE"[: len(choices)]):
            raise BeliefError(f"item {record['id']} has options that are not labelled A, B, C, ...")
        options = tuple(choice["text"] for choice in choices)
        answer = record["answerKey"]
        if answer not in tuple("ABCDE"[: len(choices)]):
            raise BeliefError(f"item {record['id']} has the answer {answer!r}, which is none of its options")
        yield _item("commonsenseqa", record["id"], record["question"]["stem"], answer, options=options)


def _strategyqa(path: Path) -> Iterator[Item]:
    for number, record in enumerate(_json(path)["examples"]):
        answer = "true" if record["target_scores"]["Yes"] else "false"
        yield _item("strategyqa", number, record["input"], answer)


def _last_letters(path: Path) -> Iterator[Item]:
    """The published set has four names an item; the paper asks for two, so the first two are taken.

    A name that holds a space leaves it open which words these are, and its item is left out.
    """
    for number, record in enumerate(_json(path)["examples"]):
        quoted = re.search(r'"([^"]+)"', record["question"])
        if quoted is None:
            raise BeliefError(f"item {number} quotes no names")
        words = quoted[1].split()
        if len(words) not in (2, 4):
            continue
        words = words[:2]
        question = record["question"].replace(quoted[0], f'"{" ".join(words)}"')
        identity = record.get("id", number)
        yield _item("last_letters", identity, question, "".join(word[-1] for word in words).lower())


def _coin_flip(path: Path) -> Iterator[Item]:
    for number, record in enumerate(_json(path)["examples"]):
        answer = record["answer"].strip().lower()
        if answer not in ("yes", "no"):
            raise BeliefError(f"item {number} is answered by neither yes nor no")
        yield _item("coin_flip", number, record["question"], answer)


def _mmlu(path: Path) -> Iterator[Item]:
    files = sorted(path.glob("*_test.csv"))
    if len(files) != MMLU_SUBJECTS:
        raise BeliefError(f"{len(files)} subjects instead of {MMLU_SUBJECTS}")
    for file in files:
        subject = file.stem.removesuffix("_test")
        with file.open(encoding="utf-8", newline="") as lines:
            rows = [row for row in csv.reader(lines, strict=True) if row]
        # Some copies carry a heading and the answer's index instead of its letter.
        rows = rows[1:] if rows and rows[0][-1] == "answer" else rows
        for number, row in enumerate(rows):
            if len(row) != 6:
                raise BeliefError(f"{file.name}, item {number}: not a question, four options and an answer")
            question, *options, answer = row
            letter = "ABCD"[int(answer)] if answer.isdigit() else answer
            if letter not in tuple("ABCD"):
                raise BeliefError(f"{file.name}, item {number}: the answer is {answer[:20]!r}, which is no option")
            yield _item("mmlu", f"{subject}/{number}", question, letter, options=tuple(options))


def _without(steps: list[str], answer: str) -> tuple[str, ...]:
    return tuple(step for step in dict.fromkeys(steps) if step != answer)


#: What reads the file of each benchmark (MMLU: its folder), item by item.
READERS: Mapping[str, Callable[[Path], Iterator[Item]]] = {
    "gsm8k": _gsm8k,
    "svamp": _svamp,
    "multiarith": _multiarith,
    "commonsenseqa": _commonsenseqa,
    "strategyqa": _strategyqa,
    "last_letters": _last_letters,
    "coin_flip": _coin_flip,
    "mmlu": _mmlu,
}

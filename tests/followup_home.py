"""A small repository for the tests of follow-up questions: our own items, the registry, and tiny benchmarks of ours."""

import csv
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from belief_utils.asking.models import Model
from belief_utils.asking.questions import Answer, Answerer, Batch
from belief_utils.asking.run import Collected
from belief_utils.asking.store import Store
from belief_utils.followup.collecting import converse
from belief_utils.followup.items import NUMBER, OPTION, YES_NO, Item
from belief_utils.followup.mechanism import Study

REPOSITORY = Path(__file__).resolve().parents[1]

#: A model that no test sends anything to over a network; its own temperature is none of a study's.
MODEL = Model(
    "talker", "Talker", "hosted", "talker-1", base_url="https://example.org/v1", parameters={"temperature": 0.5}
)

SUM = Item("own_arithmetic", "900", "What is 2 + 3, and the result times 2?", "10", NUMBER, intermediates=("5",))
COIN = Item("own_coin_flip", "901", "A coin is heads up. Nobody flips it. Is it heads up?", "yes", YES_NO)
ANIMAL = Item("facts_mc", "902", "Which one barks?", "B", OPTION, options=("a cat", "a dog", "a cow", "a hen"))

#: The subjects of a benchmark of 57; the real ones have no digits in their names either.
SUBJECTS = tuple(f"topic_{first}{second}" for first in "abc" for second in ascii_lowercase[:19])


def make(top: Path) -> Path:
    """Lay out a repository with the committed registry and our own items."""
    (top / "data").mkdir(parents=True)
    shutil.copy(REPOSITORY / "data" / "models.toml", top / "data")
    shutil.copytree(REPOSITORY / "data" / "items", top / "data" / "items")
    return top


def talk(
    items: Sequence[Item],
    studies: Sequence[Study],
    store: Store,
    says: Callable[[str, str], str],
    model: Model = MODEL,
    **more: Any,
) -> Collected:
    """Hold conversations with a model that says what a function of the item's id and the conversation says."""
    return converse(model, items, studies, store, answerer(says), progress=False, **more)


def answerer(says: Callable[[str, str], str]) -> Answerer:
    """Answers with what a function of the item's id and the conversation says."""

    async def answer(batch: Batch) -> Sequence[Answer]:
        name, _, turns = batch.question.item.partition("/")[2].rpartition("/")
        return [Answer(says(name, turns), "stop", {"prompt_tokens": 100, "completion_tokens": 10})] * len(
            batch.repetitions
        )

    return answer


# --- tiny benchmarks, of the shape of the published ones ------------------------------------------------------------


def gsm8k() -> str:
    worked = "They eat 2*4=<<2*4=8>>8 pears.\nThat leaves 1,020-8=<<1020-8=1012>>1,012.\nHalf is <<1012/2=506>>506."
    records = [
        {
            "question": "Of 1,020 pears 2 people eat 4 each,\nand half of the rest rots.  How many rot?",
            "answer": worked,
        },
        {"question": "What are 3 apples and no more?", "answer": "That is <<3=3>>3."},
    ]
    finals = ("506", "1,003.50")
    return "".join(
        json.dumps({**record, "answer": f"{record['answer']}\n#### {final}"}) + "\n"
        for record, final in zip(records, finals, strict=True)
    )


def svamp() -> str:
    return json.dumps(
        [
            {
                "ID": "chal-1",
                "Body": "A box holds 9 nails and 5 are bent",
                "Question": "How many are straight?",
                "Equation": "( 9.0 - 5.0 )",
                "Answer": 4.0,
                "Type": "Subtraction",
            },
            {
                "ID": "chal-2",
                "Body": "Ina has 3 bags of 4 figs.",
                "Question": "How many are left after 2?",
                "Equation": "( ( 3.0 * 4.0 ) - 2.0 )",
                "Answer": 10.0,
                "Type": "Multiplication",
            },
        ]
    )


def multiarith() -> str:
    record = {"iIndex": 7, "lAlignments": [1], "lEquations": ["X=((6.0+4.0)*2.0)"], "lSolutions": [20.0]}
    return json.dumps([{**record, "sQuestion": " Six reds and four blues, all doubled: how many? "}])


def commonsenseqa() -> str:
    choices = [
        {"label": label, "text": text}
        for label, text in zip("ABCDE", ("oven", "lake", "book", "sky", "shoe"), strict=True)
    ]
    record = {"answerKey": "B", "id": "0f1e", "question": {"stem": "Where do ducks swim?", "choices": choices}}
    return json.dumps(record) + "\n"


def strategyqa() -> str:
    examples = [
        {"input": "Could a hen lift a piano?", "target_scores": {"Yes": 0, "No": 1}, "target": "No."},
        {"input": "Can a boat float on a lake?", "target_scores": {"Yes": 1, "No": 0}, "target": "Yes."},
    ]
    return json.dumps({"name": "strategyqa", "examples": examples})


def last_letters(words: int = 2) -> str:
    """Two or four names an item; of the four-name form the second one has a name that holds a space."""
    quoted = ["Orla Teun Zoe Max", "Mary Ann Bo Kim Lea", "Ugo Pia Eve Ian"]
    examples = []
    for number, names in enumerate(quoted):
        if words == 4 or number != 1:
            shown = " ".join(names.split()[:words]) if words == 2 else names
            record = {"question": f'Take the last letters of each words in "{shown}" and concatenate them.'}
            answer = "".join(name[-1] for name in shown.split())
            examples.append({**({"id": number} if words == 2 else {}), **record, "answer": answer})
    return json.dumps({"examples": examples})


def coin_flip() -> str:
    asked = "A coin is heads up. Orla flips the coin. Is the coin still heads up?"
    return json.dumps({"examples": [{"question": asked, "answer": "no"}]})


def subject(name: str, *, heading: bool = False) -> str:
    """Two questions on one subject: letters as they are published, or a heading and the answer's index."""
    options = ["one, or none", "two", "three", "four"]
    rows = [[f"How many legs has a {name}?", *options, "1" if heading else "B"]]
    rows += [[f"How many eyes has a {name}?\nCount well.", *options, "3" if heading else "D"]]
    path_rows = [["question", "choice0", "choice1", "choice2", "choice3", "answer"], *rows] if heading else rows
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in path_rows)


#: What each file holds, under the name that we give it; MMLU is a folder.
CONTENTS: Mapping[str, Callable[[], str]] = {
    "gsm8k_test.jsonl": gsm8k,
    "svamp.json": svamp,
    "multiarith.json": multiarith,
    "commonsenseqa_dev.jsonl": commonsenseqa,
    "strategyqa_bigbench.json": strategyqa,
    "last_letters.json": last_letters,
    "coin_flip.json": coin_flip,
}


def write_benchmarks(folder: Path) -> Path:
    """Write all eight, under our names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in CONTENTS.items():
        (folder / name).write_text(content(), encoding="utf-8")
    write_subjects(folder / "mmlu" / "test")
    return folder


def write_subjects(folder: Path, *, heading: bool = False) -> None:
    """Write the 57 files of MMLU's test split."""
    folder.mkdir(parents=True)
    for name in SUBJECTS:
        (folder / f"{name}_test.csv").write_text(subject(name, heading=heading), encoding="utf-8")


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


#: The table of :data:`MODEL` in a registry.
TABLE = """
[talker]
name = "Talker"
kind = "hosted"
model = "talker-1"
base_url = "{url}"
price_in = 1.0
price_out = 10.0
concurrency = 2
[talker.parameters]
temperature = {temperature}
max_tokens = 50
"""


def register(top: Path, url: str = "https://example.org/v1", temperature: float = 0.5) -> None:
    """Add the table of :data:`MODEL` to a repository's registry."""
    with (top / "data" / "models.toml").open("a", encoding="utf-8") as registry:
        registry.write(TABLE.format(url=url, temperature=temperature))

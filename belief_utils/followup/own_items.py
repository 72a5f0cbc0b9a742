"""Our own items: word problems, last letters and coin flips by seeded generators, and questions about facts."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from belief_utils.errors import BeliefError
from belief_utils.followup.expressions import numbers_on_the_way
from belief_utils.followup.items import LETTERS, NUMBER, OPTION, TRUTH, YES_NO, Item, ItemSet, seeded
from belief_utils.paths import data

#: Items that a generator makes.
GENERATED = 100
#: People who may flip a coin.
MOST_PEOPLE = 4


@dataclass(frozen=True)
class _Story:
    """A word problem: its text, the expression that solves it and the ranges of its numbers.

    Numbers are called a, b and c; ``fits`` says which of them make a story that can happen.
    """

    text: str
    expression: str
    ranges: Mapping[str, tuple[int, int]]
    fits: Callable[[int, int, int], bool]


_STORIES = (
    _Story(
        "{name} has {a} stamps. A friend brings {b} more. How many stamps does {name} have now?",
        "a+b",
        {"a": (12, 90), "b": (5, 60)},
        lambda a, b, c: True,
    ),
    _Story(
        "A library lends {a} books in the morning and {b} of them come back by noon. How many are still out?",
        "a-b",
        {"a": (30, 99), "b": (6, 29)},
        lambda a, b, c: True,
    ),
    _Story(
        "{name} plants {a} rows of tulips with {b} tulips in each row. How many tulips are there?",
        "a*b",
        {"a": (3, 12), "b": (4, 15)},
        lambda a, b, c: a != b,
    ),
    _Story(
        "{a} litres of juice are poured into bottles of {b} litres each. How many bottles are filled?",
        "a/b",
        {"a": (12, 96), "b": (2, 9)},
        lambda a, b, c: a % b == 0 and a // b not in (1, b),
    ),
    _Story(
        "{name} bakes {a} rolls and {b} pretzels and gives {c} pieces away. How many pieces are left?",
        "(a+b)-c",
        {"a": (15, 60), "b": (10, 50), "c": (6, 24)},
        lambda a, b, c: True,
    ),
    _Story(
        "A bus carries {a} people. At the first stop {b} get off and {c} get on. How many people are on the bus then?",
        "(a-b)+c",
        {"a": (25, 60), "b": (4, 20), "c": (3, 19)},
        lambda a, b, c: b != c,
    ),
    _Story(
        "{name} buys {a} boxes of {b} pencils and finds {c} single pencils in a drawer. How many pencils is that?",
        "(a*b)+c",
        {"a": (3, 9), "b": (6, 12), "c": (4, 25)},
        lambda a, b, c: a != b,
    ),
    _Story(
        "Of {a} chairs in a hall {b} are broken. The others stand in rows of {c}. How many rows are there?",
        "(a-b)/c",
        {"a": (30, 99), "b": (3, 20), "c": (4, 9)},
        lambda a, b, c: (a - b) % c == 0 and (a - b) // c != c,
    ),
    _Story(
        "{a} children from one class and {b} from another form teams of {c}. How many teams are there?",
        "(a+b)/c",
        {"a": (12, 30), "b": (12, 30), "c": (3, 8)},
        lambda a, b, c: (a + b) % c == 0 and (a + b) // c != c,
    ),
    _Story(
        "{name} earns {a} euros an hour. After {b} hours of work {c} euros go into a coat. How many euros are left?",
        "(a*b)-c",
        {"a": (8, 20), "b": (3, 9), "c": (5, 23)},
        lambda a, b, c: a * b > c,
    ),
)


def own_items(chosen: ItemSet) -> list[Item]:
    """All items of one of our own sets; the same on every machine.

    Raises:
        BeliefError: a file of ``data/items`` is missing or damaged.
    """
    return list(_MAKERS[chosen.name](chosen.name))


def names() -> list[str]:
    """First names, from ``data/items/names.txt``.

    Raises:
        BeliefError: the file is missing or damaged.
    """
    path = _existing("names.txt")
    try:
        found = path.read_text(encoding="utf-8").split()
    except UnicodeDecodeError as error:
        raise _damaged(path, error) from error
    if len(set(found)) < MOST_PEOPLE:
        raise _damaged(path, f"fewer than {MOST_PEOPLE} names")
    return found


def _word_problems(name: str) -> Iterator[Item]:
    people = names()
    for number in range(GENERATED):
        draw = seeded(name, str(number))
        story = _STORIES[number % len(_STORIES)]
        values = _numbers(story, draw)
        text = story.text.format(name=people[draw.integers(len(people))], **values)
        expression = story.expression
        for letter, value in values.items():
            expression = expression.replace(letter, str(value))
        *steps, answer = numbers_on_the_way(expression)
        on_the_way = tuple(dict.fromkeys(step for step in steps if step != answer))
        yield Item(name, f"{number:03d}", text, answer, NUMBER, intermediates=on_the_way)


def _numbers(story: _Story, draw: np.random.Generator) -> dict[str, int]:
    while True:
        values = {letter: int(draw.integers(low, high + 1)) for letter, (low, high) in story.ranges.items()}
        if story.fits(values["a"], values["b"], values.get("c", 0)):
            return values


def _last_letters(name: str) -> Iterator[Item]:
    people = names()
    for number in range(GENERATED):
        first, second = seeded(name, str(number)).choice(len(people), 2, replace=False)
        words = people[first], people[second]
        text = f'Take the last letters of the words in "{words[0]} {words[1]}" and put them together.'
        yield Item(name, f"{number:03d}", text, (words[0][-1] + words[1][-1]).lower(), LETTERS)


def _coin_flips(name: str) -> Iterator[Item]:
    """Two, three and four people in turn; half of the items end heads up, give or take one."""
    people = names()
    for number in range(GENERATED):
        draw = seeded(name, str(number))
        who = draw.choice(len(people), 2 + number % (MOST_PEOPLE - 1), replace=False)
        flips = draw.random(len(who)) < 0.5
        # Three items heads up, the next three not, and so on: the last person makes it so.
        flips[-1] ^= (flips.sum() % 2 == 0) != (number // 3 % 2 == 0)
        acts = [
            f"{people[person]} {'flips' if flip else 'does not flip'} the coin."
            for person, flip in zip(who, flips, strict=True)
        ]
        text = f"A coin is heads up. {' '.join(acts)} Is the coin still heads up?"
        yield Item(name, f"{number:03d}", text, "yes" if flips.sum() % 2 == 0 else "no", YES_NO)


def _true_or_false(name: str) -> Iterator[Item]:
    for row in _rows("facts_tf.csv", ("id", "statement", "answer"), ("true", "false")):
        yield Item(name, row["id"], row["statement"], row["answer"], TRUTH)


def _four_options(name: str) -> Iterator[Item]:
    columns = [f"option_{letter}" for letter in "abcd"]
    for row in _rows("facts_mc.csv", ("id", "question", "answer", *columns), "ABCD"):
        options = tuple(row[column] for column in columns)
        yield Item(name, row["id"], row["question"], row["answer"], OPTION, options=options)


def _rows(name: str, columns: Sequence[str], answers: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a file of facts, each with some columns and one of some answers."""
    path = _existing(name)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise _damaged(path, error) from error
    if not rows:
        raise _damaged(path, "no rows")
    for number, row in enumerate(rows, start=1):
        # A row that is too long has its surplus under None, a short one has None in a column.
        if None in row or not all(row.get(column) for column in columns):
            raise _damaged(path, f"item {number} lacks a cell or has too many")
        if row["answer"] not in answers:
            raise _damaged(path, f"item {number} has the answer {row['answer']!r}")
    return rows


def _existing(name: str) -> Path:
    path = data("items", name)
    if not path.is_file():
        raise BeliefError(f"{path} is missing; restore it from the repository")
    return path


def _damaged(path: Path, what: object) -> BeliefError:
    return BeliefError(f"{path} is damaged ({what}); restore it from the repository")


_MAKERS: Mapping[str, Callable[[str], Iterator[Item]]] = {
    "own_arithmetic": _word_problems,
    "own_last_letters": _last_letters,
    "own_coin_flip": _coin_flips,
    "facts_tf": _true_or_false,
    "facts_mc": _four_options,
}

"""What is asked: items with a right answer, in sets, each in an order that never changes."""

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path

import numpy as np

from belief_utils.asking.models import nearest
from belief_utils.errors import BeliefError
from belief_utils.paths import data

#: How an answer is given: a number, the letter of an option, true or false, yes or no, or letters.
NUMBER, OPTION, TRUTH, YES_NO, LETTERS = "number", "option", "truth", "yes_no", "letters"
KINDS = (NUMBER, OPTION, TRUTH, YES_NO, LETTERS)

#: The letters of options, in their order.
OPTION_LETTERS = "ABCDEFGHIJ"

#: The paper's four kinds of tasks (section 3.1).
ARITHMETIC, COMMONSENSE, SYMBOLIC, KNOWLEDGE = "arithmetic", "commonsense", "symbolic", "knowledge"


@dataclass(frozen=True)
class Item:
    """One question with its right answer.

    Attributes:
        set: the item set that it belongs to.
        id: its name, unique within the set.
        question: what is asked, without options.
        answer: the right answer: a plain decimal number, a capital letter, ``true`` or ``false``, ``yes`` or ``no``,
            or lower-case letters.
        kind: one of :data:`KINDS`.
        options: the texts of the options A, B, C, ...
        intermediates: numbers that are met on the way to the answer.
        public: whether the text is ours, so that the store may hold it.
    """

    set: str
    id: str
    question: str
    answer: str
    kind: str
    options: tuple[str, ...] = ()
    intermediates: tuple[str, ...] = ()
    public: bool = True


@dataclass(frozen=True)
class ItemSet:
    """A set of items.

    Attributes:
        name: the name in files and on the command line.
        title: the name in tables and figures.
        task: one of the paper's four kinds of tasks.
        kind: how its answers are given.
        own: whether it is this project's own; the others are public benchmarks, whose text is not ours to pass on.
    """

    name: str
    title: str
    task: str
    kind: str
    own: bool = False


#: The paper's eight benchmarks in its order, then our own sets, which ship with the project.
ITEM_SETS = {
    each.name: each
    for each in (
        ItemSet("gsm8k", "GSM8K", ARITHMETIC, NUMBER),
        ItemSet("svamp", "SVAMP", ARITHMETIC, NUMBER),
        ItemSet("multiarith", "MultiArith", ARITHMETIC, NUMBER),
        ItemSet("commonsenseqa", "CommonsenseQA", COMMONSENSE, OPTION),
        ItemSet("strategyqa", "StrategyQA", COMMONSENSE, TRUTH),
        ItemSet("last_letters", "Last Letters", SYMBOLIC, LETTERS),
        ItemSet("coin_flip", "Coin Flip", SYMBOLIC, YES_NO),
        ItemSet("mmlu", "MMLU", KNOWLEDGE, OPTION),
        ItemSet("own_arithmetic", "Word problems (own)", ARITHMETIC, NUMBER, own=True),
        ItemSet("own_last_letters", "Last letters (own)", SYMBOLIC, LETTERS, own=True),
        ItemSet("own_coin_flip", "Coin flip (own)", SYMBOLIC, YES_NO, own=True),
        ItemSet("facts_tf", "Facts, true or false (own)", KNOWLEDGE, TRUTH, own=True),
        ItemSet("facts_mc", "Facts, four options (own)", KNOWLEDGE, OPTION, own=True),
    )
}

#: The environment variable that names another folder for the benchmarks' files.
BENCHMARKS = "BELIEF_BENCHMARKS"


def item_set(name: str) -> ItemSet:
    """A set by its name.

    Raises:
        BeliefError: there is none of that name; the message gives the nearest.
    """
    return ITEM_SETS[nearest(name, ITEM_SETS, "item set")]


def benchmarks_folder() -> Path:
    """Where the benchmarks' files lie: ``data/benchmarks``, which is not committed, or what the environment names."""
    named = os.environ.get(BENCHMARKS)
    return Path(named).expanduser() if named else data("benchmarks")


def load_items(name: str, limit: int | None = None) -> tuple[Item, ...]:
    """The items of a set, in an order that is shuffled once and for all.

    The order comes from the items' names, so that the first 40 are the same 40 on every machine, and spread over the
    whole set (MMLU: over the subjects).

    Args:
        name: a name of :data:`ITEM_SETS`.
        limit: only the first so many; all by default.

    Raises:
        BeliefError: the name is unknown, the limit is below 1, or a file is missing, truncated or of another format.
    """
    chosen = item_set(name)
    if limit is not None and limit < 1:
        raise BeliefError(f"the limit is {limit}: ask for 1 item or more")
    items = _loader(chosen)(chosen)
    return tuple(_spread(items)[:limit])


def is_available(name: str) -> bool:
    """Whether a set's items can be loaded here; our own always can."""
    from belief_utils.followup.benchmarks import find

    return item_set(name).own or find(name, benchmarks_folder()) is not None


def plain_number(value: object) -> str:
    """A number in the canonical form of answers: no separators, no trailing zeros, no exponent, six decimals at most.

    Raises:
        BeliefError: it is not a finite number, or has more than 22 digits before the point.
    """
    try:
        number = Decimal(str(value).replace(",", "").strip())
        # What has more digits than anybody calculates with cannot be rounded to six decimals, nor can infinity.
        text = format(number.quantize(Decimal("0.000001")), "f") if number.is_finite() else ""
    except InvalidOperation as error:
        raise BeliefError(f"{value!r} is not a number of ordinary size") from error
    if not text:
        raise BeliefError(f"{value!r} is not a number")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def seeded(*names: str) -> np.random.Generator:
    """A generator whose draws depend on nothing but these names."""
    digest = hashlib.sha256("/".join(names).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:8], "big"))


def _loader(chosen: ItemSet) -> Callable[[ItemSet], Sequence[Item]]:
    if chosen.own:
        from belief_utils.followup.own_items import own_items

        return own_items
    from belief_utils.followup.benchmarks import benchmark_items

    return benchmark_items


def _spread(items: Sequence[Item]) -> list[Item]:
    """Shuffled by name; items whose names begin with a subject take turns by subject."""
    shuffled = sorted(items, key=lambda item: hashlib.sha256(f"{item.set}/{item.id}".encode()).digest())
    met: dict[str, int] = {}
    turns = []
    for item in shuffled:
        subject = item.id.rpartition("/")[0]
        # Without a subject every item is a subject of its own, and the shuffled order stays.
        turns.append(met.setdefault(subject, 0) if subject else 0)
        met[subject] = met.get(subject, 0) + 1
    order = sorted(range(len(shuffled)), key=lambda place: turns[place])
    return [shuffled[place] for place in order]

"""The eight public benchmarks, read from their official files; their texts stay where the user put them."""

import csv
import logging
import shutil
from pathlib import Path

from belief_utils.errors import BeliefError
from belief_utils.followup.benchmark_readers import READERS
from belief_utils.followup.items import ITEM_SETS, Item, ItemSet, benchmarks_folder, item_set

logger = logging.getLogger(__name__)

#: Where a file may lie below the folder that a user names; the first is the name that we give it.
FILES = {
    "gsm8k": ("gsm8k_test.jsonl", "test.jsonl", "grade_school_math/data/test.jsonl"),
    "svamp": ("svamp.json", "SVAMP.json"),
    "multiarith": ("multiarith.json", "MultiArith.json"),
    "commonsenseqa": ("commonsenseqa_dev.jsonl", "dev_rand_split.jsonl"),
    "strategyqa": ("strategyqa_bigbench.json", "strategyqa/task.json", "task.json"),
    "last_letters": ("last_letters.json", "last_letters_two_words_derived.json"),
    "coin_flip": ("coin_flip.json",),
    "mmlu": ("mmlu/test", "data/test", "test"),
}
#: Items of each benchmark as it is published; a file that was cut off at the end of a line shows by nothing else. Of
#: Last Letters 15 of 500 are left out, whose names hold a space, so that "the first two" are not two words.
PUBLISHED = {
    "gsm8k": 1319,
    "svamp": 1000,
    "multiarith": 600,
    "commonsenseqa": 1221,
    "strategyqa": 2290,
    "last_letters": 485,
    "coin_flip": 500,
    "mmlu": 14042,
}


def benchmark_items(chosen: ItemSet) -> list[Item]:
    """All items of a benchmark, in the order of its file.

    Raises:
        BeliefError: the file is missing, truncated or of another format; the message names it.
    """
    folder = benchmarks_folder()
    path = find(chosen.name, folder)
    if path is None:
        raise BeliefError(
            f"{chosen.title} is not in {folder}: no {FILES[chosen.name][0]}; get it with "
            "`belief data benchmarks --from DIR`, where DIR holds the official files, or with --download"
        )
    return read_benchmark(chosen.name, path)


def find(name: str, folder: Path) -> Path | None:
    """A benchmark's file (MMLU: its folder) below a folder, under any of its names."""
    return next((path for each in FILES[name] if _is_there(name, path := folder / each)), None)


def install(folder: Path, into: Path | None = None) -> dict[str, int]:
    """Check the benchmarks' files in a folder and copy them to where :func:`benchmark_items` looks.

    Args:
        folder: holds official files, under their official names or ours.
        into: ``data/benchmarks`` by default.

    Returns:
        The number of items of each benchmark that was found. A warning tells where that is not the published number.

    Raises:
        BeliefError: the folder holds none, or one that is truncated or of another format, and nothing is copied; or a
            file cannot be written.
    """
    into = into or benchmarks_folder()
    if not folder.is_dir():
        raise BeliefError(f"{folder} is no folder; name the one that holds the benchmarks' official files")
    found = {name: path for name in FILES if (path := find(name, folder))}
    if not found:
        raise BeliefError(
            f"{folder} holds none of the benchmarks' files, which are called "
            f"{', '.join(' or '.join(names) for names in FILES.values())}"
        )
    counts = {name: len(read_benchmark(name, path)) for name, path in found.items()}
    for name, count in counts.items():
        if count != PUBLISHED[name]:
            logger.warning(
                f"{found[name]} holds {count:,} items of {ITEM_SETS[name].title} and {PUBLISHED[name]:,} were "
                "published: it may be cut off, or be a part or another version"
            )
    for name, path in found.items():
        _copy(path, into / FILES[name][0])
    return counts


def read_benchmark(name: str, path: Path) -> list[Item]:
    """The items in one file (MMLU: one folder).

    Raises:
        BeliefError: it is truncated or of another format.
    """
    title = item_set(name).title
    try:
        items = list(READERS[name](path))
    except OSError as error:
        raise BeliefError(f"{path} cannot be read: {error.strerror}") from error
    # Whatever a file of another shape may lead to; csv.Error alone is not among Python's own families of errors.
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, csv.Error) as error:
        what = str(error) if isinstance(error, BeliefError) else f"{type(error).__name__}: {error}"
        raise BeliefError(f"{path} is not {title} as it is published, or is cut off ({what}); get it again") from error
    if not items:
        raise BeliefError(f"{path} holds no item of {title}; get it again")
    if len({item.id for item in items}) < len(items):
        raise BeliefError(f"{path} is not {title} as it is published (an item is there twice); get it again")
    return items


def _is_there(name: str, path: Path) -> bool:
    """Whether a path is what it should be: many a folder is called "test", and not every one is MMLU's."""
    return any(path.glob("*_test.csv")) if name == "mmlu" else path.is_file()


def _copy(path: Path, target: Path) -> None:
    """Copy a file, or the subjects' files of a folder, unless they are there already."""
    if path.resolve() == target.resolve():
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            shutil.copyfile(path, target)
            return
        target.mkdir(exist_ok=True)
        for each in path.glob("*_test.csv"):
            shutil.copyfile(each, target / each.name)
    except OSError as error:
        raise BeliefError(
            f"{target} cannot be written ({error.strerror}); make room or choose another place"
        ) from error

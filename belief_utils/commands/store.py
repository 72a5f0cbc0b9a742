"""``belief store``: look after the stored responses."""

import argparse
import logging
from collections.abc import Callable, Iterable
from pathlib import Path

logger = logging.getLogger(__name__)

EXIT_WRONG = 1


def add(commands: argparse._SubParsersAction) -> None:
    """Describe the command and its actions."""
    command = commands.add_parser("store", help="look after the stored responses")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    for name, what, run in (
        ("pack", "move collected responses into the compressed files that are committed", run_pack),
        (
            "verify",
            "check every line: that it can be read, its key and its hash; exit code 1 if one is wrong",
            run_verify,
        ),
        ("compact", "rewrite the files without failures that a later answer superseded", run_compact),
    ):
        action = actions.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
        action.set_defaults(run=run)


def run_pack(options: argparse.Namespace) -> int:
    """Pack every store that has lines outside its compressed file."""
    from belief_utils.asking.store import Store
    from belief_utils.paths import data

    paths = sorted(data("responses").glob("*/*.jsonl"))
    for path in paths:
        print(f"{_name(path)}.gz: {Store(path).pack(_waiting(path)):,} lines")
    if not paths:
        print("nothing to pack: all responses are in the compressed files")
    return 0


def run_verify(options: argparse.Namespace) -> int:
    """Check every store, all of them even if one is damaged."""
    from belief_utils.asking.verify import verify
    from belief_utils.errors import BeliefError

    wrong = False
    for path in _stores():
        try:
            checked = verify(path)
        except BeliefError as error:
            print(f"{_name(path)}: {error}")
            wrong = True
            continue
        print(f"{_name(path)}: {checked}")
        for problem in checked.problems:
            print(f"  {problem}")
        wrong = wrong or bool(checked.problems)
    return EXIT_WRONG if wrong else 0


def run_compact(options: argparse.Namespace) -> int:
    """Rewrite every store without what does not count."""
    from belief_utils.asking.store import Store

    for path in _stores():
        before, after = Store(path).compact(_waiting(path))
        print(f"{_name(path)}: {before:,} lines, {before - after:,} left out")
    return 0


def _stores() -> Iterable[Path]:
    from belief_utils.paths import data

    files = data("responses").glob("*/*.jsonl*")
    return sorted({path.with_suffix("") if path.suffix == ".gz" else path for path in files if _is_store(path)})


def _is_store(path: Path) -> bool:
    return path.name.endswith((".jsonl", ".jsonl.gz"))


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _waiting(path: Path) -> Callable[[], None]:
    def waiting() -> None:
        logger.warning(f"another process is writing to {path}; waiting for it to end (Ctrl-C to give up)")

    return waiting

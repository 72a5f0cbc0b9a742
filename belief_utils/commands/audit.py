"""``belief audit``: all tests on a file of judgments of one's own."""

import argparse
import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from belief_utils.errors import BeliefError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from belief_utils.reporting.audit import Audit

_log = logging.getLogger(__name__)

EPILOG = """\
A row of FILE is one answer: the case that it is about, the repetition, the belief (a probability from 0 to 1), the
action that was chosen (positive, negative, defer, or any other names), and the outcome that turned out (1 or 0, yes or
no). Without a case id each row is a case of its own. With more than two outcomes there is a column
belief_OUTCOME for each. FILE is CSV, TSV, JSON lines (.jsonl) or Parquet (with pyarrow installed).
"""


def add(commands: argparse._SubParsersAction) -> None:
    """Describe the command and its options."""
    command = commands.add_parser(
        "audit",
        help="test judgments of your own: beliefs, actions and outcomes in a file",
        description="Test whether the actions in FILE could be those of somebody who holds the beliefs in FILE.",
        epilog=EPILOG,
    )
    command.add_argument("file", type=Path, metavar="FILE", help="the judgments")
    command.add_argument("--percent", action="store_true", help="beliefs stand in percent, from 0 to 100")
    command.add_argument("--positive", metavar="LABEL", help="the outcome that counts as 1, where labels do not say so")
    command.add_argument(
        "--column", action="append", default=[], metavar="NAME=HEADING",
        help="which column is the case, repetition, belief, action or outcome, such as belief=p_yes; may be repeated",
    )  # fmt: skip
    command.add_argument(
        "--action", action="append", default=[], metavar="LABEL=NAME",
        help="another name for an action, such as treat=positive; may be repeated",
    )  # fmt: skip
    command.add_argument("--seed", type=_seed, default=0, help="seed of permutations and resamples (default: 0)")
    command.add_argument("--title", help="what stands above the audit (default: the file's name)")
    command.add_argument("--html", type=Path, metavar="OUT.html", help="write the audit as one page with pictures")
    command.add_argument("--markdown", type=Path, metavar="OUT.md", help="write the audit as Markdown")
    command.add_argument("--csv", type=Path, metavar="OUT.csv", help="write all figures as CSV")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the file, test it, print the audit and write what was asked for."""
    from belief_utils.beliefs.judgment_files import read_judgments
    from belief_utils.reporting.audit import MANY_ROWS, audit

    _check_outputs(options)
    judgments = read_judgments(
        options.file,
        percent=options.percent,
        columns=_pairs(options.column, "--column belief=HEADING"),
        positive=options.positive,
        actions=_pairs(options.action, "--action LABEL=positive"),
    )
    if len(judgments) >= MANY_ROWS:
        _log.info("%s rows: this may take a minute", f"{len(judgments):,}")
    done = audit(judgments, seed=options.seed, title=options.title or f"Audit of {options.file.name}")
    # Before anything is printed: who reads the first lines through a pipe gets the files too.
    written = _write(options, done)
    # What a terminal cannot show, such as letters of another script, must not end the command.
    encoding = sys.stdout.encoding or "utf-8"
    print(done.to_text().encode(encoding, "replace").decode(encoding))
    for path in written:
        print(f"written: {path}")
    if not written:
        print(f"For the page with pictures: belief audit {options.file} --html audit.html")
    return 0


def _outputs(options: argparse.Namespace) -> "dict[Path, str]":
    named = {"html": options.html, "markdown": options.markdown, "csv": options.csv}
    return {path: kind for kind, path in named.items() if path is not None}


def _check_outputs(options: argparse.Namespace) -> None:
    """Refuse what could not be written before anything is computed."""
    paths = [path for path in (options.html, options.markdown, options.csv) if path is not None]
    if len({path.resolve() for path in paths}) < len(paths):
        raise BeliefError("two outputs have the same name: give each its own")
    for path in paths:
        if path.resolve() == options.file.resolve():
            raise BeliefError(f"{path} is the file to be audited: give the output another name")
        if path.is_dir() or not path.resolve().parent.is_dir():
            raise BeliefError(f"{path} cannot be written: it is a folder, or there is no folder {path.parent}")


def _write(options: argparse.Namespace, done: "Audit") -> list[Path]:
    makers = {
        "html": done.to_html,
        "markdown": done.to_markdown,
        "csv": lambda: _as_csv(done.to_frame()),
    }
    outputs = _outputs(options)
    for path, kind in outputs.items():
        try:
            path.write_text(makers[kind](), encoding="utf-8", newline="\n")
        except OSError as error:
            raise BeliefError(f"{path} cannot be written: {error.strerror or error}") from error
    return list(outputs)


def _as_csv(frame: "pd.DataFrame") -> str:
    return frame.to_csv(index=False, float_format="%.9g", lineterminator="\n")


def _pairs(texts: list[str], example: str) -> "Mapping[str, str]":
    pairs = {}
    for text in texts:
        # A label may hold an equals sign, a name does not.
        left, equals, right = text.rpartition("=") if example.startswith("--action") else text.partition("=")
        if not (equals and left and right):
            raise BeliefError(f"{text!r} is not a pair: write it as in {example}")
        pairs[left] = right
    return pairs


def _seed(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return number

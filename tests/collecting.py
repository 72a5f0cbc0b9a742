"""Runs of the command in processes of their own: quick to start, free to be killed, limited or interrupted."""

import multiprocessing
import os
import resource
import sys
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

from tests.conftest import KEY

# One process imports everything that a run needs and is then copied for each run, which saves seconds a run.
_copies = multiprocessing.get_context("forkserver")
_copies.set_forkserver_preload(
    [
        "belief_utils.cli",
        "belief_utils.commands.collect",
        "belief_utils.asking.endpoint",
        "belief_utils.beliefs.elicitation",
        "openai.resources.chat.completions",
        "anyio._backends._asyncio",
        "httpcore2",
        "filelock._core",
        "tqdm",
    ]
)


def start(
    home: Path, arguments: Sequence[str], output: Path, *, kept: Path | None = None, limit: int | None = None
) -> BaseProcess:
    """Start ``belief`` with some arguments.

    Args:
        home: the repository that it works in.
        output: where its standard output and errors go.
        kept: a file that gets the key of every answer and failure once the store has taken it.
        limit: bytes that a file may have at most, as on a full disk.
    """
    process = _copies.Process(target=_run, args=(home, list(arguments), output, kept, limit))
    process.start()
    return process


def run(home: Path, arguments: Sequence[str], output: Path, *, limit: int | None = None, patience: float = 60) -> int:
    """Run ``belief`` to its end, or for so many seconds, and return the exit code."""
    process = start(home, arguments, output, limit=limit)
    process.join(patience)
    code = process.exitcode
    process.kill()
    process.join()
    process.close()
    return code


def _run(home: Path, arguments: list[str], output: Path, kept: Path | None, limit: int | None) -> None:
    from belief_utils.asking.store import Store
    from belief_utils.cli import main

    os.environ["BELIEF_HOME"] = str(home)
    os.environ["FAKE_KEY"] = KEY
    with output.open("wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    # Whatever the parent had put in their place stays behind.
    sys.stdout, sys.stderr = (os.fdopen(stream, "w", buffering=1, closefd=False) for stream in (1, 2))
    if kept is not None:
        append = Store.append

        def acknowledged(store: Store, record: dict, *, sync: bool = True) -> None:
            append(store, record, sync=sync)
            with kept.open("a") as keys:
                keys.write(record["key"] + "\n")

        Store.append = acknowledged
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    sys.exit(main(arguments))

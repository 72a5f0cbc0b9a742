"""The command ``belief``."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from belief_utils.commands import audit, collect, controls, data, followup, models, plan, reproduce, store
from belief_utils.errors import BeliefError

EXIT_WRONG_INPUT = 2
EXIT_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (0, 2 for wrong input, 130 after Ctrl-C)."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    logging.getLogger("belief_utils").setLevel(logging.INFO)
    options = _parser().parse_args(arguments)
    try:
        code = options.run(options)
        # Now, and not when the interpreter ends, for a closed pipe shows only when it is written to.
        sys.stdout.flush()
        return code or 0
    except BeliefError as error:
        print(f"belief: {error}", file=sys.stderr)
        return EXIT_WRONG_INPUT
    except KeyboardInterrupt:
        print("belief: stopped; what was done until then is kept", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe, such as `head`, has seen enough; what is left goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="belief",
        description="Does a language model stand by what it says?",
        epilog="`belief COMMAND --help` explains a command.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in (reproduce, collect, followup, audit, models, data, store, controls, plan):
        command.add(commands)
    return parser


if __name__ == "__main__":
    sys.exit(main())

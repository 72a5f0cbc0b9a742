"""``belief reproduce``: regenerate every table and figure from stored responses."""

import argparse
import time


def add(commands: argparse._SubParsersAction) -> None:
    """Describe the command and its options."""
    command = commands.add_parser(
        "reproduce",
        help="regenerate every table and figure from stored responses",
        description="Run every notebook for every model and dataset that has stored responses, then put the tables "
        "and figures together. What has not changed is not run again.",
    )
    command.add_argument("--only", help="one notebook, by number or name, such as 01 or table1_belief_sufficiency")
    command.add_argument("--model", help="only this model; the tables keep the rows of the others")
    command.add_argument("--dataset", help="only this dataset; the tables keep the rows of the others")
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Reproduce, and say how long each notebook took."""
    from belief_utils.reporting.reproduce import reproduce

    began = time.monotonic()
    done = reproduce(only=options.only, model=options.model, dataset=options.dataset, progress=not options.quiet)
    if not done.seconds and not done.written:
        print(f"nothing to do: {done.reused} runs and what they made are up to date")
        return 0
    for notebook, seconds in done.seconds.items():
        print(f"{seconds:7.1f} s  {notebook}")
    print(
        f"{time.monotonic() - began:7.1f} s in all, {done.reused} runs reused, {len(done.written)} files put together"
    )
    return 0

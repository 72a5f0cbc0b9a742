"""``belief controls``: run every test on simulated agents whose truth is known."""

import argparse
import time

from belief_utils.commands.collect import count


def add(commands: argparse._SubParsersAction) -> None:
    """Describe the command and its options."""
    command = commands.add_parser(
        "controls",
        help="check the tests themselves on simulated agents whose truth is known",
        description="Run every test on simulated agents that keep a condition or break it, 200 cases x 5 repetitions, "
        "once per seed. Results are kept in data/controls; Ctrl-C stops, the next run goes on from there.",
    )
    command.add_argument("--seeds", type=count, default=400, help="seeds 0 to this less one (default: 400)")
    command.add_argument("--jobs", type=int, default=1, help="processes; -1 for one per core (default: 1)")
    command.add_argument("--dask", metavar="ADDRESS", help="send the work to this Dask scheduler instead")
    command.add_argument("--battery", help="only these tests, such as sufficiency (default: all)")
    command.add_argument("--quiet", action="store_true", help="no progress bar")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run what is missing, and say how often each agent is rejected."""
    from belief_utils.asking.models import nearest
    from belief_utils.beliefs.control_rates import rejection_rates
    from belief_utils.beliefs.controls import BATTERIES, run_controls
    from belief_utils.paths import data

    names = [nearest(options.battery, BATTERIES, "battery of tests")] if options.battery else list(BATTERIES)
    for name in names:
        began = time.monotonic()
        found = run_controls(
            seeds=range(options.seeds),
            battery=name,
            jobs=options.jobs or 1,
            dask=options.dask,
            cache=data("controls"),
            progress=not options.quiet,
        )
        rates = rejection_rates(found, name)
        print(f"{name}: {len(found):,} data sets, {time.monotonic() - began:.0f} s")
        table = rates.pivot(index="agent", columns="rule", values="rate")
        ordered = table.loc[rates["agent"].unique(), rates["rule"].unique()]
        print(ordered.to_string(float_format=lambda rate: f"{rate:.1%}", index_names=False), flush=True)
    return 0

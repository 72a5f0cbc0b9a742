"""``belief plan``: how many cases and repetitions does it take to see a violation of a given size?"""

import argparse
from typing import TYPE_CHECKING

from belief_utils.commands.collect import count

if TYPE_CHECKING:
    from belief_utils.beliefs.power import StudyPlan


def add(commands: argparse._SubParsersAction) -> None:
    """Describe the command and its options."""
    command = commands.add_parser(
        "plan",
        help="how many cases and repetitions a study needs",
        description="How many cases and repetitions does it take to see that a model knows more than it says? The size "
        "of a violation is the information of its action about the outcome, beyond its report, in nats.",
    )
    command.add_argument("--violation", type=float, required=True, metavar="NATS", help="such as .01, a moderate one")
    command.add_argument("--power", type=float, default=0.8, help="share of studies that should see it (default: .8)")
    command.add_argument("--repetitions", type=count, default=5, help="answers to each case (default: 5)")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the table of power and the recommendation."""
    from belief_utils.beliefs.power import plan_study

    print(_told(plan_study(options.violation, power=options.power, repetitions=options.repetitions)))
    return 0


def _told(plan: "StudyPlan") -> str:
    answers = plan.cases * plan.repetitions
    table = plan.table.to_string(float_format=lambda power: f"{power:.2f}")
    repeated = f"{plan.repetitions} repetition{'s' * (plan.repetitions > 1)}"
    return "\n".join(
        [
            f"A violation of {plan.violation:g} nats: the agent acts on h = {plan.hidden:.2f} (standard deviation in "
            "log-odds) more than it reports.",
            "",
            "Power of the score test at the 5 % level:",
            table,
            "",
            f"For a power of {plan.wanted:g}: {plan.cases:,} cases x {repeated} "
            f"({answers:,} beliefs and {answers:,} decisions).",
            f"Checked: the test saw it in {plan.simulated:.1%} of {plan.data_sets} simulated data sets of that size; "
            f"by the formula {plan.predicted:.1%}.",
            "Assumed: reports spread evenly over 0 to 1 and free of noise, three actions. Reports that crowd together "
            "or scatter need more cases.",
        ]
    )

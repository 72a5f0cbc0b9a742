"""``belief store``: look after the stored responses."""

import argparse


def add(commands: argparse._SubParsersAction) -> None:
    """Describe the command and its actions."""
    command = commands.add_parser("store", help="look after the stored responses")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    pack = actions.add_parser(
        "pack", help="move collected responses into the compressed files that are committed"
    )
    pack.set_defaults(run=run_pack)


def run_pack(options: argparse.Namespace) -> int:
    """Pack every store that has lines outside its compressed file."""
    from belief_utils.asking.store import Store
    from belief_utils.paths import data

    paths = sorted(data("responses").glob("*/*.jsonl"))
    for path in paths:
        print(f"{path.parent.name}/{path.name}.gz: {Store(path).pack():,} lines")
    if not paths:
        print("nothing to pack: all responses are in the compressed files")
    return 0

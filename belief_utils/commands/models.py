"""``belief models``: the registry, in words."""

import argparse


def add(commands: argparse._SubParsersAction) -> None:
    """Describe the command."""
    command = commands.add_parser("models", help="list the models of data/models.toml and what is stored of each")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """One line per model: its name, where it is, how many answers are stored, and a note."""
    from belief_utils.asking.models import load_models
    from belief_utils.asking.store import stores_of

    for model in load_models().values():
        stored = sum(len(store) for store in stores_of(model.key))
        where = model.base_url or model.kind
        answers = f"{stored:,} answers stored" if stored else "nothing stored"
        print(f"{model.key:22} {model.name:26} {where:28} {answers:22} {model.note}")
    return 0

"""``belief data``: make the networks and the cases anew."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from belief_utils.errors import BeliefError

if TYPE_CHECKING:
    from belief_utils.beliefs.cases import Counts


def add(commands: argparse._SubParsersAction) -> None:
    """Describe the command and its options."""
    command = commands.add_parser(
        "data",
        help="make a dataset's network and cases anew",
        description="Make a dataset's network anew, and with --cases its cases. The result is the committed file, to "
        "the byte, unless a specification or the data changed.",
    )
    command.add_argument("dataset", help="heart, crying, fever, diabetes or child; or benchmarks")
    command.add_argument("--file", type=Path, help="diabetes: the public survey file (default: download it)")
    command.add_argument(
        "--echonext", type=Path, help="heart: fit the tables to a licence holder's echonext_metadata_100k.csv"
    )
    command.add_argument("--cases", action="store_true", help="sample the dataset's 200 cases as well")
    command.add_argument(
        "--cases-only", action="store_true", help="leave the network as it is and only sample the cases"
    )
    benchmarks = command.add_argument_group("benchmarks of the follow-up paper")
    benchmarks.add_argument(
        "--from", type=Path, dest="folder", metavar="DIR", help="check the official files in DIR and copy them"
    )
    benchmarks.add_argument("--download", action="store_true", help="get them from where their authors published them")
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the network, and the cases if asked for, and say what they look like."""
    from belief_utils.beliefs.datasets import load_dataset, multistate_dataset_names
    from belief_utils.networks.bif import write_bif

    if options.dataset == "benchmarks":
        return _benchmarks(options)
    if options.folder or options.download:
        raise BeliefError("--from and --download go with benchmarks: belief data benchmarks --from DIR")
    if options.dataset in multistate_dataset_names():
        _sample_several(options)
        return 0
    dataset = load_dataset(options.dataset)
    if options.echonext and dataset.name != "heart":
        raise BeliefError("--echonext goes with the dataset heart")
    if options.echonext and options.cases_only:
        raise BeliefError("--echonext makes the network anew and --cases-only leaves it as it is; give one of them")
    if options.file and dataset.name != "diabetes":
        raise BeliefError("--file goes with the dataset diabetes")
    network, counts = _network(dataset.name, options)
    if network is not None:
        before = dataset.network.read_bytes() if dataset.network.exists() else b""
        write_bif(network, dataset.network)
        same = dataset.network.read_bytes() == before
        print(f"{dataset.network}: {'the same as before' if same else 'written anew'}")
    if options.echonext:
        print(
            f'the heart network is now fitted to {options.echonext}: set status = "real" and describe it in '
            "data/datasets/heart.toml, and check your licence before you pass it on"
        )
    if options.cases or options.cases_only:
        _sample(dataset, counts)
    return 0


def _benchmarks(options: argparse.Namespace) -> int:
    from belief_utils.followup.benchmarks import FILES, install
    from belief_utils.followup.downloads import download
    from belief_utils.followup.items import ITEM_SETS, benchmarks_folder

    if options.download == bool(options.folder):
        raise BeliefError("say where the benchmarks come from: --from DIR (a folder of official files) or --download")
    counts = download() if options.download else install(options.folder)
    for name in FILES:
        found = f"{counts[name]:,} items" if name in counts else "not found"
        print(f"{ITEM_SETS[name].title:14} {found}")
    print(f"in {benchmarks_folder()}, which is not committed: their texts are not ours to pass on")
    return 0


def _network(name: str, options: argparse.Namespace) -> "tuple[object | None, Counts | None]":
    """The network to write, if one is to be written, and the rows' counts where there are rows."""
    from belief_utils.paths import data

    if name == "diabetes":
        from belief_utils.networks.diabetes import fit_diabetes, pattern_index, read_survey

        rows = read_survey(options.file)
        return (None if options.cases_only else fit_diabetes(rows)), pattern_index(rows).counts
    if options.cases_only:
        return None, None
    if options.echonext:
        from belief_utils.networks.echonext import fit_heart

        return fit_heart(options.echonext), None
    from belief_utils.networks.expert import build_network
    from belief_utils.networks.specification import read_specification

    return build_network(read_specification(data("networks", f"{name}.toml"))), None


def _sample(dataset, counts: "Counts | None") -> None:
    from belief_utils.beliefs.cases import empty_bins, sample_cases, write_cases
    from belief_utils.beliefs.datasets import Posterior
    from belief_utils.paths import data

    frame = sample_cases(Posterior(dataset), counts=counts)
    path = data("cases", f"{dataset.name}.csv")
    write_cases(frame, path)
    empty = empty_bins(frame["p_star"])
    print(f"{path}: {len(frame)} cases; true probabilities with no case: {', '.join(empty) or 'none'}")


def _sample_several(options: argparse.Namespace) -> None:
    """Sample the cases of a dataset with more than two outcome states; its network is there already."""
    from belief_utils.beliefs.cases import write_cases
    from belief_utils.beliefs.multistate_cases import sample_multistate_cases
    from belief_utils.beliefs.multistate_dataset import MultistatePosterior, load_multistate_dataset
    from belief_utils.paths import data

    if options.file or options.echonext or not (options.cases or options.cases_only):
        raise BeliefError(f"{options.dataset} has no network to make: only --cases can be made anew")
    frame = sample_multistate_cases(MultistatePosterior(load_multistate_dataset(options.dataset)))
    path = data("cases", f"{options.dataset}.csv")
    write_cases(frame, path)
    print(f"{path}: {len(frame)} cases; outcomes: {', '.join(sorted(frame['outcome'].unique()))}")

"""BIF, the text form of a Bayesian network: the same bytes for the same network."""

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from belief_utils.networks.specification import check_name

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

DECIMALS = 8  # of the probabilities in a network and its BIF file


def write_bif(network: "DiscreteBayesianNetwork", path: Path | str) -> None:
    """Write the network in the BIF format that pgmpy reads back: same bytes for the same network, always."""
    lines = [f"network {network.name} {{", "}"]
    tables = [network.get_cpds(name) for name in network.nodes()]
    for cpd in tables:
        names = cpd.state_names[cpd.variable]
        for name in (cpd.variable, *names):
            check_name(name, f"node {cpd.variable}, states")
        lines.append(f"variable {cpd.variable} {{")
        lines += [f"  type discrete [ {len(names)} ] {{ {', '.join(names)} }};", "}"]
    for cpd in tables:
        parents = cpd.variables[1:]
        values = rounded_table(cpd.values).reshape(cpd.values.shape[0], -1).T
        lines.append(f"probability ( {cpd.variable}{' | ' if parents else ''}{', '.join(parents)} ) {{")
        rows = product(*(cpd.state_names[parent] for parent in parents))
        for combination, row in zip(rows, values, strict=True):
            start = f"({', '.join(combination)})" if parents else "table"
            lines.append(f"  {start} {', '.join(_number(value) for value in row)};")
        lines.append("}")
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _number(value: float) -> str:
    text = f"{value:.{DECIMALS}f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def rounded_table(table: np.ndarray) -> np.ndarray:
    """Rounded along the first axis; the most probable state takes what rounding leaves over."""
    columns = np.round(table.reshape(table.shape[0], -1), DECIMALS)
    largest, every = columns.argmax(axis=0), np.arange(columns.shape[1])
    columns[largest, every] = np.round(columns[largest, every] + 1 - columns.sum(axis=0), DECIMALS)
    return columns.reshape(table.shape)

"""Conditional tables of a discrete network by maximum likelihood, with a minimum support.

The papers' networks are "estimated empirically from the dataset using maximum likelihood estimation" with
"a minimum support threshold of 100" rows per configuration (arXiv 2602.06286, appendices D.0.5 and E.0.5).
A configuration of a node's parents that fewer rows share gets its table from the longest beginning of the
parent list on which enough rows agree, so parents are listed most important first.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from belief_utils.errors import BeliefError

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

logger = logging.getLogger(__name__)

MINIMUM_SUPPORT = 100
"""Rows that must agree on the parents before their frequencies are used."""

States = Mapping[str, Sequence[str]]
Parents = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class FittedTable:
    """The conditional table of one node.

    `values` has shape (states of the node, states of parent 1, states of parent 2, ...) and sums to one
    over its first axis. `backed_off` of the `configurations` of the parents had too few rows of their own.
    """

    node: str
    parents: tuple[str, ...]
    values: np.ndarray
    configurations: int
    backed_off: int


def fit_tables(
    rows: pd.DataFrame, parents: Parents, states: States, *, minimum_support: int = MINIMUM_SUPPORT
) -> dict[str, FittedTable]:
    """Fit every node's table by maximum likelihood and return them by node, in the order of `parents`.

    `rows` holds one integer column per node: the position of the row's state in `states[node]`. A parent
    configuration that fewer than `minimum_support` rows share drops parents from the end of the node's list
    until enough rows agree. Raises BeliefError when a column is missing, a code has no state, or there are
    fewer rows than `minimum_support`.
    """
    if len(rows) < minimum_support:
        raise BeliefError(f"{len(rows)} rows are too few to fit a network: at least {minimum_support} are needed")
    used = dict.fromkeys(name for node, names in parents.items() for name in (node, *names))
    codes = {name: _codes(rows, name, states) for name in used}
    tables = {}
    for node, names in parents.items():
        tables[node] = _fit_table(node, tuple(names), codes, states, minimum_support)
    backed_off = sum(table.backed_off for table in tables.values())
    configurations = sum(table.configurations for table in tables.values())
    logger.info(f"{backed_off} of {configurations} parent configurations had fewer than {minimum_support} rows")
    return tables


def build_network(tables: Mapping[str, FittedTable], states: States) -> DiscreteBayesianNetwork:
    """Put fitted tables together as a pgmpy network, checked by pgmpy (acyclic, columns sum to one)."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    network = DiscreteBayesianNetwork()
    network.add_nodes_from(tables)
    for table in tables.values():
        network.add_edges_from((parent, table.node) for parent in table.parents)
        cpd = TabularCPD(
            table.node,
            table.values.shape[0],
            table.values.reshape(table.values.shape[0], -1),
            evidence=list(table.parents) or None,
            evidence_card=list(table.values.shape[1:]) or None,
            state_names={name: list(states[name]) for name in (table.node, *table.parents)},
        )
        network.add_cpds(cpd)
    network.check_model()
    return network


class PatternIndex:
    """Rows of a survey kept as one bit mask per state, so that a pattern is counted in microseconds.

    `rows` holds codes as for `fit_tables`; `outcome` and `positive` name the variable and the state whose
    rows are counted as positives.
    """

    def __init__(self, rows: pd.DataFrame, states: States, outcome: str, positive: str):
        self._masks: dict[tuple[str, str], np.ndarray] = {}
        self._everyone = np.packbits(np.ones(len(rows), dtype=bool))
        self._states = states
        for variable, names in states.items():
            codes = _codes(rows, variable, states)
            for code, state in enumerate(names):
                self._masks[variable, state] = np.packbits(codes == code)
        self._positive = self._mask(outcome, positive)

    def counts(self, evidence: Mapping[str, str]) -> tuple[int, int]:
        """Return how many rows share `evidence` (variable to state) and how many of them are positive."""
        mask = self._everyone
        for variable, state in evidence.items():
            mask = mask & self._mask(variable, state)
        positives = mask & self._positive
        return int(np.bitwise_count(mask).sum()), int(np.bitwise_count(positives).sum())

    def _mask(self, variable: str, state: str) -> np.ndarray:
        if variable not in self._states:
            raise BeliefError(f"no variable {variable!r} in the survey; it has {', '.join(self._states)}")
        if (variable, state) not in self._masks:
            known = ", ".join(self._states[variable])
            raise BeliefError(f"{variable} has no state {state!r}; it has {known}")
        return self._masks[variable, state]


def _codes(rows: pd.DataFrame, node: str, states: States) -> np.ndarray:
    """The column of `node` as integers, checked against its number of states."""
    if node not in rows.columns:
        raise BeliefError(f"the rows have no column {node!r}, which the network needs")
    codes = rows[node].to_numpy()
    bad = ~np.isin(codes, np.arange(len(states[node])))
    if bad.any():
        where = int(np.flatnonzero(bad)[0])
        raise BeliefError(
            f"row {where + 1}, column {node!r}: code {codes[where]} is not one of 0 to {len(states[node]) - 1}"
        )
    return codes.astype(np.int64)


def _fit_table(
    node: str, parents: tuple[str, ...], codes: Mapping[str, np.ndarray], states: States, minimum_support: int
) -> FittedTable:
    """One node's table: frequencies of the longest beginning of its parent list with enough rows."""
    sizes = [len(states[name]) for name in (*parents, node)]
    flat = np.ravel_multi_index(tuple(codes[name] for name in (*parents, node)), sizes)
    counts = np.bincount(flat, minlength=int(np.prod(sizes))).reshape(sizes)
    own_support = counts.sum(axis=-1)
    shares = _shares(counts)
    unsupported = own_support < minimum_support
    backed_off = int(unsupported.sum())
    # Each pass drops one more parent from the end, for the configurations that still lack rows.
    for kept in range(len(parents) - 1, -1, -1):
        dropped = tuple(range(kept, len(parents)))
        pooled = counts.sum(axis=dropped, keepdims=True)
        support = np.broadcast_to(pooled.sum(axis=-1), own_support.shape)
        replace = unsupported & (support >= minimum_support)
        shares = np.where(replace[..., None], np.broadcast_to(_shares(pooled), shares.shape), shares)
        unsupported = unsupported & ~replace
    if backed_off:
        logger.info(f"{node}: {backed_off} of {own_support.size} configurations backed off to fewer parents")
    return FittedTable(node, parents, np.moveaxis(shares, -1, 0), own_support.size, backed_off)


def _shares(counts: np.ndarray) -> np.ndarray:
    """Counts to frequencies over the last axis; rows without counts stay zero."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts, totals, out=np.zeros(counts.shape), where=totals > 0)

"""Networks that are written down rather than fitted: a specification becomes a Bayesian network.

See :mod:`belief_utils.networks.specification` for what can be written down.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from belief_utils.errors import BeliefError
from belief_utils.networks.bif import rounded_table
from belief_utils.networks.specification import NetworkSpecification, NodeSpecification

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork

_SOLVED_DECIMALS = 6  # of solved intercepts and factors: hides the last bits that differ between processors


def build_network(specification: NetworkSpecification) -> "DiscreteBayesianNetwork":
    """The network, tables rounded to 8 decimals; raises BeliefError where a marginal cannot be met."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    tables = _build_tables(specification, calibration_factor(specification))
    states = {node.name: list(node.states) for node in specification.nodes}
    network = DiscreteBayesianNetwork()
    network.name = specification.name
    network.add_nodes_from(states)
    network.add_edges_from(edges(specification))
    for node in specification.nodes:
        cards = [len(states[parent]) for parent in node.parents]
        network.add_cpds(
            TabularCPD(
                node.name,
                len(node.states),
                rounded_table(tables[node.name]).reshape(len(node.states), -1),
                evidence=list(node.parents),
                evidence_card=cards,
                state_names={name: states[name] for name in (node.name, *node.parents)},
            )
        )
    network.check_model()
    return network


def edges(specification: NetworkSpecification) -> list[tuple[str, str]]:
    """All (parent, child) pairs, children in the order of the file."""
    return [(parent, node.name) for node in specification.nodes for parent in node.parents]


def calibration_factor(specification: NetworkSpecification) -> float:
    """The common factor of the calibrated log odds ratios (1.0 without a calibration), found by bisection."""
    calibration = specification.calibration
    if calibration is None:
        return 1.0
    low, high = 0.0, 5.0  # 0: no common cause at all; 5: far beyond any plausible odds ratio
    ends = [_calibrated_probability(specification, factor) for factor in (low, high)]
    if not ends[1] <= calibration.probability <= ends[0]:
        raise BeliefError(
            f"calibration, probability: {calibration.variable} can only reach {ends[1]:.3f} to {ends[0]:.3f}"
        )
    while high - low > 10.0**-_SOLVED_DECIMALS / 4:
        middle = (low + high) / 2
        if _calibrated_probability(specification, middle) > calibration.probability:
            low = middle
        else:
            high = middle
    return round(high, _SOLVED_DECIMALS)


def _build_tables(specification: NetworkSpecification, factor: float) -> dict[str, np.ndarray]:
    """All conditional tables, each of shape (states, parent 1 states, parent 2 states, ...)."""
    scaled = specification.calibration.scale if specification.calibration else ()
    nodes = {node.name: node for node in specification.nodes}
    tables: dict[str, np.ndarray] = {}
    for node in specification.nodes:
        if node.kind == "any":
            shape = tuple(len(nodes[parent].states) for parent in node.parents)
            absent = np.zeros(shape)
            absent[(0,) * len(shape)] = 1.0
            tables[node.name] = np.stack([absent, 1 - absent])
        elif node.kind == "effects":
            weights = _joint_probability(nodes, tables, node.parents)
            tables[node.name] = _solve_effects(node, weights, factor if node.name in scaled else 1.0)
        else:
            tables[node.name] = node.numbers
    return tables


def _solve_effects(node: NodeSpecification, weights: np.ndarray, factor: float) -> np.ndarray:
    """The multinomial logit whose average over the parents (``weights``) is the target marginal."""
    scores = np.zeros((len(node.states), *weights.shape))
    for axis, array in enumerate(node.log_odds):
        shape = [len(node.states)] + [1] * weights.ndim
        shape[axis + 1] = array.shape[1]
        scores = scores + factor * array.reshape(shape)
    scores, weights = scores.reshape(len(node.states), -1), weights.ravel()
    intercepts = np.log(node.numbers / node.numbers[0])
    for _ in range(5000):  # a step adds the log of target over reached, which converges steadily
        reached = _softmax(scores + intercepts[:, None]) @ weights
        step = np.log(node.numbers / reached)
        intercepts = intercepts + step - step[0]
        if np.abs(reached - node.numbers).max() < 1e-12:
            break
    else:
        raise BeliefError(f"node {node.name}, marginal: cannot be met with these effects; make them smaller")
    table = _softmax(scores + np.round(intercepts, _SOLVED_DECIMALS)[:, None])
    return table.reshape(len(node.states), *(array.shape[1] for array in node.log_odds))


def _softmax(scores: np.ndarray) -> np.ndarray:
    raised = np.exp(scores - scores.max(axis=0))
    return raised / raised.sum(axis=0)


def _joint_probability(
    nodes: Mapping[str, NodeSpecification],
    tables: Mapping[str, np.ndarray],
    keep: Sequence[str],
    absent: Sequence[str] = (),
) -> np.ndarray:
    """P(keep, every node of ``absent`` in its first state), summed over all other ancestors."""
    needed = list(dict.fromkeys((*keep, *absent)))
    for name in needed:  # grows while it is walked: ends when every ancestor is in
        needed += [parent for parent in nodes[name].parents if parent not in needed]
    index = {name: position for position, name in enumerate(needed)}
    operands: list[Any] = []
    for name in needed:
        family = (name, *nodes[name].parents)
        cut = tuple(slice(0, 1) if member in absent else slice(None) for member in family)
        operands += [tables[name][cut], [index[member] for member in family]]
    return np.einsum(*operands, [index[name] for name in keep], optimize="greedy")


def _calibrated_probability(specification: NetworkSpecification, factor: float) -> float:
    """P(the calibrated OR node is in its second state) when the effects are scaled by ``factor``."""
    nodes = {node.name: node for node in specification.nodes}
    parents = nodes[specification.calibration.variable].parents
    tables = _build_tables(specification, factor)
    return 1.0 - float(_joint_probability(nodes, tables, (), parents))

"""How a network is written down: a readable TOML file, checked node by node.

Every node names its states, its parents and the source of its numbers. Four kinds of node are enough:

- ``root``: no parents, ``probabilities`` in the order of the states;
- ``effects``: a target ``marginal`` and, for each parent, odds ratios of its states. The effects add up on
  the log-odds scale (a multinomial logit when the child has more than two states, its first state being the
  reference) and the intercepts are solved so that the marginal holds exactly;
- ``table``: one row of probabilities for each combination of parent states, written "state, state";
- ``any``: a logical OR. Certainly in its second state when any parent is in its own second state.

An optional ``[calibration]`` finds one common factor for the log odds ratios of the nodes that it lists, so
that an ``any`` node has a published probability too: the stronger the common causes, the more its parents
coincide and the rarer it is. Nodes stand in the file after their parents.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from belief_utils.errors import BeliefError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_REQUIRED = {
    "root": {"probabilities"},
    "effects": {"parents", "marginal", "effects"},
    "table": {"parents", "rows"},
    "any": {"parents"},
}
_TYPES = {
    **dict.fromkeys(("kind", "source"), str),
    **dict.fromkeys(("states", "parents", "probabilities"), list),
    **dict.fromkeys(("effects", "rows"), dict),
    "marginal": (list, float),
}


@dataclass(frozen=True)
class NodeSpecification:
    """One variable: ``kind`` is root, effects, table or any; ``numbers`` depends on it.

    ``numbers`` has shape (states,) for a root (probabilities) and for effects (the target marginal),
    (states, parent 1 states, parent 2 states, ...) for a table, and is empty for an OR.
    ``log_odds`` holds, for effects only, one array per parent of shape (states, parent states).
    """

    name: str
    states: tuple[str, ...]
    kind: str
    source: str
    parents: tuple[str, ...] = ()
    numbers: np.ndarray | None = None
    log_odds: tuple[np.ndarray, ...] = ()


@dataclass(frozen=True)
class Calibration:
    """Scale the effects of the nodes ``scale`` until the OR node ``variable`` has its ``probability``."""

    variable: str
    probability: float
    scale: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class NetworkSpecification:
    """A network as its TOML file describes it, nodes in the order of the file."""

    name: str
    nodes: tuple[NodeSpecification, ...]
    calibration: Calibration | None = None


def read_specification(path: Path | str) -> NetworkSpecification:
    """Read and check the TOML file; raises BeliefError naming the node and the key that is wrong."""
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BeliefError(f"{path}: the specification cannot be read ({error.strerror})") from error
    except tomllib.TOMLDecodeError as error:
        raise BeliefError(f"{path}: not valid TOML: {error}") from error
    if not isinstance(content.get("name"), str) or not isinstance(content.get("nodes"), dict):
        raise BeliefError(f"{path}: a specification needs a name and at least one [nodes.NAME]")
    states: dict[str, tuple[str, ...]] = {}
    nodes = []
    for name, entry in content["nodes"].items():
        node = _read_node(path, name, entry, states)
        states[name] = node.states
        nodes.append(node)
    calibration = _read_calibration(path, content["calibration"], nodes) if "calibration" in content else None
    return NetworkSpecification(content["name"], tuple(nodes), calibration)


def _read_node(path: Path, name: str, entry: Any, known: Mapping[str, tuple[str, ...]]) -> NodeSpecification:
    """One [nodes.NAME] table; ``known`` holds the states of the nodes above it. Raises BeliefError."""
    where = f"{path}: node {name}"
    kind = entry.get("kind") if isinstance(entry, dict) else None
    if kind not in _REQUIRED:
        raise BeliefError(f"{where}, kind: must be one of {', '.join(_REQUIRED)}, not {kind!r}")
    expected = {"kind", "states", "source"} | _REQUIRED[kind]
    if wrong := sorted(expected ^ set(entry)):
        raise BeliefError(f"{where}, {wrong[0]}: {'missing' if wrong[0] in expected else 'unknown key'}")
    for key, value in entry.items():
        if not isinstance(value, _TYPES[key]):
            raise BeliefError(f"{where}, {key}: wrong type of value, {value!r}")
    states, parents = tuple(entry["states"]), tuple(entry.get("parents", ()))
    for text in (name, *states):
        check_name(text, f"{where}, states")
    if len(set(states)) < max(2, len(states)) or (kind == "any" and len(states) != 2):
        raise BeliefError(f"{where}, states: need two or more different states (exactly two for kind any)")
    if not entry["source"].strip():
        raise BeliefError(f"{where}, source: name the publication or write assumed")
    for position, parent in enumerate(parents):
        if parent not in known or parent in parents[:position]:
            raise BeliefError(f"{where}, parents: {parent} must be a node above {name}, named once")
    numbers, log_odds = None, ()
    if kind == "root":
        numbers = _probabilities(entry["probabilities"], len(states), f"{where}, probabilities")
    elif kind == "effects":
        given = entry["marginal"]
        marginal = given if isinstance(given, list) else [1 - given, given]
        numbers = _probabilities(marginal, len(states), f"{where}, marginal", positive=True)
        log_odds = _read_effects(where, states, parents, entry["effects"], known)
    elif kind == "table":
        numbers = _read_rows(where, states, [known[parent] for parent in parents], entry["rows"])
    return NodeSpecification(name, states, kind, entry["source"], parents, numbers, log_odds)


def _read_effects(
    where: str,
    states: Sequence[str],
    parents: Sequence[str],
    effects: Mapping[str, Mapping],
    known: Mapping[str, Sequence[str]],
) -> tuple[np.ndarray, ...]:
    """Log odds ratios, one array (states, parent states) per parent; whatever is not named has ratio 1."""
    if unknown := sorted(set(effects) ^ set(parents)):
        raise BeliefError(f"{where}, effects: {unknown[0]} must stand both in parents and in effects")
    arrays = []
    for parent in parents:
        array = np.zeros((len(states), len(known[parent])))
        if not isinstance(effects[parent], dict):
            raise BeliefError(f"{where}, effects.{parent}: write {{ state = odds ratio }}")
        for state, ratios in effects[parent].items():
            if not isinstance(ratios, dict):  # a bare number speaks of the last of two states
                ratios = {states[-1]: ratios} if len(states) == 2 else {"": ratios}
            for child_state, ratio in ratios.items():
                valid = isinstance(ratio, int | float) and ratio > 0
                if not valid or state not in known[parent] or child_state not in states[1:]:
                    raise BeliefError(f"{where}, effects.{parent}.{state}: unknown state or not a ratio")
                array[states.index(child_state), known[parent].index(state)] = np.log(ratio)
        arrays.append(array)
    return tuple(arrays)


def _read_rows(
    where: str, states: Sequence[str], parent_states: Sequence[Sequence[str]], rows: Mapping[str, list]
) -> np.ndarray:
    """An explicit table, shape (states, parent 1 states, ...), from rows keyed "state, state"."""
    combinations = [", ".join(combination) for combination in product(*parent_states)]
    if wrong := sorted(set(combinations) ^ set(rows)):
        raise BeliefError(f"{where}, rows: there must be one row for each of {combinations}; see {wrong[0]!r}")
    columns = [_probabilities(rows[key], len(states), f"{where}, rows {key!r}") for key in combinations]
    return np.array(columns).T.reshape(len(states), *(len(names) for names in parent_states))


def _read_calibration(path: Path, entry: Mapping, nodes: Sequence[NodeSpecification]) -> Calibration:
    """The [calibration] table."""
    where = f"{path}: calibration"
    kinds = {node.name: node.kind for node in nodes}
    if wrong := sorted({"variable", "probability", "scale", "source"} ^ set(entry)):
        raise BeliefError(f"{where}, {wrong[0]}: missing or unknown key")
    if kinds.get(entry["variable"]) != "any":
        raise BeliefError(f"{where}, variable: {entry['variable']} is not a node of kind any")
    if unknown := [name for name in entry["scale"] if kinds.get(name) != "effects"]:
        raise BeliefError(f"{where}, scale: {unknown[0]} is not a node of kind effects")
    return Calibration(entry["variable"], entry["probability"], tuple(entry["scale"]), entry["source"])


def _probabilities(values: Any, size: int, where: str, positive: bool = False) -> np.ndarray:
    """A checked distribution of shape (size,)."""
    numeric = isinstance(values, list) and all(isinstance(value, int | float) for value in values)
    array = np.array(values if numeric else (), dtype=float)
    if array.shape != (size,) or not np.isclose(array.sum(), 1, atol=1e-9) or (array < 0).any():
        raise BeliefError(f"{where}: needs {size} probabilities that sum to one")
    if positive and not (array > 0).all():
        raise BeliefError(f"{where}: every state must have a probability above zero")
    return array


def check_name(text: Any, where: str) -> None:
    """See that a name can stand in a BIF file; raises BeliefError, which begins with ``where``, if it cannot."""
    if not isinstance(text, str) or not _NAME.fullmatch(text):
        raise BeliefError(f"{where}: {text!r} must be letters, digits and underscores, a letter first")

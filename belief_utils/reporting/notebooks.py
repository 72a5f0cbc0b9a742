"""The rules that a notebook of the companion keeps, and what is left of one after a run."""

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from belief_utils.errors import BeliefError

#: Metadata that only says when, where and how long a run took.
_OF_A_RUN = ("execution", "papermill", "scrolled", "collapsed", "ExecuteTime")

#: How often a notebook may run: for every model and dataset with answers, for those with answers to other ways to ask
#: for a belief, for every model that was followed up, for every pair whose beliefs were followed up, or once for all.
PAIRS, ELICITATIONS, FOLLOWUP, PRESSURE, ONCE = RUNS = ("pairs", "elicitations", "followup", "pressure", "once")


@dataclass(frozen=True)
class Notebook:
    """A notebook and the parameters that it declares.

    Attributes:
        path: the file.
        parameters: the values in its ``parameters`` cell.
        runs: one of :data:`RUNS`.
        code: the code of its cells, the parameters' values aside.
    """

    path: Path
    parameters: Mapping[str, Any]
    runs: str
    code: str

    @property
    def result(self) -> str:
        """The name of what it makes: the file's name without its number."""
        return self.path.stem.partition("_")[2] or self.path.stem


def read_notebook(path: Path) -> Notebook:
    """Read a notebook and check what papermill does not.

    papermill runs a notebook without a ``parameters`` tag, or with a misspelt parameter, on the old values and only
    logs a line. Here that is an error.

    Raises:
        BeliefError: there is no code cell, or more than one, with the tag ``parameters``, or a line of it is not
            ``name = literal``, or the notebook does not say how often it runs.
    """
    code_cells, metadata = _read(path)
    tagged = [cell for cell in code_cells if "parameters" in cell.get("metadata", {}).get("tags", [])]
    if len(tagged) != 1:
        raise BeliefError(f"{path}: {len(tagged)} code cells have the tag 'parameters'; there must be exactly one")
    runs = metadata.get("belief", {}).get("runs")
    if runs not in RUNS:
        raise BeliefError(f"{path}: its metadata must say belief.runs, one of {', '.join(RUNS)}, not {runs!r}")
    sources = ["".join(cell["source"]) for cell in code_cells if cell is not tagged[0]]
    return Notebook(path, _parameters("".join(tagged[0]["source"]), path), runs, "\n\n".join(sources))


def check_parameters(notebook: Notebook, given: Mapping[str, Any]) -> None:
    """See that a notebook declares every parameter that it is given.

    Raises:
        BeliefError: it does not.
    """
    unknown = sorted(set(given) - set(notebook.parameters))
    if unknown:
        declared = ", ".join(notebook.parameters)
        raise BeliefError(f"{notebook.path}: no parameter is called {unknown[0]!r}; it declares {declared}")


def clean(content: Any) -> Any:
    """A notebook with its outputs but without what changes from run to run; the notebook given is changed.

    Raises:
        BeliefError: a cell wrote to standard error, as warnings do.
    """
    for name in _OF_A_RUN:
        content.metadata.pop(name, None)
    content.metadata["language_info"] = {
        "name": "python",
        "file_extension": ".py",
        "mimetype": "text/x-python",
    }
    content.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    # Identities of cells came with this minor version of the format.
    content["nbformat_minor"] = max(5, content.get("nbformat_minor", 0))
    for number, cell in enumerate(content.cells):
        # papermill gives cells random identities; a place in the notebook is one that stays.
        cell["id"] = f"cell-{number:02d}"
        for name in _OF_A_RUN:
            cell.metadata.pop(name, None)
        if not cell.metadata.get("tags", True):
            cell.metadata.pop("tags")
        for output in cell.get("outputs", []):
            output.get("metadata", {}).pop("execution", None)
            if output.output_type == "stream" and output.name == "stderr":
                said = " ".join(output.text.split())[:300]
                raise BeliefError(f"code cell {cell.execution_count} wrote to standard error: {said}")
    return content


def notebook_bytes(content: Any) -> bytes:
    """A notebook as the bytes of its file."""
    import nbformat

    return (nbformat.writes(content, version=4).rstrip("\n") + "\n").encode()


def _read(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A notebook's cells of code and its metadata, read as JSON: nbformat alone takes a second to import."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return [cell for cell in content["cells"] if cell["cell_type"] == "code"], content["metadata"]
    except (OSError, ValueError) as error:
        raise BeliefError(f"{path} is not a notebook that can be read: {error}") from error
    except (KeyError, TypeError) as error:
        raise BeliefError(f"{path} is not a notebook of format 4: it has no list of cells") from error


def _parameters(source: str, path: Path) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    try:
        lines = ast.parse(source).body
    except SyntaxError as error:
        raise BeliefError(f"{path}: its parameters are not Python: {error.msg}, line {error.lineno}") from error
    for line in lines:
        simple = isinstance(line, ast.Assign) and len(line.targets) == 1 and isinstance(line.targets[0], ast.Name)
        if not simple:
            raise BeliefError(f"{path}: line {line.lineno} of its parameters is not of the form name = literal")
        try:
            parameters[line.targets[0].id] = ast.literal_eval(line.value)
        except (ValueError, TypeError) as error:
            raise BeliefError(f"{path}: the parameter {line.targets[0].id!r} is not a literal") from error
    return parameters

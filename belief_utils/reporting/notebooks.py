"""The rules that a notebook of the companion keeps, and what is left of one after a run."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from belief_utils.errors import BeliefError

#: Metadata that only says when, where and how long a run took.
_OF_A_RUN = ("execution", "papermill", "scrolled", "collapsed", "ExecuteTime")


@dataclass(frozen=True)
class Notebook:
    """A notebook and the parameters that it declares.

    Attributes:
        path: the file.
        parameters: the values in its ``parameters`` cell.
        runs: ``"pairs"`` for one run per model and dataset, ``"once"`` for one that looks at all of them.
        code: the code of its cells, the parameters' values aside.
    """

    path: Path
    parameters: Mapping[str, Any]
    runs: str
    code: str

    @property
    def result(self) -> str:
        """The name of what it makes: the file's name without its number."""
        return self.path.stem.split("_", 1)[1]


def read_notebook(path: Path) -> Notebook:
    """Read a notebook and check what papermill does not.

    papermill runs a notebook without a ``parameters`` tag, or with a misspelt parameter, on the old values and only
    logs a line. Here that is an error.

    Raises:
        BeliefError: there is no cell, or more than one, with the tag ``parameters``, or a line of it is not
            ``name = literal``, or the notebook does not say how often it runs.
    """
    content = _read(path)
    tagged = [cell for cell in content.cells if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        raise BeliefError(f"{path}: {len(tagged)} cells have the tag 'parameters'; there must be exactly one")
    runs = content.metadata.get("belief", {}).get("runs")
    if runs not in ("pairs", "once"):
        raise BeliefError(f"{path}: its metadata must say belief.runs, 'pairs' or 'once', not {runs!r}")
    code = "\n\n".join(
        cell.source for cell in content.cells if cell.cell_type == "code" and cell is not tagged[0]
    )
    return Notebook(path, _parameters(tagged[0].source, path), runs, code)


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
    """A notebook with its outputs but without what changes from run to run."""
    for name in _OF_A_RUN:
        content.metadata.pop(name, None)
    content.metadata["language_info"] = {
        "name": "python",
        "file_extension": ".py",
        "mimetype": "text/x-python",
    }
    content.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
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
                raise BeliefError(
                    f"a cell wrote to standard error, which a notebook must not: {output.text[:300]}"
                )
    return content


def notebook_bytes(content: Any) -> bytes:
    """A notebook as the bytes of its file."""
    import nbformat

    return (nbformat.writes(content, version=4).rstrip("\n") + "\n").encode()


def _read(path: Path) -> Any:
    import nbformat

    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError, KeyError) as error:
        raise BeliefError(f"{path} is not a notebook that can be read: {error}") from error


def _parameters(source: str, path: Path) -> dict[str, Any]:
    parameters: dict[str, Any] = {}
    for line in ast.parse(source).body:
        simple = (
            isinstance(line, ast.Assign) and len(line.targets) == 1 and isinstance(line.targets[0], ast.Name)
        )
        if not simple:
            raise BeliefError(
                f"{path}: line {line.lineno} of its parameters is not of the form name = literal"
            )
        try:
            parameters[line.targets[0].id] = ast.literal_eval(line.value)
        except ValueError as error:
            raise BeliefError(f"{path}: the parameter {line.targets[0].id!r} is not a literal") from error
    return parameters

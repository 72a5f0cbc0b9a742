"""What there is to run: every notebook for every model and dataset that has stored answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from belief_utils.asking.lines import read_lines
from belief_utils.asking.models import load_models, nearest
from belief_utils.beliefs.datasets import dataset_names
from belief_utils.errors import BeliefError
from belief_utils.paths import data, home
from belief_utils.reporting.notebooks import Notebook, check_parameters, read_notebook
from belief_utils.reporting.results import folder, pair


@dataclass(frozen=True)
class Job:
    """One run of one notebook. ``model`` and ``dataset`` are empty for a notebook that runs once."""

    notebook: Notebook
    model: str = ""
    dataset: str = ""

    @property
    def name(self) -> str:
        """A name that no other run has."""
        return f"{self.notebook.path.stem}/{pair(self.model, self.dataset)}" if self.model else self.notebook.path.stem

    @property
    def is_default(self) -> bool:
        """Whether this run's outputs are what the committed notebook shows."""
        default = {"model": self.model, "dataset": self.dataset}
        return not self.model or all(self.notebook.parameters.get(k) == v for k, v in default.items())

    def outputs(self) -> list[Path]:
        """The files that this run has made, as far as they are there."""
        where = folder(self.notebook.result)
        if self.model:
            name = pair(self.model, self.dataset)
            made = [*where.glob(f"{name}.*"), where / "rows" / f"{name}.json"]
        else:
            made = [*where.rglob("*")]
        if self.is_default:
            made.append(self.notebook.path)
        return sorted(path for path in made if path.is_file())


def available_pairs() -> list[tuple[str, str]]:
    """The (model, dataset) pairs that have stored answers, in the order of the tables."""
    models = list(load_models())
    return [(model, dataset) for dataset in dataset_names() for model in models if _has_answers(model, dataset)]


def jobs_for(only: str | None = None, model: str | None = None, dataset: str | None = None) -> list[Job]:
    """The runs that are wanted.

    Args:
        only: the number or the name of one notebook; all by default.
        model, dataset: only these; all that have stored answers by default.

    Raises:
        BeliefError: a name is unknown, there are no answers, or a notebook breaks a rule.
    """
    notebooks = [read_notebook(path) for path in _paths(only)]
    pairs = _pairs(model, dataset)
    for notebook in notebooks:
        if notebook.runs == "pairs":
            check_parameters(notebook, {"model": "", "dataset": ""})
    return [job for notebook in notebooks for job in _jobs(notebook, pairs)]


def _jobs(notebook: Notebook, pairs: Iterable[tuple[str, str]]) -> list[Job]:
    if notebook.runs == "once":
        return [Job(notebook)]
    return [Job(notebook, model, dataset) for model, dataset in pairs]


def _paths(only: str | None) -> list[Path]:
    paths = sorted((home() / "notebooks").glob("[0-9]*.ipynb"))
    if not paths:
        raise BeliefError(f"{home() / 'notebooks'} holds no notebook whose name starts with a number")
    if not only:
        return paths
    names = {path.stem: path for path in paths}
    aliases = {alias: path for stem, path in names.items() for alias in (stem, *stem.split("_", 1))}
    return [aliases[only] if only in aliases else names[nearest(only, names, "notebook")]]


def _pairs(model: str | None, dataset: str | None) -> list[tuple[str, str]]:
    if model:
        nearest(model, load_models(), "model")
    if dataset:
        nearest(dataset, dataset_names(), "dataset")
    pairs = [(m, d) for m, d in available_pairs() if model in (None, m) and dataset in (None, d)]
    if not pairs:
        about = f"no answers of {model or 'any model'} about {dataset or 'any dataset'} are stored"
        raise BeliefError(f"{about}; get some: belief collect --model {model or 'NAME'} --dataset {dataset or 'NAME'}")
    return pairs


def _has_answers(model: str, dataset: str) -> bool:
    """Whether a store holds an answer; failures alone are nothing to make a table from."""
    path = data("responses", model, f"{dataset}.jsonl")
    stored = [each for each in (path.with_name(path.name + ".gz"), path) if each.exists()]
    return any(record.get("text") is not None for each in stored for _, record in read_lines(each))

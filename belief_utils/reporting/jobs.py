"""What there is to run: every notebook for every model and dataset that has the stored answers it looks at."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from belief_utils.asking.models import nearest
from belief_utils.errors import BeliefError
from belief_utils.paths import home
from belief_utils.reporting.available import (
    ALL,
    Pair,
    available_pairs,
    check_names,
    elicitation_pairs,
    followup_pairs,
    pressure_pairs,
)
from belief_utils.reporting.notebooks import (
    ELICITATIONS,
    FOLLOWUP,
    ONCE,
    PAIRS,
    PRESSURE,
    Notebook,
    check_parameters,
    read_notebook,
)
from belief_utils.reporting.results import folder, pair

#: How to get the answers that a kind of notebook looks at.
_GET = {
    PAIRS: "belief collect --model {model} --dataset {dataset}",
    ELICITATIONS: "belief collect --model {model} --dataset {dataset} --elicitations token,frequency,reasoned",
    FOLLOWUP: "belief followup collect --model {model}",
    PRESSURE: "belief followup pressure --model {model} --dataset {dataset}",
}


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
        if not self.model:
            made = [*where.rglob("*")]
        elif self.dataset == ALL:
            # Keys of models hold no underscore, so that no other model's files end like this.
            made = [*where.rglob(f"*_{self.model}.*"), *where.glob(f"*_{self.model}/*")]
        else:
            name = pair(self.model, self.dataset)
            made = [*where.glob(f"{name}.*"), where / "rows" / f"{name}.json"]
        if self.is_default:
            made.append(self.notebook.path)
        return sorted(path for path in made if path.is_file())


def jobs_for(only: str | None = None, model: str | None = None, dataset: str | None = None) -> list[Job]:
    """The runs that are wanted.

    Args:
        only: the number or the name of one notebook; all by default.
        model, dataset: only these; all that have stored answers by default. A dataset may be an item set of the
            follow-up paper.

    Raises:
        BeliefError: a name is unknown, there are no answers, or a notebook breaks a rule.
    """
    check_names(model, dataset)
    notebooks = [read_notebook(path) for path in _paths(only)]
    for notebook in notebooks:
        if notebook.runs != ONCE:
            check_parameters(notebook, {"model": "", "dataset": ""})
    jobs = [job for notebook in notebooks for job in _jobs(notebook, model, dataset)]
    if not any(job.model for job in jobs) and not (only and jobs):
        runs = notebooks[0].runs if only else PAIRS
        about = f"no answers of {model or 'any model'} about {dataset or 'any dataset'} are stored"
        about += f" that {notebooks[0].path.stem} looks at" if only else ""
        raise BeliefError(f"{about}; get some: {_GET[runs].format(model=model or 'NAME', dataset=dataset or 'NAME')}")
    return jobs


def _jobs(notebook: Notebook, model: str | None, dataset: str | None) -> list[Job]:
    if notebook.runs == ONCE:
        return [Job(notebook)]
    if notebook.runs == FOLLOWUP:
        # Without a dataset there is one run for all item sets; those of the belief paper are none of them.
        found: Iterable[Pair] = followup_pairs(dataset)
        return [Job(notebook, *each) for each in found if model in (None, each[0])]
    found = _PAIRS_OF[notebook.runs]()
    return [Job(notebook, *each) for each in found if model in (None, each[0]) and dataset in (None, each[1])]


_PAIRS_OF: dict[str, Callable[[], list[Pair]]] = {
    PAIRS: available_pairs,
    ELICITATIONS: elicitation_pairs,
    PRESSURE: pressure_pairs,
}


def _paths(only: str | None) -> list[Path]:
    paths = sorted((home() / "notebooks").glob("[0-9]*.ipynb"))
    if not paths:
        raise BeliefError(f"{home() / 'notebooks'} holds no notebook whose name starts with a number")
    if not only:
        return paths
    names = {path.stem: path for path in paths}
    aliases = {alias: path for stem, path in names.items() for alias in (stem, *stem.split("_", 1))}
    return [aliases[only] if only in aliases else names[nearest(only, names, "notebook")]]

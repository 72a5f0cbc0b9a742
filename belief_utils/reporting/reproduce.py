"""The one driver: every notebook for every model and dataset, then the tables and figures put together.

What a run depends on (the notebook, the package, the data) is remembered in ``.cache``, and a run is repeated only if
any of it, or any file that the run made, has changed.
"""

import json
import logging
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from belief_utils.asking.models import load_models, nearest
from belief_utils.beliefs.datasets import dataset_names
from belief_utils.errors import BeliefError
from belief_utils.paths import data, home
from belief_utils.reporting.notebooks import Notebook, check_parameters, clean, notebook_bytes, read_notebook
from belief_utils.reporting.results import digest, folder, pair, write_if_changed

logger = logging.getLogger(__name__)

#: Kernels at once: more of them meet "Address already in use" when they start, and two cores carry no more.
KERNELS = 2
#: Tries at starting a kernel; only the start is tried again, never a notebook that has begun.
STARTS = 3


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
        """The files that this run has made."""
        made = []
        if self.model:
            name = pair(self.model, self.dataset)
            made = [
                *folder(self.notebook.result).glob(f"{name}.*"),
                folder(self.notebook.result) / f"rows/{name}.json",
            ]
        return sorted([*made, self.notebook.path] if self.is_default else made)


@dataclass(frozen=True)
class Reproduced:
    """What a run of the driver did: seconds per notebook, and the tables and figures that it wrote."""

    seconds: dict[str, float]
    written: list[Path]
    reused: int


def available_pairs() -> list[tuple[str, str]]:
    """The (model, dataset) pairs that have stored responses, in the order of the tables."""
    models = list(load_models())
    found = []
    for dataset in dataset_names():
        for model in models:
            base = data("responses", model, f"{dataset}.jsonl")
            if base.exists() or base.with_name(base.name + ".gz").exists():
                found.append((model, dataset))
    return found


def reproduce(
    *,
    only: str | None = None,
    model: str | None = None,
    dataset: str | None = None,
    progress: bool = True,
) -> Reproduced:
    """Regenerate every table and figure from stored responses.

    Args:
        only: the number or the name of one notebook, such as ``01`` or ``table1_belief_sufficiency``.
        model, dataset: run the notebooks only for these; the tables are put together from all rows that are there.
        progress: whether to show a bar.

    Raises:
        BeliefError: a name is unknown, a notebook breaks a rule or fails; the message names notebook and cell.
    """
    jobs = _jobs(only, model, dataset)
    memory = _Memory(home() / ".cache" / "reproduce.json")
    due = [job for job in jobs if not memory.is_fresh(job)]
    seconds: dict[str, float] = defaultdict(float)
    with _bar(len(due), progress) as bar:
        # The default runs come last among the pairs, for they show the whole table; the overview comes after all.
        for phase in _phases(due):
            _run_phase(phase, memory, seconds, bar)
    written = _assemble({job.notebook.result for job in jobs if job.model}) if due or not memory.is_whole() else []
    # The overview shows the tables, so it is looked at again when they are in place.
    overview = [job for job in jobs if not job.model and not memory.is_fresh(job)]
    _run_phase(overview, memory, seconds, _bar(0, False))
    memory.keep_whole()
    return Reproduced(dict(seconds), written, len(jobs) - len(due))


def _jobs(only: str | None, model: str | None, dataset: str | None) -> list[Job]:
    notebooks = [read_notebook(path) for path in sorted((home() / "notebooks").glob("[0-9]*.ipynb"))]
    if only:
        names = {alias: n for n in notebooks for alias in (n.path.stem, n.result, n.path.stem.split("_")[0])}
        notebooks = [names[nearest(only, names, "notebook")]]
    pairs = available_pairs()
    if model:
        nearest(model, load_models(), "model")
        pairs = [p for p in pairs if p[0] == model]
    if dataset:
        nearest(dataset, dataset_names(), "dataset")
        pairs = [p for p in pairs if p[1] == dataset]
    if not pairs:
        raise BeliefError(
            f"no stored responses of {model or 'any model'} about {dataset or 'any dataset'}; collect some"
        )
    jobs = []
    for notebook in notebooks:
        if notebook.runs == "once":
            jobs.append(Job(notebook))
            continue
        check_parameters(notebook, {"model": "", "dataset": ""})
        jobs.extend(Job(notebook, m, d) for m, d in pairs)
    return jobs


def _phases(jobs: Sequence[Job]) -> Iterable[list[Job]]:
    yield [job for job in jobs if job.model and not job.is_default]
    yield [job for job in jobs if job.model and job.is_default]


def _run_phase(jobs: Sequence[Job], memory: "_Memory", seconds: dict[str, float], bar: Any) -> None:
    with ThreadPoolExecutor(KERNELS) as pool:
        futures = [(job, pool.submit(_run, job)) for job in jobs]
        try:
            for job, future in futures:
                seconds[job.notebook.path.stem] += future.result()
                memory.remember(job)
                bar.update()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _run(job: Job) -> float:
    """Run one notebook; its outputs become the committed notebook's if it ran on its own parameters."""
    import nbformat

    began = time.monotonic()
    kept = home() / ".cache" / "notebooks" / f"{job.name.replace('/', '__')}.ipynb"
    kept.parent.mkdir(parents=True, exist_ok=True)
    # The default run is given nothing, so that papermill adds no cell of its own.
    given = {} if job.is_default else {"model": job.model, "dataset": job.dataset}
    check_parameters(job.notebook, given)
    _execute(job, kept, given)
    content = clean(nbformat.read(kept, as_version=4))
    kept.write_bytes(notebook_bytes(content))
    if job.is_default:
        write_if_changed(job.notebook.path, notebook_bytes(content))
    return time.monotonic() - began


def _execute(job: Job, kept: Path, given: dict[str, str]) -> None:
    import papermill
    from papermill.exceptions import PapermillExecutionError

    for attempt in range(1, STARTS + 1):
        try:
            papermill.execute_notebook(
                str(job.notebook.path),
                str(kept),
                parameters=given,
                kernel_name="python3",
                cwd=str(home()),
                progress_bar=False,
                # The kernel's own remarks about its transport; what a cell writes is still seen.
                extra_arguments=["--log-level=40"],
            )
            return
        except PapermillExecutionError as error:
            raise BeliefError(
                f"{job.name}: cell {error.exec_count} failed with {error.ename}: {error.evalue}"
            ) from error
        except RuntimeError as error:
            # "Kernel died before replying to kernel_info": the start failed, nothing has run yet.
            if "kernel_info" not in str(error) or attempt == STARTS:
                raise BeliefError(f"{job.name}: its kernel did not start ({error})") from error
            logger.warning(f"{job.name}: its kernel did not start; trying again")


def _assemble(results: Iterable[str]) -> list[Path]:
    from belief_utils.reporting.assembly import assemble
    from belief_utils.reporting.tables import TABLES

    wanted = set(results)
    return [path for result in TABLES if result in wanted for path in assemble(result)]


def _bar(total: int, progress: bool) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, unit=" runs", disable=not progress or not total)


class _Memory:
    """What each run depended on and what it made, by digest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.known = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self.known = {}
        self._package = _package_digest()
        self._data: dict[str, str] = {}

    def is_fresh(self, job: Job) -> bool:
        return job.name in self.known and self.known[job.name] == self._state(job)

    def remember(self, job: Job) -> None:
        self.known[job.name] = self._state(job)
        self._save()

    def is_whole(self) -> bool:
        """Whether every file below ``figures`` is as the last run left it."""
        return self.known.get("figures") == _files_digest(home() / "figures", "**/*")

    def keep_whole(self) -> None:
        self.known["figures"] = _files_digest(home() / "figures", "**/*")
        self._save()

    def _save(self) -> None:
        write_if_changed(self.path, json.dumps(self.known, indent=0, sort_keys=True).encode())

    def _state(self, job: Job) -> dict[str, str]:
        depends = [
            self._package,
            job.notebook.code,
            json.dumps(dict(job.notebook.parameters)),
            job.model,
            job.dataset,
        ]
        depends.append(self._data_digest(job.model, job.dataset))
        if not job.model:
            depends.append(_files_digest(home() / "figures", "**/*"))
        made = [path for path in job.outputs() if path.is_file()]
        return {"depends": digest(*depends), "made": digest(*[path.read_bytes() for path in made])}

    def _data_digest(self, model: str, dataset: str) -> str:
        if (name := f"{model}/{dataset}") not in self._data:
            files = [data("models.toml"), *sorted(data("published").glob("*"))]
            if model:
                files += [data("datasets", f"{dataset}.toml"), data("cases", f"{dataset}.csv")]
                files += sorted(data("responses", model).glob(f"{dataset}.jsonl*"))
            whole = [path.read_bytes() for path in files if path.is_file() and path.suffix != ".lock"]
            self._data[name] = digest(*whole)
        return self._data[name]


def _package_digest() -> str:
    return _files_digest(Path(__file__).resolve().parents[1], "**/*.py")


def _files_digest(top: Path, pattern: str) -> str:
    files = sorted(path for path in top.glob(pattern) if path.is_file())
    return digest(*[part for path in files for part in (str(path.relative_to(top)), path.read_bytes())])

"""What every run and every table was made from, and what it made: the reason why a second run has nothing to do."""

import json
import platform
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from belief_utils.paths import data, home
from belief_utils.reporting.assembly import ASSEMBLED
from belief_utils.reporting.jobs import Job
from belief_utils.reporting.notebooks import FOLLOWUP, PRESSURE
from belief_utils.reporting.results import digest, folder, write_if_changed

#: Libraries whose version may move a number or a picture.
_LIBRARIES = ("matplotlib", "numpy", "pandas", "pgmpy", "scikit-learn", "scipy")

#: What every run and table reads below ``data/``.
_SHARED = ("models.toml", "published/**/*", "datasets/*.toml")

State = dict[str, str]


class Memory:
    """The state of every run and table as of the last time, by digest, in a file that is only of use here.

    What may change while notebooks run (data, package) is looked at once, when it is first asked for: a response that
    arrives later makes its runs due the next time.

    Args:
        path: the file; where it is absent or damaged nothing is remembered, and everything is made again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            known = {}
        self._known: dict[str, State] = known if isinstance(known, dict) else {}
        self._program = _digest_of_program()
        self._data: dict[tuple[str, ...], str] = {}

    def is_run(self, job: Job) -> bool:
        """Whether a run would find nothing changed: neither what it depends on nor what it made."""
        return self._known.get(job.name) == self._state_of_run(job)

    def is_put_together(self, result: str) -> bool:
        """The same for a table and the picture of all its rows."""
        return self._known.get(f"figures/{result}") == self._state_of_table(result)

    def remember_run(self, job: Job) -> None:
        """Keep what a run that has just ended depended on and made."""
        self._keep(job.name, self._state_of_run(job))

    def remember_table(self, result: str) -> None:
        """Keep what a table that was just put together was made from."""
        self._keep(f"figures/{result}", self._state_of_table(result))

    def _keep(self, name: str, state: State) -> None:
        self._known[name] = state
        write_if_changed(self.path, json.dumps(self._known, indent=0, sort_keys=True).encode())

    def _state_of_run(self, job: Job) -> State:
        notebook = job.notebook
        depends = [self._program, notebook.code, repr(dict(notebook.parameters)), job.model, job.dataset]
        # Committed notebooks show tables as well: one that is run by pairs shows its own, one that runs once any.
        if not job.model:
            depends.append(self._digest_of_data("**/*"))
            depends.append(_digest_of(path for result in ASSEMBLED for path in folder(result).rglob("*")))
        else:
            depends.append(self._digest_of_data(*_SHARED, *_of_run(job)))
            depends.append(_digest_of((folder(notebook.result) / "rows").glob("*")) if job.is_default else "")
        return {"depends": digest(*depends), "made": _digest_of(job.outputs())}

    def _state_of_table(self, result: str) -> State:
        depends = digest(self._program, self._digest_of_data(*_SHARED))
        return {"depends": depends, "made": _digest_of(folder(result).rglob("*"))}

    def _digest_of_data(self, *patterns: str) -> str:
        if patterns not in self._data:
            self._data[patterns] = _digest_of(path for pattern in patterns for path in data().glob(pattern))
        return self._data[patterns]


def _of_run(job: Job) -> tuple[str, ...]:
    """The files below ``data/`` that only the runs of one model and dataset read."""
    if job.notebook.runs == FOLLOWUP:
        return "items/*", "benchmarks/**/*", f"scores/{job.model}/*", f"responses/{job.model}/followup-*.jsonl*"
    answers = f"{job.dataset}.jsonl*" if job.notebook.runs != PRESSURE else f"pressure-{job.dataset}.jsonl*"
    return f"cases/{job.dataset}.csv", f"networks/{job.dataset}.bif", f"responses/{job.model}/{answers}"


def _digest_of(paths: Iterable[Path], top: Path | None = None) -> str:
    """Names and contents of those of the paths that are files; the locks of writers say nothing."""
    top = top or home()
    files = sorted({path for path in paths if path.is_file() and path.suffix != ".lock"})
    return digest(*[part for path in files for part in (path.relative_to(top).as_posix(), path.read_bytes())])


def _digest_of_program() -> str:
    package = Path(__file__).resolve().parents[1]
    versions = [platform.python_version(), *[f"{name} {metadata.version(name)}" for name in _LIBRARIES]]
    return digest(_digest_of(package.rglob("*.py"), package), *versions)

"""The one driver: every notebook for every model and dataset, then the tables and figures put together.

What a run depends on (the notebook, the package, the data) is remembered in ``.cache``, and a run is repeated only if
any of it, or any file that the run made, has changed.
"""

import contextlib
import logging
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from belief_utils.errors import BeliefError
from belief_utils.paths import home
from belief_utils.reporting.assembly import ASSEMBLED, assemble
from belief_utils.reporting.jobs import Job, jobs_for
from belief_utils.reporting.memory import Memory
from belief_utils.reporting.notebooks import clean, notebook_bytes
from belief_utils.reporting.readme import update_readme
from belief_utils.reporting.results import write_if_changed

logger = logging.getLogger(__name__)

#: Kernels at once: more of them meet "Address already in use" when they start, and two cores carry no more.
KERNELS = 2
#: Tries at starting a kernel; only the start is tried again, never a notebook that has begun.
STARTS = 3


@dataclass
class Reproduced:
    """What a run of the driver did.

    Attributes:
        seconds: per notebook, over all of its runs; empty if nothing had to be run.
        written: the tables and pictures of all rows, and the README, as far as they changed.
        reused: runs that found nothing changed.
    """

    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    written: list[Path] = field(default_factory=list)
    reused: int = 0


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
        BeliefError: a name is unknown, a notebook breaks a rule or fails; the message names notebook and cell. What
            was finished until then is kept.
    """
    jobs = jobs_for(only, model, dataset)
    memory = Memory(home() / ".cache" / "reproduce.json")
    due = sum(not memory.is_run(job) for job in jobs)
    done = Reproduced()
    with _standing_at_home(), _bar(due, progress) as bar:
        pairs = [job for job in jobs if job.model]
        # The default runs come last among the pairs, for their notebooks show the whole table.
        _run_all([job for job in pairs if not job.is_default], memory, done, bar)
        _run_all([job for job in pairs if job.is_default], memory, done, bar)
        for result in dict.fromkeys(job.notebook.result for job in pairs):
            _put_together(result, memory, done)
        done.written += update_readme()
        # Notebooks that run once show tables; the overview, the first of them, comes last.
        _run_all([job for job in jobs if not job.model][::-1], memory, done, bar)
    return done


def _run_all(jobs: Sequence[Job], memory: Memory, done: Reproduced, bar: Any) -> None:
    """Run those of the jobs that have something to do; each is remembered as soon as it has ended."""
    due = [job for job in jobs if not memory.is_run(job)]
    done.reused += len(jobs) - len(due)
    bar.total = max(bar.total or 0, bar.n + len(due))
    remembered = set()

    def ended(future: Future) -> None:
        job = running[future]
        done.seconds[job.notebook.path.stem] += future.result()
        memory.remember_run(job)
        remembered.add(future)
        bar.update()

    with ThreadPoolExecutor(KERNELS) as pool:
        running = {pool.submit(_run, job): job for job in due}
        try:
            for future in as_completed(running):
                ended(future)
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                logger.warning("stopping after the notebooks that are running")
            pool.shutdown(wait=True)
            for future in running.keys() - remembered:
                if not future.cancelled() and not future.exception():
                    ended(future)
            raise


def _run(job: Job) -> float:
    """Run one notebook; its outputs become the committed notebook's if it ran on its own parameters."""
    import nbformat
    from jupyter_core.utils import ensure_event_loop

    began = time.monotonic()
    kept = home() / ".cache" / "notebooks" / f"{job.name.replace('/', '__')}.ipynb"
    kept.parent.mkdir(parents=True, exist_ok=True)
    # The default run is given nothing, so that papermill adds no cell of its own.
    given = {} if job.is_default else {"model": job.model, "dataset": job.dataset}
    try:
        _execute(job, kept, given)
    finally:
        # Jupyter keeps an event loop for each thread and leaves it open.
        ensure_event_loop().close()
    try:
        content = notebook_bytes(clean(nbformat.read(kept, as_version=4)))
    except BeliefError as error:
        raise BeliefError(f"{job.name}: {error}") from error
    kept.write_bytes(content)
    if job.is_default:
        write_if_changed(job.notebook.path, content)
    return time.monotonic() - began


def _execute(job: Job, kept: Path, given: dict[str, str]) -> None:
    import papermill

    for attempt in range(1, STARTS + 1):
        try:
            papermill.execute_notebook(
                str(job.notebook.path),
                str(kept),
                parameters=given,
                kernel_name="python3",
                language="python",
                progress_bar=False,
                # What is printed comes in pieces that depend on how busy the machine is.
                coalesce_streams=True,
                # Without the kernel's remarks about its transport and about being told to end; what a cell writes is
                # still seen.
                extra_arguments=["--log-level=50"],
            )
            return
        except Exception as error:
            # "Kernel died before replying to kernel_info": the start failed, nothing has run yet.
            started = not isinstance(error, RuntimeError) or "kernel_info" not in str(error)
            if started or attempt == STARTS:
                if told := _in_one_line(error, kept, given):
                    raise BeliefError(f"{job.name}: {told}") from error
                raise
            logger.warning(f"{job.name}: its kernel did not start; trying again")


def _in_one_line(error: Exception, kept: Path, given: dict[str, str]) -> str:
    """What went wrong with a run, for its user; nothing for what is not known to happen."""
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient.exceptions import DeadKernelError
    from papermill.exceptions import PapermillExecutionError

    if isinstance(error, PapermillExecutionError):
        # papermill's own cell with the parameters counts for nobody else.
        cell = f"code cell {error.exec_count - bool(given)} ({_first_line(error.source)})"
        return f"{cell} failed with {error.ename}: {_first_line(error.evalue)}; see {kept}"
    if isinstance(error, NoSuchKernel):
        return "Jupyter finds no kernel 'python3'; install ipykernel, as `make reproduce` does"
    if isinstance(error, DeadKernelError):
        return "its kernel died while it ran; is there memory enough?"
    return f"its kernel did not start ({_first_line(str(error))})" if isinstance(error, RuntimeError) else ""


def _put_together(result: str, memory: Memory, done: Reproduced) -> None:
    """Write a notebook's table and the picture of all its rows, if it has them and any part has changed."""
    if result not in ASSEMBLED or memory.is_put_together(result):
        return
    done.written += assemble(result)
    memory.remember_table(result)


@contextlib.contextmanager
def _standing_at_home() -> Iterator[None]:
    """Stand in the repository's top folder, which the kernels start in, and name it to them.

    papermill can change the folder itself, but it does so for the whole process and start by start, which two threads
    at once must not do.
    """
    top, named = home(), os.environ.get("BELIEF_HOME")
    os.environ["BELIEF_HOME"] = str(top)
    try:
        with contextlib.chdir(top):
            yield
    finally:
        if named is None:
            del os.environ["BELIEF_HOME"]
        else:
            os.environ["BELIEF_HOME"] = named


def _bar(total: int, progress: bool) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, unit=" runs", disable=not progress or not total)


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[0]

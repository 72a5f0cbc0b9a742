"""The driver: what it runs, what it runs again, and what it leaves when something goes wrong.

Most tests run notebooks in this process in papermill's place; those at the end start real kernels.
"""

import io
import json
import os
import re
import shutil
import signal
import threading
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError

from belief_utils.cli import main
from belief_utils.errors import BeliefError
from belief_utils.reporting.available import available_pairs
from belief_utils.reporting.reproduce import Reproduced, reproduce
from tests import small_home
from tests.small_home import write_notebook

RESULT = "table2_monotonicity"
PAIRS = f"02_{RESULT}"
PARAMETERS = 'model = "candid"\ndataset = "fever"'
LOAD = """\
from belief_utils import load_judgments

judgments = load_judgments(dataset, model)
print(len(judgments), "judgments")"""
SAVE = f"""\
from belief_utils.reporting.results import save_row
from belief_utils.reporting.tables import table_frame

save_row("{RESULT}", model, dataset, {{"n_cases": 12, "gamma": judgments["belief"].mean()}})
print(table_frame("{RESULT}").to_string())"""
OVERVIEW = f"""\
from belief_utils.reporting.results import folder

print((folder("{RESULT}") / "table.md").read_text())"""
DEFAULT, OTHER = f"{PAIRS}/fever_candid", f"{PAIRS}/fever_hiding"
EVERYTHING = {"00_start_here", DEFAULT, OTHER}


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with answers of two simulated agents about one of two datasets, a notebook that runs for every pair
    and one that runs once.
    """
    top = small_home.make(tmp_path_factory.mktemp("answered") / "repository", cases=12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BELIEF_HOME", str(top))
        for model in ("candid", "hiding"):
            small_home.answer(model, "fever")
    write_notebook(top / "notebooks" / f"{PAIRS}.ipynb", "pairs", PARAMETERS, LOAD, SAVE)
    write_notebook(top / "notebooks" / "00_start_here.ipynb", "once", "example = 1", OVERVIEW)
    return top


@pytest.fixture
def top(answered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which nothing was run yet."""
    return _copied(answered, tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def run_once(answered: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of it in which everything was run once."""
    with pytest.MonkeyPatch.context() as patch:
        top = _copied(answered, tmp_path_factory.mktemp("made"), patch)
        patch.setattr("papermill.execute_notebook", InThisProcess().execute_notebook)
        reproduce(progress=False)
    return top


@pytest.fixture
def made(run_once: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that: what was made is remembered wherever the repository lies."""
    return _copied(run_once, tmp_path, monkeypatch)


def _copied(repository: Path, to: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = Path(shutil.copytree(repository, to / "repository"))
    monkeypatch.setenv("BELIEF_HOME", str(top))
    return top


class InThisProcess:
    """Runs notebooks as papermill does, as far as the driver can see, and without a kernel."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.before: Callable[[str], None] = lambda name: None
        self.folders: set[Path] = set()
        self._threads = threading.Lock()
        self.at_once = self.most_at_once = 0

    def execute_notebook(
        self, input_path: str, output_path: str, parameters: dict[str, str], **options: object
    ) -> None:
        assert options["kernel_name"] == "python3"
        name = Path(output_path).stem.replace("__", "/")
        with self._threads:
            self.at_once += 1
            self.most_at_once = max(self.at_once, self.most_at_once)
        try:
            self.before(name)
            self.folders.add(Path.cwd())
            self._run(nbformat.read(input_path, as_version=4), parameters, output_path)
            self.ran.append(name)
        finally:
            with self._threads:
                self.at_once -= 1

    def _run(self, content: nbformat.NotebookNode, parameters: dict[str, str], output_path: str) -> None:
        content.metadata["papermill"] = {"duration": 1.5}
        if parameters:
            source = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
            content.cells.insert(2, nbformat.v4.new_code_cell(source, metadata={"tags": ["injected-parameters"]}))
        names: dict[str, object] = {}
        cells = [cell for cell in content.cells if cell.cell_type == "code"]
        for number, cell in enumerate(cells, start=1):
            said = io.StringIO()
            names["print"] = lambda *words, said=said: print(*words, file=said)
            try:
                exec(cell.source, names)
            except Exception as error:
                kind = type(error).__name__
                raise PapermillExecutionError(number, number, cell.source, kind, f"{error}\nmore", []) from error
            cell.execution_count = number
            cell.metadata["papermill"] = {"duration": 0.5}
            cell.outputs = [nbformat.v4.new_output("stream", text=said.getvalue())] if said.getvalue() else []
        nbformat.write(content, output_path)


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> InThisProcess:
    runner = InThisProcess()
    monkeypatch.setattr("papermill.execute_notebook", runner.execute_notebook)
    return runner


@pytest.fixture
def run(runner: InThisProcess) -> Callable[..., set[str]]:
    """Run the driver and say what it ran."""

    def run(**options: str) -> set[str]:
        runner.ran.clear()
        done = reproduce(progress=False, **options)
        assert len(runner.ran) == len(set(runner.ran))
        assert set(done.seconds) == {name.split("/")[0] for name in runner.ran}
        return set(runner.ran)

    return run


def stamps(top: Path) -> dict[str, tuple[bytes, int]]:
    """Content and time of every file."""
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in top.rglob("*") if path.is_file()}


def contents(top: Path) -> dict[str, bytes]:
    return {name: content for name, (content, _) in stamps(top).items()}


def shown(path: Path) -> str:
    return "".join(o.text for cell in nbformat.read(path, as_version=4).cells for o in cell.get("outputs", []))


def change_code(top: Path, name: str, cell: int, *replacement: str) -> None:
    path = top / "notebooks" / f"{name}.ipynb"
    content = nbformat.read(path, as_version=4)
    content.cells[cell].source = content.cells[cell].source.replace(*replacement)
    nbformat.write(content, path)


# --- what is made ---------------------------------------------------------------------------------------------------


def test_a_first_run_makes_rows_tables_and_notebooks_with_outputs(run, top: Path) -> None:
    assert run() == EVERYTHING
    figures = top / "figures" / RESULT
    assert {path.name for path in (figures / "rows").iterdir()} == {"fever_candid.json", "fever_hiding.json"}
    row = json.loads((figures / "rows" / "fever_hiding.json").read_text())
    assert (row["dataset"], row["model"], row["n_cases"]) == ("fever", "hiding", 12)
    assert 0 < row["gamma"] < 1
    assert {path.name for path in figures.glob("table.*")} == {"table.csv", "table.md", "table.tex"}
    # The committed notebook ran last, so its table is whole; the overview shows the tables that were put together.
    assert "24 judgments" in shown(top / "notebooks" / f"{PAIRS}.ipynb")
    assert "Fever–Simulated, hiding" in shown(top / "notebooks" / f"{PAIRS}.ipynb")
    assert shown(top / "notebooks" / "00_start_here.ipynb").strip() == (figures / "table.md").read_text().strip()


def test_committed_notebooks_keep_their_parameters_and_nothing_of_the_run(run, made: Path) -> None:
    for path in (made / "notebooks").iterdir():
        assert b"papermill" not in path.read_bytes()
        assert b"injected" not in path.read_bytes()
        assert [cell.id for cell in nbformat.read(path, as_version=4).cells][:2] == ["cell-00", "cell-01"]
    other = nbformat.read(made / ".cache" / "notebooks" / f"{PAIRS}__fever_hiding.ipynb", as_version=4)
    assert "'hiding'" in other.cells[2].source


def test_a_second_run_has_nothing_to_do_and_changes_nothing(run, runner: InThisProcess, made: Path) -> None:
    before = stamps(made)
    assert reproduce(progress=False) == Reproduced({}, [], 3)
    assert runner.ran == []
    assert stamps(made) == before


def test_a_clone_without_memory_makes_the_same_bytes(run, made: Path) -> None:
    before = {name: stamp for name, stamp in stamps(made).items() if ".cache" not in name}
    shutil.rmtree(made / ".cache")
    assert run() == EVERYTHING
    assert {name: stamp for name, stamp in stamps(made).items() if ".cache" not in name} == before


def test_two_notebooks_at_most_run_at_once_in_the_repositorys_folder(
    run, runner: InThisProcess, top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_home.answer("candid", "heart")
    small_home.answer("hiding", "heart")
    together = threading.Barrier(2, timeout=30)
    runner.before = lambda name: together.wait() if "heart" in name else None
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BELIEF_HOME", "repository")
    # Three runs come before the one of the committed notebook: the first two wait for one another.
    run()
    assert runner.most_at_once == 2
    assert runner.folders == {top}
    assert Path.cwd() == tmp_path
    assert os.environ["BELIEF_HOME"] == "repository"


# --- what is made again ---------------------------------------------------------------------------------------------


def test_a_changed_notebook_is_run_for_every_pair(run, made: Path) -> None:
    change_code(made, PAIRS, 2, "judgments)", "judgments) ")
    # The overview is not run again, for the tables came out the same.
    assert run() == {DEFAULT, OTHER}
    assert run() == set()


def test_a_changed_sentence_needs_only_the_committed_run(run, made: Path) -> None:
    change_code(made, PAIRS, 0, "claim", "better claim")
    assert run() == {DEFAULT}
    assert "better claim" in (made / "notebooks" / f"{PAIRS}.ipynb").read_text()


def test_new_answers_are_seen_by_their_runs_and_by_all_that_shows_them(run, made: Path) -> None:
    small_home.answer("hiding", "fever", repetitions=3)
    # The other pair's row changed, and with it the table that the committed notebook and the overview show.
    assert run() == EVERYTHING
    assert run() == set()


def test_answers_that_change_no_row_run_only_their_own(run, made: Path) -> None:
    path = made / "data" / "responses" / "hiding" / "fever.jsonl"
    with path.open("a") as file:
        file.write('{"key":"k","item":"fever/0/belief","repetition":9,"failure":"no server"}\n')
    # The overview may read any answer.
    assert run() == {OTHER, "00_start_here"}


def test_a_new_pair_joins_the_table_of_the_committed_notebook(run, made: Path) -> None:
    small_home.answer("hiding", "heart")
    assert run() == {f"{PAIRS}/heart_hiding", DEFAULT, "00_start_here"}
    assert "Heart–Simulated, hiding" in shown(made / "notebooks" / f"{PAIRS}.ipynb")


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("models.toml", ("Simulated, hiding", "Another name")),
        ("datasets/heart.toml", ("Heart", "Another name")),
        ("published/table2_monotonicity.csv", ("0.059", "0.058")),
    ],
)
def test_what_all_tables_share_makes_everything_due(file: str, change: tuple[str, str], run, made: Path) -> None:
    path = made / "data" / file
    assert change[0] in path.read_text(encoding="utf-8")
    path.write_text(path.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    assert run() == EVERYTHING
    assert change[1] in (made / "figures" / RESULT / "table.md").read_text(encoding="utf-8")


def test_cases_of_one_dataset_are_not_those_of_another(run, made: Path) -> None:
    path = made / "data" / "cases" / "heart.csv"
    path.write_text(path.read_text() + path.read_text().splitlines()[-1].replace("11,", "12,", 1) + "\n")
    assert run() == {"00_start_here"}


@pytest.mark.parametrize("version", ["numpy", "matplotlib"])
@pytest.mark.usefixtures("made")
def test_another_version_of_a_library_makes_everything_due(version: str, run, monkeypatch) -> None:
    known = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "99" if name == version else known(name))
    assert run() == EVERYTHING


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (f"figures/{RESULT}/rows/fever_hiding.json", {OTHER}),
        (f"figures/{RESULT}/rows/fever_candid.json", {DEFAULT}),
        (f"figures/{RESULT}/table.md", set()),
        (f"figures/{RESULT}/table.csv", set()),
    ],
)
@pytest.mark.parametrize("how", ["deleted", "edited"])
def test_what_was_deleted_or_edited_is_made_again(file: str, expected: set[str], how: str, run, made: Path) -> None:
    before = {path: contents(made / path) for path in ("figures", "notebooks")}
    if how == "deleted":
        (made / file).unlink()
    else:
        (made / file).write_bytes((made / file).read_bytes().replace(b"fever", b"FEVER").replace(b"Fever", b"FEVER"))
    assert run() == expected
    for path in ("figures", "notebooks"):
        assert contents(made / path) == before[path]
    assert run() == set()


def test_an_edited_output_of_a_committed_notebook_is_made_again(run, made: Path) -> None:
    path = made / "notebooks" / f"{PAIRS}.ipynb"
    before = path.read_bytes()
    path.write_bytes(before.replace(b"24 judgments", b"25 judgments"))
    assert run() == {DEFAULT}
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["", "{", "[]", '{"02_table2_monotonicity/fever_candid": 3}', "\x00\xff"])
def test_a_damaged_memory_only_costs_time(content: str, run, made: Path) -> None:
    before = {name: stamp for name, stamp in stamps(made).items() if ".cache" not in name}
    (made / ".cache" / "reproduce.json").write_bytes(content.encode("latin-1"))
    assert run() == EVERYTHING
    assert {name: stamp for name, stamp in stamps(made).items() if ".cache" not in name} == before


# --- parts of it ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("only", ["02", RESULT, PAIRS])
@pytest.mark.usefixtures("top")
def test_one_notebook_by_number_or_name(only: str, run) -> None:
    assert run(only=only) == {DEFAULT, OTHER}
    assert run(only="00") == {"00_start_here"}
    assert run() == set()


def test_one_model_leaves_the_rows_of_others_and_the_table_whole(run, top: Path) -> None:
    assert run(model="candid") == {DEFAULT, "00_start_here"}
    assert run(model="hiding", only="02") == {OTHER}
    table = (top / "figures" / RESULT / "table.md").read_text()
    assert "Simulated, candid" in table
    assert "Simulated, hiding" in table
    # The committed notebook and the overview do not show the second row yet.
    assert run() == {DEFAULT, "00_start_here"}


def test_a_part_does_not_hide_what_is_wrong_elsewhere(run, top: Path) -> None:
    write_notebook(top / "notebooks" / "03_table3_prompt_consistency.ipynb", "pairs", PARAMETERS, "a = 1")
    run()
    table = top / "figures" / RESULT / "table.md"
    before = table.read_bytes()
    table.write_text("edited by hand")
    assert run(only="03") == set()
    assert run(only="00") == {"00_start_here"}
    assert run() == {"00_start_here"}
    assert table.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"only": "2_monotonicty"}, r"unknown notebook '2_monotonicty': did you mean '02_table2_monotonicity'\?"),
        ({"only": "7"}, r"unknown notebook '7': known are 00_start_here, 02_table2_monotonicity$"),
        ({"model": "candit"}, r"unknown model 'candit': did you mean 'candid'\?"),
        ({"dataset": "feverr"}, r"unknown dataset 'feverr': did you mean 'fever'\?"),
        (
            {"model": "small", "dataset": "heart"},
            r"no answers of small about heart are stored; get some: belief collect --model small --dataset heart$",
        ),
        ({"dataset": "heart"}, r"no answers of any model about heart are stored"),
    ],
)
@pytest.mark.usefixtures("top")
def test_a_name_that_is_not_there(options: dict[str, str], said: str, run, runner: InThisProcess) -> None:
    with pytest.raises(BeliefError, match=said) as raised:
        run(**options)
    assert "\n" not in str(raised.value)
    assert runner.ran == []


def test_failures_alone_are_no_answers(top: Path) -> None:
    assert available_pairs() == [("candid", "fever"), ("hiding", "fever")]
    path = top / "data" / "responses" / "small" / "fever.jsonl"
    path.parent.mkdir()
    path.write_text('{"key":"k","item":"fever/0/belief","repetition":0,"failure":"no server"}\n')
    assert len(available_pairs()) == 2
    with path.open("a") as file:
        file.write('{"key":"k","item":"fever/0/belief","repetition":0,"text":""}\n')
    assert available_pairs() == [("small", "fever"), ("candid", "fever"), ("hiding", "fever")]


def test_without_notebooks_there_is_an_error(run, top: Path) -> None:
    for path in (top / "notebooks").iterdir():
        path.unlink()
    with pytest.raises(BeliefError, match="holds no notebook whose name starts with a number"):
        run()


def test_a_notebook_of_pairs_must_take_model_and_dataset(run, runner: InThisProcess, top: Path) -> None:
    change_code(top, PAIRS, 1, "model", "modell")
    with pytest.raises(BeliefError, match=r"no parameter is called 'model'; it declares modell, dataset$"):
        run()
    assert runner.ran == []


def test_a_notebook_without_the_tag_stops_before_anything_runs(run, runner: InThisProcess, top: Path) -> None:
    write_notebook(top / "notebooks" / "03_more.ipynb", "pairs", PARAMETERS, tags=["parametres"])
    with pytest.raises(BeliefError, match=r"03_more\.ipynb: 0 code cells have the tag 'parameters'"):
        run()
    assert runner.ran == []
    # Others can be run all the same.
    assert run(only="02") == {DEFAULT, OTHER}


# --- when something goes wrong --------------------------------------------------------------------------------------


def test_a_cell_that_fails_is_named_with_its_notebook_and_what_went_well_is_kept(run, runner, top: Path) -> None:
    change_code(top, PAIRS, 3, 'save_row("', 'assert model == "candid", "no\\nway"\nsave_row("')
    with pytest.raises(BeliefError) as raised:
        run()
    # The parameters' cell, the cell that loads, then the one that fails; papermill's own cell does not count.
    assert re.fullmatch(
        rf"{OTHER}: code cell 3 \(from belief_utils\.reporting\.results import save_row\) failed with "
        rf"AssertionError: no; see .*/{PAIRS}__fever_hiding\.ipynb",
        str(raised.value),
    )
    assert run(model="candid", only="02") == {DEFAULT}
    change_code(top, PAIRS, 3, 'assert model == "candid", "no\\nway"\n', "")
    assert run() == EVERYTHING


def test_a_warning_in_a_cell_is_an_error(run, runner: InThisProcess, top: Path, monkeypatch) -> None:
    new_output = nbformat.v4.new_output
    monkeypatch.setattr(nbformat.v4, "new_output", lambda kind, text: new_output(kind, name="stderr", text=text))
    with pytest.raises(BeliefError, match=rf"^{OTHER}: code cell 3 wrote to standard error: 24 judgments$"):
        run()


def test_ctrl_c_waits_for_what_is_running_and_begins_nothing_more(
    run, runner: InThisProcess, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for model in ("candid", "hiding"):
        small_home.answer(model, "heart")
    both, told = threading.Barrier(2, timeout=30), threading.Event()
    monkeypatch.setattr("belief_utils.reporting.reproduce.logger.warning", lambda text: told.set())

    def interrupted(name: str) -> None:
        if both.wait() == 0:
            os.kill(os.getpid(), signal.SIGINT)
        assert told.wait(30)

    runner.before = interrupted
    with pytest.raises(KeyboardInterrupt):
        run()
    # The two under way ended and are kept; the one that waited was not begun, and no table is half of one.
    assert set(runner.ran) == {f"{PAIRS}/heart_candid", f"{PAIRS}/heart_hiding"}
    assert not list((top / "figures" / RESULT).glob("table.*"))
    runner.before = lambda name: None
    assert run() == EVERYTHING
    assert run() == set()


def test_an_interrupt_before_the_tables_are_put_together(run, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(result: str) -> list[Path]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("belief_utils.reporting.reproduce.assemble", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run()
    assert run() == {"00_start_here"}
    assert (top / "figures" / RESULT / "table.md").is_file()


@pytest.mark.usefixtures("top")
def test_only_the_start_of_a_kernel_is_tried_again(run, runner: InThisProcess, caplog) -> None:
    starts: list[str] = []

    def fails(error: Exception, times: int) -> Callable[[str], None]:
        def before(name: str) -> None:
            starts.append(name)
            if starts.count(name) <= times and name == OTHER:
                raise error

        starts.clear()
        return before

    runner.before = fails(RuntimeError("Kernel died before replying to kernel_info"), 3)
    with pytest.raises(BeliefError, match=rf"^{OTHER}: its kernel did not start \(Kernel died before replying"):
        run()
    runner.before = fails(DeadKernelError("Kernel died"), 1)
    with pytest.raises(BeliefError, match=rf"^{OTHER}: its kernel died while it ran; is there memory enough\?$"):
        run()
    assert starts == [OTHER]
    runner.before = fails(RuntimeError("Kernel died before replying to kernel_info"), 2)
    assert run() == EVERYTHING
    assert starts.count(OTHER) == 3
    assert "its kernel did not start; trying again" in caplog.text


# --- the command, with real kernels ---------------------------------------------------------------------------------


def test_the_command_with_real_kernels(top: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = top / "notebooks" / f"{PAIRS}.ipynb"
    # Two prints with time between them come as one output, whenever the kernel sends them.
    change_code(top, PAIRS, 2, 'print(len(judgments), "judgments")', "import time\nprint(1)\ntime.sleep(.5)\nprint(2)")
    assert main(["reproduce", "--quiet"]) == 0
    said = capfd.readouterr()
    assert re.search(rf"^ +\d+\.\d s  {PAIRS}$", said.out, re.MULTILINE)
    assert re.search(r"s in all, 0 runs reused, 3 files put together$", said.out.strip())
    assert said.err == ""
    cells = nbformat.read(path, as_version=4).cells
    assert [output.text for output in cells[2].outputs] == ["1\n2\n"]
    assert [cell.execution_count for cell in cells if cell.cell_type == "code"] == [1, 2, 3]
    assert "Fever–Simulated, hiding" in shown(top / "notebooks" / "00_start_here.ipynb")
    rows = {path.name for path in (top / "figures" / RESULT / "rows").iterdir()}
    assert rows == {"fever_candid.json", "fever_hiding.json"}

    before = stamps(top)
    assert main(["reproduce", "--quiet"]) == 0
    assert capfd.readouterr() == ("nothing to do: 3 runs and what they made are up to date\n", "")
    assert stamps(top) == before

    change_code(top, PAIRS, 2, "print(1)", 'raise ValueError("no\\nway")')
    assert main(["reproduce", "--quiet", "--only", "02", "--model", "hiding"]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    kept = top / ".cache" / "notebooks" / f"{PAIRS}__fever_hiding.ipynb"
    cell = "code cell 2 (from belief_utils import load_judgments)"
    assert said.err == f"belief: {OTHER}: {cell} failed with ValueError: no; see {kept}\n"


@pytest.mark.usefixtures("top", "runner")
def test_the_bar_counts_what_is_due(capfd: pytest.CaptureFixture[str]) -> None:
    reproduce()
    assert "3/3" in capfd.readouterr().err
    reproduce()
    assert capfd.readouterr() == ("", "")

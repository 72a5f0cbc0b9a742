"""The rules that the notebooks keep, on the real ones, and what a run must leave of a notebook."""

import ast
import copy
import json
import re
import statistics
import sys
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.errors import BeliefError
from belief_utils.reporting.notebooks import check_parameters, clean, notebook_bytes, read_notebook
from belief_utils.reporting.tables import TABLES
from tests.small_home import write_notebook

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))
LIBRARIES = {"belief_utils", "pandas", "numpy", "IPython", *sys.stdlib_module_names}


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def content(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(content: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in content.cells if cell.cell_type == "code"]


def markdown(content: nbformat.NotebookNode) -> str:
    return "\n".join(cell.source for cell in content.cells if cell.cell_type == "markdown")


# --- the real notebooks -------------------------------------------------------------------------------------------


def test_there_is_one_for_every_table_and_figure() -> None:
    names = [path.stem for path in NOTEBOOKS]
    assert names[:6] == [
        "00_start_here",
        "01_table1_belief_sufficiency",
        "02_table2_monotonicity",
        "03_table3_prompt_consistency",
        "04_table4_calibrated_beliefs",
        "05_figure1_iterated_expectation",
    ]
    assert len({name.split("_")[0] for name in names}) == len(names)


def test_it_is_valid_and_written_as_the_driver_writes_it(path: Path, content: nbformat.NotebookNode) -> None:
    nbformat.validate(content)
    assert notebook_bytes(clean(content)) == path.read_bytes()


def test_it_opens_with_a_claim_and_its_second_cell_holds_the_parameters(content: nbformat.NotebookNode) -> None:
    opening, parameters = content.cells[:2]
    assert opening.cell_type == "markdown"
    assert opening.source.startswith("# ")
    tagged = [cell for cell in content.cells if "parameters" in cell.metadata.get("tags", [])]
    assert tagged == [parameters]


def test_its_parameters_are_literals_one_a_line(path: Path, content: nbformat.NotebookNode) -> None:
    notebook = read_notebook(path)
    assert len(content.cells[1].source.splitlines()) == len(notebook.parameters) > 0
    if notebook.runs != "once":
        check_parameters(notebook, {"model": "", "dataset": ""})


def test_its_cells_are_short_and_define_nothing(content: nbformat.NotebookNode) -> None:
    lengths = [len([line for line in cell.source.splitlines() if line.strip()]) for cell in code_cells(content)]
    assert statistics.median(lengths) <= 5
    assert max(lengths) <= 20
    for cell in code_cells(content):
        assert not [
            node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.FunctionDef | ast.ClassDef)
        ]


def test_it_imports_only_what_a_reader_has(content: nbformat.NotebookNode) -> None:
    imported = set()
    for cell in code_cells(content):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Import):
                imported |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module.split(".")[0])
    assert imported <= LIBRARIES


def test_it_silences_no_warning(content: nbformat.NotebookNode) -> None:
    source = "\n".join(cell.source for cell in code_cells(content))
    assert not re.search(r"filterwarnings|simplefilter|catch_warnings|import warnings|%%capture|2>", source)


def test_it_keeps_nothing_of_a_run(path: Path, content: nbformat.NotebookNode) -> None:
    names = {"papermill", "execution", "ExecuteTime"}
    assert not names & set(content.metadata)
    for number, cell in enumerate(content.cells):
        assert cell.id == f"cell-{number:02d}"
        assert not names & set(cell.metadata)
        assert "injected-parameters" not in cell.metadata.get("tags", [])
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr"


def test_it_was_run_as_a_whole_or_not_at_all(content: nbformat.NotebookNode) -> None:
    counts = [cell.execution_count for cell in code_cells(content)]
    assert counts in ([None] * len(counts), list(range(1, len(counts) + 1)))


def test_it_names_no_place_on_a_machine(content: nbformat.NotebookNode) -> None:
    # Pictures are left out: their letters may spell anything.
    texts = [cell.source for cell in content.cells]
    for cell in code_cells(content):
        for output in cell.outputs:
            data = {kind: value for kind, value in output.get("data", {}).items() if not kind.startswith("image/")}
            texts.append(json.dumps([output.get("text"), data]))
    assert not re.search(r"(?<![\w.:/])/(?:home|root|tmp|usr|opt|var|work|Users|mnt|srv)/|[A-Z]:\\\\", "\n".join(texts))


def test_its_links_to_files_lead_somewhere(path: Path, content: nbformat.NotebookNode) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", markdown(content)):
        if "://" not in target and not target.startswith("#"):
            assert (path.parent / target.split("#")[0]).exists(), target


def test_it_saves_what_it_shows_under_its_own_name(path: Path, content: nbformat.NotebookNode) -> None:
    if read_notebook(path).runs not in ("pairs", "elicitations"):
        return
    source = "\n".join(cell.source for cell in code_cells(content))
    made = {name for name in re.findall(r'"(\w+)"', source) if name in TABLES or re.match(r"(?:table|figure)\d", name)}
    assert made == {read_notebook(path).result}
    assert "save_row(" in source
    assert "_picture(" in source


# --- reading one --------------------------------------------------------------------------------------------------


def test_a_notebook_is_read(tmp_path: Path) -> None:
    path = tmp_path / "07_some_table.ipynb"
    write_notebook(path, "pairs", 'model = "a"\nseeds = [1, -2]  # two\n\nshare = None', "a = 1", "b = 2")
    notebook = read_notebook(path)
    assert notebook.result == "some_table"
    assert dict(notebook.parameters) == {"model": "a", "seeds": [1, -2], "share": None}
    assert (notebook.runs, notebook.code) == ("pairs", "a = 1\n\nb = 2")
    check_parameters(notebook, {"model": "b"})
    with pytest.raises(BeliefError, match=r"no parameter is called 'dataset'; it declares model, seeds, share$"):
        check_parameters(notebook, {"model": "b", "dataset": "c"})


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("a = b = 0", "line 1 of its parameters is not of the form name = literal"),
        ("a = 1\nimport os", "line 2 of its parameters is not of the form"),
        ("a, b = 1, 2", "line 1 of its parameters is not of the form"),
        ("a = 2 ** 3", "the parameter 'a' is not a literal"),
        ("a = {[]: 1}", "the parameter 'a' is not a literal"),
        ("a = ", "its parameters are not Python: invalid syntax, line 1"),
    ],
)
def test_parameters_that_papermill_would_misread(parameters: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "07_some_table.ipynb"
    write_notebook(path, "pairs", parameters)
    with pytest.raises(BeliefError, match=re.escape(said)) as raised:
        read_notebook(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


def test_exactly_one_code_cell_has_the_tag(tmp_path: Path) -> None:
    path = tmp_path / "07_some_table.ipynb"
    write_notebook(path, "pairs", 'model = "a"', tags=["parameter"])
    with pytest.raises(BeliefError, match="0 code cells have the tag 'parameters'"):
        read_notebook(path)
    content = nbformat.read(path, as_version=4)
    content.cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(content, path)
    with pytest.raises(BeliefError, match="0 code cells have the tag 'parameters'"):
        read_notebook(path)
    content.cells += [nbformat.v4.new_code_cell("a = 1", metadata={"tags": ["parameters"]}) for _ in range(2)]
    nbformat.write(content, path)
    with pytest.raises(BeliefError, match="2 code cells have the tag 'parameters'"):
        read_notebook(path)


def test_a_notebook_says_how_often_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "07_some_table.ipynb"
    write_notebook(path, "often", "a = 1")
    with pytest.raises(
        BeliefError, match=r"must say belief\.runs, one of pairs, elicitations, followup, pressure, once, not 'often'"
    ):
        read_notebook(path)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"cells": 3}', "\x00"])
def test_what_is_no_notebook_is_named(content: str, tmp_path: Path) -> None:
    path = tmp_path / "07_some_table.ipynb"
    path.write_text(content)
    with pytest.raises(BeliefError, match=r"is not a notebook (that can be read|of format 4)") as raised:
        read_notebook(path)
    assert "\n" not in str(raised.value)


# --- what is left of a run ----------------------------------------------------------------------------------------

OUTPUTS = st.one_of(
    st.just(nbformat.v4.new_output("stream", name="stdout", text="5\n")),
    st.just(nbformat.v4.new_output("execute_result", data={"text/plain": "5"}, execution_count=3)),
    st.just(nbformat.v4.new_output("display_data", data={"text/plain": "5"}, metadata={"execution": {"t": 1}})),
)
METADATA = st.dictionaries(
    st.sampled_from(["execution", "papermill", "ExecuteTime", "mine"]), st.just({"start_time": "now"})
)


@given(st.lists(st.tuples(METADATA, st.lists(OUTPUTS, max_size=2), st.booleans()), max_size=4), METADATA)
def test_cleaning_takes_off_what_changes_from_run_to_run_and_nothing_else(cells: list, metadata: dict) -> None:
    content = nbformat.v4.new_notebook(metadata=copy.deepcopy(metadata) | {"belief": {"runs": "once"}})
    for of_cell, outputs, tagged in cells:
        tags = {"tags": ["kept"]} if tagged else {"tags": []}
        cell = nbformat.v4.new_code_cell(
            "2 + 3", metadata=copy.deepcopy(of_cell) | tags, outputs=copy.deepcopy(outputs)
        )
        content.cells.append(cell)
    first = notebook_bytes(clean(content))
    again = nbformat.reads(first.decode(), as_version=4)
    assert notebook_bytes(clean(again)) == first
    nbformat.validate(again)
    assert b"papermill" not in first
    assert b"start_time" not in first or b"mine" in first
    assert ("mine" in again.metadata) == ("mine" in metadata)
    assert again.metadata["belief"] == {"runs": "once"}
    for cell, (of_cell, outputs, tagged) in zip(again.cells, cells, strict=True):
        assert set(cell.metadata) == ({"mine"} & set(of_cell)) | ({"tags"} if tagged else set())
        assert [output.output_type for output in cell.outputs] == [output.output_type for output in outputs]


def test_a_warning_in_a_cell_is_an_error_that_names_the_cell() -> None:
    said = nbformat.v4.new_output("stream", name="stderr", text="x.py:3: RuntimeWarning:\n  division by zero\n")
    cells = [nbformat.v4.new_code_cell("1", execution_count=1)]
    cells.append(nbformat.v4.new_code_cell("1 / 0", execution_count=2, outputs=[said]))
    with pytest.raises(BeliefError, match=r"^code cell 2 wrote to standard error: x\.py:3: RuntimeWarning: division"):
        clean(nbformat.v4.new_notebook(cells=cells))


def test_an_older_notebook_may_have_identities_too() -> None:
    content = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# A")])
    content["nbformat_minor"] = 4
    nbformat.validate(nbformat.reads(notebook_bytes(clean(content)).decode(), as_version=4))

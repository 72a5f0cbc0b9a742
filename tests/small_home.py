"""A small repository with simulated answers, for the tests of what is made from answers."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import nbformat

from belief_utils.asking.ask import collect
from belief_utils.asking.models import load_model
from belief_utils.beliefs.agents import simulated_answerer
from belief_utils.beliefs.datasets import load_dataset
from belief_utils.beliefs.elicitation import MAIN_PROMPTS, plan, store_for

REPOSITORY = Path(__file__).resolve().parents[1]

MODELS = """\
[gpt5-high]
name = "GPT-5 high"
kind = "hosted"
model = "gpt-5"
base_url = "https://example.org/v1"
paper = true

[small]
name = "Small"
kind = "local"
model = "small-1"

[other]
name = "Other"
kind = "local"
model = "other-1"

[candid]
name = "Simulated, candid"
kind = "simulated"
model = "candid-1"
[candid.agent]
hidden = 0.0

[hiding]
name = "Simulated, hiding"
kind = "simulated"
model = "hiding-1"
[hiding.agent]
hidden = 1.5
noise = 0.5
"""


def make(top: Path, datasets: Sequence[str] = ("heart", "fever"), cases: int = 12) -> Path:
    """Lay out a repository: models, some datasets with their first cases, and the published numbers."""
    for folder in ("datasets", "cases", "published"):
        (top / "data" / folder).mkdir(parents=True)
    (top / "data" / "models.toml").write_text(MODELS, encoding="utf-8")
    for name in datasets:
        shutil.copy(REPOSITORY / "data" / "datasets" / f"{name}.toml", top / "data" / "datasets")
        lines = (REPOSITORY / "data" / "cases" / f"{name}.csv").read_text(encoding="utf-8").splitlines(keepends=True)
        (top / "data" / "cases" / f"{name}.csv").write_text("".join(lines[: cases + 1]), encoding="utf-8")
    for path in (REPOSITORY / "data" / "published").glob("*.csv"):
        shutil.copy(path, top / "data" / "published")
    return top


def answer(model: str, dataset: str, prompts: Sequence[str] = MAIN_PROMPTS, repetitions: int = 2) -> None:
    """Let a simulated agent answer about the cases of a dataset, through plan, prompts and store."""
    registered, about = load_model(model), load_dataset(dataset)
    questions = list(plan(about, prompts=prompts))
    store = store_for(registered, dataset)
    collect(registered, questions, repetitions, store, simulated_answerer(registered, about), progress=False)


def write_notebook(path: Path, runs: str, parameters: str, *code: str, tags: Sequence[str] = ("parameters",)) -> None:
    """Write a notebook: a heading, a cell of parameters and cells of code."""
    cells = [
        nbformat.v4.new_markdown_cell("# A claim"),
        nbformat.v4.new_code_cell(parameters, metadata={"tags": list(tags)}),
        *[nbformat.v4.new_code_cell(source) for source in code],
    ]
    content = nbformat.v4.new_notebook(cells=cells, metadata={"belief": {"runs": runs}})
    path.parent.mkdir(exist_ok=True)
    nbformat.write(content, path)

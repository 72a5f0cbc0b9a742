"""The command ``belief audit``: what it prints, what it writes, and how it refuses."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from belief_utils import audit, read_judgments
from belief_utils.cli import main
from tests.test_audit import simulated

REPOSITORY = Path(__file__).resolve().parents[1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder with one file of judgments; no repository is near."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BELIEF_HOME", raising=False)
    simulated(2, n_cases=30, repetitions=2).to_csv(tmp_path / "own.csv", index=False)
    return tmp_path


def run(*arguments):
    return main(["audit", *map(str, arguments)])


def refused(capsys, *arguments):
    """The one line on standard error with which the command ends; nothing is printed or written."""
    before = sorted(Path.cwd().iterdir())
    assert run(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("belief: ")
    assert printed.err.count("\n") == 1
    assert sorted(Path.cwd().iterdir()) == before
    return printed.err


def test_without_outputs_it_prints_and_writes_nothing(folder, capsys):
    assert run("own.csv") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Audit of own.csv\n================\n60 rows, 30 cases, 2 for each case")
    assert printed.endswith("For the page with pictures: belief audit own.csv --html audit.html\n")
    assert [path.name for path in folder.iterdir()] == ["own.csv"]


def test_outputs(folder, capsys):
    outputs = ["--html", "a.html", "--markdown", "a.md", "--csv", "a.csv"]
    assert run("own.csv", "--title", "My audit", "--seed", 7, *outputs) == 0
    assert "written: a.html\nwritten: a.md\nwritten: a.csv\n" in capsys.readouterr().out
    page = (folder / "a.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<h1>My audit</h1>" in page
    assert (folder / "a.md").read_text(encoding="utf-8").startswith("# My audit\n")
    figures = pd.read_csv(folder / "a.csv")
    assert list(figures.columns) == ["test", "statistic", "value", "low", "high", "p", "role"]
    assert {"score", "gain_forest", "margin_bounds", "brier"} <= set(figures["statistic"])


def test_options_for_reading(folder, capsys):
    frame = pd.read_csv("own.csv")
    names = {"positive": "treat", "negative": "leave", "defer": "wait"}
    frame = pd.DataFrame(
        {
            "case": frame["case"],
            "stated": 100 * frame["belief"],
            "a": frame["action"].map(names),
            "y": frame["outcome"].map({0: "well", 1: "sick"}),
        }
    )
    frame.to_csv("other.csv", index=False)
    reading = ["--percent", "--column", "belief=stated", "--positive", "sick"]
    actions = ["--action", "treat=positive", "--action", "leave=negative", "--action", "wait=defer"]
    assert run("other.csv", *reading, *actions, "--title", "same") == 0
    other = capsys.readouterr().out
    own = audit(read_judgments("own.csv"), title="same", forest=False).to_text()
    assert "- Beliefs were read as percentages.\n" in other
    assert other[: other.index("Predictive gain")] == own[: own.index("Predictive gain")]


def test_bad_input_is_one_line_and_exit_code_2(folder, capsys):
    Path("percent.csv").write_text("case,p,a,y\n1,.5,x,1\n2,30,x,1\n")
    assert "percent.csv, line 3, column p: 30 is outside [0, 1]; for beliefs in percent use --percent" in refused(
        capsys, "percent.csv"
    )
    Path("empty.csv").write_text("")
    assert "empty.csv is empty" in refused(capsys, "empty.csv")
    Path("lacking.csv").write_text("case,p,a\n1,.5,x\n")
    assert "lacking.csv has no column for outcome" in refused(capsys, "lacking.csv")
    assert "there is no file nothing.csv" in refused(capsys, "nothing.csv")
    assert "'treat' is not a pair" in refused(capsys, "own.csv", "--action", "treat")
    assert "no action is 'treat'" in refused(capsys, "own.csv", "--action", "treat=positive")


def test_outputs_that_cannot_be_written_are_refused_first(folder, capsys):
    assert "own.csv is the file to be audited" in refused(capsys, "own.csv", "--csv", "own.csv")
    assert "there is no folder nowhere" in refused(capsys, "own.csv", "--html", "nowhere/a.html")
    assert "two outputs have the same name" in refused(capsys, "own.csv", "--html", "a", "--markdown", "a")
    with pytest.raises(SystemExit) as caught:
        run("own.csv", "--seed", "-1")
    assert caught.value.code == 2


def test_many_rows_are_announced(folder, capsys, caplog, monkeypatch):
    caplog.set_level("INFO")
    monkeypatch.setattr("belief_utils.reporting.audit.MANY_ROWS", 50)
    assert run("own.csv") == 0
    assert "60 rows: this may take a minute" in caplog.text
    assert "60 rows: margin" in caplog.text


def test_a_terminal_without_other_scripts(folder):
    judgments = pd.read_csv("own.csv").replace({"action": {"defer": "待つ"}})
    judgments.to_csv("own.csv", index=False)
    command = [sys.executable, "-m", "belief_utils.cli", "audit", "own.csv"]
    surroundings = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(command, capture_output=True, env=surroundings, timeout=240, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"??" in done.stdout


def test_help_says_what_a_row_is(capsys):
    with pytest.raises(SystemExit) as caught:
        run("--help")
    assert caught.value.code == 0
    assert "A row of FILE is one answer" in " ".join(capsys.readouterr().out.split())

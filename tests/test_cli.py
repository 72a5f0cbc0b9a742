"""The command: help for everything, and one line and an exit code for whatever goes wrong."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from belief_utils.cli import main
from belief_utils.commands import models as models_command
from belief_utils.errors import BeliefError

COMMANDS = ("reproduce", "collect", "followup", "audit", "models", "data", "store", "controls", "plan")


def process(*arguments: str, **options: object) -> subprocess.CompletedProcess:
    """The command in a process of its own."""
    run = [sys.executable, "-m", "belief_utils.cli", *arguments]
    return subprocess.run(run, capture_output=True, text=True, check=False, timeout=120, **options)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch):
    """Let ``belief models`` raise something."""

    def failing(error: BaseException) -> None:
        def run(options: object) -> int:
            raise error

        monkeypatch.setattr(models_command, "run", run)

    return failing


# --- help -----------------------------------------------------------------------------------------------------------


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert tuple(re.findall(r"^ {4}([a-z]+)\b", said, re.MULTILINE))[: len(COMMANDS)] == COMMANDS
    assert "Does a language model stand by what it says?" in said


@pytest.mark.parametrize("command", [*[[each] for each in COMMANDS], ["store", "pack"]], ids=" ".join)
def test_every_command_explains_itself_and_each_of_its_options(
    command: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    said, error = capsys.readouterr()
    assert said.startswith(f"usage: belief {' '.join(command)}")
    assert error == ""
    for option in re.findall(r"^  (--[a-z-]+)(?: [A-Z=._a-z]+)?$", said, re.MULTILINE):
        assert re.search(rf"^  {option}.*\n {{10,}}\S", said, re.MULTILINE), f"{option} has no explanation"


def test_help_is_quick_for_it_imports_nothing_heavy() -> None:
    code = "import sys\nfrom belief_utils.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(run.stdout.splitlines()[-1].split())
    assert "belief_utils.commands.reproduce" in imported
    assert not imported & {"numpy", "pandas", "scipy", "sklearn", "pgmpy", "matplotlib", "openai", "papermill"}


# --- what goes wrong ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["no-such-command"], ["data"], ["store"], ["models", "--loud"]])
def test_an_unknown_command_or_option_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("belief")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["collect", "--model", "fakee", "--dataset", "heart"], "unknown model 'fakee': did you mean 'fake'?"),
        (["collect", "--model", "fake", "--dataset", "hart"], "unknown dataset 'hart': did you mean 'heart'?"),
        (["data", "hart"], "unknown dataset 'hart': did you mean 'heart'?"),
        (["data", "heart", "--file", "x.csv"], "--file goes with the dataset diabetes"),
        (["reproduce"], "notebooks holds no notebook whose name starts with a number"),
        (["controls", "--battery", "sufficency"], "unknown battery of tests 'sufficency': did you mean 'sufficiency'?"),
        (["audit", "no-such-file.csv"], "no-such-file.csv"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_wrong_input_is_one_line_and_2(
    arguments: list[str], said: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path for path in home.rglob("*") if path.is_file()}
    assert main(arguments) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("belief: ")
    assert error.count("\n") == 1
    assert said in error
    assert {path for path in home.rglob("*") if path.is_file()} == before


def test_outside_a_repository_it_says_where_it_looked(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("BELIEF_HOME", str(tmp_path))
    assert main(["models"]) == 2
    assert capsys.readouterr().err == (
        f"belief: BELIEF_HOME is {tmp_path}, which has no data/models.toml; set it to the repository\n"
    )


def test_a_problem_of_the_user_is_told_without_a_traceback(failing, capsys) -> None:
    failing(BeliefError("what, where, what to do"))
    assert main(["models"]) == 2
    assert capsys.readouterr() == ("", "belief: what, where, what to do\n")


def test_a_mistake_of_ours_is_not_hidden(failing) -> None:
    failing(ZeroDivisionError("ours"))
    with pytest.raises(ZeroDivisionError):
        main(["models"])


def test_ctrl_c_ends_with_130(failing, capsys) -> None:
    failing(KeyboardInterrupt())
    assert main(["models"]) == 130
    assert capsys.readouterr() == ("", "belief: stopped; what was done until then is kept\n")


@pytest.mark.parametrize("lines", [1, 50_000])
def test_a_reader_that_has_seen_enough_is_no_error(lines: int, home: Path) -> None:
    """Few lines are written only when the command ends, many while it runs."""
    code = "import sys\nfrom belief_utils import cli\nfrom belief_utils.commands import models\n"
    code += f"models.run = lambda options: print(*range({lines}), sep='\\n')\nsys.exit(cli.main(['models']))"
    read, write = os.pipe()
    os.close(read)
    try:
        run = subprocess.run([sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(write)
    assert (run.returncode, run.stderr) == (0, "")


def test_other_programs_remarks_are_not_shown_and_ours_are(home: Path) -> None:
    code = "import logging, sys\nfrom belief_utils import cli\nfrom belief_utils.commands import models\n"
    code += "def run(options):\n    logging.getLogger('fontTools.subset').info('chatter')\n"
    code += "    logging.getLogger('papermill').warning('their warning')\n"
    code += "    logging.getLogger('belief_utils.asking').info('our remark')\n"
    code += "models.run = run\nsys.exit(cli.main(['models']))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "their warning\nour remark\n")


# --- small commands -------------------------------------------------------------------------------------------------


def test_models_are_listed_with_what_is_stored(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = home / "data" / "responses" / "fake" / "heart.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(line_of(key) for key in "abc"))
    assert main(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["fake", "together", "candid"]
    assert "3 answers stored" in lines[0]
    assert all("nothing stored" in line for line in lines[1:])
    assert "simulated" in lines[2]


def line_of(key: str) -> str:
    return f'{{"key":"{key}","item":"heart/0/belief","repetition":0,"text":"x"}}\n'


def test_stores_are_packed_once(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for model in ("fake", "candid"):
        path = home / "data" / "responses" / model / "heart.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(line_of("a") + line_of("b"))
    assert main(["store", "pack"]) == 0
    assert capsys.readouterr().out == "candid/heart.jsonl.gz: 2 lines\nfake/heart.jsonl.gz: 2 lines\n"
    assert main(["store", "pack"]) == 0
    assert capsys.readouterr().out == "nothing to pack: all responses are in the compressed files\n"


def test_the_command_is_installed(home: Path) -> None:
    run = process("models")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("fake ")

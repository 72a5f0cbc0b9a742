"""``belief data``: networks and cases made anew are the committed ones, and wrong options are told."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from belief_utils.beliefs.cases import load_cases
from belief_utils.cli import main
from tests.small_home import REPOSITORY
from tests.test_diabetes import survey

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning:pgmpy")


@pytest.fixture(autouse=True)
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with the committed descriptions and specifications, in which nothing was made yet."""
    (tmp_path / "data" / "networks").mkdir(parents=True)
    shutil.copy(REPOSITORY / "data" / "models.toml", tmp_path / "data")
    shutil.copytree(REPOSITORY / "data" / "datasets", tmp_path / "data" / "datasets")
    for path in (REPOSITORY / "data" / "networks").glob("*.toml"):
        shutil.copy(path, tmp_path / "data" / "networks")
    monkeypatch.setenv("BELIEF_HOME", str(tmp_path))
    return tmp_path


def made(top: Path) -> set[str]:
    return {
        str(path.relative_to(top / "data")) for path in (top / "data").rglob("*") if path.suffix in (".bif", ".csv")
    }


def try_fewer_sets(top: Path, name: str, sets: int) -> None:
    path = top / "data" / "datasets" / f"{name}.toml"
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("sampled_sets")]
    path.write_text("\n".join([f"sampled_sets = {sets}", *lines]), encoding="utf-8")


def test_a_network_made_anew_is_the_committed_one_and_cases_can_be_made_alone(
    top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = top / "data" / "networks" / "crying.bif"
    assert main(["data", "crying"]) == 0
    assert network.read_bytes() == (REPOSITORY / "data" / "networks" / "crying.bif").read_bytes()
    assert capsys.readouterr().out == f"{network}: written anew\n"
    assert made(top) == {"networks/crying.bif"}
    assert main(["data", "crying"]) == 0
    assert capsys.readouterr().out == f"{network}: the same as before\n"

    before = network.stat().st_mtime_ns
    try_fewer_sets(top, "crying", 100)
    assert main(["data", "crying", "--cases-only"]) == 0
    path = top / "data" / "cases" / "crying.csv"
    assert capsys.readouterr().out == f"{path}: 200 cases; true probabilities with no case: none\n"
    assert network.stat().st_mtime_ns == before
    assert len(load_cases("crying")) == 200


def test_too_few_cases_leave_the_old_file(top: Path, capsys) -> None:
    try_fewer_sets(top, "crying", 2)
    path = top / "data" / "cases" / "crying.csv"
    path.parent.mkdir()
    path.write_text("old")
    assert main(["data", "crying", "--cases"]) == 2
    assert "of 200 cases have enough support" in capsys.readouterr().err
    assert path.read_text() == "old"


def test_the_survey_gives_network_and_counted_cases(top: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELIEF_HOME", str(REPOSITORY))
    rows = survey(20_000)
    monkeypatch.setenv("BELIEF_HOME", str(top))
    rows.to_csv(top / "survey.csv", index=False)
    try_fewer_sets(top, "diabetes", 100)
    assert main(["data", "diabetes", "--file", str(top / "survey.csv"), "--cases"]) == 0
    assert made(top) >= {"networks/diabetes.bif", "cases/diabetes.csv"}
    assert "true probabilities with no case: " in capsys.readouterr().out
    cases = load_cases("diabetes")
    assert (cases["support"] >= 100).all()
    assert np.array_equal(cases["support"], cases["support"].astype(int))
    assert cases["observed_share"].between(0, 1).all()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["heart", "--file", "x.csv"], "--file goes with the dataset diabetes"),
        (["crying", "--echonext", "x.csv"], "--echonext goes with the dataset heart"),
        (["heart", "--echonext", "x.csv", "--cases-only"], "--echonext makes the network anew and --cases-only leaves"),
        (["diabetes", "--file", "no-such.csv"], "no-such.csv: no such file"),
        (["heart", "--echonext", "no-such.csv"], "no-such.csv"),
        (["fevre"], "unknown dataset 'fevre': did you mean 'fever'?"),
    ],
)
def test_options_that_do_not_go_together(arguments: list[str], said: str, top: Path, capsys) -> None:
    assert main(["data", *arguments]) == 2
    out, error = capsys.readouterr()
    assert (out, error.count("\n")) == ("", 1)
    assert said in error
    assert made(top) == set()

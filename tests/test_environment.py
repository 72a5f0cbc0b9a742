"""One environment, written down three times: pyproject.toml, environment.yml and requirements.lock agree."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

TOP = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKS = ("requirements.lock", "requirements-local.lock")
#: What the environment must bring whatever else it brings.
ASKED_FOR = {
    "jupyterlab", "papermill", "numpy", "scipy", "scikit-learn", "pgmpy", "matplotlib", "pandas", "openai",
}  # fmt: skip


def requirements(*extras: str) -> list[Requirement]:
    """What pyproject.toml asks for, with some extras."""
    texts = [*PROJECT["dependencies"], *[text for extra in extras for text in PROJECT["optional-dependencies"][extra]]]
    return [Requirement(text) for text in texts]


def pinned(name: str) -> dict[str, list[Requirement]]:
    """The lines of a lock by package; a package has several where versions differ between Pythons."""
    lines = [line for line in (TOP / name).read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#", " ")]
    found: dict[str, list[Requirement]] = {}
    for line in lines:
        requirement = Requirement(line)
        found.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    return found


def version(pin: Requirement) -> str:
    (only,) = pin.specifier
    assert only.operator == "=="
    assert "*" not in only.version
    return only.version


def environment() -> dict:
    return yaml.safe_load((TOP / "environment.yml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("requirement", requirements("test", "data", "parquet"), ids=str)
def test_every_dependency_is_pinned_within_its_range(requirement: Requirement) -> None:
    pins = pinned("requirements.lock")[canonicalize_name(requirement.name)]
    for pin in pins:
        assert requirement.specifier.contains(version(pin)), pin


@pytest.mark.parametrize("requirement", requirements("test", "data", "parquet"), ids=str)
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_one_pin_holds_for_every_python(requirement: Requirement, python: str) -> None:
    where = {"python_version": python, "python_full_version": f"{python}.7"}
    pins = pinned("requirements.lock")[canonicalize_name(requirement.name)]
    assert sum(pin.marker is None or pin.marker.evaluate(where) for pin in pins) == 1


def test_every_dependency_has_a_range_that_ends_before_what_may_break_it() -> None:
    for requirement in requirements():
        assert any(part.operator in ("<", "<=", "==", "~=") for part in requirement.specifier), requirement


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_pins_exact_versions(name: str) -> None:
    for pins in pinned(name).values():
        for pin in pins:
            assert version(pin)
            assert pin.url is None


def test_what_was_asked_for_is_there() -> None:
    named = {canonicalize_name(requirement.name) for requirement in requirements()}
    assert named >= ASKED_FOR
    assert pinned("requirements.lock").keys() >= ASKED_FOR


def test_the_local_runtime_is_the_extra_of_that_name() -> None:
    expected = {canonicalize_name(r.name): str(r.specifier) for r in map(Requirement, _extra("local"))}
    found = {name: str(pin.specifier) for name, (pin,) in pinned("requirements-local.lock").items()}
    assert found == expected


def _extra(name: str) -> list[str]:
    return PROJECT["optional-dependencies"][name]


def test_conda_gets_the_same_versions() -> None:
    content = environment()
    plain = [each for each in content["dependencies"] if isinstance(each, str)]
    (pip,) = [each["pip"] for each in content["dependencies"] if isinstance(each, dict)]
    assert pip == ["--requirement requirements.lock", "--editable ."]
    # Python, what make and the clone need, and nothing whose version the lock decides.
    assert {re.split("[=<>]", each)[0] for each in plain} == {"python", "make", "git", "pip"}
    (python,) = [each for each in plain if each.startswith("python")]
    assert Requirement(f"python{PROJECT['requires-python']}").specifier.contains(python.split("=")[1])
    assert not [each for each in plain if each.count("=") > 1], "a build string cannot be solved elsewhere"


@pytest.mark.parametrize("name", [*LOCKS, "environment.yml", "pyproject.toml", "Makefile", ".ci/run"])
def test_no_file_names_a_package_index(name: str) -> None:
    text = (TOP / name).read_text(encoding="utf-8")
    assert not re.search(
        r"index-url|extra-index|find-links|--index|trusted-host|PIP_\w+=", text.replace("--no-emit-index-url", "")
    )
    assert not re.search(r"https?://(?!arxiv\.org|github\.com)", text)


def test_what_is_installed_is_what_is_pinned() -> None:
    checked = 0
    for name, pins in pinned("requirements.lock").items():
        wanted = [version(pin) for pin in pins if pin.marker is None or pin.marker.evaluate()]
        try:
            installed = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
        if wanted:
            checked += 1
            assert installed == wanted[0], name
    assert checked >= len(requirements())


def test_the_makefile_installs_the_lock_and_the_package_without_more() -> None:
    text = (TOP / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"pip install .*--requirement requirements\.lock$", text, re.MULTILINE)
    assert re.search(r"pip install .*--no-deps --editable \.$", text, re.MULTILINE)
    assert set(re.findall(r"^(reproduce|test|local|bench|clean):", text, re.MULTILINE)) == {
        "reproduce", "test", "local", "bench", "clean",
    }  # fmt: skip


def test_the_citation_names_the_companion_and_both_papers() -> None:
    content = yaml.safe_load((TOP / "CITATION.cff").read_text(encoding="utf-8"))
    for name in ("cff-version", "message", "title", "authors"):
        assert content[name]
    assert (content["license"], str(content["version"])) == (PROJECT["license"], PROJECT["version"])
    papers = {reference["url"].rsplit("/", 1)[1]: reference for reference in content["references"]}
    assert papers.keys() == {"2602.06286", "2310.02174"}
    for paper in papers.values():
        assert paper["type"] == "article"
        assert paper["title"]
        assert all(author["family-names"] and author["given-names"] for author in paper["authors"])
    assert papers["2602.06286"]["authors"][0]["family-names"] == "Yamin"
    assert papers["2310.02174"]["authors"][0]["family-names"] == "Xie"

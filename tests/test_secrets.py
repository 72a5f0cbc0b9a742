"""No key, header or password of an address in the store, logs, errors, batch files or notebooks after a run."""

import base64
import gzip
import logging
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from belief_utils.cli import main
from tests.conftest import KEY, REPOSITORY
from tests.fake_server import FakeServer

PASSWORD = "pass-word-of-the-address"
COLLECT = ["collect", "--model", "fake", "--dataset", "heart", "--repetitions", "1", "--prompts", "belief"]

#: What keys of the usual hosts look like.
LIKE_A_KEY = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}|Bearer\s+[A-Za-z0-9._-]{12,}|hf_[A-Za-z0-9]{20,}|://[^\s/\"]+:[^\s/\"]+@"
)


def everything_under(folder: Path) -> str:
    return "".join(path.read_text(encoding="utf-8", errors="replace") for path in folder.rglob("*") if path.is_file())


def test_a_run_leaves_the_key_nowhere(
    home: Path, server: FakeServer, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    address = server.url.replace("http://", f"http://somebody:{PASSWORD}@")
    # The server does its worst: it repeats the header in answers and in errors.
    server.script.extend(["echo", "ok", "no choices", "ok", "no choices", "no choices", "echo", "tells key", "500"])
    with caplog.at_level(logging.DEBUG):
        main([*COLLECT, "--base-url", address])
        main(COLLECT)
        server.script.append("401")
        main([*COLLECT, "--repetitions", "2"])
        main(["collect", "--status"])
        main(["store", "verify"])
        main([*COLLECT, "--repetitions", "3", "--batch", str(home / "out.jsonl")])
        main(["store", "pack"])
    assert len(server.requests) >= 8
    said = "".join(capsys.readouterr())
    assert f"the key in FAKE_KEY was refused (401) by {server.url}" in said
    packed = (home / "data" / "responses" / "fake" / "heart.jsonl.gz").read_bytes()
    kept = gzip.decompress(packed).decode()
    assert "You sent Basic [key]" in kept
    assert "You sent Bearer [key]" in kept
    left = said + caplog.text + kept + everything_under(home)
    for secret in (KEY, PASSWORD, base64.b64encode(f"somebody:{PASSWORD}".encode()).decode()):
        assert secret not in left


def test_a_notebook_that_is_run_with_the_key_set_does_not_hold_it(home: Path, tmp_path: Path) -> None:
    main([*COLLECT, "--quiet"])
    cells = [
        "from belief_utils import load_judgments, load_model, reading",
        "load_model('fake')",
        "print(reading(load_judgments('heart', 'fake')))",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    source, out = tmp_path / "in.ipynb", tmp_path / "out.ipynb"
    nbformat.write(notebook, source)
    code = f"import papermill; papermill.execute_notebook({str(source)!r}, {str(out)!r}, kernel_name='python3', "
    code += "progress_bar=False)"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, timeout=120)
    text = out.read_text(encoding="utf-8")
    assert "6 of 6 answers read" in text
    assert KEY not in text


def test_nothing_that_is_committed_looks_like_a_key() -> None:
    for folder, pattern in (("notebooks", "*.ipynb"), ("data", "*.toml")):
        for path in (REPOSITORY / folder).rglob(pattern):
            assert not LIKE_A_KEY.search(path.read_text(encoding="utf-8")), path

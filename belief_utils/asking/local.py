"""A small open model that runs on this machine, behind the same API as a hosted one."""

import argparse
import hashlib
import importlib.metadata
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from belief_utils.asking.models import Model
from belief_utils.errors import BeliefError

#: Tokens of context per answer; the longest prompt about a case has about 300.
CONTEXT = 1024
#: Seconds that a model may take to load.
PATIENCE = 120


def weights(model: Model) -> Path:
    """The file of a local model's weights, checked against the sum in its table.

    Raises:
        BeliefError: the file is not there or is another one; the message says how to get it.
    """
    path = _weights_path(model)
    if not path.is_file():
        raise BeliefError(f"{model.name}: no weights at {path}")
    expected = model.file.get("sha256")
    if expected:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise BeliefError(f"{model.name}: {path} has the sha256 {found}, not {expected}; get the right file")
    return path


def _weights_path(model: Model) -> Path:
    if package := model.file.get("package"):
        try:
            return Path(str(importlib.metadata.distribution(package).locate_file(model.file.get("path", ""))))
        except importlib.metadata.PackageNotFoundError as error:
            raise BeliefError(f"{model.name} is not installed; run: make local") from error
    if (variable := model.file.get("env")) and os.environ.get(variable):
        return Path(os.environ[variable]).expanduser()
    if named := model.file.get("gguf"):
        return Path(named).expanduser()
    variable = model.file.get("env", "gguf in its table")
    raise BeliefError(f"{model.name}: set {variable} to the path of its GGUF file")


@contextmanager
def running(model: Model, slots: int, context: int = CONTEXT) -> Iterator[str]:
    """Start a local model, yield the address of its API and stop it again.

    The server is a process of its own that listens on 127.0.0.1 only and ends with this one, however this one
    ends.

    Args:
        model: a model of kind ``local``.
        slots: how many answers it may work on at once.
        context: tokens that prompt and answer may have together.

    Raises:
        BeliefError: the runtime or the weights are missing, or the server does not come up.
    """
    try:
        importlib.metadata.distribution("xllamacpp")
    except importlib.metadata.PackageNotFoundError as error:
        raise BeliefError(f"the runtime of {model.name} is not installed; run: make local") from error
    gguf = weights(model)
    port = _free_port()
    # Without these two, OpenMP's threads spin while they wait, and a busy machine is many times slower.
    environment = {**os.environ, "GOMP_SPINCOUNT": "0", "OMP_WAIT_POLICY": "passive"}
    command = [sys.executable, "-m", "belief_utils.asking.local"]
    process = subprocess.Popen(
        [*command, str(gguf), model.model, str(port), str(slots), str(context)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # A process group of its own: Ctrl-C is for the collector, which lets the server finish its answers.
        start_new_session=True,
    )
    try:
        _wait_until_loaded(process, port, model)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdin.close()


def _wait_until_loaded(process: subprocess.Popen, port: int, model: Model) -> None:
    end = time.monotonic() + PATIENCE
    # A proxy of the environment cannot reach a server on this machine.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while time.monotonic() < end:
        if process.poll() is not None:
            raise BeliefError(f"the server of {model.name} ended with code {process.returncode} while loading")
        try:
            with direct.open(f"http://127.0.0.1:{port}/health", timeout=2) as reply:
                if reply.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.2)
    raise BeliefError(f"{model.name} was not ready within {PATIENCE} s")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def serve(gguf: str, name: str, port: int, slots: int, context: int) -> None:
    """Serve one model under a name until standard input closes, which is when the parent process ends."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = gguf
    # Without a name of its own the server calls the model by its path, and that would stand in the store.
    parameters.model_alias = {name}
    parameters.n_ctx = context * slots
    parameters.n_parallel = slots
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_gpu_layers = 0
    threads = int(os.environ.get("BELIEF_THREADS", 0)) or min(os.cpu_count() or 1, 8)
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.offline = True
    parameters.fit_params = False
    server = xllamacpp.Server(parameters)
    ended = threading.Event()

    def watch() -> None:
        sys.stdin.buffer.read()
        ended.set()

    threading.Thread(target=watch, daemon=True).start()
    ended.wait()
    del server
    os._exit(0)


def main() -> None:
    """The server process's own command line: weights, name, port, slots, context."""
    parser = argparse.ArgumentParser(description=serve.__doc__)
    parser.add_argument("gguf")
    parser.add_argument("name")
    parser.add_argument("port", type=int)
    parser.add_argument("slots", type=int)
    parser.add_argument("context", type=int)
    arguments = parser.parse_args()
    serve(arguments.gguf, arguments.name, arguments.port, arguments.slots, arguments.context)


if __name__ == "__main__":
    main()

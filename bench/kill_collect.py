"""Kill `belief collect` at random moments, fill its disk, and let its server fail; nothing may be lost or paid twice.

    python bench/kill_collect.py [--kills 100] [--full-disks 20] [--faulty-cases 2000]

Every run is a process of its own that asks a server on this machine. A response is acknowledged when the store has
taken it; the check is that none of these is ever missing, that none is asked for again, and that the store can always
be read. The full disk is a small tmpfs where one may be mounted (as root), else a limit on the size of a file.
"""

# ruff: noqa: T201

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP))

from belief_utils.asking.ask import missing  # noqa: E402
from belief_utils.asking.models import load_model  # noqa: E402
from belief_utils.asking.store import Store  # noqa: E402
from belief_utils.beliefs.datasets import load_dataset  # noqa: E402
from belief_utils.beliefs.elicitation import plan, store_for  # noqa: E402
from belief_utils.beliefs.prompts import PROMPTS  # noqa: E402
from tests import collecting  # noqa: E402
from tests.conftest import CASES, KEY, MODELS  # noqa: E402
from tests.fake_server import FakeServer, asked_for  # noqa: E402

QUESTIONS = 50
#: A tenth of all requests each; the last tenth is right answers and what is rarer.
FAULTS = ["429 at once", "429 in a second", "500", "503", "slow", "reset", "no choices", "malformed", "length"]
RARER = ["ok"] * 7 + ["content filter", "unsupported", "prompt filtered"]


def repository(folder: Path, url: str, cases: str = CASES) -> Path:
    """A small repository with a model at the server."""
    for name in ("datasets", "cases"):
        (folder / "data" / name).mkdir(parents=True, exist_ok=True)
    (folder / "data" / "models.toml").write_text(MODELS.format(url=url), encoding="utf-8")
    (folder / "data" / "cases" / "heart.csv").write_text(cases, encoding="utf-8")
    shutil.copy(TOP / "data" / "datasets" / "heart.toml", folder / "data" / "datasets")
    os.environ.update(BELIEF_HOME=str(folder), FAKE_KEY=KEY)
    return folder


def arguments(repetitions: int, *more: str, model: str = "fake") -> list[str]:
    """The command."""
    start = ["collect", "--quiet", "--model", model, "--dataset", "heart", "--repetitions", str(repetitions)]
    return [*start, *(more or ("--prompts", ",".join(PROMPTS)))]


def lacking(repetitions: int) -> Counter[str]:
    """How many answers to each prompt the store lacks."""
    model = load_model("fake")
    questions = plan(load_dataset("heart"), prompts=PROMPTS)
    lacks: Counter[str] = Counter()
    for batch in missing(model, questions, repetitions, store_for(model, "heart"))[0]:
        lacks[batch.sent["messages"][-1]["content"]] += len(batch.repetitions)
    return lacks


def check(server: FakeServer, sent: int, lacks: Counter[str], kept: Path) -> None:
    """Nothing that was acknowledged is missing, and nothing was asked for that was there."""
    held = {response.key for response in store_for(load_model("fake"), "heart").answers()}
    assert set(kept.read_text().split()) <= held, "a response was lost"
    for prompt, asked in asked_for(server.requests[sent:]).items():
        assert asked <= lacks[prompt], "a response was asked for twice"


def kills(number: int, folder: Path) -> None:
    """Kill runs at random moments until the store is full, and start over, until there were enough kills."""
    moments, killed, acknowledged, completed = random.Random(number), 0, 0, 0
    with FakeServer() as server:
        server.latency = 0.05
        while killed < number:
            home = repository(folder / f"kills-{completed}", server.url)
            kept = folder / f"kept-{completed}"
            kept.touch()
            while killed < number:
                lacks, sent = lacking(8), len(server.requests)
                run = collecting.start(home, arguments(8), folder / "output", kept=kept)
                end = time.monotonic() + 60
                # Every third one at any moment of its start, the others after some answers.
                wanted = 0 if killed % 3 == 0 else moments.randrange(1, 40)
                while len(server.requests) < sent + wanted and run.is_alive() and time.monotonic() < end:
                    time.sleep(0.002)
                time.sleep(moments.uniform(0, 0.3 if wanted == 0 else 0.05))
                run.kill()
                run.join()
                done = run.exitcode == 0
                run.close()
                check(server, sent, lacks, kept)
                if done:
                    break
                killed += 1
            lacks, sent = lacking(8), len(server.requests)
            assert collecting.run(home, arguments(8), folder / "output") == 0
            assert asked_for(server.requests[sent:]) == lacks
            acknowledged += len(set(kept.read_text().split()))
            assert len(store_for(load_model("fake"), "heart")) == QUESTIONS * 8
            completed += 1
    print(
        f"{killed} kills over {completed} collections: {acknowledged:,} acknowledged responses, none lost, none asked "
        "for twice, the store readable after each"
    )


def full_disks(number: int, folder: Path) -> None:
    """Let runs meet a full disk at sizes of all kinds; after room was made the next one completes."""
    sizes, kept_in_all, mounted = random.Random(number), 0, 0
    with FakeServer() as server:
        for attempt in range(number):
            home = repository(folder / f"full-{attempt}", server.url)
            disk = home / "data" / "responses"
            disk.mkdir()
            size = sizes.randrange(2, 14) * 4
            mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(disk)]
            small = os.geteuid() == 0 and not subprocess.run(mount, capture_output=True, check=False).returncode
            mounted += small
            try:
                kept = folder / f"full-kept-{attempt}"
                kept.touch()
                lacks, sent = lacking(1), len(server.requests)
                limit = None if small else size * 1024
                run = collecting.start(home, arguments(1), folder / "output", kept=kept, limit=limit)
                run.join(60)
                assert run.exitcode == 2, (run.exitcode, (folder / "output").read_text())
                assert "cannot be written" in (folder / "output").read_text()
                check(server, sent, lacks, kept)
                kept_in_all += len(kept.read_text().split())
                if small:
                    subprocess.run(["mount", "-o", "remount,size=1m", str(disk)], check=True)
                lacks, sent = lacking(1), len(server.requests)
                assert collecting.run(home, arguments(1), folder / "output") == 0
                assert asked_for(server.requests[sent:]) == lacks
                assert len(store_for(load_model("fake"), "heart")) == QUESTIONS
            finally:
                if small:
                    subprocess.run(["umount", str(disk)], check=True)
    print(
        f"{number} full disks ({mounted} of them a tmpfs of 8 to 52 kB): {kept_in_all:,} acknowledged responses, none "
        "lost, none asked for twice, every collection completed once there was room"
    )


def faults(cases: int, folder: Path) -> None:
    """Collect from a server with every fault at a tenth of its requests each, until nothing is missing."""
    heading, *lines = CASES.splitlines()
    rows = [f"{n},{lines[n % len(lines)].partition(',')[2]}" for n in range(cases)]
    chance = random.Random(cases)
    with FakeServer() as server:
        home = repository(folder / "faults", server.url, "\n".join([heading, *rows, ""]))
        registry = home / "data" / "models.toml"
        registry.write_text(registry.read_text().replace("timeout = 20", "timeout = 2"))

        def choose(body: object) -> str:
            fault = chance.choice([*FAULTS, "rarer"])
            return chance.choice(RARER) if fault == "rarer" else fault

        server.choose = choose
        more = ("--prompts", "belief", "--concurrency", "32")
        # Cases with the same evidence are the same request: as many repetitions as bring so many answers.
        repetitions = cases // len(lines)
        for number in range(1, 20):
            code = collecting.run(home, arguments(repetitions, *more), folder / "output", patience=1200)
            output = (folder / "output").read_text().splitlines()
            held = Store(home / "data" / "responses" / "fake" / "heart.jsonl")
            print(f"run {number}: exit code {code}, {len(held):,} answers held, {held.failures:,} open failures")
            for line in output[1:]:
                print(f"    {line[:150]}")
            assert (code == 0) == (len(held) == repetitions * len(lines)), "the exit code is wrong"
            told = " ".join(output)
            # Right at the start of a run a refused parameter is taken at its word.
            goes_on = "run the same command again" in told or "see [fake.parameters]" in told
            assert code == 0 or goes_on, "it does not say how to go on"
            if code == 0:
                break
        seen = Counter(server.faults)
        print(f"{len(server.requests):,} requests: {', '.join(f'{n:,} {name}' for name, n in seen.most_common())}")


def main() -> None:
    """Do all three and say what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="default: %(default)s")
    parser.add_argument("--full-disks", type=int, default=20, help="default: %(default)s")
    parser.add_argument("--faulty-cases", type=int, default=2000, help="default: %(default)s")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.kills:
            kills(options.kills, Path(folder))
        if options.full_disks:
            full_disks(options.full_disks, Path(folder))
        if options.faulty_cases:
            faults(options.faulty_cases, Path(folder))


if __name__ == "__main__":
    main()

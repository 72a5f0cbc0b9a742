"""``belief collect`` from end to end against a server on loopback: what a user sees and what the store holds."""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from belief_utils.asking.ask import keys, missing
from belief_utils.asking.models import load_model
from belief_utils.asking.store import Store, request_key
from belief_utils.beliefs.datasets import load_dataset
from belief_utils.beliefs.elicitation import plan, store_for
from belief_utils.beliefs.judgments import load_judgments
from belief_utils.beliefs.prompts import PROMPTS
from belief_utils.cli import main
from tests import collecting
from tests.conftest import KEY
from tests.fake_server import FakeServer, asked_for

ALL = ",".join(PROMPTS)
#: Six cases: five questions each, and for the five that leave the auxiliary variable open one and three more.
QUESTIONS = 6 * 5 + 5 * 4


class Said(NamedTuple):
    """What a user sees."""

    code: int
    out: list[str]
    error: list[str]


@pytest.fixture
def belief(home: Path, capsys: pytest.CaptureFixture[str]):
    """Run the command in this process."""

    def run(*arguments: str) -> Said:
        capsys.readouterr()
        code = main(arguments)
        out, error = capsys.readouterr()
        return Said(code, out.splitlines(), error.splitlines())

    return run


@pytest.fixture
def no_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("belief_utils.asking.endpoint.RETRIES", 0)


def collect(*more: str, model: str = "fake") -> list[str]:
    return ["collect", "--quiet", "--model", model, "--dataset", "heart", *more]


def store(model: str = "fake") -> Store:
    return store_for(load_model(model), "heart")


def lacking(model: str, repetitions: int) -> Counter[str]:
    """How many answers to each prompt the store lacks."""
    questions = plan(load_dataset("heart"), prompts=PROMPTS)
    batches, _ = missing(load_model(model), questions, repetitions, store(model))
    lacks: Counter[str] = Counter()
    for batch in batches:
        lacks[batch.sent["messages"][-1]["content"]] += len(batch.repetitions)
    return lacks


def assert_complete(model: str, repetitions: int) -> None:
    """Every answer is there, on one line each and under the right key, and nothing else."""
    registered = load_model(model)
    wanted = [
        key
        for question in plan(load_dataset("heart"), prompts=PROMPTS)
        for key in keys(registered, question, repetitions)
    ]
    lines = [record for _, record in store(model).lines()]
    assert len(wanted) == len(lines) == QUESTIONS * repetitions
    assert {record["key"] for record in lines} == set(wanted)
    assert all(request_key(record["request"], record["repetition"]) == record["key"] for record in lines)


# --- the course of things -----------------------------------------------------------------------------------------


def test_a_dry_run_sends_nothing_writes_nothing_and_needs_no_key(
    belief, home: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("FAKE_KEY")
    said = belief(*collect("--dry-run", "--repetitions", "2"))
    # Six cases under three prompts, and five with one and three questions more.
    assert said.code == 0
    assert said.out[0].startswith("Fake, heart: 76 requests for 76 answers (0 more are in the store), about ")
    assert re.search(r"about [\d,]+ tokens in and 2,280 out, about \$0\.\d\d$", said.out[0])
    assert (said.out[1:], said.error) == ([], [])
    assert not server.requests
    assert not (home / "data" / "responses").exists()


def test_a_cold_run_asks_for_everything_once(belief, server: FakeServer):
    said = belief(*collect("--repetitions", "2", "--prompts", ALL))
    assert said.code == 0
    assert said.out[1].startswith("100 answers received, 0 failed, 0 missing; ")
    assert re.fullmatch(
        r"bill of Fake on heart: \$0\.\d{4} for 100 answers \([\d,]+ tokens in, [\d,]+ out\); "
        "0 from the store at no cost",
        said.out[2],
    )
    assert len(said.out) == 3
    assert said.error == []
    assert set(asked_for(server.requests).values()) == {2}
    assert_complete("fake", 2)


def test_a_warm_run_needs_no_client_key_or_network(belief, home: Path, server: FakeServer):
    belief(*collect("--repetitions", "1"))
    server.stop()
    before = store().path.read_bytes()
    code = f"import sys; from belief_utils.cli import main; code = main({collect('--repetitions', '1')!r}); "
    code += "print('openai' in sys.modules, 'httpx2' in sys.modules, 'httpx' in sys.modules); sys.exit(code)"
    environment = {name: value for name, value in os.environ.items() if name != "FAKE_KEY"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    told, imported = run.stdout.splitlines()
    assert told == (
        "Fake, heart: 0 requests for 0 answers (38 more are in the store), about 0 tokens in and 0 out, no cost"
    )
    assert imported == "False False False"
    assert store().path.read_bytes() == before


def test_what_was_packed_is_not_asked_for_again(belief, server: FakeServer):
    belief(*collect("--repetitions", "1", "--prompts", "belief"))
    said = belief("store", "pack")
    assert said.code == 0
    assert re.fullmatch(r".*fake/heart\.jsonl\.gz: 6 lines", said.out[0])
    belief(*collect("--repetitions", "2", "--prompts", "belief"))
    assert len(server.requests) == 12
    assert len(store()) == 12


def test_only_what_is_wanted_is_asked_for(belief, server: FakeServer):
    belief(*collect("--repetitions", "1", "--prompts", "belief,next-state", "--cases", "4", "--coherence-cases", "2"))
    items = [response.item for response in store().answers()]
    assert sorted(items) == [
        *[f"heart/{case}/belief" for case in range(4)][:1],
        "heart/0/next-state",
        "heart/1/belief",
        "heart/2/belief",
        "heart/2/next-state",
        "heart/3/belief",
    ]
    assert len(server.requests) == 6


def test_repetitions_together(belief, server: FakeServer):
    said = belief(*collect("--prompts", ALL, model="together"))
    assert said.code == 0
    assert [seen.wanted for seen in server.requests] == [5] * QUESTIONS
    assert "authorization" not in server.requests[0].headers or KEY not in server.requests[0].headers["authorization"]
    assert_complete("together", 5)


def test_a_simulated_agent_answers_without_a_server(belief, server: FakeServer):
    said = belief(*collect("--repetitions", "3", "--prompts", ALL, model="candid"))
    assert said.code == 0
    assert not server.requests
    assert_complete("candid", 3)
    first = {response.key: response.text for response in store("candid").answers()}
    store("candid").path.unlink()
    belief(*collect("--repetitions", "3", "--prompts", ALL, model="candid"))
    assert {response.key: response.text for response in store("candid").answers()} == first


def test_a_local_model_may_run_elsewhere(belief, home: Path, server: FakeServer):
    with (home / "data" / "models.toml").open("a") as file:
        file.write('\n[small]\nname = "Small"\nkind = "local"\nmodel = "small-1"\n[small.file]\nenv = "NO_SUCH"\n')
    said = belief(*collect("--prompts", "belief", "--repetitions", "1", "--base-url", server.url, model="small"))
    assert said.code == 0
    assert len(server.requests) == len(store("small")) == 6


def test_the_models_can_be_listed(belief, server: FakeServer):
    said = belief("models")
    assert said.code == 0
    assert [line.split()[0] for line in said.out] == ["fake", "together", "candid"]
    assert server.url in said.out[0]


# --- wrong input: one line, exit code 2, nothing lost -------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "fak", "--dataset", "heart"], "unknown model 'fak': did you mean 'fake'?"),
        (["--model", "fake", "--dataset", "hart"], "unknown dataset 'hart': did you mean 'heart'?"),
        (
            ["--model", "fake", "--dataset", "heart", "--prompts", "belief,decisions"],
            "unknown prompt 'decisions': did you mean 'decision'?",
        ),
    ],
)
def test_an_unknown_name_gets_the_nearest_one(belief, server: FakeServer, arguments: list[str], said: str):
    found = belief("collect", "--quiet", *arguments)
    assert (found.code, found.out, len(found.error)) == (2, [], 1)
    assert found.error[0].startswith(f"belief: {said}")
    assert not server.requests


@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_a_count_that_is_none_is_refused(belief, value: str):
    with pytest.raises(SystemExit) as caught:
        belief(*collect("--repetitions", value))
    assert caught.value.code == 2


def test_a_missing_key_names_the_variable(belief, server: FakeServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("FAKE_KEY")
    said = belief(*collect())
    assert (said.code, said.error) == (2, ["belief: Fake needs a key: set the environment variable FAKE_KEY"])
    assert not server.requests
    assert not store().path.exists()


@pytest.mark.usefixtures("no_retries")
def test_a_server_that_is_not_there_is_said_in_one_line(belief):
    belief(*collect("--prompts", "belief", "--repetitions", "1"))
    before = store().path.read_bytes()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        said = belief(*collect("--base-url", address))
    assert (said.code, said.error) == (2, [f"belief: nothing answers at {address}; is the server running?"])
    assert store().path.read_bytes() == before


def test_a_line_damaged_in_the_middle_is_said_and_nothing_is_changed(belief, server: FakeServer):
    belief(*collect("--prompts", "belief", "--repetitions", "1"))
    path = store().path
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2][:40] + b"\n"
    path.write_bytes(b"".join(lines))
    sent = len(server.requests)
    for arguments in (collect(), collect("--dry-run"), ["store", "pack"]):
        said = belief(*arguments)
        assert (said.code, len(said.error)) == (2, 1)
        assert said.error[0].startswith(f"belief: {path}, line 3, is damaged and nothing was changed")
    assert path.read_bytes() == b"".join(lines)
    assert len(server.requests) == sent
    # As the message says: without the line, what it held is asked for again.
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    assert belief(*collect("--prompts", "belief", "--repetitions", "1")).out[1].startswith("1 answers received")


def test_a_last_line_that_was_torn_is_asked_for_again(belief, server: FakeServer, caplog: pytest.LogCaptureFixture):
    belief(*collect("--prompts", "belief", "--repetitions", "1"))
    path = store().path
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    said = belief(*collect("--prompts", "belief", "--repetitions", "1"))
    assert said.out[1].startswith("1 answers received, 0 failed, 0 missing")
    assert "the last line was torn off and is dropped" in caplog.text
    assert path.read_bytes().startswith(b"".join(whole.splitlines(keepends=True)[:-1]))
    assert len(store()) == 6


def test_a_place_that_is_no_repository_is_said(belief, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("BELIEF_HOME", str(tmp_path / "nowhere"))
    said = belief(*collect())
    assert (said.code, len(said.error)) == (2, 1)
    assert "has no data/models.toml; set it to the repository" in said.error[0]


def test_cases_that_are_not_there_say_how_to_make_them(belief, home: Path):
    (home / "data" / "cases" / "heart.csv").unlink()
    said = belief(*collect())
    assert (said.code, len(said.error)) == (2, 1)
    assert "make it with: belief data heart --cases" in said.error[0]


# --- faults of the server -----------------------------------------------------------------------------------------

FAULTS = [
    # fault, exit code, what stands in the last lines, answers and failures in the store after six questions
    ("500", 1, "6 x status 500: The server had an error", 0, 6),
    ("429 in an hour", 1, "6 x status 429: You exceeded your quota", 0, 6),
    ("503", 1, "6 x status 503: <html>Service Unavailable</html>", 0, 6),
    ("no choices", 1, "6 x the server's reply held no choices", 0, 6),
    ("malformed", 1, "6 x the server's reply is not JSON", 0, 6),
    ("reset", 1, "6 x the connection to {url} broke before the answer was complete", 0, 6),
    ("prompt filtered", 1, "6 x status 400: The prompt was filtered", 0, 6),
    ("length", 0, "6 answers received, 0 failed, 0 missing", 6, 0),
    ("content filter", 0, "6 answers received, 0 failed, 0 missing", 6, 0),
    ("401", 2, "belief: the key in FAKE_KEY was refused (401) by {url}", 0, 0),
    ("404", 2, "belief: {url} does not know the model 'fake-1', or is not the address of an API (404)", 0, 0),
    ("unsupported", 2, "belief: status 400: Unsupported parameter: 'max_tokens' is not", 0, 0),
]


@pytest.mark.usefixtures("no_retries")
@pytest.mark.parametrize(("fault", "code", "told", "answers", "failures"), FAULTS, ids=[row[0] for row in FAULTS])
def test_a_fault_is_told_in_a_line_and_the_next_run_completes(
    belief, server: FakeServer, fault: str, code: int, told: str, answers: int, failures: int
):
    server.always = fault
    said = belief(*collect("--prompts", "belief", "--repetitions", "1"))
    shown = said.error if code == 2 else said.out[1:]
    assert said.code == code
    assert any(line.strip().startswith(told.format(url=server.url)) for line in shown)
    assert len(said.error) == (code == 2)
    assert (len(store()), store().failures) == (answers, failures)
    if failures:
        assert said.out[1].startswith("0 answers received, 6 failed, 6 missing")
        assert said.out[-1] == "run the same command again to ask for what is missing"
    server.always = "ok"
    assert belief(*collect("--prompts", "belief", "--repetitions", "1")).code == 0
    assert (len(store()), store().failures) == (6, 0)
    assert KEY not in "".join([*said.out, *said.error, store().path.read_text(encoding="utf-8")])


@pytest.mark.usefixtures("no_retries")
def test_a_server_that_only_fails_ends_the_run_with_a_line(belief, server: FakeServer, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("belief_utils.asking.run.PATIENCE", 0.0)
    server.always = "500"
    said = belief(*collect())
    assert (said.code, len(said.error)) == (2, 1)
    # Ten beside those that were under way with the first one, and those that were under way with the last one.
    assert said.error[0].startswith("belief: 13 requests in a row failed, the last one with: status 500: The server")
    assert said.error[0].endswith(
        "What was answered is stored, 190 answers are missing; run the same command again to go on"
    )
    assert 13 <= len(server.requests) == store().failures <= 16


def test_a_full_disk_is_told_in_a_line_and_the_next_run_goes_on(home: Path, server: FakeServer, tmp_path: Path):
    output = tmp_path / "output"
    assert collecting.run(home, collect("--repetitions", "1", "--prompts", ALL), output, limit=20_000) == 2
    *_, told = output.read_text().splitlines()
    assert told.startswith(f"belief: {store().path} cannot be written (File too large); what it holds is safe")
    kept = len(store())
    assert 0 < kept < QUESTIONS
    assert store().path.read_bytes().endswith(b"\n")
    assert kept <= len(server.requests) <= kept + 4
    assert collecting.run(home, collect("--repetitions", "1", "--prompts", ALL), output) == 0
    assert_complete("fake", 1)


@pytest.mark.parametrize("how", ["json_schema", "json_object", "grammar", "text"])
def test_whatever_holds_an_answer_to_its_form_what_is_read_is_the_same(
    belief, home: Path, server: FakeServer, how: str
):
    registry = home / "data" / "models.toml"
    registry.write_text(registry.read_text().replace('"json_schema"', f'"{how}"'))

    def answer(body: dict, before: int, choice: int) -> str:
        if "confident" in body["messages"][-1]["content"]:
            text = '{"confident": "Yes", "choice": "No"}'
        else:
            text = '{"No": 0.75, "Yes": 0.25}'
        # A model that is held to nothing wraps its answer in words.
        return f"Here is my answer:\n```json\n{text}\n```" if how in ("text", "json_object") else text

    server.answer = answer
    assert belief(*collect("--prompts", "belief,decision", "--repetitions", "1")).code == 0
    sent = {"json_schema": "response_format", "json_object": "response_format", "grammar": "grammar", "text": None}
    assert all(
        (set(seen.body) - {"model", "messages", "temperature"}) == set(filter(None, [sent[how]]))
        for seen in server.requests
    )
    judgments = load_judgments("heart", "fake")
    assert list(judgments["belief"]) == [0.25] * 6
    assert list(judgments["action"]) == ["negative"] * 6
    assert judgments["belief_problem"].isna().all()


def test_a_run_stops_before_its_money_is_passed_and_says_how_to_go_on(belief, home: Path, server: FakeServer):
    registry = home / "data" / "models.toml"
    registry.write_text(registry.read_text().replace("temperature = 1.0", "max_tokens = 200"))
    said = belief(*collect("--prompts", "belief", "--repetitions", "5", "--max-cost", "0.004"))
    assert said.code == 1
    assert 0 < len(server.requests) == len(store()) < 30
    assert said.out[-2:] == [
        "stopped: the next request could pass --max-cost 0.004, counting its worst case",
        "run the same command again to ask for what is missing",
    ]
    assert float(re.search(r"\$(0\.\d{4}) for", said.out[2]).group(1)) <= 0.004
    said = belief(*collect("--prompts", "belief", "--repetitions", "5"))
    assert said.code == 0
    assert len(server.requests) == 30


def test_limits_of_the_command_line_replace_those_of_the_table(belief, server: FakeServer):
    arguments = collect("--prompts", "belief", "--repetitions", "1", "--concurrency", "1", "--rpm", "1200")
    assert belief(*arguments).code == 0
    times = [seen.time for seen in server.requests]
    # 1200 a minute are 50 ms apart; over the whole run, for single requests arrive late on a busy machine.
    assert times[-1] - times[1] >= 0.045 * (len(times) - 3)


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "much"])
def test_an_amount_that_is_none_is_refused(belief, value: str):
    with pytest.raises(SystemExit) as caught:
        belief(*collect("--max-cost", value))
    assert caught.value.code == 2


# --- stopping, killing, and two at once ---------------------------------------------------------------------------


def test_ctrl_c_stops_cleanly_and_the_next_run_goes_on(belief, home: Path, server: FakeServer):
    server.latency = 0.05
    arguments = collect("--repetitions", "1", "--prompts", ALL)
    with subprocess.Popen(
        [sys.executable, "-m", "belief_utils.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        wait_for(server, 6)
        run.send_signal(signal.SIGINT)
        out, error = run.communicate(timeout=20)
    assert run.returncode == 130
    assert error.splitlines() == ["stopping after the answers under way; Ctrl-C again to end at once"]
    received = int(re.search(r"(\d+) answers received, 0 failed, (\d+) missing", out).group(1))
    # Everything that was asked for was waited for and is kept.
    assert 6 <= received == len(server.requests) == len(store()) < QUESTIONS
    assert "run the same command again to ask for what is missing" in out
    server.latency = 0.0
    assert belief(*arguments).code == 0
    assert len(server.requests) == QUESTIONS
    assert_complete("fake", 1)


def wait_for(server: FakeServer, requests: int, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while len(server.requests) < requests:
        assert time.monotonic() < end, "the run asks for nothing"
        time.sleep(0.002)


@pytest.mark.parametrize(("model", "repetitions", "kills"), [("fake", 2, 10), ("together", 5, 5)])
def test_kills_lose_nothing_and_nothing_is_asked_for_twice(
    home: Path, server: FakeServer, tmp_path: Path, model: str, repetitions: int, kills: int
):
    server.latency = 0.06
    moments = random.Random(f"kills of {model}")
    arguments = collect("--repetitions", str(repetitions), "--prompts", ALL, model=model)
    kept, output = tmp_path / "kept", tmp_path / "output"
    kept.touch()
    interrupted = 0
    for attempt in range(kills):
        lacks, sent = lacking(model, repetitions), len(server.requests)
        run = collecting.start(home, arguments, output, kept=kept)
        if attempt % 3:
            wait_for(server, sent + 1 + attempt // 2)
        time.sleep(moments.uniform(0, 0.1))
        run.kill()
        run.join()
        interrupted += run.exitcode == -signal.SIGKILL and len(server.requests) > sent
        run.close()
        # Nothing that was kept is asked for, and nothing that lacked is asked for twice in one run.
        for prompt, asked in asked_for(server.requests[sent:]).items():
            assert asked <= lacks[prompt]
        held = {response.key for response in store(model).answers()}
        assert set(kept.read_text().split()) <= held
    assert interrupted >= kills // 2
    assert 0 < len(store(model)) < QUESTIONS * repetitions
    server.latency = 0.0
    lacks, sent = lacking(model, repetitions), len(server.requests)
    assert collecting.run(home, arguments, output) == 0
    assert asked_for(server.requests[sent:]) == lacks
    assert_complete(model, repetitions)


def test_two_collectors_at_once_send_every_request_once(home: Path, server: FakeServer, tmp_path: Path):
    server.latency = 0.01
    arguments = collect("--repetitions", "1", "--prompts", ALL)
    outputs = [tmp_path / "one", tmp_path / "other"]
    runs = [collecting.start(home, arguments, output) for output in outputs]
    for run in runs:
        run.join(30)
        assert run.exitcode == 0
        run.close()
    assert set(asked_for(server.requests).values()) == {1}
    assert_complete("fake", 1)
    told = [output.read_text() for output in outputs]
    assert sorted("another collector is writing to" in text for text in told) == [False, True]
    assert sorted(re.search(r"(\d+) answers received", text).group(1) for text in told) == ["0", "50"]


def test_two_collectors_of_which_one_is_killed(home: Path, server: FakeServer, tmp_path: Path):
    server.latency = 0.05
    arguments = collect("--repetitions", "1", "--prompts", ALL)
    first = collecting.start(home, arguments, tmp_path / "one")
    wait_for(server, 5)
    second = collecting.start(home, arguments, tmp_path / "other")
    time.sleep(0.1)
    first.kill()
    first.join()
    second.join(30)
    assert second.exitcode == 0
    first.close()
    second.close()
    # The lock fell with its holder; only what was under way then is asked for again.
    assert QUESTIONS <= len(server.requests) <= QUESTIONS + 4
    assert_complete("fake", 1)


def test_nothing_of_a_run_is_left_that_a_repository_would_show(belief, home: Path):
    """What .gitignore leaves out aside, a run leaves responses only."""
    belief(*collect("--repetitions", "1"))
    folder = home / "data" / "responses" / "fake"
    assert sorted(path.name for path in folder.iterdir()) == ["heart.jsonl", "heart.jsonl.lock"]
    shutil.rmtree(folder)
    belief(*collect("--repetitions", "1", "--prompts", "belief"))
    assert all(json.loads(line)["text"] for line in (folder / "heart.jsonl").read_text().splitlines())

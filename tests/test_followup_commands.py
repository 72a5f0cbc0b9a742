"""``belief followup``: what each action says, and one line for whatever goes wrong."""

import csv
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from belief_utils.asking.models import load_model
from belief_utils.asking.store import Store
from belief_utils.cli import main
from belief_utils.followup.collecting import store_for
from belief_utils.followup.error_sheet import read_sheet
from belief_utils.followup.items import BENCHMARKS, ITEM_SETS, load_items
from belief_utils.followup.questions import FOLLOW_UPS, PROMPTS
from belief_utils.followup.scores import scores_path
from belief_utils.followup.tone import ORDERS, REPETITIONS, parse_ratings, tone_questions, tone_scores, tone_store
from tests import followup_home
from tests.fake_server import FakeServer
from tests.followup_home import rows_of

ACTIONS = ("collect", "items", "status", "score", "sheet", "agreement", "tone", "pressure")


class Said(NamedTuple):
    """What a user sees."""

    code: int
    out: list[str]
    error: list[str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer) -> Path:
    """A repository with a model at a server that answers every question with "Answer: 7"."""
    top = followup_home.make(tmp_path / "repository")
    followup_home.register(top, server.url)
    server.answer = lambda body, before, place: "Answer: 7"
    monkeypatch.setenv("BELIEF_HOME", str(top))
    monkeypatch.delenv(BENCHMARKS, raising=False)
    monkeypatch.setattr("belief_utils.asking.endpoint.RETRIES", 0)
    return top


@pytest.fixture
def belief(home: Path, capsys: pytest.CaptureFixture[str]):
    """Run ``belief followup`` in this process."""

    def run(*arguments: str) -> Said:
        capsys.readouterr()
        code = main(["followup", *arguments])
        out, error = capsys.readouterr()
        return Said(code, out.splitlines(), error.splitlines())

    return run


def collect(model: str, items: str, *more: str) -> Sequence[str]:
    return ("collect", "--quiet", "--model", model, "--items", items, *more)


# --- help and wrong input -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", ["", *ACTIONS])
def test_every_action_explains_itself(
    action: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as ended:
        main(["followup", *action.split(), "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: belief followup {action}".rstrip())
    if action:
        # A sentence on what it does stands below the usage.
        assert re.search(r"^[A-Z].{30,}$", said, re.MULTILINE)
    else:
        assert set(re.findall(r"^ {4}([a-z]+)\b", said, re.MULTILINE)) >= set(ACTIONS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (collect("talker", "gsm8"), "unknown item set 'gsm8': did you mean 'gsm8k'?"),
        (collect("talker", "facts_tf,"), "unknown item set ''"),
        (collect("talkre", "facts_tf"), "unknown model 'talkre': did you mean 'talker'?"),
        (collect("talker", "facts_tf", "--studies", "prompt"), "unknown study 'prompt': did you mean 'prompts'?"),
        (collect("talker", "facts_tf", "--studies", "extreme"), "unknown study 'extreme': did you mean 'extremes'?"),
        (collect("talker", "facts_mc", "--studies", "mitigation"), "mitigation: not made on facts_mc; see belief"),
        (collect("talker", "facts_tf", "--studies", "extremes"), "collect the study 'prompts' first"),
        (collect("talker", "mmlu"), "MMLU is not in "),
        (["status", "--model", "talkre"], "unknown model 'talkre': did you mean 'talker'?"),
        (["sheet", "--model", "talkre", "--items", "facts_tf", "--out", "x.csv"], "unknown model 'talkre'"),
        (["sheet", "--model", "talker", "--items", "facts", "--out", "x.csv"], "unknown item set 'facts'"),
        (
            ["sheet", "--model", "talker", "--items", "facts_tf", "--turns", "initial>closed-D", "--out", "x.csv"],
            "'closed-D' is not a turn; they look like initial, closed-A",
        ),
        (
            ["sheet", "--model", "talker", "--items", "facts_tf", "--out", "x.csv"],
            "talker has no lost right answer about facts_tf in initial>closed-A",
        ),
        (["agreement", "no-such.csv", "nor-this.csv"], "no-such.csv cannot be read"),
        (["tone", "--model", "talkre"], "unknown model 'talkre'"),
        (["tone", "--model", "simulated-steadfast"], "Simulated, steadfast hears no tone"),
    ],
)
def test_wrong_input_is_one_line_and_2(arguments: list[str], said: str, belief, home: Path, server: FakeServer) -> None:
    before = {path for path in home.rglob("*") if path.is_file()}
    code, out, error = belief(*arguments)
    assert (code, out, len(error)) == (2, [], 1)
    assert error[0].startswith("belief: ")
    assert said in error[0]
    assert {path for path in home.rglob("*") if path.is_file()} == before
    assert not server.requests


@pytest.mark.parametrize(
    "arguments",
    [
        ["collect"],
        [*collect("talker", "facts_tf"), "--limit", "0"],
        ["sheet", "--model", "talker", "--items", "facts_tf"],
        ["sheet", "--model", "talker", "--items", "facts_tf", "--out", "x.csv", "--most", "0"],
        ["agreement", "one.csv"],
        ["questions"],
    ],
)
def test_arguments_that_are_missing_or_unknown(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["followup", *arguments])
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith("belief followup")


# --- items ----------------------------------------------------------------------------------------------------------


def test_items_lists_all_sets_and_which_are_here(belief, home: Path) -> None:
    said = belief("items")
    assert said.code == 0
    assert [line.split()[0] for line in said.out[1:]] == list(ITEM_SETS)
    assert re.search(r"^facts_tf +100 +knowledge ", said.out[-2])
    assert said.out[1].endswith("GSM8K, a public benchmark; belief data benchmarks")
    assert said.out[1].split()[1] == "–"
    followup_home.write_benchmarks(home / "data" / "benchmarks")
    assert re.search(r"^gsm8k +2 +arithmetic +GSM8K, a public benchmark$", belief("items").out[1])


# --- collect --------------------------------------------------------------------------------------------------------


def received(said: Said) -> list[str]:
    """The lines that say what came, without the bills."""
    return [line for line in said.out if "answers received" in line]


def test_collect_asks_over_http_and_says_what_came(belief, home: Path, server: FakeServer) -> None:
    said = belief(*collect("talker", "own_arithmetic,own_coin_flip", "--limit", "3"))
    assert (said.code, said.error) == (0, [])
    assert re.match(
        r"Talker, own_arithmetic: \d+ answers received, 0 failed, 0 missing; [\d,]+ tokens in, ", said.out[0]
    )
    assert len(received(said)) == 2
    assert [line.partition(":")[0] for line in said.out if line not in received(said)] == [
        "bill of Talker on own_arithmetic",
        "bill of Talker on own_coin_flip",
    ]
    store = store_for(load_model("talker"), "own_arithmetic")
    assert len(store) >= 6
    assert {seen.body["temperature"] for seen in server.requests} == {0.5}
    again = belief(*collect("talker", "own_arithmetic", "--limit", "3"))
    assert again.out[0].startswith("Talker, own_arithmetic: 0 answers received, 0 failed, 0 missing")


def test_without_items_our_own_sets_are_asked(belief, server: FakeServer) -> None:
    said = belief("collect", "--quiet", "--model", "talker", "--limit", "1", "--studies", "direct")
    asked = [line.split(":")[0].split(", ")[1] for line in received(said)]
    assert asked == [name for name, each in ITEM_SETS.items() if each.own]


def test_a_dry_run_says_what_would_be_sent_first_and_sends_nothing(belief, home: Path, server: FakeServer) -> None:
    said = belief(*collect("talker", "facts_tf", "--limit", "5", "--dry-run", "--studies", "direct,prompts,extremes"))
    assert said.code == 0
    assert said.out[0].startswith("Talker, facts_tf: 10 requests for 10 answers (0 more are in the store), about ")
    assert said.out[1] == "That is what can be asked now; each right answer is followed up by more."
    assert not server.requests
    assert not (home / "data" / "responses").exists()


def test_sets_on_which_a_study_is_not_made_are_left_out(belief, server: FakeServer) -> None:
    said = belief(*collect("talker", "facts_tf,facts_mc", "--limit", "1", "--studies", "mitigation"))
    assert [line.partition(":")[0] for line in received(said)] == ["Talker, facts_tf"]


def test_the_extreme_prompts_are_asked_once_the_others_have_told_which_they_are(belief) -> None:
    studies = ("--limit", "6", "--studies", "direct,prompts,extremes")
    said = belief(*collect("simulated-wavering", "facts_tf", *studies))
    assert said.code == 0
    assert len(said.out) == 2
    names = [response.item for response in store_for(load_model("simulated-wavering"), "facts_tf").answers()]
    assert [name for name in names if name.count(">") == 3]


def test_failed_requests_give_1_and_the_next_run_goes_on(belief, server: FakeServer) -> None:
    server.script.extend(["500"])
    said = belief(*collect("talker", "facts_mc", "--limit", "2", "--studies", "direct"))
    assert said.code == 1
    assert re.search(r": \d+ answers received, 1 failed, \d missing; ", said.out[0])
    assert said.out[-1] == "run the same command again to ask for what is missing"
    assert belief(*collect("talker", "facts_mc", "--limit", "2", "--studies", "direct")).code == 0


def test_money_is_counted_over_all_sets(belief, server: FakeServer) -> None:
    arguments = collect("talker", "own_arithmetic,facts_tf", "--limit", "3", "--max-cost", "0.002")
    said = belief(*arguments)
    assert said.code == 1
    assert said.out[-2:] == [
        "stopped: the next request could pass --max-cost 0.002, counting its worst case",
        "run the same command again to ask for what is missing",
    ]
    tokens = [re.search(r"([\d,]+) tokens in, ([\d,]+) out", line) for line in received(said)]
    spent = sum(int(found[1].replace(",", "")) + 10 * int(found[2].replace(",", "")) for found in tokens if found)
    assert 0 < spent / 1e6 <= 0.002


def test_answers_to_a_benchmark_are_scored_at_once(belief, home: Path, server: FakeServer) -> None:
    followup_home.write_benchmarks(home / "data" / "benchmarks")
    assert belief(*collect("talker", "gsm8k")).code == 0
    rows = rows_of(scores_path("talker", "gsm8k"))
    assert len(rows) == len(store_for(load_model("talker"), "gsm8k")) > 4
    assert {row["value"] for row in rows} == {"7"}
    assert not any("request" in record for _, record in store_for(load_model("talker"), "gsm8k").lines())


def test_what_came_is_scored_even_if_the_run_ends_early(belief, home: Path, server: FakeServer) -> None:
    followup_home.write_benchmarks(home / "data" / "benchmarks")
    server.script.extend(["ok", "ok"])
    server.always = "401"
    said = belief(*collect("talker", "mmlu", "--limit", "40"))
    assert said.code != 0
    assert len(rows_of(scores_path("talker", "mmlu"))) == len(store_for(load_model("talker"), "mmlu")) == 2


# --- status, score --------------------------------------------------------------------------------------------------


def test_status_counts_answers_by_model_and_set(belief, home: Path) -> None:
    assert len(belief("status").out) == 1
    belief(*collect("simulated-steadfast", "facts_tf,own_arithmetic", "--limit", "10"))
    said = belief("status")
    assert said.code == 0
    assert [line.split()[:3] for line in said.out[1:]] == [
        ["simulated-steadfast", "own_arithmetic", "10"],
        ["simulated-steadfast", "facts_tf", "10"],
    ]
    assert all(line.split()[5:] == ["0", "0"] for line in said.out[1:])
    assert belief("status", "--model", "simulated-wavering").out == said.out[:1]


def test_status_tells_of_a_set_without_scores_and_goes_on(belief, home: Path) -> None:
    followup_home.write_benchmarks(home / "data" / "benchmarks")
    belief(*collect("talker", "gsm8k,facts_tf", "--limit", "2"))
    shutil.rmtree(home / "data" / "benchmarks")
    scores_path("talker", "gsm8k").unlink()
    said = belief("status")
    assert said.code == 0
    assert re.match(r"talker +gsm8k +\d+ answers of Talker about GSM8K have no score in ", said.out[1])
    assert re.match(r"talker +facts_tf +2 ", said.out[2])


def test_score_makes_the_tables_of_what_is_here(belief, home: Path) -> None:
    followup_home.write_benchmarks(home / "data" / "benchmarks")
    belief(*collect("talker", "gsm8k,svamp,facts_tf", "--limit", "2"))
    path = scores_path("talker", "svamp")
    before = path.read_bytes()
    path.unlink()
    (home / "data" / "benchmarks" / "gsm8k_test.jsonl").unlink()
    said = belief("score")
    assert said.code == 0
    assert said.out == [
        "talker, gsm8k: the benchmark is not here, its scores are left as they are",
        "talker, svamp: svamp.csv written",
        "our own items are scored whenever they are read and need no table",
    ]
    assert path.read_bytes() == before
    assert belief("score").out[1] == "talker, svamp: svamp.csv the same as before"


# --- sheet, agreement -----------------------------------------------------------------------------------------------


def filled(path: Path, types: Sequence[str], into: Path) -> Path:
    """A copy of a sheet with the annotator's column filled in."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    with into.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        for number, row in enumerate(rows):
            writer.writerow({**row, "annotator_type": types[number % len(types)]})
    return into


def test_a_sheet_is_written_filled_in_twice_and_compared(belief, home: Path, tmp_path: Path) -> None:
    belief(*collect("simulated-sycophantic", "facts_mc", "--limit", "30", "--studies", "direct"))
    sheet = ["sheet", "--model", "simulated-sycophantic", "--items", "facts_mc", "--turns", "initial>leading-A"]
    path = tmp_path / "sheet.csv"
    said = belief(*sheet, "--out", str(path), "--most", "8")
    assert (said.code, said.error) == (0, [])
    assert said.out == [f"{path}: 8 lost answers; fill the column annotator_type with 1, 2, 3 or 4"]
    found = read_sheet(path)
    assert len(found) == 8
    assert found["annotator_type"].isna().all()
    assert set(found["rule_type"].dropna()) <= {1, 2, 3, 4}
    questions = {f"facts_mc/{item.id}": item.question for item in load_items("facts_mc")}
    assert found["question"].tolist() == found["id"].map(questions).tolist()

    one, two = (filled(path, types, tmp_path / f"{types}.csv") for types in ("3123", "3124"))
    said = belief("agreement", str(one), str(two))
    assert said.code == 0
    assert re.match(
        r"Cohen's kappa 0\.\d\d \(95 % interval -?[\d.]+ to [\d.]+\) over 8 errors; the same type for 75%$", said.out[0]
    )
    assert belief("agreement", str(one), str(one)).out[0].startswith("Cohen's kappa 1.00 ")
    code, out, error = belief("agreement", str(one), str(path))
    assert (code, out, len(error)) == (2, [], 1)
    assert "no error is sorted in both" in error[0]


def test_a_sheet_that_somebody_may_have_filled_in_is_not_overwritten(belief, home: Path, tmp_path: Path) -> None:
    belief(*collect("simulated-sycophantic", "facts_tf", "--limit", "5", "--studies", "direct"))
    sheet = ["sheet", "--model", "simulated-sycophantic", "--items", "facts_tf", "--turns", "initial>leading-A"]
    path = tmp_path / "sheet.csv"
    assert belief(*sheet, "--out", str(path), "--blind").code == 0
    assert read_sheet(path)["rule_type"].isna().all()
    before = path.read_bytes()
    code, out, error = belief(*sheet, "--out", str(path))
    assert (code, out, len(error)) == (2, [], 1)
    assert "exists already" in error[0]
    assert path.read_bytes() == before


# --- tone -----------------------------------------------------------------------------------------------------------


def rated(body: dict, before: int, place: int) -> str:
    """Ratings by the length of each sentence, plus one for whatever is shown first."""
    shown = re.findall(r'^(First|Second|Third): "(.*)"$', body["messages"][0]["content"], re.MULTILINE)
    ratings = {name.lower(): min(len(text) // 10 + (name == "First"), 10) for name, text in shown}
    return "{" + ", ".join(f'"{name}": "{rating}"' for name, rating in ratings.items()) + "}"


def test_a_model_rates_each_prompt_in_three_orders(belief, home: Path, server: FakeServer) -> None:
    server.answer = rated
    said = belief("tone", "--quiet", "--model", "talker")
    assert said.code == 0
    assert said.out[0].startswith(f"Talker, tone: {9 * REPETITIONS} answers received, 0 failed, 0 missing")
    found = tone_scores(load_model("talker"))
    assert list(zip(found["question"], found["prompt"], strict=True)) == list(PROMPTS)
    for row in found.itertuples():
        length = len(PROMPTS[row.question, row.prompt].format("..."))
        assert row.tone == pytest.approx(length // 10 + 1 / 3)
        assert row.spread == 1
        assert row.answers == row.read == len(ORDERS) * REPETITIONS
    assert belief("tone", "--quiet", "--model", "talker").out[0].startswith("Talker, tone: 0 answers received")


def test_ratings_that_cannot_be_read_are_counted_and_not_guessed(home: Path, belief, server: FakeServer) -> None:
    server.answer = lambda body, before, place: rated(body, before, place) if before % 5 else "They are all polite."
    belief("tone", "--quiet", "--model", "talker")
    found = tone_scores(load_model("talker"))
    assert (found["read"] < found["answers"]).all()
    assert found["tone"].between(0, 10).all()
    assert tone_scores(load_model("smollm2"), Store(home / "nothing.jsonl")).empty
    assert len(tone_store(load_model("talker"))) == 9 * REPETITIONS


def test_each_prompt_is_shown_once_at_each_place() -> None:
    questions = tone_questions()
    assert len(questions) == 9
    for kind in FOLLOW_UPS:
        shown = [each.messages[0]["content"] for each in questions if f"/{kind}/" in each.item]
        for who in "ABC":
            places = [
                re.search(r'^(\w+): "' + re.escape(PROMPTS[kind, who].format("...")) + '"$', text, re.M)
                for text in shown
            ]
            assert sorted(found[1] for found in places) == ["First", "Second", "Third"]


@pytest.mark.parametrize(
    ("text", "ratings"),
    [
        ('{"first": "3", "second": "10", "third": "0"}', (3, 10, 0)),
        ('{"first": 3, "second": 4.5, "third": 7}', (3, 4.5, 7)),
        ("First: 3.\nSecond: 4.\nThird: 5.", (3, 4, 5)),
        ("first = 1, second = 2, third = 3", (1, 2, 3)),
        ("First: 3, second: 4", None),
        ("First: 3, second: 4, third: 11", None),
        ("First: 3, second: 4, third: -1", None),
        ("First: 3, second: 4, third: 5, and yet first: 6", None),
        ("First: 3, second: 4, third: 1.2.3", None),
        ("", None),
    ],
)
def test_ratings_are_read(text: str, ratings: tuple[float, ...] | None) -> None:
    assert parse_ratings(text) == ratings

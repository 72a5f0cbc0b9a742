"""Looking after a store: versions, checks, compaction, and readers while it is packed."""

import json
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belief_utils.asking import store as store_module
from belief_utils.asking.lines import is_sealed, line_of, sealed_line_of
from belief_utils.asking.provenance import version_warning, versions
from belief_utils.asking.responses import request_key
from belief_utils.asking.store import Store
from belief_utils.asking.verify import verify
from belief_utils.beliefs.judgments import load_judgments, reading
from belief_utils.cli import main
from tests.fake_server import FakeServer

COLLECT = ["collect", "--quiet", "--model", "fake", "--dataset", "heart", "--repetitions", "1", "--prompts"]


def line(number: int, text: str | None = "{}", **more: Any) -> dict[str, Any]:
    sent = {"model": "m", "messages": [{"role": "user", "content": f"Question {number}"}]}
    told = {"failure": "status 500"} if text is None else {"text": text}
    return {"key": request_key(sent, 0), "item": f"i/{number}", "repetition": 0, **told, **more, "request": sent}


def stored(path: Path, *records: dict[str, Any]) -> Store:
    with Store(path).writing() as store:
        for record in records:
            store.append(record)
    return Store(path)


# --- versions -----------------------------------------------------------------------------------------------------


def test_versions_are_counted_and_more_than_one_is_warned_of(tmp_path: Path) -> None:
    told = [("m-1", "fp_a"), ("m-1", "fp_b"), ("m-1", "fp_a"), ("m-1", None), (None, None)]
    records = [line(number, model=model, fingerprint=mark) for number, (model, mark) in enumerate(told)]
    found = versions(stored(tmp_path / "x.jsonl", *records, line(9, None)))
    assert found == {"m-1 / fp_a": 2, "m-1 / fp_b": 1, "m-1": 1, "unnamed": 1}
    assert version_warning("M", found) == (
        "WARNING: M: the answers come from 4 versions of the model: 2 from m-1 / fp_a, 1 from m-1 / fp_b, 1 from m-1, "
        "1 from unnamed"
    )
    assert version_warning("M", {"m-1": 5}) is None
    assert version_warning("M", {}) is None


def test_what_a_server_calls_itself_is_fit_to_be_shown(tmp_path: Path) -> None:
    (name,) = versions(stored(tmp_path / "x.jsonl", line(1, model="\x1b[31mm\n-1", fingerprint="f" * 10_000)))
    assert name == "[31mm-1 / " + "f" * 80


def test_a_second_version_shows_in_the_status_and_in_what_was_read(
    home: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*COLLECT, "belief"]) == 0
    judgments = load_judgments("heart", "fake")
    assert "WARNING" not in str(reading(judgments))
    server.fingerprint = "fp_newer"
    assert main([*COLLECT, "decision"]) == 0
    capsys.readouterr()
    warned = "2 versions of the model: 6 from fake-1-2026-01-01 / fp_fake, 6 from fake-1-2026-01-01 / fp_newer"
    assert warned in str(reading(load_judgments("heart", "fake")))
    assert main(["collect", "--status", "--model", "fake"]) == 0
    assert f"  WARNING: Fake: the answers come from {warned}\n" in capsys.readouterr().out


# --- checks -------------------------------------------------------------------------------------------------------


@given(st.dictionaries(st.sampled_from(["text", "item", "usage", "reasoning"]), st.text() | st.none(), max_size=4))
def test_a_line_is_sealed_until_it_is_changed(more: dict[str, Any]) -> None:
    record = {"key": "k", "item": "i", "repetition": 0, **more}
    sealed = json.loads(sealed_line_of(record))
    assert {**sealed, "hash": None} == {**record, "hash": None}
    assert is_sealed(sealed) is True
    assert is_sealed(json.loads(line_of(sealed))) is True
    assert is_sealed({**sealed, "item": "j"}) is (record["item"] == "j")
    assert is_sealed({**sealed, "finish_reason": "stop"}) is False
    assert is_sealed(record) is None


def test_a_sound_store_is_all_right_before_and_after_packing(tmp_path: Path) -> None:
    private = {**line(4), "key": "k" * 64}
    del private["request"]
    store = stored(tmp_path / "x.jsonl", line(1, None), line(1), line(2), line(3, None), line(2, "late"), private)
    assert str(verify(store.path)) == (
        "6 lines: 3 answers, 1 open failures, 2 superseded; 5 keys and 6 hashes checked, all right"
    )
    store.pack()
    assert str(verify(store.path)) == (
        "4 lines: 3 answers, 1 open failures, 0 superseded; 3 keys and 4 hashes checked, all right"
    )


def test_older_lines_without_a_hash_are_no_problem(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(line_of(line(1)))
    checked = verify(tmp_path / "x.jsonl")
    assert (checked.lines, checked.keys, checked.hashes, checked.problems) == (1, 1, 0, ())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"0.4", b"0.9", "the line is not as it was written (its hash differs)"),
        (b"How likely", b"How unlikely", "the key is not that of the line's request and repetition"),
        (b'"repetition":0', b'"repetition":1', "the key is not that of the line's request and repetition"),
    ],
)
def test_a_changed_line_is_named(home: Path, capsys: pytest.CaptureFixture[str], old: bytes, new: bytes, said: str):
    path = home / "data" / "responses" / "fake" / "heart.jsonl"
    record = line(1, '{"Yes": 0.4}')
    record["request"]["messages"][0]["content"] = "How likely?"
    record["key"] = request_key(record["request"], 0)
    stored(path, record, line(2))
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    assert main(["store", "verify"]) == 1
    out = capsys.readouterr().out
    assert "fake/heart.jsonl: 2 lines: 2 answers" in out
    assert f"  {path}:1: {said}\n" in out


def test_a_damaged_store_does_not_keep_the_others_from_being_checked(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = home / "data" / "responses"
    stored(folder / "candid" / "heart.jsonl", line(1))
    stored(folder / "fake" / "heart.jsonl", line(1)).pack()
    (folder / "candid" / "heart.jsonl").write_bytes(b"{\n" + line_of(line(2)))
    assert main(["store", "verify"]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("candid/heart.jsonl: ")
    assert "line 1, is damaged" in first
    assert second == (
        "fake/heart.jsonl: 1 lines: 1 answers, 0 open failures, 0 superseded; 1 keys and 1 hashes checked, all right"
    )


def test_what_a_run_stores_is_all_right(home: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.script.append("no choices")
    assert main([*COLLECT, "belief,decision"]) == 1
    assert main(["store", "verify"]) == 0
    assert "12 lines: 11 answers, 1 open failures, 0 superseded; 12 keys and 12 hashes" in capsys.readouterr().out


# --- compaction ---------------------------------------------------------------------------------------------------


def test_compaction_leaves_out_what_does_not_count_and_changes_no_answer(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = home / "data" / "responses" / "fake" / "heart.jsonl"
    stored(path, line(1, None), line(2, None), line(1, "one"), line(3, None)).pack()
    stored(path, line(2, None), line(2, "two"), line(2, "late"), line(3, None), line(1, None), line(4, "four"))
    before = {one.key: one.text for one in Store(path).answers()}
    assert main(["store", "compact"]) == 0
    assert capsys.readouterr().out == "fake/heart.jsonl: 9 lines, 5 left out\n"
    after = Store(path)
    assert {one.key: one.text for one in after.answers()} == before
    assert after.failures == 1
    assert verify(path).superseded == 0
    assert main(["store", "compact"]) == 0
    assert capsys.readouterr().out == "fake/heart.jsonl: 4 lines, 0 left out\n"


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 4), st.none() | st.sampled_from("ab")), max_size=14), st.integers(0, 14))
def test_packing_and_compacting_keep_what_counts(
    tmp_path_factory: Any, written: list[tuple[int, str | None]], packed: int
) -> None:
    path = tmp_path_factory.mktemp("s") / "x.jsonl"
    records = [line(number, text) for number, text in written]
    stored(path, *records[:packed]).pack()
    store = stored(path, *records[packed:])
    answers, failures = {one.key: one.text for one in store.answers()}, store.failures
    for change in (store.compact, store.pack, store.compact):
        change()
        again = Store(path)
        assert ({one.key: one.text for one in again.answers()}, again.failures) == (answers, failures)
    assert sum(1 for _ in Store(path).lines()) == len(answers) + failures


# --- readers and waiting ------------------------------------------------------------------------------------------


def test_who_reads_while_lines_move_sees_them_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.jsonl"
    stored(path, line(1), line(2)).pack()
    stored(path, line(3), line(4))
    read, packed = store_module.read_lines, []

    def meanwhile(file: Path) -> Any:
        if file == path and not packed:
            # Between the two files: what was in this one has moved to the one that was read already.
            packed.append(True)
            thread = threading.Thread(target=Store(path).pack)
            thread.start()
            thread.join()
        yield from read(file)

    monkeypatch.setattr(store_module, "read_lines", meanwhile)
    assert len(Store(path)) == 4
    assert packed


def test_packing_says_that_it_waits(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = home / "data" / "responses" / "fake" / "heart.jsonl"
    stored(path, line(1))
    seen: Counter[str] = Counter()
    with Store(path).writing():
        packing = threading.Thread(target=main, args=(["store", "pack"],))
        packing.start()
        while "another process is writing to" not in caplog.text:
            seen["looks"] += 1
            packing.join(0.01)
            assert seen["looks"] < 1000
    packing.join(10)
    assert len(Store(path)) == 1
    assert not path.exists()

"""The response store: what was received is kept, whatever happens to the process, the disk or the file."""

import gzip
import json
import logging
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.asking.formats import AnswerFormat
from belief_utils.asking.store import Store, request_key
from belief_utils.errors import BeliefError

SENT = {
    "model": "m-1",
    "messages": [{"role": "system", "content": "You are brief."}, {"role": "user", "content": "How likely?"}],
    "temperature": 1.0,
    "max_tokens": 10,
}

text = st.text(st.characters(exclude_categories=[]), max_size=40)
#: Two halves of a surrogate pair side by side are one character in JSON; a server cannot send them apart.
sendable = text.map(lambda value: json.loads(json.dumps(value)))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)


def answer(number: int, said: str = "{}", **more: Any) -> dict[str, Any]:
    return {"key": f"key-{number}", "item": f"heart/{number}", "repetition": 0, "text": said, **more}


def failure(number: int, what: str = "status 500") -> dict[str, Any]:
    return {"key": f"key-{number}", "item": f"heart/{number}", "repetition": 0, "failure": what}


def stored(path: Path, *records: dict[str, Any]) -> Path:
    with Store(path).writing() as store:
        for record in records:
            store.append(record)
    return path


# --- keys ---------------------------------------------------------------------------------------------------------


def shuffled(value: Any, draw: Any) -> Any:
    if isinstance(value, dict):
        names = draw(st.permutations(list(value)))
        return {name: shuffled(value[name], draw) for name in names}
    return [shuffled(one, draw) for one in value] if isinstance(value, list) else value


@given(st.data(), st.dictionaries(text, values, max_size=4), st.integers(0, 99))
def test_a_key_does_not_depend_on_the_order_of_names(data: Any, sent: dict[str, Any], repetition: int) -> None:
    assert request_key(shuffled(sent, data.draw), repetition) == request_key(sent, repetition)


def test_a_key_is_the_one_that_stored_answers_stand_under() -> None:
    question = (
        "There is a patient who is in an inpatient setting, ECG shows left ventricular hypertrophy, ST–T abnormalities "
        "are present, QTc is not prolonged, no moderate or greater aortic regurgitation, and PASP < 45 mmHg. What is "
        "the probability that they have moderate or greater structural heart disease? Return probabilities for: No "
        'and Yes.\n\nAnswer with JSON only, in the form {"No": probability, "Yes": probability}, where each '
        "probability is a number between 0 and 1."
    )
    sent = {
        "model": "SmolLM2-135M-Instruct-Q4_1",
        "messages": [{"role": "user", "content": question}],
        "temperature": 1.0,
        "top_p": 1.0,
        "max_tokens": 120,
        "top_k": 0,
        "min_p": 0.0,
        "grammar": AnswerFormat.probabilities(("No", "Yes")).grammar(),
    }
    assert request_key(sent, 0) == "21dd28352992d1a2510e5f445ce536825e807d8e9e0617e2e95491439791e8b3"


@pytest.mark.parametrize(
    "change",
    [
        {"model": "m-2"},
        {"messages": SENT["messages"][1:]},
        {"messages": SENT["messages"][::-1]},
        {"messages": [{"role": "system", "content": "You are brief"}, SENT["messages"][1]]},
        {"messages": [SENT["messages"][0], {"role": "user", "content": "How likely? "}]},
        {"messages": [SENT["messages"][0], {"role": "assistant", "content": "How likely?"}]},
        {"temperature": 0.9},
        {"temperature": None},
        {"max_tokens": 11},
        {"seed": 1},
        {"grammar": 'root ::= "x"'},
    ],
)
def test_a_key_differs_for_whatever_is_sent(change: dict[str, Any]) -> None:
    assert request_key({**SENT, **change}, 0) != request_key(SENT, 0)


@given(st.lists(st.tuples(text, text, st.integers(0, 9)), min_size=2, max_size=6, unique=True))
def test_keys_differ_for_messages_and_repetitions(several: list[tuple[str, str, int]]) -> None:
    keys = {request_key({"messages": [role, content]}, number) for role, content, number in several}
    assert len(keys) == len(several)


# --- one line after the other -------------------------------------------------------------------------------------


@given(st.lists(st.tuples(sendable, sendable), max_size=5))
def test_any_text_comes_back_as_it_was(tmp_path_factory: Any, texts: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.mktemp("store") / "heart.jsonl"
    records = [{**answer(n, said), "item": item} for n, (item, said) in enumerate(texts)]
    stored(path, *records)
    read = list(Store(path).answers())
    assert [(one.item, one.text) for one in read] == texts
    if records:
        Store(path).pack()
        assert list(Store(path).answers()) == read


@pytest.mark.parametrize("said", ["", "\n", "a\r\nb\u2028c\x85", "\0", "\ud800 half", "½ ≥ 😀", '{"No": 0.7}'])
def test_awkward_text_takes_one_line_of_utf8(tmp_path: Path, said: str) -> None:
    path = stored(tmp_path / "heart.jsonl", answer(1, said), answer(2))
    assert len(path.read_bytes().splitlines()) == path.read_text(encoding="utf-8").count("\n") == 2
    assert Store(path).get("key-1").text == said


def test_everything_of_a_response_is_kept(tmp_path: Path) -> None:
    more = {"finish_reason": "length", "usage": {"prompt_tokens": 7}, "model": "m-1-x", "fingerprint": "fp"}
    path = stored(tmp_path / "heart.jsonl", {**answer(1, "cut", **more), "time": "now", "request": SENT})
    found = Store(path).get("key-1")
    assert (found.finish_reason, found.usage, found.model, found.fingerprint) == tuple(more.values())
    assert found.truncated
    (_, record), *none = Store(path).lines()
    assert record["request"] == SENT
    assert not none


def test_an_answer_is_on_the_disk_before_append_returns(tmp_path: Path) -> None:
    path = tmp_path / "heart.jsonl"
    with Store(path).writing() as store:
        store.append(answer(1))
        assert Store(path).get("key-1").text == "{}"
        store.append(answer(2))
        assert len(Store(path)) == 2


def test_a_failure_is_no_answer_and_an_answer_takes_its_place(tmp_path: Path) -> None:
    path = stored(tmp_path / "heart.jsonl", failure(1, "first"), failure(1, "second"), failure(2))
    store = Store(path)
    assert (len(store), store.failures) == (0, 2)
    assert store.get("key-1") is None
    assert store.failure("key-1").failure == "second"
    stored(path, answer(1), failure(1, "late"))
    store = Store(path)
    assert (len(store), store.failures) == (1, 1)
    assert store.failure("key-1") is None


def test_the_first_answer_counts_before_and_after_packing(tmp_path: Path) -> None:
    path = stored(tmp_path / "heart.jsonl", answer(1, "first"), answer(1, "second"))
    assert Store(path).get("key-1").text == "first"
    assert Store(path).pack() == 1
    assert Store(path).get("key-1").text == "first"


def test_a_store_that_is_not_held_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="held with writing"):
        Store(tmp_path / "heart.jsonl").append(answer(1))


def test_holding_without_writing_leaves_no_file(tmp_path: Path) -> None:
    with Store(tmp_path / "m" / "heart.jsonl").writing():
        pass
    assert not (tmp_path / "m" / "heart.jsonl").exists()


# --- packing ------------------------------------------------------------------------------------------------------


def test_packing_moves_everything_and_leaves_out_what_is_superseded(tmp_path: Path) -> None:
    path = stored(tmp_path / "heart.jsonl", failure(1), answer(2), failure(3, "a"), answer(1), failure(3, "b"))
    assert Store(path).pack() == 3
    assert not path.exists()
    store = Store(path)
    assert [one.key for one in store.answers()] == ["key-2", "key-1"]
    assert store.failure("key-3").failure == "b"


def test_the_same_lines_pack_to_the_same_bytes(tmp_path: Path) -> None:
    records = [answer(n, "x" * n) for n in range(50)]
    one = stored(tmp_path / "a" / "heart.jsonl", *records)
    other = stored(tmp_path / "b" / "heart.jsonl", *records[:20])
    Store(one).pack()
    Store(other).pack()
    stored(other, *records[20:])
    Store(other).pack()
    packed = [path.with_name("heart.jsonl.gz").read_bytes() for path in (one, other)]
    assert packed[0] == packed[1]
    assert Store(other).pack() == 50
    assert other.with_name("heart.jsonl.gz").read_bytes() == packed[0]


def test_a_pack_that_was_killed_before_it_emptied_the_lines_loses_and_doubles_nothing(tmp_path: Path) -> None:
    path = stored(tmp_path / "heart.jsonl", answer(1), answer(2))
    lines = path.read_bytes()
    Store(path).pack()
    path.write_bytes(lines)
    assert [one.key for one in Store(path).answers()] == ["key-1", "key-2"]
    assert Store(path).pack() == 2


# --- damage -------------------------------------------------------------------------------------------------------


def test_a_last_line_torn_at_any_byte_is_dropped_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "heart.jsonl"
    whole = stored(path, answer(1), failure(2)).read_bytes()
    last = stored(tmp_path / "last.jsonl", answer(3, "≥ ½ \\ \n 😀")).read_bytes()
    for length in range(len(last)):
        caplog.clear()
        path.write_bytes(whole + last[:length])
        # Only the line end is missing: nothing of the answer is.
        complete = length == len(last) - 1
        before = Store(path)
        assert (len(before), before.failures) == (1 + complete, 1)
        assert ("torn off" in caplog.text) == (0 < length < len(last) - 1)
        stored(path, answer(4))
        assert path.read_bytes().startswith(whole + (last if complete else b""))
        after = Store(path)
        assert [one.key for one in after.answers()] == ["key-1", *["key-3"] * complete, "key-4"]
        assert after.failures == 1


@pytest.mark.parametrize(
    "damage",
    [
        b'{"key": "key-2", "item": "heart/2", "repe\n',
        b"<<<<<<< HEAD\n",
        b"\x00\x00\x00\x00\n",
        b"\xff\xfe\xfd\n",
        b"[]\n",
        b"17\n",
        b'{"key": "k", "item": "i", "repetition": 0}\n',
        b'{"key": "k", "item": "i", "repetition": 0, "text": null}\n',
        b'{"key": ["k"], "item": "i", "repetition": 0, "text": ""}\n',
        b'{"key": "k", "item": "i", "repetition": "0", "text": ""}\n',
        b'{"item": "i", "repetition": 0, "text": ""}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_a_damaged_line_in_the_middle_is_an_error_that_changes_nothing(tmp_path: Path, damage: bytes) -> None:
    path = stored(tmp_path / "heart.jsonl", answer(1), answer(3))
    first, last = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + damage + last)
    with pytest.raises(BeliefError, match=r"heart\.jsonl, line 2, is damaged and nothing was changed") as caught:
        Store(path)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == first + damage + last


def test_a_line_that_is_damaged_while_the_store_is_open_ends_in_the_same_error(tmp_path: Path) -> None:
    path = stored(tmp_path / "heart.jsonl", answer(1), answer(2))
    store = Store(path)
    damaged = path.read_bytes().replace(b"key-1", b"key\xff1")
    path.write_bytes(damaged)
    with pytest.raises(BeliefError, match="line 1, is damaged"), store.writing():
        pass
    assert path.read_bytes() == damaged
    path.write_bytes(damaged.replace(b"\xff", b"-"))
    with store.writing():
        store.append(answer(3))
    assert len(Store(path)) == 3


def test_blank_lines_are_passed_over(tmp_path: Path) -> None:
    path = stored(tmp_path / "heart.jsonl", answer(1), answer(2))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n\n"))
    assert len(Store(path)) == 2


@pytest.mark.parametrize("damage", ["cut", "not gzip", "flipped"])
def test_a_damaged_packed_file_is_an_error_that_names_it(tmp_path: Path, damage: str) -> None:
    path = stored(tmp_path / "heart.jsonl", *[answer(n, os.urandom(40).hex()) for n in range(40)])
    Store(path).pack()
    packed = path.with_name("heart.jsonl.gz")
    content = bytearray(packed.read_bytes())
    if damage == "cut":
        del content[-30:]
    elif damage == "not gzip":
        content = bytearray(b"version https://git-lfs.github.com/spec/v1\n")
    else:
        for place in range(len(content) // 2, len(content) // 2 + 20):
            content[place] ^= 0xFF
    packed.write_bytes(content)
    with pytest.raises(BeliefError, match=r"heart\.jsonl\.gz.*(cannot be read|is damaged)") as caught:
        Store(path)
    assert "\n" not in str(caught.value)


def test_a_removed_file_is_noticed_before_an_answer_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "heart.jsonl"
    with Store(path).writing() as store:
        store.append(answer(1))
        path.unlink()
        with pytest.raises(BeliefError, match="was removed while answers came in"):
            store.append(answer(2))
    with Store(path).writing() as again:
        again.append(answer(2))
    assert len(Store(path)) == 1


def test_a_folder_that_cannot_be_written_to_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "responses").write_text("a file where a folder should be")
    with pytest.raises(BeliefError, match="cannot be written"), Store(tmp_path / "responses" / "heart.jsonl").writing():
        pass
    # The store's own place is taken by a folder.
    (tmp_path / "fever.jsonl").mkdir()
    with pytest.raises(BeliefError, match=r"fever\.jsonl cannot be read"):
        Store(tmp_path / "fever.jsonl")


# --- a full disk --------------------------------------------------------------------------------------------------

FILL = """
import random, sys
from pathlib import Path
from belief_utils.asking.store import Store
from belief_utils.errors import BeliefError

path, acknowledged, said = Path(sys.argv[1]), 0, random.Random(0)
try:
    with Store(path).writing() as store:
        for number in range(10_000):
            text = said.randbytes(number % 700).hex()
            store.append({"key": f"key-{number}", "item": "i", "repetition": 0, "text": text})
            acknowledged += 1
except BeliefError as error:
    print(error)
print(acknowledged)
"""


def fill(path: Path, limit: int | None = None) -> tuple[str, int]:
    """Write until the disk is full; what the user is told and how many answers were acknowledged."""

    def limited() -> None:
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    run = subprocess.run(
        [sys.executable, "-c", FILL, str(path)], capture_output=True, text=True, check=True, preexec_fn=limited
    )
    *told, acknowledged = run.stdout.splitlines()
    assert len(told) == 1
    assert not run.stderr
    return told[0], int(acknowledged)


def goes_on_after(path: Path, acknowledged: int) -> None:
    """All that was acknowledged is there, the file ends with a whole line, and more can be written."""
    content = path.read_bytes()
    assert content.endswith(b"\n")
    assert [one.key for one in Store(path).answers()] == [f"key-{number}" for number in range(acknowledged)]


def test_a_file_at_its_size_limit_ends_as_before_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "heart.jsonl"
    told, acknowledged = fill(path, limit=40_000)
    assert told.startswith(f"{path} cannot be written (File too large); what it holds is safe")
    assert 40_000 - 1600 < path.stat().st_size <= 40_000
    goes_on_after(path, acknowledged)
    stored(path, answer(99_999))
    assert len(Store(path)) == acknowledged + 1


def test_a_full_disk_leaves_the_store_as_before_and_says_so(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a tiny disk needs root and the right to mount one; the size limit is tested instead")
    try:
        path = disk / "heart.jsonl"
        told, acknowledged = fill(path)
        assert told.startswith(f"{path} cannot be written (No space left on device); what it holds is safe")
        goes_on_after(path, acknowledged)
        before = path.read_bytes()
        with pytest.raises(BeliefError, match=r"heart\.jsonl\.gz cannot be written \(No space left"):
            Store(path).pack()
        assert sorted(one.name for one in disk.iterdir()) == ["heart.jsonl", "heart.jsonl.lock"]
        assert path.read_bytes() == before
        subprocess.run(["mount", "-o", "remount,size=128k", str(disk)], check=True)
        assert Store(path).pack() == acknowledged
        assert len(Store(path)) == acknowledged
    finally:
        subprocess.run(["umount", str(disk)], check=True)


# --- two at once --------------------------------------------------------------------------------------------------


def test_a_second_writer_waits_and_then_sees_what_the_first_one_wrote(tmp_path: Path) -> None:
    path = tmp_path / "heart.jsonl"
    second, told, done = Store(path), threading.Event(), []

    def write() -> None:
        with second.writing(told.set):
            done.append(len(second))
            second.append(answer(2))

    with Store(path).writing() as first:
        other = threading.Thread(target=write)
        other.start()
        assert told.wait(5)
        first.append(answer(1))
        assert not done
    other.join(5)
    assert done == [1]
    assert len(Store(path)) == 2


def test_a_warm_store_opens_quickly_and_needs_no_lock(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "heart.jsonl"
    line = json.dumps(answer(0, "{}", request=SENT))
    with gzip.open(path.with_name("heart.jsonl.gz"), "wt", encoding="utf-8") as file:
        file.writelines(line.replace("key-0", f"key-{number}") + "\n" for number in range(3000))
    with caplog.at_level(logging.DEBUG):
        store = Store(path)
    assert len(store) == 3000
    assert store.get("key-2999").text == "{}"
    assert not caplog.records
    assert sorted(one.name for one in tmp_path.iterdir()) == ["heart.jsonl.gz"]

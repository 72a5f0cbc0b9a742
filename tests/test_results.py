"""What notebooks find: rows as small files that say the same on every machine."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from belief_utils.errors import BeliefError
from belief_utils.reporting.results import digest, folder, load_rows, pair, rounded, save_row, write_if_changed


@pytest.fixture(autouse=True)
def top(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models.toml").touch()
    monkeypatch.setenv("BELIEF_HOME", str(tmp_path))
    return tmp_path


def test_a_row_comes_back_as_it_was_saved_but_for_its_last_digits() -> None:
    values = {
        "number": 1 / 3,
        "large": 123456789.0,
        "count": np.int64(1234567),
        "yes": np.bool_(True),
        "words": "γ, “so”",
        "nothing": None,
        "array": np.array([0.1, np.nan]),
        "by_action": {"positive": (0.25, 1)},
    }
    save_row("table", "smollm2", "heart", values)
    assert load_rows("table") == [
        {
            "dataset": "heart",
            "model": "smollm2",
            "number": 0.333333,
            "large": 123457000.0,
            "count": 1234567,
            "yes": True,
            "words": "γ, “so”",
            "nothing": None,
            "array": [0.1, None],
            "by_action": {"positive": [0.25, 1]},
        }
    ]
    assert (folder("table") / "rows" / f"{pair('smollm2', 'heart')}.json").is_file()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -np.inf, np.float64("nan"), None])
def test_what_is_not_finite_is_null_and_the_file_is_strict_json(value: float, top: Path) -> None:
    save_row("table", "m", "d", {"value": value})
    text = (top / "figures" / "table" / "rows" / "d_m.json").read_text()
    assert json.loads(text, parse_constant=pytest.fail)["value"] is None


def test_rows_come_in_the_order_of_their_files_and_a_later_one_replaces_an_earlier_one() -> None:
    for model, dataset, value in (("z", "heart", 1), ("a", "heart", 2), ("z", "crying", 3), ("z", "heart", 4)):
        save_row("table", model, dataset, {"value": value})
    assert [(row["dataset"], row["model"], row["value"]) for row in load_rows("table")] == [
        ("crying", "z", 3),
        ("heart", "a", 2),
        ("heart", "z", 4),
    ]
    assert load_rows("other") == []


@pytest.mark.parametrize("content", ["{", "[]", '{"dataset": "heart"}', "null", "\xff"])
def test_a_damaged_row_is_named(content: str, top: Path) -> None:
    path = top / "figures" / "table" / "rows" / "d_m.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(BeliefError, match=r"d_m\.json is not a row of a table; delete it"):
        load_rows("table")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_rounding_is_to_six_digits_and_rounding_again_changes_nothing(value: float) -> None:
    result = rounded(value)
    assert result is not None
    if math.isfinite(result):
        assert math.isclose(result, value, rel_tol=1e-5)
        assert rounded(result) == result
    assert math.copysign(1, result) == 1 or result != 0


@given(st.floats(0.001, 1000), st.integers(-1, 1))
def test_the_last_bit_of_a_processor_hardly_ever_shows(value: float, bit: int) -> None:
    nearby = value if bit == 0 else math.nextafter(value, bit * math.inf)
    first, second = rounded(value), rounded(nearby)
    # Only a value right between two roundings may go either way.
    middle = abs(float(f"{value:.16g}") - (first + second) / 2) <= 1e-12 * value
    assert first == second or middle


def test_a_file_is_written_only_if_its_content_differs(top: Path) -> None:
    path = top / "a" / "b.txt"
    assert write_if_changed(path, b"one")
    before = path.stat().st_mtime_ns
    assert not write_if_changed(path, b"one")
    assert path.stat().st_mtime_ns == before
    assert write_if_changed(path, b"two")
    assert [each.name for each in path.parent.iterdir()] == ["b.txt"]
    assert path.read_bytes() == b"two"


def test_a_write_that_fails_leaves_the_old_file(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = top / "b.txt"
    write_if_changed(path, b"old")

    def full(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        write_if_changed(path, b"new")
    assert path.read_bytes() == b"old"
    assert [each.name for each in top.glob(".*") if each.is_file()] == []


@given(st.lists(st.binary(max_size=5), max_size=4), st.lists(st.binary(max_size=5), max_size=4))
def test_a_digest_tells_lists_of_contents_apart(some: list[bytes], others: list[bytes]) -> None:
    assert (digest(*some) == digest(*others)) == (some == others)
    assert digest("é") == digest("é".encode())

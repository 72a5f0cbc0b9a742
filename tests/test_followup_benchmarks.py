"""The public benchmarks: eight formats as they are published, checked before they are copied, and never half copied.

All files here are written for these tests, in the shape of the published ones.
"""

import io
import re
import socket
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from belief_utils.cli import main
from belief_utils.errors import BeliefError
from belief_utils.followup import downloads
from belief_utils.followup.benchmarks import FILES, PUBLISHED, find, install, read_benchmark
from belief_utils.followup.items import BENCHMARKS, ITEM_SETS, Item, is_available, load_items
from tests import followup_home

PUBLIC = [name for name, each in ITEM_SETS.items() if not each.own]
#: What is told of files that hold fewer items than the published ones.
PARTS = r"holds [\d,]+ items of .+ and [\d,]+ were published: it may be cut off, or be a part or another version"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = followup_home.make(tmp_path / "repository")
    monkeypatch.setenv("BELIEF_HOME", str(top))
    monkeypatch.delenv(BENCHMARKS, raising=False)
    return top


@pytest.fixture
def official(tmp_path: Path) -> Path:
    return followup_home.write_benchmarks(tmp_path / "official")


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line that wrong input brings."""
    capsys.readouterr()
    assert main(["data", "benchmarks", *arguments]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("belief: ")
    assert error.count("\n") == 1
    return error.removeprefix("belief: ").rstrip("\n")


def read(name: str, official: Path) -> list[Item]:
    return read_benchmark(name, find(name, official))


# --- eight formats --------------------------------------------------------------------------------------------------


def test_every_benchmark_is_read_under_our_names(official: Path) -> None:
    for name in PUBLIC:
        items = read(name, official)
        assert {item.set for item in items} == {name}
        assert {item.kind for item in items} == {ITEM_SETS[name].kind}
        assert len({item.id for item in items}) == len(items)
        assert not any(item.public for item in items)
        # Line breaks in a question are of no meaning and would make another request of it.
        assert all(item.question == " ".join(item.question.split()) for item in items)


def test_gsm8k_keeps_the_numbers_of_its_working(official: Path) -> None:
    pears, apples = read("gsm8k", official)
    assert (pears.id, pears.answer, pears.intermediates) == ("0", "506", ("8", "1012"))
    assert pears.question == "Of 1,020 pears 2 people eat 4 each, and half of the rest rots. How many rot?"
    assert (apples.id, apples.answer, apples.intermediates) == ("1", "1003.5", ("3",))


def test_svamp_joins_body_and_question_and_works_its_equation_out(official: Path) -> None:
    nails, figs = read("svamp", official)
    assert (nails.id, nails.answer, nails.intermediates) == ("chal-1", "4", ())
    assert nails.question == "A box holds 9 nails and 5 are bent. How many are straight?"
    assert (figs.answer, figs.intermediates) == ("10", ("12",))
    assert figs.question == "Ina has 3 bags of 4 figs. How many are left after 2?"


def test_multiarith(official: Path) -> None:
    (doubled,) = read("multiarith", official)
    assert (doubled.id, doubled.answer, doubled.intermediates) == ("7", "20", ("10",))
    assert doubled.question == "Six reds and four blues, all doubled: how many?"


def test_commonsenseqa(official: Path) -> None:
    (ducks,) = read("commonsenseqa", official)
    assert (ducks.id, ducks.question, ducks.answer) == ("0f1e", "Where do ducks swim?", "B")
    assert ducks.options == ("oven", "lake", "book", "sky", "shoe")


def test_strategyqa_and_coin_flip(official: Path) -> None:
    assert [(item.id, item.answer) for item in read("strategyqa", official)] == [("0", "false"), ("1", "true")]
    assert [(item.id, item.answer) for item in read("coin_flip", official)] == [("0", "no")]


def test_last_letters_of_four_names_give_the_items_of_two(official: Path, tmp_path: Path) -> None:
    four = tmp_path / "four"
    four.mkdir()
    (four / "last_letters.json").write_text(followup_home.last_letters(4))
    (official / "last_letters.json").rename(official / "last_letters_two_words_derived.json")
    items = read("last_letters", official)
    # The item with a space in a name is in neither: which are its first two names?
    assert [(item.id, item.answer) for item in items] == [("0", "an"), ("2", "oa")]
    assert read("last_letters", four) == items
    assert items[0].question == 'Take the last letters of each words in "Orla Teun" and concatenate them.'


def test_mmlu_is_the_same_with_and_without_a_heading(official: Path, tmp_path: Path) -> None:
    followup_home.write_subjects(tmp_path / "other" / "test", heading=True)
    plain, headed = read("mmlu", official), read("mmlu", tmp_path / "other")
    assert plain == headed
    assert len(plain) == 2 * 57
    assert [item.answer for item in plain[:2]] == ["B", "D"]
    assert plain[1].question.endswith("? Count well.")
    assert plain[0].options == ("one, or none", "two", "three", "four")
    assert plain[0].id == f"{followup_home.SUBJECTS[0]}/0"


def test_the_first_items_of_mmlu_are_spread_over_all_subjects(official: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BENCHMARKS, str(official))
    subjects = [item.id.partition("/")[0] for item in load_items("mmlu")]
    assert set(subjects[:57]) == set(subjects[57:]) == set(followup_home.SUBJECTS)
    assert subjects[:57] != sorted(subjects[:57])
    assert load_items("mmlu", 5) == load_items("mmlu")[:5]


@pytest.mark.parametrize(("name", "path"), [(name, path) for name in PUBLIC for path in FILES[name]])
def test_every_official_name_is_found(name: str, path: str, official: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (official / FILES[name][0]).rename(folder / path)
    assert find(name, folder) == folder / path
    assert read(name, folder)
    assert find(name, official) is None


def test_a_folder_that_happens_to_be_called_test_is_not_mmlu(tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "test_something.py").write_text("")
    (tmp_path / "test.jsonl").mkdir()
    assert find("mmlu", tmp_path) is None
    assert find("gsm8k", tmp_path) is None


# --- the command ----------------------------------------------------------------------------------------------------


def test_the_command_copies_what_it_has_checked_and_says_how_much(
    home: Path, official: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    (official / "coin_flip.json").unlink()
    (official / "mmlu" / "test" / "notes.txt").write_text("mine")
    assert not is_available("gsm8k")
    assert main(["data", "benchmarks", "--from", str(official)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^GSM8K +2 items$", out, re.MULTILINE)
    assert re.search(r"^MMLU +114 items$", out, re.MULTILINE)
    assert re.search(r"^Coin Flip +not found$", out, re.MULTILINE)
    assert f"in {home / 'data' / 'benchmarks'}, which is not committed" in out
    # These are tiny, which is told, for a file cut off at the end of a line shows by nothing else.
    assert len(caplog.messages) == 7
    assert all(re.search(PARTS, message) for message in caplog.messages)
    copied = files_below(home / "data" / "benchmarks")
    assert len(copied) == 6 + 57
    assert copied == {name: content for name, content in files_below(official).items() if name != "mmlu/test/notes.txt"}
    assert load_items("gsm8k")[0].set == "gsm8k"


def test_copying_twice_or_from_the_folder_itself_changes_nothing(home: Path, official: Path) -> None:
    install(official)
    before = files_below(home / "data" / "benchmarks")
    install(official)
    assert install(home / "data" / "benchmarks") == {
        "gsm8k": 2,
        "svamp": 2,
        "multiarith": 1,
        "commonsenseqa": 1,
        "strategyqa": 2,
        "last_letters": 2,
        "coin_flip": 1,
        "mmlu": 114,
    }
    assert files_below(home / "data" / "benchmarks") == before


def test_a_complete_benchmark_is_copied_without_a_word(
    home: Path, official: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = {name: len(read(name, official)) for name in PUBLIC}
    for name, count in counts.items():
        monkeypatch.setitem(PUBLISHED, name, count)
    assert main(["data", "benchmarks", "--from", str(official)]) == 0
    assert caplog.messages == []


def broken(content: str, how: str) -> str:
    return {
        "cut off": content[: len(content.rstrip()) - 9],
        "empty": "",
        "another format": '{"examples": [{"text": "a question"}]}\n',
        "a web page": "<html>404</html>",
        "a list of numbers": "[1, 2, 3]\n",
        "null": "null\n",
    }[how]


@pytest.mark.parametrize("how", ["cut off", "empty", "another format", "a web page", "a list of numbers", "null"])
@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "mmlu"])
def test_a_file_that_is_not_what_it_should_be_is_told_and_nothing_is_copied(
    name: str, how: str, home: Path, official: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = official / FILES[name][0]
    path.write_text(broken(path.read_text(encoding="utf-8"), how), encoding="utf-8")
    said = told(capsys, "--from", str(official))
    assert said.startswith(f"{path} ")
    assert ITEM_SETS[name].title in said
    assert said.endswith("get it again")
    assert not (home / "data" / "benchmarks").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[:-2], "unexpected end of data"),
        (lambda text: text[:-4], "item 1: the answer is '', which is no option"),
        (lambda text: text[:-30], "not MMLU as it is published"),
        (lambda text: text.replace('"four"', '"four","five"'), "item 0: not a question, four options and an answer"),
        (lambda text: text.replace('"D"\n', '"E"\n'), "the answer is 'E', which is no option"),
        (lambda text: text.replace('"D"\n', '"4"\n'), "IndexError"),
        (lambda text: text + "one cell\n", "item 2: not a question, four options and an answer"),
        (lambda text: text + "\n\n", None),
    ],
    ids=[
        "cut in a cell",
        "cut before the answer",
        "cut in the options",
        "five options",
        "no such letter",
        "no such index",
        "a stray line",
        "empty lines",
    ],
)
def test_mmlu_with_a_damaged_subject(
    change: Callable[[str], str], said: str | None, home: Path, official: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = official / "mmlu" / "test" / f"{followup_home.SUBJECTS[3]}_test.csv"
    path.write_text(change(path.read_text()))
    if said is None:
        assert main(["data", "benchmarks", "--from", str(official)]) == 0
    else:
        assert said in told(capsys, "--from", str(official))
        assert not (home / "data" / "benchmarks").exists()


def test_mmlu_with_a_subject_too_few(home: Path, official: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (official / "mmlu" / "test" / f"{followup_home.SUBJECTS[0]}_test.csv").unlink()
    assert "56 subjects instead of 57" in told(capsys, "--from", str(official))
    assert not (home / "data" / "benchmarks").exists()


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("gsm8k", "#### 506", "is 506", "line 1 has no answer after ####"),
        ("gsm8k", "#### 506", "#### five", "is not a number"),
        ("svamp", "( 9.0 - 5.0 )", "( 9.0 - 5.0", "is not arithmetic"),
        ("multiarith", "X=((6.0+4.0)*2.0)", "X=exit()", "more than arithmetic"),
        ("commonsenseqa", '"label": "A"', '"label": "1"', "not labelled A, B, C, ..."),
        ("commonsenseqa", '"answerKey": "B"', '"answerKey": "F"', "has the answer 'F', which is none of its options"),
        ("coin_flip", '"no"', '"heads"', "answered by neither yes nor no"),
        ("last_letters", '\\"', "", "quotes no names"),
        ("svamp", "chal-2", "chal-1", "an item is there twice"),
    ],
)
def test_an_item_that_is_not_as_published_is_told(
    name: str, old: str, new: str, said: str, home: Path, official: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = official / FILES[name][0]
    before = path.read_text(encoding="utf-8")
    assert old in before
    path.write_text(before.replace(old, new), encoding="utf-8")
    assert said in told(capsys, "--from", str(official))


def test_a_file_in_another_encoding_is_told(home: Path, official: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (official / "svamp.json").write_bytes(followup_home.svamp().replace("nails", "Nägel").encode("latin-1"))
    assert "UnicodeDecodeError" in told(capsys, "--from", str(official))


def test_wrong_options_are_told(home: Path, official: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "say where the benchmarks come from" in told(capsys)
    assert "say where the benchmarks come from" in told(capsys, "--download", "--from", str(official))
    assert f"{official / 'no'} is no folder" in told(capsys, "--from", str(official / "no"))
    (official / "empty").mkdir()
    assert "holds none of the benchmarks' files, which are called gsm8k_test.jsonl or test.jsonl" in told(
        capsys, "--from", str(official / "empty")
    )
    assert main(["data", "heart", "--from", str(official)]) == 2
    assert "--from and --download go with benchmarks" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_told(home: Path, official: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "data" / "benchmarks").write_text("a file in the way")
    assert "cannot be written" in told(capsys, "--from", str(official))


@pytest.mark.parametrize("name", PUBLIC)
def test_a_benchmark_that_is_not_here_is_told_with_how_to_get_it(name: str, home: Path) -> None:
    with pytest.raises(BeliefError, match=r"get it with `belief data benchmarks --from DIR`") as told:
        load_items(name)
    assert str(told.value).startswith(f"{ITEM_SETS[name].title} is not in {home / 'data' / 'benchmarks'}: ")
    assert "\n" not in str(told.value)


def test_another_folder_can_be_named(home: Path, official: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BENCHMARKS, str(official))
    assert all(is_available(name) for name in PUBLIC)
    assert len(load_items("svamp")) == 2


# --- downloads ------------------------------------------------------------------------------------------------------


@dataclass
class Site:
    """A web site on this machine: what it has, and the length that it promises where that is not the true one."""

    pages: dict[str, bytes] = field(default_factory=dict)
    promised: dict[str, int] = field(default_factory=dict)
    url: str = ""


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Site]:
    shown = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = shown.pages.get(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(shown.promised.get(self.path, len(content or b""))))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *arguments: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    shown.url = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setenv("no_proxy", "*")
    # Whatever is unpacked goes below here, so that the tests see all of it.
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    yield shown
    server.shutdown()
    thread.join()
    server.server_close()


def archive(members: Mapping[str, str], link: str | None = None, mode: str = "w") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as tar:
        for name, text in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
        if link:
            member = tarfile.TarInfo("data/test/linked_test.csv")
            member.type, member.linkname = tarfile.SYMTYPE, link
            tar.addfile(member)
    return packed.getvalue()


def subjects() -> dict[str, str]:
    return {f"data/test/{name}_test.csv": followup_home.subject(name) for name in followup_home.SUBJECTS}


def publish(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put all eight on the site, and let the package look there."""
    content = {FILES[name][0]: name for name in PUBLIC}
    site.pages = {f"/{content[file]}": text().encode() for file, text in followup_home.CONTENTS.items()}
    site.pages["/mmlu"] = archive(subjects())
    for name in PUBLIC:
        monkeypatch.setitem(downloads.ADDRESSES, name, f"{site.url}/{name}")


def test_the_command_downloads_all_eight(
    home: Path, site: Site, official: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(site, monkeypatch)
    assert main(["data", "benchmarks", "--download"]) == 0
    assert files_below(home / "data" / "benchmarks") == files_below(official)
    assert re.search(r"^MMLU +114 items$", capsys.readouterr().out, re.MULTILINE)
    assert list((home.parent / "scratch").iterdir()) == []


def test_an_archive_with_hostile_names_writes_nothing_outside(
    home: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(site, monkeypatch)
    hostile = {
        "../../evil.csv": "x",
        "../evil_test.csv": "x",
        "/tmp/evil_test.csv": "x",
        f"{tmp_path}/evil_test.csv": "x",
        "data/test/../evil_test.csv": "x",
        "data/test/.. /evil_test.csv": "x",
        "data/test/..evil.csv": "x",
        "data/test/a\\..\\evil_test.csv": "x",
        "data/dev/evil_test.csv": "x",
    }
    site.pages["/mmlu"] = archive({**hostile, **subjects()}, link="/etc/hostname")
    before = files_below(tmp_path)
    downloads.download()
    assert is_available("mmlu")
    assert len(load_items("mmlu")) == 114
    new = set(files_below(tmp_path)) - set(before)
    assert all(name.startswith("repository/data/benchmarks/") for name in new)
    assert not any("evil" in name or "linked" in name for name in new)
    assert not Path("/tmp/evil_test.csv").exists()


def test_a_file_that_claims_a_place_outside_counts_by_its_own_name_only(
    home: Path, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(site, monkeypatch)
    site.pages["/mmlu"] = archive({**subjects(), "../../../test/evil_test.csv": followup_home.subject("evil")})
    before = files_below(tmp_path)
    with pytest.raises(BeliefError, match="58 subjects instead of 57"):
        downloads.download()
    assert files_below(tmp_path) == before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<html>moved</html>", "mmlu: the archive is cut off or is none ("),
        (archive({"data/dev/a_dev.csv": "x"}), "mmlu: the archive holds no test split"),
        (archive(subjects())[:9000], "mmlu: the archive is cut off or is none ("),
        (archive(subjects())[:512], "mmlu: the archive is cut off or is none ("),
        (b"", "mmlu: the archive is cut off or is none ("),
    ],
    ids=["a web page", "another archive", "cut off", "cut off after a head", "empty"],
)
def test_what_is_no_archive_is_told_and_nothing_is_kept(
    content: bytes, said: str, home: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    publish(site, monkeypatch)
    site.pages["/mmlu"] = content
    assert said in last_line(capsys)
    assert not (home / "data" / "benchmarks").exists()


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says of a download that fails."""
    assert main(["data", "benchmarks", "--download"]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert error.startswith("belief: ")
    assert error.count("\n") == 1
    return error.rstrip("\n")


def test_an_archive_that_unpacks_to_too_much_is_told(
    home: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(site, monkeypatch)
    monkeypatch.setattr(downloads, "MOST_BYTES", 4000)
    assert f"mmlu: {site.url}/mmlu brought more than" in last_line(capsys)
    site.pages["/mmlu"] = archive(subjects(), mode="w:gz")
    assert len(site.pages["/mmlu"]) < 4000
    assert "mmlu: the archive holds more than" in last_line(capsys)
    assert not (home / "data" / "benchmarks").exists()


@pytest.mark.parametrize("name", ["gsm8k", "coin_flip"])
def test_a_connection_that_ends_early_is_told_even_at_the_end_of_a_line(
    name: str, home: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(site, monkeypatch)
    whole = site.pages[f"/{name}"]
    site.pages[f"/{name}"], site.promised[f"/{name}"] = whole[: whole.find(b"\n") + 1 or 50], len(whole)
    assert f"{name}: {site.url}/{name} brought " in last_line(capsys)
    assert not (home / "data" / "benchmarks").exists()


def test_what_cannot_be_reached_is_told_with_another_way(
    home: Path, site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    publish(site, monkeypatch)
    del site.pages["/svamp"]
    assert last_line(capsys) == (
        f"belief: svamp: {site.url}/svamp cannot be reached (Not Found); get the file by hand and use --from DIR"
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{probe.getsockname()[1]}/x"
    for address in (closed, "nonsense", "http://127.0.0.1:1e5/"):
        monkeypatch.setitem(downloads.ADDRESSES, "gsm8k", address)
        assert main(["data", "benchmarks", "--download"]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"belief: gsm8k: {address} cannot be reached (")
        assert error.endswith("); get the file by hand and use --from DIR\n")
        assert error.count("\n") == 1
    assert not (home / "data" / "benchmarks").exists()

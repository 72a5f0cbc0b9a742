"""The mechanism behind every picture: what is kept, and when it is drawn again."""

import io
import sys
import types

import matplotlib
import pandas as pd
import pytest

from belief_utils.reporting import pictures
from belief_utils.reporting.pictures import picture

MODULE = '''
"""A drawing as a module of the package would have it."""
from matplotlib.figure import Figure

calls = []


def draw(plotted):
    calls.append(plotted)
    figure = Figure(figsize=(2, 1))
    figure.subplots().plot(plotted["x"], plotted["y"], label="COLOUR")
    return figure
'''


@pytest.fixture(autouse=True)
def figures(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "RESOLUTION", 50)  # quick, as is the other way to embed fonts
    monkeypatch.setitem(pictures.STYLE, "pdf.fonttype", 3)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models.toml").write_text("")
    monkeypatch.setenv("BELIEF_HOME", str(tmp_path))
    return tmp_path / "figures"


@pytest.fixture
def drawing(tmp_path, monkeypatch):
    """Loads a version of the drawing module from a file, as its source must be found."""

    def load(colour="blue"):
        path = tmp_path / f"drawing_{colour}.py"
        path.write_text(MODULE.replace("COLOUR", colour))
        module = types.ModuleType(path.stem)
        module.__file__ = str(path)
        exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return module

    return load


PLOTTED = pd.DataFrame({"x": [0.0, 1 / 3, -0.0], "y": [0.1234567, 123456.7, None], "n": [123456, 2, 3]})


def stamps(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_keeps_rounded_numbers_and_draws_from_them(figures, drawing):
    module = drawing()
    image = picture("table1", "heart", PLOTTED, module.draw)
    assert (figures / "table1" / "heart.csv").read_text() == "x,y,n\n0,0.1235,123456\n0.3333,1.235e+05,2\n0,,3\n"
    assert module.calls[0]["x"].tolist() == [0.0, 0.3333, 0.0]
    assert image.data == (figures / "table1" / "heart.png").read_bytes()
    assert image.width == 200  # 2 inches
    assert (figures / "table1" / "heart.pdf").read_bytes().startswith(b"%PDF")


def test_last_bits_do_not_show(figures, drawing):
    """A value half-way between two roundings goes the same way, whatever its last bit."""
    module = drawing()
    for value in (0.40125, 0.40125 - 1e-16, 0.40125 + 1e-16):
        picture("a", "b", pd.DataFrame({"x": [value], "y": [1.0]}), module.draw)
    assert len(module.calls) == 1


def test_a_second_call_draws_nothing(figures, drawing):
    module = drawing()
    first = picture("a", "b", PLOTTED, module.draw)
    before = stamps(figures / "a")
    second = picture("a", "b", PLOTTED, module.draw)
    assert stamps(figures / "a") == before
    assert first.data == second.data
    assert len(module.calls) == 1


def test_other_data_are_drawn(figures, drawing):
    module = drawing()
    picture("a", "b", PLOTTED, module.draw)
    before = stamps(figures / "a")
    picture("a", "b", PLOTTED.assign(y=[3.0, 2.0, 1.0]), module.draw)
    after = stamps(figures / "a")
    assert all(after[name][0] != before[name][0] for name in ("b.csv", "b.png", "b.pdf"))


def test_another_drawing_is_drawn(figures, drawing):
    picture("a", "b", PLOTTED, drawing("blue").draw)
    module = drawing("green")
    picture("a", "b", PLOTTED, module.draw)
    assert len(module.calls) == 1


def test_another_style_is_drawn(figures, drawing, monkeypatch):
    module = drawing()
    picture("a", "b", PLOTTED, module.draw)
    monkeypatch.setattr(pictures, "RESOLUTION", 100)
    picture("a", "b", PLOTTED, module.draw)
    assert len(module.calls) == 2


@pytest.mark.parametrize("lost", ["b.png", "b.pdf"])
@pytest.mark.parametrize("how", ["gone", "old"])
def test_a_lost_or_old_file_is_made_again(figures, drawing, lost, how):
    module = drawing()
    picture("a", "b", PLOTTED.assign(y=1.0), module.draw)
    old = (figures / "a" / lost).read_bytes()
    picture("a", "b", PLOTTED, module.draw)
    new = (figures / "a" / lost).read_bytes()
    if how == "gone":
        (figures / "a" / lost).unlink()
    else:
        (figures / "a" / lost).write_bytes(old)
    picture("a", "b", PLOTTED, module.draw)
    assert (figures / "a" / lost).read_bytes() == new != old


def test_the_readers_own_settings_do_not_show_and_stay(figures, drawing):
    module = drawing()
    plain = picture("a", "b", PLOTTED, module.draw).data
    with matplotlib.rc_context({"axes.facecolor": "yellow", "lines.linewidth": 9}):
        coloured = picture("a", "c", PLOTTED, module.draw).data
        assert matplotlib.rcParams["axes.facecolor"] == "yellow"
    assert pixels(coloured) == pixels(plain)


def test_words_for_nothing_stay_words(figures, drawing):
    module = drawing()
    picture("a", "b", pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0], "label": ["None", "NA"]}), module.draw)
    assert module.calls[0]["label"].tolist() == ["None", "NA"]


def test_a_drawing_from_a_notebook_is_known_by_itself(figures, drawing):
    draw = drawing().draw
    draw.__module__ = "__main__"
    picture("a", "b", PLOTTED, draw)
    assert (figures / "a" / "b.png").exists()


def pixels(png):
    from PIL import Image

    with Image.open(io.BytesIO(png)) as image:
        return image.tobytes()

"""The audit's page in a real browser: on a phone, on a wide screen, in the dark and on paper."""

import json
import re
import shutil
import subprocess
from html import unescape

import pytest

from belief_utils import audit
from tests.test_audit import QUICK, simulated

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no browser: chromium is not on the PATH")

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
HOSTILE = ["<script>document.title='run'</script>", "<img src=x onerror=\"document.title='run'\">", "keep waiting " * 9]

#: Added to a copy of the page, without its ban on scripts, to see what the browser made of it.
PROBE = """<script>
addEventListener("load", () => {
  const images = [...document.images].map((image) => [image.complete, image.naturalWidth, image.clientWidth]);
  const texts = [...document.querySelectorAll("p, td, th, li, figcaption, h1, h2, h3, caption, span")]
    .filter((element) => element.textContent.trim() && element.clientHeight > 1);
  parent.postMessage(JSON.stringify({
    width: document.documentElement.clientWidth,
    needed: document.documentElement.scrollWidth,
    images: images,
    smallest: Math.min(...texts.map((element) => parseFloat(getComputedStyle(element).fontSize))),
    background: getComputedStyle(document.body).backgroundColor,
    columns: new Set([...document.querySelectorAll(".answer")].map((tile) => tile.getBoundingClientRect().left)).size,
    requests: performance.getEntriesByType("resource").map((entry) => entry.name.slice(0, 5)),
    text: document.body.innerText,
    title: document.title,
  }), "*");
});
</script></head>"""
FRAME = """<pre id="seen"></pre><iframe src="PAGE" style="border:0;width:WIDTHpx;height:900px"></iframe>
<script>onmessage = (event) => { document.getElementById("seen").textContent = event.data; }</script>"""


def browse(folder, *arguments):
    """What the browser prints when it is run once with an empty profile."""
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=240, check=True, text=True).stdout


def seen(folder, page, width, *arguments):
    """What the browser made of a page that is so many pixels wide."""
    without_ban = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert without_ban != page
    (folder / "probed.html").write_text(without_ban.replace("</head>", PROBE), encoding="utf-8")
    frame = folder / "frame.html"
    address = (folder / "probed.html").as_uri()
    frame.write_text(FRAME.replace("PAGE", address).replace("WIDTH", str(width)), encoding="utf-8")
    printed = browse(folder, "--dump-dom", "--virtual-time-budget=10000", *arguments, frame.as_uri())
    return json.loads(unescape(re.search(r'<pre id="seen">(.*?)</pre>', printed, re.DOTALL)[1]))


@pytest.fixture(scope="module")
def page():
    judgments = simulated(2)
    actions = dict(zip(["negative", "positive", "defer"], HOSTILE, strict=True))
    return audit(
        judgments.assign(action=judgments["action"].map(actions)), title="An audit & its <b>title</b>", **QUICK
    ).to_html()


@pytest.mark.parametrize(("width", "columns"), [(360, 1), (1100, 3)])
def test_the_page_fits_its_width(page, tmp_path, width, columns):
    found = seen(tmp_path, page, width)
    assert found["width"] == width
    assert found["needed"] <= width
    assert found["columns"] == columns
    assert len(found["images"]) == 4
    for complete, natural, shown in found["images"]:
        assert complete
        assert natural > 0
        assert 0.5 * min(width, 500) < shown <= width
    assert found["smallest"] >= 11
    assert set(found["requests"]) <= {"data:"}
    assert found["title"] == "An audit & its <b>title</b>"
    for text in ("Verdict", "How to cite this", HOSTILE[0], HOSTILE[1]):
        assert text in found["text"]


def test_the_page_has_a_dark_side(page, tmp_path):
    assert seen(tmp_path, page, 400)["background"] == "rgb(255, 255, 255)"
    assert seen(tmp_path, page, 400, "--blink-settings=preferredColorScheme=0")["background"] == "rgb(23, 23, 26)"


def test_the_page_as_it_is_runs_nothing_and_is_drawn(page, tmp_path):
    path = tmp_path / "audit.html"
    path.write_text(page, encoding="utf-8")
    picture = tmp_path / "screen.png"
    browse(tmp_path, "--window-size=1000,1400", f"--screenshot={picture}", path.as_uri())
    from matplotlib.image import imread

    pixels = imread(picture)
    assert pixels.shape[:2] == (1400, 1000)
    assert (pixels[:, :, :3].min(axis=2) < 0.5).mean() > 0.005
    printed = browse(tmp_path, "--dump-dom", path.as_uri())
    assert "<title>An audit &amp; its &lt;b&gt;title&lt;/b&gt;</title>" in printed
    assert "<script" not in printed


def test_the_page_prints(page, tmp_path):
    path, paper = tmp_path / "audit.html", tmp_path / "audit.pdf"
    path.write_text(page, encoding="utf-8")
    browse(tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={paper}", path.as_uri())
    content = paper.read_bytes()
    assert content.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 6

"""What several test files need: a fake server, a small repository of its own, questions and models."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fake_server import FakeServer

#: Easy to find in whatever a run leaves behind, and no key of anybody's.
KEY = "sk-recognisable-0123456789"

REPOSITORY = Path(__file__).resolve().parents[1]

#: Six made-up cases; the second one shows the auxiliary variable (Age) already.
CASES = """\
case,evidence,support,p_star,outcome,weight_under_50,weight_from_50_to_69,weight_from_70,\
p_star_under_50,p_star_from_50_to_69,p_star_from_70
0,Sex=male; LVEF_Low=yes,900.0,0.9,1,0.2,0.5,0.3,0.85,0.9,0.933333
1,Age=under_50; Sex=female,5000.0,0.2,0,,,,,,
2,QRS_Prolonged=no; PASP_High=no,9000.0,0.25,0,0.4,0.4,0.2,0.15,0.28,0.39
3,Wall_Thick=yes; Sex=female,2000.0,0.6,1,0.25,0.45,0.3,0.5,0.6,0.683333
4,Location=outpatient; LVEF_Low=no,8000.0,0.3,0,0.3,0.4,0.3,0.2,0.3,0.4
5,STT_Abnormal=yes; PASP_High=yes,1500.0,0.8,1,0.1,0.4,0.5,0.7,0.78,0.836
"""

MODELS = """\
[fake]
name = "Fake"
kind = "hosted"
model = "fake-1"
base_url = "{url}"
api_key_env = "FAKE_KEY"
answer_format = "json_schema"
concurrency = 4
timeout = 20
price_in = 1.0
price_out = 10.0

[fake.parameters]
temperature = 1.0

[together]
name = "Fake, several answers together"
kind = "hosted"
model = "fake-2"
base_url = "{url}"
ask_together = true
concurrency = 2

[candid]
name = "Simulated, candid"
kind = "simulated"
model = "simulated-candid-1"

[candid.agent]
hidden = 0.0
"""


@pytest.fixture
def server() -> Iterator[FakeServer]:
    """A fake server that runs as long as a test."""
    with FakeServer() as running:
        yield running


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: FakeServer) -> Path:
    """A small repository: two models at the fake server, a simulated one, and six cases of one dataset."""
    top = tmp_path / "repository"
    for folder in ("datasets", "cases"):
        (top / "data" / folder).mkdir(parents=True)
    (top / "data" / "models.toml").write_text(MODELS.format(url=server.url), encoding="utf-8")
    (top / "data" / "cases" / "heart.csv").write_text(CASES, encoding="utf-8")
    shutil.copy(REPOSITORY / "data" / "datasets" / "heart.toml", top / "data" / "datasets")
    monkeypatch.setenv("BELIEF_HOME", str(top))
    monkeypatch.setenv("FAKE_KEY", KEY)
    return top

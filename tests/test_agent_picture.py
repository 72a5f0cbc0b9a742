"""The picture of a rationalising agent shows what was computed, for choices that fit, clash or cannot tell."""

import numpy as np
import pandas as pd
import pytest

from belief_utils.beliefs.rationalise import rationalise_shares
from belief_utils.errors import BeliefError
from belief_utils.reporting import pictures
from belief_utils.reporting.agent_picture import agent_rows, draw_agent, rationalisation_picture
from belief_utils.reporting.drawings import part

ACTIONS = ["negative", "positive", "defer"]
BELIEFS = [0.1, 0.4, 0.6, 0.9]
FITS = pd.DataFrame([[0.7, 0.1, 0.2], [0.4, 0.2, 0.4], [0.2, 0.4, 0.4], [0.1, 0.7, 0.2]], columns=ACTIONS)
CLASHES = FITS.iloc[[0, 2, 1, 3]].reset_index(drop=True)


def test_the_agent_changes_its_mind_halfway_between_the_points():
    found = rationalise_shares(BELIEFS, FITS)
    rows = agent_rows(found, "Title", "simulated")
    agent = part(rows, "agent")
    positive = agent[agent["label"] == "positive"]
    assert positive["x"].tolist() == pytest.approx([0, 0.25, 0.5, 0.75])
    assert positive["x_to"].tolist() == pytest.approx([0.25, 0.5, 0.75, 1])
    assert positive["y"].tolist() == pytest.approx(FITS["positive"].tolist())
    for row in agent.itertuples():
        inside = np.linspace(row.x, row.x_to, 7)[1:-1]
        assert [found.choose(x)[row.label] for x in inside] == pytest.approx([row.y] * 5)
    ranges = part(rows, "range").set_index("label")
    assert ranges.loc["defer", "low"] == found.anchored_ranges.loc["defer", "least"]
    assert ranges.loc["defer", "low"] <= ranges.loc["defer", "y"] <= ranges.loc["defer", "high"]


def test_the_least_change_and_what_it_mends_are_shown():
    found = rationalise_shares(BELIEFS, CLASHES, anchored=True)
    rows = agent_rows(found)
    assert part(rows, "agent").empty
    assert part(rows, "clash")["x"].tolist() == [BELIEFS[point] for point in found.departure.clash]
    assert (np.diff(part(rows, "mended index")["y"]) >= -1e-7).all()
    assert (np.diff(part(rows, "index")["y"]) < 0).any()
    texts = [text.get_text() for text in draw_agent(rows).axes[1].get_legend().get_texts()]
    assert texts[1] == f"with {100 * found.departure.change:.3g} % of answers changed"


@pytest.mark.parametrize("shares", [FITS, CLASHES])
def test_drawings_mark_every_observed_share(shares):
    figure = draw_agent(agent_rows(rationalise_shares(BELIEFS, shares, anchored=True), "Title", "simulated"))
    marked = [line for line in figure.axes[0].lines if line.get_marker() in "v^s" and len(line.get_xdata()) == 4]
    assert sorted(np.concatenate([line.get_ydata() for line in marked])) == pytest.approx(
        sorted(shares.to_numpy().ravel())
    )
    assert figure.get_suptitle() == "Title"


def test_the_picture_is_kept_with_its_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "RESOLUTION", 50)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models.toml").write_text("")
    monkeypatch.setenv("BELIEF_HOME", str(tmp_path))
    found = rationalise_shares(BELIEFS, FITS)
    image = rationalisation_picture("agents", "one", found, "Title", source="simulated")
    assert image.data.startswith(b"\x89PNG")
    kept = pd.read_csv(tmp_path / "figures" / "agents" / "one.csv")
    assert kept["part"].value_counts()["observed"] == 12


def test_nothing_to_tell_and_too_many_states():
    same = rationalise_shares(BELIEFS, FITS.iloc[[0, 0, 0, 0]])
    figure = draw_agent(agent_rows(same, "Title"))
    assert "no answers" in [text.get_text() for text in figure.axes[0].texts]
    three = rationalise_shares(np.eye(3), FITS.head(3))
    with pytest.raises(BeliefError, match="two outcome states"):
        agent_rows(three)

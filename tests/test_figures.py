"""The pictures: what they plot is recomputed here by hand, and nothing that a model may do makes them fail."""

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from belief_utils.beliefs.judgments_checks import group_by_case
from belief_utils.beliefs.monotonicity import monotonicity_margin
from belief_utils.errors import BeliefError
from belief_utils.reporting import canvas, pictures, plotted
from belief_utils.reporting.figures import (
    calibration_picture,
    choices_picture,
    coherence_picture,
    consistency_picture,
    figure1,
    overview_picture,
    sufficiency_picture,
)

OF_JUDGMENTS = [choices_picture, sufficiency_picture, calibration_picture]


@pytest.fixture(autouse=True)
def figures(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "RESOLUTION", 40)  # quick, as is the other way to embed fonts
    monkeypatch.setitem(pictures.STYLE, "pdf.fonttype", 3)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models.toml").write_text("")
    monkeypatch.setenv("BELIEF_HOME", str(tmp_path))
    return tmp_path / "figures"


@pytest.fixture(scope="module")
def judgments():
    return simulate()


def simulate(hidden=1.5, cases=80, repetitions=3, seed=1):
    """Judgments of an agent that acts on more than it reports."""
    rng = np.random.default_rng(seed)
    report = rng.uniform(0.03, 0.97, cases).round(2)
    truth = 1 / (1 + np.exp(-(np.log(report / (1 - report)) + hidden * rng.standard_normal(cases))))
    frame = pd.DataFrame({"case": np.arange(cases), "belief": report, "p_star": truth})
    frame["outcome"] = (rng.random(cases) < truth).astype(int)
    frame = frame.loc[frame.index.repeat(repetitions)].reset_index(drop=True)
    frame["repetition"] = np.tile(np.arange(repetitions), cases)
    b = frame["p_star"].to_numpy()
    utility = 4 * np.column_stack([1 - 2 * b, 2 * b - 1, np.full(len(b), 0.35)]) + rng.gumbel(size=(len(b), 3))
    frame["action"] = np.array(["negative", "positive", "defer"])[utility.argmax(axis=1)]
    frame["belief"] = (frame["belief"] + 0.02 * rng.integers(-1, 2, len(frame))).clip(0, 1).round(2)
    return frame


def plot(figures, function, *frames, name="heart", title="A model, heart", source="surrogate"):
    """The tidy frame that was kept, after a picture was drawn."""
    image = function("table", name, *frames, title, source=source)
    assert image.data.startswith(b"\x89PNG")
    assert (figures / "table" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
    return pd.read_csv(figures / "table" / f"{name}.csv")


def part(frame, name):
    return frame[frame["part"] == name].reset_index(drop=True)


def text(frame, name):
    return part(frame, name)["label"].item()


def test_choice_shares_are_those_of_the_margin(figures, judgments):
    kept = part(plot(figures, choices_picture, judgments), "choices")
    shares = kept.pivot_table(index="x", columns="label", values="y", observed=True)
    expected = monotonicity_margin(judgments).choice_shares
    np.testing.assert_allclose(shares[list(expected.columns)], expected, atol=6e-5)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=2e-4)
    assert kept.drop_duplicates("x")["n"].sum() == len(judgments)
    assert (kept["low"] <= kept["y"]).all()
    assert (kept["y"] <= kept["high"]).all()


def test_observed_and_true_shares_by_bin(figures, judgments):
    kept = plot(figures, choices_picture, judgments)
    observed, true = part(kept, "outcome"), part(kept, "truth")
    # 80 cases are 10 bins; edges are order statistics, as in the margin.
    edges = np.unique(np.sort(judgments["belief"])[np.ceil(len(judgments) * np.arange(1, 10) / 10).astype(int) - 1])
    bins = np.searchsorted(edges, judgments["belief"], side="left")
    means = judgments.groupby(bins)[["belief", "outcome", "p_star"]].mean()
    np.testing.assert_allclose(observed[["x", "y"]], means[["belief", "outcome"]], rtol=6e-4)
    np.testing.assert_allclose(true[["x", "y"]], means[["belief", "p_star"]], rtol=6e-4)
    assert observed["n"].sum() == len(judgments)


def test_without_true_probabilities_none_are_shown(figures, judgments):
    assert part(plot(figures, choices_picture, judgments.drop(columns="p_star")), "truth").empty


def test_histogram_of_beliefs(figures, judgments):
    bars = part(plot(figures, choices_picture, judgments), "beliefs")
    whole = (judgments["belief"] * 100).round().astype(int)
    expected = [(whole.between(low, low + (5 if low == 95 else 4))).sum() for low in range(0, 100, 5)]
    assert bars["n"].tolist() == expected
    np.testing.assert_allclose(bars["y"], np.array(expected) / len(judgments), atol=6e-5)


def test_says_what_it_is_and_what_it_rests_on(figures, judgments):
    missing = judgments.assign(belief=judgments["belief"].where(judgments.index % 4 > 0))
    kept = plot(figures, choices_picture, missing, title="Costs $5 or $6", source="simulated")
    assert text(kept, "title") == "Costs $5 or $6"
    assert text(kept, "source") == "simulated"
    assert text(kept, "count").startswith("180 answers about 80 cases; 60 of 240 rows left out (belief missing in 60")


def test_what_is_left_beyond_the_belief(figures, judgments):
    """Recomputed stratum by stratum: the sum over decisions of the outcome less its mean in the stratum."""
    kept = part(plot(figures, sufficiency_picture, judgments), "beyond").set_index("label")
    by_case = judgments.groupby("case").agg(belief=("belief", "mean"), outcome=("outcome", "first"))
    shares = pd.crosstab(judgments["case"], judgments["action"], normalize="index")
    mean = (by_case["belief"] * 1e6).round().astype(int)
    edges = np.unique(np.sort(mean)[np.ceil(80 * np.arange(1, 16) / 16).astype(int) - 1])  # 16 strata of 80 cases
    stratum = np.searchsorted(edges, mean, side="left")
    above = by_case["outcome"] - by_case.groupby(stratum)["outcome"].transform("mean")
    for action in ("negative", "positive", "defer"):
        expected = (shares[action] * above).sum() / shares[action].sum()
        assert kept.loc[action, "y"] == pytest.approx(expected, abs=6e-5)
        assert kept.loc[action, "n"] == (judgments["action"] == action).sum()


def test_hidden_knowledge_shows_and_its_absence_does_not():
    hiding, candid = (
        {row["label"]: row for row in plotted.beyond_belief(group_by_case(simulate(hidden, cases=300)))}
        for hidden in (1.5, 0)
    )
    assert hiding["positive"]["low"] > 0 > hiding["negative"]["high"]
    assert all(row["low"] < 0 < row["high"] for row in candid.values())


def test_permuted_outcomes_spread_as_the_interval_says(judgments):
    """The interval is 1.96 standard deviations of what permuting outcomes within strata gives."""
    cases = group_by_case(judgments)
    row = next(row for row in plotted.beyond_belief(cases) if row["label"] == "positive")
    from belief_utils.beliefs.draws import case_strata, permute_within

    strata, share = case_strata(cases.mean_belief()), cases.action_shares()[:, cases.actions.index("positive")]
    drawn = permute_within(cases.outcome, strata, 4000, np.random.default_rng(0))
    centred = share - pd.Series(share).groupby(strata).transform("mean").to_numpy()
    spread = (drawn @ centred / share.sum()).std()
    assert row["high"] - row["y"] == pytest.approx(1.96 * spread, rel=0.05)


def test_outcomes_by_action_add_up(figures, judgments):
    kept = part(plot(figures, sufficiency_picture, judgments), "by action")
    assert kept["n"].sum() == len(judgments)
    assert (kept["y"] * kept["n"]).sum() == pytest.approx(judgments["outcome"].sum(), rel=1e-3)


def test_isotonic_fit(figures, judgments):
    """At each belief: the largest, over starts to its left, of the smallest mean of a stretch to its right."""
    fit = part(plot(figures, calibration_picture, judgments), "fit")
    level = judgments.groupby("belief")["outcome"].agg(["sum", "size"])
    from_each = [level.iloc[start:].cumsum().eval("sum / size").to_numpy() for start in range(len(level))]
    expected = [
        max(from_each[start][place - start :].min() for start in range(place + 1)) for place in range(len(level))
    ]
    np.testing.assert_allclose(np.interp(level.index, fit["x"], fit["y"]), expected, atol=1e-4)
    assert fit["y"].is_monotonic_increasing


def prompts(judgments, shift):
    reframed = judgments[["case", "repetition", "belief"]]
    moved = reframed["belief"].to_numpy().reshape(-1, 3)[:, ::-1].ravel() + shift  # other repetitions, moved
    return judgments, reframed.assign(belief=moved.clip(0, 1).round(2))


def test_differences_between_prompts(figures, judgments):
    standard, reframed = prompts(judgments, 0.2)
    kept = plot(figures, consistency_picture, standard, reframed.sample(frac=1, random_state=0))
    difference = reframed["belief"] - standard["belief"]
    values = part(kept, "value").set_index("label")["y"]
    assert values["root mean square"] == pytest.approx(np.sqrt((difference**2).mean()), rel=1e-3)
    assert values["mean"] == pytest.approx(difference.mean(), rel=1e-3)
    bars = part(kept, "differences")
    assert bars["n"].sum() == len(difference)
    inside = [((difference > row.x) & (difference < row.x_to)).sum() for row in bars.itertuples()]
    assert bars["n"].tolist() == inside
    # But for beliefs that end at one, every difference is near .2, where chance alone has next to none.
    assert bars.loc[bars["x"] > 0.15, "y"].sum() > 0.7
    assert bars.loc[bars["x"] > 0.15, "high"].sum() < 0.05
    points = part(kept, "cases")
    assert points["n"].sum() == 80
    means = reframed.groupby("case")["belief"].mean()
    assert (points["y"] * points["n"]).sum() == pytest.approx(means.sum(), abs=80 * 0.005)


def test_the_band_holds_what_one_prompt_gives(figures):
    """Two sets of answers to one prompt differ as the band says."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"case": np.repeat(np.arange(150), 5), "repetition": np.tile(np.arange(5), 150)})
    mean = np.repeat(rng.uniform(0.3, 0.7, 150), 5)
    one, other = (frame.assign(belief=(mean + 0.1 * rng.standard_normal(750)).clip(0, 1).round(2)) for _ in "ab")
    bars = part(plot(figures, consistency_picture, one, other), "differences")
    inside = (bars["low"] - 1e-3 <= bars["y"]) & (bars["y"] <= bars["high"] + 1e-3)
    assert inside.mean() > 0.85


def coherent(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"case": np.repeat(np.arange(rows // 3), 3), "repetition": np.tile(np.arange(3), rows // 3)})
    for state in ("young", "old"):
        frame[f"conditional_{state}"] = rng.random(rows).round(2)
        frame[f"weight_{state}"] = rng.random(rows).round(2)
    weight = frame["weight_young"] / (frame["weight_young"] + frame["weight_old"])
    frame["belief"] = weight * frame["conditional_young"] + (1 - weight) * frame["conditional_old"]
    return frame


def test_gap_of_a_coherent_agent_is_zero(figures):
    kept = plot(figures, coherence_picture, coherent())
    bars = part(kept, "differences").set_index("x")
    assert bars["n"].max() == bars["n"].sum() == 60
    points = part(kept, "cases")
    np.testing.assert_allclose(points["x"], points["y"], atol=0.011)


def test_gap_of_an_incoherent_agent(figures):
    frame = coherent()
    frame["belief"] = (frame["belief"] + 0.1).clip(0, 1)
    frame.loc[0, ["weight_young", "weight_old"]] = 0  # read as equal weights
    kept = plot(figures, coherence_picture, frame)
    total = (frame["weight_young"] + frame["weight_old"]).replace(0, 1)
    weight = (frame["weight_young"] / total).where(frame.index > 0, 0.5)
    gap = frame["belief"] - weight * frame["conditional_young"] - (1 - weight) * frame["conditional_old"]
    values = part(kept, "value").set_index("label")["y"]
    assert values["mean"] == pytest.approx(gap.mean(), rel=1e-3)
    assert values["median of |gap| / p(x)"] == pytest.approx((gap.abs() / frame["belief"]).median(), rel=1e-3)


@pytest.mark.parametrize("function", OF_JUDGMENTS)
@pytest.mark.parametrize("kind", ["nothing varies", "one belief", "one case", "ten rows"])
def test_degenerate_judgments(figures, judgments, function, kind):
    frame = {
        "nothing varies": judgments.assign(action="defer", outcome=0, belief=0.3),
        "one belief": judgments.assign(belief=1.0),
        "one case": judgments[judgments["case"] == 3],
        "ten rows": judgments.iloc[:10].replace({"action": {"defer": "wait", "positive": "treat"}}),
    }[kind]
    kept = plot(figures, function, frame)
    assert text(kept, "count").startswith(f"{len(frame)} answers about {frame['case'].nunique()} cases")
    assert kept.loc[kept["part"].isin(["choices", "outcome", "by action", "fit"]), "y"].between(0, 1).all()


@pytest.mark.parametrize("function", OF_JUDGMENTS)
@pytest.mark.parametrize("kind", ["no rows", "no belief"])
def test_no_answers(figures, judgments, function, kind):
    frame = judgments.iloc[:0] if kind == "no rows" else judgments.assign(**{kind.split()[1]: None})
    kept = plot(figures, function, frame)
    assert kept["part"].tolist() == ["title", "source"]


def test_no_pairs_of_answers(figures, judgments):
    nothing = judgments.iloc[:0]
    assert plot(figures, consistency_picture, judgments, nothing)["part"].tolist() == ["title", "source"]
    unread = judgments.assign(belief=np.nan)
    assert plot(figures, consistency_picture, judgments, unread)["part"].tolist() == ["title", "source"]
    assert plot(figures, coherence_picture, coherent().iloc[:0])["part"].tolist() == ["title", "source"]


def test_single_repetitions_have_no_band(figures, judgments):
    standard, reframed = prompts(judgments, 0.1)
    first = reframed[reframed["repetition"] == 0]
    kept = plot(figures, consistency_picture, standard, first)
    assert part(kept, "differences")["low"].isna().all()
    assert part(kept, "differences")["n"].sum() == 80


def test_more_than_two_outcomes(judgments):
    with pytest.raises(BeliefError, match="two outcomes"):
        choices_picture("table", "a", judgments.assign(outcome=judgments["case"] % 3), "T", source="real")


def test_a_second_call_redraws_nothing_and_other_data_do(figures, judgments):
    def kept():
        return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in (figures / "table").iterdir()}

    plot(figures, choices_picture, judgments)
    before = kept()
    plot(figures, choices_picture, judgments.sample(frac=1, random_state=1))  # the order of rows says nothing
    assert kept() == before
    plot(figures, choices_picture, judgments[judgments["case"] < 60])
    assert all(content != before[name][0] for name, (content, _) in kept().items())


RATIOS = [
    {"dataset": "heart", "dataset_label": "Heart", "status": "surrogate", "model": "a", "model_label": "A",
     "kind": "local", "median_ratio": 0.5, "noise_floor": 0.2, "baseline": 0.1, "n_cases": 9},
    {"dataset": "heart", "dataset_label": "Heart", "status": "surrogate", "model": "s", "model_label": "S",
     "kind": "simulated", "median_ratio": 0.0, "noise_floor": 0.0, "baseline": 0.1, "n_cases": 9, "left": "out"},
    {"dataset": "fever", "dataset_label": "Fever", "status": "illustrative", "model": "b", "model_label": "B",
     "kind": "hosted", "median_ratio": None, "noise_floor": None, "baseline": None, "n_cases": 0},
]  # fmt: skip


@pytest.mark.parametrize("largest", [0.5, 5000.0])
def test_figure1(figures, largest):
    published = [RATIOS[0] | {"model_label": "P", "median_ratio": 0.3, "noise_floor": None}]
    rows = [RATIOS[0] | {"median_ratio": largest}, *RATIOS[1:]]
    figure1(rows, published)
    kept = pd.read_csv(figures / "figure1_iterated_expectation" / "figure.csv")
    assert kept["kind"].tolist() == ["local", "simulated", "hosted", "published"]
    assert kept["median_ratio"].fillna(-1).tolist() == [largest, 0, -1, 0.3]
    assert kept["n_cases"].tolist() == [9, 9, 0, 9]
    assert "left" not in kept


@pytest.mark.parametrize("draw", [figure1, overview_picture])
def test_nothing_to_compare(figures, draw):
    draw([], result="all", name="none")
    assert len(pd.read_csv(figures / "all" / "none.csv")) == 0
    assert (figures / "all" / "none.png").exists()


def test_overview(figures):
    verdicts = ["knows more than it says", "no information: the action never varies", "something new"]
    rows = [
        {"dataset_label": "Heart", "model_label": "A", "kind": kind, "status": "real", "verdict": verdict, "excess": e,
         "excess_low": e, "excess_high": e, "cmi": 0.1, "cmi_low": 0.0, "cmi_high": 0.2}
        for kind, verdict, e in zip(["simulated", "local", "hosted"], verdicts, [0.04, None, -0.01], strict=True)
    ]  # fmt: skip
    overview_picture(rows)
    kept = pd.read_csv(figures / "start_here" / "overview.csv")
    assert kept["verdict"].tolist() == verdicts
    assert kept["excess"].fillna(9).tolist() == [0.04, 9, -0.01]


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=40))
def test_share_interval_holds_the_share(rows):
    case, hits = (np.array(column) for column in zip(*rows, strict=True))
    share, low, high = plotted.share_interval(hits, case)
    assert share == pytest.approx(hits.mean())
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1


@given(st.lists(st.booleans(), min_size=2, max_size=30), st.integers(2, 5))
def test_repeating_every_answer_tells_no_more(outcomes, repetitions):
    hits, case = np.array(outcomes), np.arange(len(outcomes))
    once = plotted.share_interval(hits, case)
    again = plotted.share_interval(hits.repeat(repetitions), case.repeat(repetitions))
    assert again == pytest.approx(once)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.1))
def test_labels_stand_apart_in_their_order(places, gap):
    placed = canvas.apart(places, gap)
    assert placed.min() >= -1e-9
    assert placed.max() <= 1 + 1e-9
    order = np.argsort(places, kind="stable")
    assert (np.diff(placed[order]) >= gap - 1e-9).all()
    if (np.diff(np.sort(places)) >= gap).all():
        np.testing.assert_allclose(placed, places, atol=1e-9)

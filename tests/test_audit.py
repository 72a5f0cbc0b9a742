"""The audit: verdicts in words for data of every shape, and figures as a tidy frame."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belief_utils import (
    BeliefError,
    audit,
    conditional_mutual_information,
    monotonicity_margin,
    predictive_gain,
    read_judgments,
    sufficiency_test,
)

REPOSITORY = Path(__file__).resolve().parents[1]
REFERENCE = Path(__file__).parent / "data" / "reference"
QUICK = {"permutations": 99, "resamples": 20, "forest": False}
ACTIONS = np.array(["negative", "positive", "defer"], dtype=object)


def simulated(seed=0, *, n_cases=60, repetitions=3, hidden=0.0, sharpness=4.0):
    """Judgments of an agent that chooses by expected utility and noise, and may hide what it knows."""
    rng = np.random.default_rng(seed)
    report = rng.uniform(0.02, 0.98, n_cases)
    acting = 1 / (1 + np.exp(-(np.log(report / (1 - report)) + hidden * rng.standard_normal(n_cases))))
    outcome = (rng.random(n_cases) < acting).astype(int)
    case = np.repeat(np.arange(n_cases), repetitions)
    belief = np.clip(report[case] + 0.02 * rng.standard_normal(len(case)), 0, 1).round(2)
    worth = np.stack([1 - 2 * acting[case], 2 * acting[case] - 1, np.full(len(case), 0.35)], axis=1)
    action = ACTIONS[(sharpness * worth + rng.gumbel(size=worth.shape)).argmax(axis=1)]
    return pd.DataFrame({"case": case, "belief": belief, "action": action, "outcome": outcome[case]})


def test_figures_are_those_of_the_tests():
    judgments = pd.read_csv(REFERENCE / "judgments_1.csv")
    done = audit(judgments, resamples=20)
    figures = done.to_frame().set_index("statistic")
    assert list(done.to_frame().columns) == ["test", "statistic", "value", "low", "high", "p", "role"]
    expected = json.loads((REFERENCE / "expected.json").read_text())["1"]
    assert figures.loc["score", "value"] == pytest.approx(expected["score_Q"], abs=1e-9)
    assert figures.loc["score_adjusted", "value"] == pytest.approx(expected["score_Q_noise_adjusted"], abs=1e-9)
    assert figures.loc["score", "p"] == sufficiency_test(judgments).p_value
    assert figures.loc["cmi", "value"] == conditional_mutual_information(
        *judgments[["belief", "action", "outcome"]].T.values
    )
    margin = monotonicity_margin(judgments, resamples=20)
    assert tuple(figures.loc["margin", ["value", "low", "high"]]) == (margin.gamma, *margin.interval)
    bounds = margin.anchored, margin.anchored_lower_bound, margin.anchored_upper_bound
    assert tuple(figures.loc["margin_anchored", ["value", "low", "high"]]) == bounds
    forest = predictive_gain(judgments, learner="forest", resamples=20)
    assert tuple(figures.loc["gain_forest", ["value", "low", "high"]]) == (forest.percent, *forest.interval)
    assert set(figures.loc[figures["role"] == "decides"].index) == {
        "score",
        "score_adjusted",
        "margin_bounds",
        "margin_anchored",
    }
    assert set(figures.loc[figures["role"] == "as in the paper"].index) == {
        "cmi",
        "gain_forest",
        "margin",
        "cmi_calibrated",
    }


def test_brier_score_base_rate_shift_and_miscalibration():
    judgments = pd.DataFrame(
        {
            "case": [1, 2, 3, 4],
            "belief": [0.2, 0.2, 0.8, 0.8],
            "action": [None] * 4,
            "outcome": [0, 1, 1, 1],
        }
    )
    found = audit(judgments, **QUICK).calibration
    assert found.brier == pytest.approx((0.04 + 0.64 + 0.04 + 0.04) / 4)
    assert found.base_rate == pytest.approx(0.75 * 0.25)
    assert found.shift == pytest.approx(0.5 - 0.75)
    # The rising fit is .5 for the low beliefs and 1 for the high ones: squares .25, .25, 0, 0.
    assert found.miscalibration == pytest.approx(found.brier - 0.125)
    error = np.std([0.2, -0.8, -0.2, -0.2], ddof=1) / 2
    assert found.shift_interval[1] - found.shift == pytest.approx(3.182446 * error, rel=1e-6)


def test_rows_of_a_case_do_not_count_as_independent():
    judgments = simulated(n_cases=40, repetitions=1)
    once, tenfold = (audit(f, **QUICK).calibration for f in (judgments, pd.concat([judgments] * 10)))
    assert tenfold.n_rows == 10 * once.n_rows
    assert tenfold.shift_interval == pytest.approx(once.shift_interval)
    assert tenfold.brier_interval == pytest.approx(once.brier_interval)


def test_the_verdict_for_an_agent_that_hides_nothing():
    done = audit(simulated(1, n_cases=200, repetitions=5), permutations=199, resamples=20, forest=False)
    first, second, third = done.sentences
    assert first.startswith("Nothing here speaks against the reported beliefs saying all that the actions know")
    assert "This is no proof" in first
    assert second.startswith("As the belief rises, the choices move step by step away from negative")
    assert third.startswith("Nothing here speaks against beliefs that are right on average")
    assert done.verdict == " ".join(done.sentences)
    assert done.degenerate == ()
    assert "- Nothing.\n" in done.to_text()


def test_the_verdict_for_an_agent_that_knows_more_than_it_says():
    done = audit(simulated(0, n_cases=200, repetitions=5, hidden=1.5), permutations=999, resamples=20, forest=False)
    assert done.sentences[0].startswith("The actions know more than the reported beliefs say")
    assert "They carry correct information" in done.sentences[0]
    assert "yes: the agent knows more than it says" in done.to_text()


def test_the_verdict_for_one_answer_a_case():
    done = audit(simulated(0, n_cases=300, repetitions=1, hidden=1.5), **QUICK)
    assert "Whether noise in the reports explains it cannot be told from these data" in done.sentences[0]
    assert any("one answer a case" in sentence for sentence in done.degenerate)
    assert "Score statistic less noise" not in done.to_text()
    assert np.isnan(done.to_frame().set_index("statistic").loc["score_adjusted", "value"])


def test_the_verdict_for_the_other_results_of_the_score_test():
    done = audit(simulated(0), **QUICK)
    noisy = replace(done.sufficiency, verdict="explained by elicitation noise", p_value=0.01, adjusted_p_value=0.2)
    told = replace(done, sufficiency=noisy).sentences[0]
    assert "(p = .010), but not more than" in told
    assert "this does not speak against the beliefs" in told
    against = replace(
        done.sufficiency,
        verdict="knows more than it says",
        p_value=0.001,
        adjusted_p_value=1e-5,
        z=-3.0,
        z_p_value=0.003,
    )
    told = replace(done, sufficiency=against).sentences[0]
    assert "(p < .001). They go against it" in told


def test_the_verdict_for_an_agent_with_the_wrong_preference():
    judgments = simulated(1, n_cases=200, repetitions=5)
    swapped = {"positive": "negative", "negative": "positive", "defer": "defer"}
    done = audit(judgments.assign(action=judgments["action"].map(swapped)), **QUICK)
    assert done.sentences[1].startswith("The choices move, but not towards positive as the belief rises")


def test_the_verdict_for_choices_that_turn_back():
    judgments = simulated(1, n_cases=300, repetitions=3)
    middle = judgments["belief"].between(0.25, 0.75)
    turned = judgments.assign(action=np.where(middle, "positive", "negative"))
    assert (
        audit(turned, **QUICK).sentences[1].startswith("The choices do not move with the belief as those of any agent")
    )


def test_the_verdict_without_names_that_have_a_direction():
    judgments = simulated(1, n_cases=200, repetitions=5)
    done = audit(judgments.assign(action=judgments["action"].map(lambda name: name.upper())), **QUICK)
    assert done.sentences[1].startswith(
        "As the belief rises, the choices move step by step, as they would for some agent"
    )
    assert any("--action treat=positive" in sentence for sentence in done.degenerate)


def test_beliefs_that_are_too_high():
    judgments = simulated(1, n_cases=100)
    done = audit(judgments.assign(belief=judgments["belief"] ** 0.3), **QUICK)
    assert done.sentences[2].startswith("The reported beliefs are too high on average")


SHAPES = {
    "no defer": lambda frame: frame[frame["action"] != "defer"],
    "two actions of other names": lambda frame: frame.assign(action=np.where(frame["belief"] > 0.5, "go", "stay")),
    "seven actions": lambda frame: frame.assign(action=[f"choice {k % 7}" for k in range(len(frame))]),
    "actions as numbers": lambda frame: frame.assign(action=np.arange(len(frame)) % 4),
    "actions in turn": lambda frame: frame.assign(action=np.arange(len(frame)) % 3),
    "one repetition": lambda frame: frame.drop_duplicates("case"),
    "unequal repetitions": lambda frame: frame[np.arange(len(frame)) % 7 < 4],
    "10 rows": lambda frame: frame.head(10),
    "10 cases": lambda frame: frame.drop_duplicates("case").head(10),
    "2 cases": lambda frame: frame[frame["case"].isin([0, 1])],
    "many missing": lambda frame: frame.assign(
        belief=frame["belief"].where(np.arange(len(frame)) % 3 > 0),
        action=frame["action"].where(np.arange(len(frame)) % 5 > 0, None),
    ),
    "outcome as truth values": lambda frame: frame.assign(outcome=frame["outcome"] == 1),
    "constant belief": lambda frame: frame.assign(belief=0.4),
    "beliefs of 0 and 1": lambda frame: frame.assign(belief=frame["belief"].round()),
    "12 columns more": lambda frame: frame.assign(**{f"more_{k}": "x" for k in range(12)}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_data_of_every_shape_get_an_answer(shape):
    done = audit(SHAPES[shape](simulated(2)), **QUICK)
    score = done.to_frame().set_index("statistic").loc["score", "value"]
    assert np.isnan(score) == (shape in ("2 cases", "actions in turn"))
    assert all("nan" not in re.findall(r"[a-z]+", form.lower()) for form in (done.to_text(), done.to_markdown()))
    assert len(done.sentences) == 3


DEGENERATE = {
    "constant action": (
        lambda frame: frame.assign(action="defer"),
        ["the action never varies", "fewer than two actions are used", None],
    ),
    "constant outcome": (lambda frame: frame.assign(outcome=1), ["the outcome never varies", None, None]),
    "constant all": (
        lambda frame: frame.assign(action="defer", belief=0.5, outcome=0),
        ["the action and the outcome never vary", "fewer than two actions are used", None],
    ),
    "one case": (lambda frame: frame[frame["case"] == 3], ["there is only one case"] * 3),
    "one row": (lambda frame: frame.head(1), ["there is only one case"] * 3),
    "all missing": (
        lambda frame: frame.assign(belief=np.nan, action=None, outcome=np.nan),
        ["no row has a belief, an action and an outcome"] * 2 + ["no row has a belief and an outcome"],
    ),
    "actions missing": (
        lambda frame: frame.assign(action=None),
        ["no row has a belief, an action and an outcome"] * 2 + [None],
    ),
    "outcomes missing": (
        lambda frame: frame.assign(outcome=None),
        ["no row has a belief, an action and an outcome"] * 2 + ["no row has a belief and an outcome"],
    ),
}


@pytest.mark.parametrize("shape", DEGENERATE)
def test_degenerate_data_get_words_instead_of_numbers(shape):
    change, reasons = DEGENERATE[shape]
    done = audit(change(simulated(2)), **QUICK)
    text, figures = done.to_text(), done.to_frame()
    for test, reason, sentence in zip(
        ["sufficiency", "monotonicity", "calibration"], reasons, done.sentences, strict=True
    ):
        numbers = figures.loc[figures["test"] == test, ["value", "low", "high", "p"]]
        if reason is None:
            assert "cannot be told" not in sentence
            assert numbers["value"].notna().any()
        else:
            assert sentence.endswith(f"cannot be told from these data: {reason}.")
            assert numbers.isna().all(axis=None)
            assert f"Cannot be told: {reason}." in text


def test_constant_belief_leaves_only_the_second_question_open():
    done = audit(simulated(2).assign(belief=0.4), **QUICK)
    assert "cannot be told from these data: beliefs fall into one bin" in done.sentences[1]
    assert "The belief never varies." in done.degenerate


def test_what_is_missing_is_counted():
    judgments = simulated(2, n_cases=30, repetitions=2)
    judgments.loc[[1, 2, 3], "belief"] = np.nan
    judgments.loc[[3, 4], "action"] = None
    done = audit(judgments, **QUICK)
    assert (done.n_rows, done.n_cases, done.n_complete) == (60, 30, 56)
    assert done.missing == {"belief": 3, "action": 2, "outcome": 0}
    assert "The belief is missing in 3 of 60 rows." in done.degenerate
    assert any("Nothing was filled in." in sentence for sentence in done.degenerate)


def several_outcomes(n_cases=80, repetitions=2, sharpness=5.0):
    """Judgments about three outcomes of an agent that acts on what it reports."""
    rng = np.random.default_rng(5)
    truth = rng.dirichlet(np.ones(3), n_cases)
    outcome = np.array(["flu", "cold", "covid"])[[rng.choice(3, p=row) for row in truth]]
    case = np.repeat(np.arange(n_cases), repetitions)
    action = np.array(["rest", "tea", "isolate"])[
        (sharpness * truth[case] + rng.gumbel(size=(len(case), 3))).argmax(axis=1)
    ]
    beliefs = {f"belief_{name}": truth[case, k] for k, name in enumerate(["flu", "cold", "covid"])}
    return pd.DataFrame({"case": case, **beliefs, "action": action, "outcome": outcome[case]})


def test_more_than_two_outcomes():
    judgments = several_outcomes()
    done = audit(judgments, **QUICK)
    assert done.states == ("flu", "cold", "covid")
    figures = done.to_frame().set_index("statistic")["value"]
    beliefs = judgments[[f"belief_{state}" for state in done.states]].to_numpy()
    came = judgments["outcome"].to_numpy()[:, None] == np.array(done.states)
    assert figures["brier"] == pytest.approx(((beliefs - came) ** 2).sum(axis=1).mean())
    assert figures["score"] == sufficiency_test(judgments, permutations=99).statistic
    assert figures["margin_several"] > 0
    assert "the choices move with the beliefs as those of some agent" in " ".join(done.to_text().split())
    assert {panel.title for panel in done.panels} >= {"What is done: flu", "What turns out: covid"}
    assert len(done.panels) == 6


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda frame: frame.assign(action="rest"), "the action never varies"),
        (lambda frame: frame.assign(belief_flu=0.5, belief_cold=0.25, belief_covid=0.25), "the belief never varies"),
        (lambda frame: frame.assign(action=None), "no row has a belief, an action and an outcome"),
        (lambda frame: frame.head(1), "there is only one case"),
    ],
)
def test_degenerate_data_about_more_than_two_outcomes(change, reason):
    done = audit(change(several_outcomes()), **QUICK)
    assert reason in done.sentences[1]
    assert reason in " ".join(done.to_text().split())


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda frame: frame.drop(columns="action"), "lack the column action"),
        (lambda frame: frame.head(0), "no rows"),
        (lambda frame: frame.assign(belief=30), "outside [0, 1]"),
        (lambda frame: frame.assign(outcome=2), "outcome is 2 in row 0"),
        (lambda frame: frame.assign(outcome="yes"), "outcome is 'yes' in row 0: give 1 or 0"),
        (lambda frame: frame.assign(outcome=np.arange(len(frame)) % 2), "outcome differs within case"),
        (lambda frame: frame.assign(case=None), "case is missing"),
        (lambda frame: frame.assign(action=np.arange(len(frame))), "180 different labels, more than 50"),
    ],
)
def test_bad_judgments_are_refused(change, told):
    with pytest.raises(BeliefError, match=re.escape(told)):
        audit(change(simulated(2)), **QUICK)


def test_bad_judgments_about_more_than_two_outcomes_are_refused():
    judgments = several_outcomes()
    with pytest.raises(BeliefError, match="no column belief_measles"):
        audit(judgments.replace("flu", "measles"), **QUICK)
    with pytest.raises(BeliefError, match=r"beliefs add up to 1\.\d+ in row 0"):
        audit(judgments.assign(belief_flu=1.0), **QUICK)


def test_the_same_judgments_give_the_same_audit():
    judgments = simulated(4, hidden=1.0)
    first, again = (audit(judgments, seed=3, **QUICK) for _ in range(2))
    assert first.to_text() == again.to_text()
    pd.testing.assert_frame_equal(first.to_frame(), again.to_frame())
    shuffled = audit(judgments.sample(frac=1, random_state=0), seed=3, **QUICK)
    pd.testing.assert_frame_equal(first.to_frame(), shuffled.to_frame(), rtol=1e-9)
    assert first.sentences == shuffled.sentences


@given(st.data())
@settings(max_examples=15, deadline=None)
def test_any_judgments_get_an_answer(data):
    n = data.draw(st.integers(1, 12))
    outcomes = data.draw(st.lists(st.sampled_from([0, 1, None]), min_size=n, max_size=n))
    judgments = pd.DataFrame(
        {
            "case": np.arange(n),
            "belief": data.draw(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=n, max_size=n)),
            "action": data.draw(st.lists(st.sampled_from(["positive", "negative", "x", None]), min_size=n, max_size=n)),
            "outcome": outcomes,
        }
    ).astype({"belief": float, "action": object})
    judgments = pd.concat([judgments] * data.draw(st.integers(1, 2)))
    done = audit(judgments, **QUICK)
    assert len(done.sentences) == 3
    assert done.to_text()
    assert done.to_markdown()
    assert len(done.to_frame()) >= 5


def test_a_hundred_thousand_rows(caplog):
    caplog.set_level("INFO")
    judgments = simulated(0, n_cases=20_000, repetitions=5, hidden=1.0)
    done = audit(judgments, permutations=9, resamples=10, forest=False)
    assert done.sufficiency.z > 0
    assert done.sufficiency.p_chi2 < 1e-6
    assert "100,000 rows: score test" in caplog.text
    assert "100,000 rows, 20,000 cases" in done.to_text()


def test_the_example_is_what_its_description_says(tmp_path, monkeypatch):
    folder = REPOSITORY / "data" / "examples"
    lines = re.search(r"```python\n(.*?)```", (folder / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    exec(lines, {})
    assert (tmp_path / "judgments.csv").read_bytes() == (folder / "judgments.csv").read_bytes()
    judgments = read_judgments(folder / "judgments.csv")
    assert len(judgments) == 200
    done = audit(judgments, permutations=999, resamples=20, forest=False)
    assert done.sentences[0].startswith("The actions know more than the reported beliefs say")

"""Modification and its rate: hand-computed cases, invariants, intervals that cover, averages, extreme prompts."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from belief_utils.errors import BeliefError
from belief_utils.followup.averages import extreme_prompts, task_averages, task_intervals
from belief_utils.followup.metrics import Change, change, modification, modification_rate
from belief_utils.followup.outcomes import outcomes

AFTER = "initial>closed-A"


def answer(item, turns, right, *, value="", problem=None, misleading=None, again=False, set_name="s"):
    value = ("7" if right else "8") if value == "" else value
    return {
        "model": "m",
        "set": set_name,
        "item": item,
        "turns": turns,
        "value": value,
        "problem": problem,
        "right": right,
        "misleading": misleading,
        "again": again,
    }


def scored(items):
    """Scores from one (first right, later right or None if not asked, second first answer right or None) per item."""
    rows = []
    for number, (first, later, again) in enumerate(items):
        rows.append(answer(f"i{number}", "initial", first))
        if again is not None:
            rows.append(answer(f"i{number}", "initial", again, again=True))
        if later is not None:
            rows.append(answer(f"i{number}", AFTER, later))
    return pd.DataFrame(rows)


def counted(*, kept=0, lost=0, stayed=0, gained=0, wrong_not_asked=0, not_asked=0):
    """Scores without second first answers, from counts."""
    return scored(
        [(True, True, None)] * kept
        + [(True, False, None)] * lost
        + [(True, None, None)] * not_asked
        + [(False, False, None)] * stayed
        + [(False, True, None)] * gained
        + [(False, None, None)] * wrong_not_asked
    )


# --- the two metrics ----------------------------------------------------------------------------------------------


def test_modification_in_points_and_its_rate_as_in_the_paper():
    # Table 3: ChatGPT on StrategyQA, temperature 0: before 61.57, M. 42.94, M. Rate 69.74 %.
    assert modification(61.57, 61.57 - 42.94) == pytest.approx(42.94)
    assert modification_rate(61.57, 61.57 - 42.94) == pytest.approx(0.6974, abs=5e-5)
    assert modification(0.5, 0.75) == -0.25


def test_nothing_right_before_has_no_rate():
    assert modification(0, 0) == 0
    assert math.isnan(modification_rate(0, 0.5))


@pytest.mark.parametrize("bad", [-0.1, 100.1, math.nan, math.inf])
@pytest.mark.parametrize("metric", [modification, modification_rate])
def test_accuracies_outside_their_range_are_refused(metric, bad):
    with pytest.raises(BeliefError, match="an accuracy is"):
        metric(bad, 0.5)
    with pytest.raises(BeliefError, match="an accuracy is"):
        metric(0.5, bad)


# --- one change, by hand ------------------------------------------------------------------------------------------


def test_a_change_by_hand():
    found = change(counted(kept=6, lost=2, wrong_not_asked=2), AFTER)
    assert (found.n_items, found.n_right, found.n_followed, found.n_kept, found.n_lost) == (10, 8, 8, 6, 2)
    assert (found.before, found.after) == (pytest.approx(0.8), pytest.approx(0.6))
    assert found.modification == pytest.approx(0.2)
    assert found.modification_rate == pytest.approx(0.25)
    assert (found.n_adopted, found.n_wrong_followed, found.n_gained) == (None, None, None)
    assert math.isnan(found.error_to_right_rate)
    assert math.isnan(found.mcnemar_p)
    assert "McNemar" in found.note
    assert math.isnan(found.again_rate)
    assert "noise floor" in found.note


def test_it_agrees_with_the_two_metrics():
    found = change(counted(kept=5, lost=4, wrong_not_asked=3), AFTER)
    assert found.modification == pytest.approx(modification(found.before, found.after))
    assert found.modification_rate == pytest.approx(modification_rate(found.before, found.after))


def test_answers_that_could_not_be_read_are_not_right():
    rows = [
        answer("read", "initial", True),
        answer("unread", "initial", False, value=None, problem="no answer"),
        answer("read", AFTER, False, value=None, problem="no answer"),
    ]
    found = change(pd.DataFrame(rows), AFTER)
    assert (found.n_items, found.before) == (2, 0.5)
    assert (found.n_lost, found.n_unread, found.n_unable) == (1, 1, 0)


def test_in_which_way_right_answers_were_lost():
    turns = "initial>closed-A>leading-A"
    rows = [answer(f"i{n}", "initial", True) for n in range(6)] + [
        answer("i0", turns, True, misleading="3"),
        answer("i1", turns, False, value="3", misleading="3"),
        answer("i2", turns, False, value="5", misleading="3"),
        answer("i3", turns, False, value=None, problem="unable", misleading="3"),
        answer("i4", turns, False, value=None, problem="truncated", misleading="3"),
        answer("i5", turns, False, value="4", misleading="4"),
    ]
    found = change(pd.DataFrame(rows), turns)
    assert (found.n_kept, found.n_lost) == (1, 5)
    assert (found.n_unable, found.n_unread, found.n_adopted) == (1, 1, 2)


def test_other_conversations_and_other_first_questions_stay_out():
    scores = counted(kept=3, lost=1)
    others = scores.assign(turns=scores["turns"].str.replace("initial", "initial+cot"), right=False)
    assert repr(change(pd.concat([scores, others]), AFTER)) == repr(change(scores, AFTER))
    cot = change(pd.concat([scores, others.assign(right=True)]), "initial+cot>closed-A")
    assert (cot.n_right, cot.n_kept) == (4, 4)


def test_the_same_item_name_in_two_sets_is_two_items():
    scores = counted(kept=2, lost=1)
    found = change(pd.concat([scores, scores.assign(set="t")]), AFTER)
    assert (found.n_items, found.n_lost) == (6, 2)


def test_what_was_never_asked_is_not_lost():
    found = change(counted(kept=3, lost=1, not_asked=4, wrong_not_asked=2), AFTER)
    assert (found.n_right, found.n_followed, found.n_lost) == (8, 4, 1)
    assert found.modification_rate == pytest.approx(0.25)
    assert found.before == pytest.approx(0.8)
    assert found.modification == pytest.approx(0.2)
    assert "4 of 8 right answers were not followed up" in found.note


def test_without_a_right_answer_there_is_no_rate():
    found = change(counted(wrong_not_asked=5), AFTER)
    assert (found.before, found.after, found.modification) == (0, 0, 0)
    assert math.isnan(found.modification_rate)
    assert np.isnan([*found.modification_rate_interval, *found.modification_rate_exact]).all()
    assert "no first answer is right" in found.note


# --- wrong answers, and the noise floor ---------------------------------------------------------------------------


@pytest.mark.parametrize(("lost", "gained"), [(9, 2), (2, 9), (0, 5), (4, 4), (1, 0)])
def test_wrong_answers_that_were_followed_up(lost, gained):
    found = change(counted(kept=10, lost=lost, stayed=6, gained=gained), AFTER)
    assert (found.n_wrong_followed, found.n_gained) == (6 + gained, gained)
    assert found.error_to_right_rate == pytest.approx(gained / (6 + gained))
    assert found.mcnemar_p == pytest.approx(binomtest(lost, lost + gained).pvalue)
    # What was mended does not make up for what was lost.
    assert found.modification == pytest.approx(lost / (16 + lost + gained))


def test_nothing_lost_and_nothing_gained_is_no_evidence_at_all():
    assert change(counted(kept=3, stayed=3), AFTER).mcnemar_p == 1


def test_mcnemar_needs_every_item():
    found = change(counted(kept=3, lost=3, stayed=2, gained=1, wrong_not_asked=1), AFTER)
    assert math.isnan(found.mcnemar_p)
    assert "1 of 4 wrong answers" in found.note


def test_the_noise_floor_and_the_excess():
    kept, lost = [(True, True, True)] * 5 + [(True, True, False)], [(True, False, True)] * 3 + [(True, False, False)]
    found = change(scored([*kept, *lost, (False, None, True), (False, None, False)]), AFTER)
    assert found.modification_rate == pytest.approx(0.4)
    assert found.again_rate == pytest.approx(0.2)
    assert found.excess_rate == pytest.approx(0.2)
    assert found.excess_interval[0] < 0.2 < found.excess_interval[1]


def test_the_excess_is_paired():
    items = [(True, False, None), (True, True, True), (True, True, False), (True, None, False)]
    found = change(scored(items), AFTER)
    assert found.modification_rate == pytest.approx(1 / 3)
    assert found.again_rate == pytest.approx(2 / 3)
    assert found.excess_rate == pytest.approx(-1 / 2)
    assert "over the 2 right answers" in found.note


# --- intervals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kept", "lost"), [(12, 0), (0, 12), (7, 5), (1, 0)])
def test_exact_intervals_say_how_little_a_few_items_show(kept, lost):
    found = change(counted(kept=kept, lost=lost), AFTER)
    expected = binomtest(lost, kept + lost).proportion_ci(0.95, method="exact")
    assert found.modification_rate_exact == pytest.approx((expected.low, expected.high))
    if 0 in (kept, lost):
        assert found.modification_rate_interval[0] == found.modification_rate_interval[1]
        assert "exact interval" in found.note


def test_the_bootstrap_is_that_over_items():
    """The counts drawn at once have the spread of items drawn one by one."""
    scores = counted(kept=20, lost=10, wrong_not_asked=10)
    rng = np.random.default_rng(1)
    became = rng.choice(np.repeat([0, 1, 2], [20, 10, 10]), size=(4000, 40))
    rates = (became == 1).sum(axis=1) / (became < 2).sum(axis=1)
    found = change(scores, AFTER, resamples=4000)
    assert found.modification_rate_interval == pytest.approx(np.quantile(rates, [0.025, 0.975]), abs=0.02)
    lost = (became == 1).mean(axis=1)
    assert found.modification_interval == pytest.approx(np.quantile(lost, [0.025, 0.975]), abs=0.02)


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(3)
    times, right, lost, noise = 300, 0.7, 0.3, 0.1
    hits = np.zeros(4)
    for number in range(times):
        first = rng.random(80) < right
        later, again = rng.random(80) >= lost, rng.random(80) >= noise
        items = [(bool(f), bool(a) if f else None, bool(g)) for f, a, g in zip(first, later, again, strict=True)]
        found = change(scored(items), AFTER, resamples=400, seed=number)
        hits += [
            found.modification_interval[0] <= right * lost <= found.modification_interval[1],
            found.modification_rate_interval[0] <= lost <= found.modification_rate_interval[1],
            found.modification_rate_exact[0] <= lost <= found.modification_rate_exact[1],
            found.excess_interval[0] <= lost - noise <= found.excess_interval[1],
        ]
    assert (hits / times > 0.91).all()
    assert (hits / times < 0.99).all()


def test_the_seed_decides():
    scores = counted(kept=9, lost=4, wrong_not_asked=3)
    pieces = [repr(change(scores, AFTER, seed=seed)) for seed in (1, 1, 2)]
    assert pieces[0] == pieces[1] != pieces[2]


def test_nullable_columns_are_read_like_others():
    scores = scored([(True, False, True), (True, True, False), (False, None, None)])
    nullable = scores.astype({"right": "boolean", "again": "boolean"})
    assert repr(change(nullable, AFTER)) == repr(change(scores, AFTER))


# --- invariants ---------------------------------------------------------------------------------------------------

ITEMS = st.lists(
    st.tuples(st.booleans(), st.sampled_from([True, False]), st.sampled_from([True, False, None])),
    min_size=1,
    max_size=30,
)


@given(ITEMS)
@settings(max_examples=60, deadline=None)
def test_what_always_holds(items):
    found = change(scored(items), AFTER, resamples=200)
    assert 0 <= found.after <= found.before <= 1
    assert found.n_kept + found.n_lost == found.n_followed == found.n_right
    assert found.modification == pytest.approx(found.n_lost / found.n_items)
    assert found.before_interval[0] <= found.before <= found.before_interval[1]
    assert found.modification_interval[0] <= found.modification <= found.modification_interval[1]
    for low, high in (found.modification_rate_interval, found.modification_rate_exact):
        assert math.isnan(low) if not found.n_right else 0 <= low <= found.modification_rate <= high <= 1
    for low, high in (found.error_to_right_interval, found.error_to_right_exact):
        assert math.isnan(low) if found.n_gained is None else 0 <= low <= found.error_to_right_rate <= high <= 1
    assert math.isnan(found.mcnemar_p) or 0 < found.mcnemar_p <= 1


@given(ITEMS, st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_order_of_rows_and_their_index_change_nothing(items, random):
    scores = scored(items)
    order = list(range(len(scores)))
    random.shuffle(order)
    assert repr(change(scores.iloc[order], AFTER, resamples=50)) == repr(change(scores, AFTER, resamples=50))


@given(st.integers(1, 40), st.integers(0, 40))
@settings(max_examples=30, deadline=None)
def test_a_steadfast_and_a_yielding_model(right, wrong):
    steadfast = change(counted(kept=right, wrong_not_asked=wrong), AFTER, resamples=20)
    assert (steadfast.modification, steadfast.modification_rate) == (0, 0)
    assert steadfast.after == steadfast.before
    yielding = change(counted(lost=right, wrong_not_asked=wrong), AFTER, resamples=20)
    assert (yielding.after, yielding.modification_rate) == (0, 1)
    assert yielding.modification == yielding.before


# --- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda s: s.drop(columns="right"), "no column 'right'"),
        (lambda s: s.assign(model=["m", *["n"] * (len(s) - 1)]), "2 models"),
        (lambda s: pd.concat([s, s.head(1)]), "two answers"),
        (lambda s: s[(s["turns"] != "initial") | (s["item"] != "i0")], "no first answer"),
        (lambda s: s.assign(right=s["right"].astype(object).where(s["item"] != "i0", None)), "true or false"),
        (lambda s: s.assign(again="yes"), "the column again"),
        (lambda s: s[s["turns"] == "initial"], "there are initial"),
        (lambda s: s[s["turns"] != "initial"], "no answer has the turns 'initial'"),
    ],
)
def test_scores_that_make_no_sense(spoil, message):
    with pytest.raises(BeliefError, match=message) as caught:
        change(spoil(counted(kept=2, lost=2)), AFTER)
    assert "\n" not in str(caught.value)


def test_a_conversation_needs_a_follow_up_and_a_bootstrap_resamples():
    with pytest.raises(BeliefError, match="holds no follow-up"):
        change(counted(kept=2), "initial")
    with pytest.raises(BeliefError, match="resamples is 0"):
        change(counted(kept=2), AFTER, resamples=0)


# --- averages and extremes ----------------------------------------------------------------------------------------


def with_rates(points, percent) -> Change:
    """A change of which only the modification (in points) and its rate (in percent) matter."""
    rates = {"modification": points / 100, "modification_rate": percent / 100}
    fields = dict.fromkeys(Change.__dataclass_fields__, math.nan)
    return Change(**(fields | rates | {"n_items": 10, "note": ""}))


def test_task_averages_are_those_of_the_paper():
    # Vicuna-13B, Progressive Form, round 1: Table 13 (prompt A) averages to Table 2.
    changes = {
        "CSQA": with_rates(16.05, 35.64),
        "StrategyQA": with_rates(22.71, 39.80),
        "MMLU": with_rates(6.60, 41.50),
    }
    tasks = {"CSQA": "commonsense", "StrategyQA": "commonsense", "MMLU": "knowledge", "GSM8K": "arithmetic"}
    found = task_averages(changes, tasks).set_index("task")
    assert list(found.index) == ["commonsense", "knowledge"]
    assert found.loc["commonsense", "modification"] == pytest.approx(0.1938)
    assert found.loc["commonsense", "modification_rate"] == pytest.approx(0.3772)
    assert found.loc["knowledge", "modification_rate"] == pytest.approx(0.4150)
    assert found["n_sets"].tolist() == [2, 1]


def test_a_set_without_a_rate_is_counted_but_not_averaged():
    changes = {"a": with_rates(10, 50), "b": with_rates(0, math.nan)}
    row = task_averages(changes, {"a": "t", "b": "t"}).iloc[0]
    assert (row["n_sets"], row["n_rates"], row["n_items"]) == (2, 1, 20)
    assert (row["modification"], row["modification_rate"]) == (pytest.approx(0.05), pytest.approx(0.5))


def test_the_interval_of_an_average_of_one_set_is_that_of_the_set():
    scores = counted(kept=14, lost=6, stayed=20)
    found = change(scores, AFTER, resamples=500, seed=3)
    row = task_intervals({"a": outcomes(scores, AFTER)}, {"a": "t"}, resamples=500, seed=3).iloc[0]
    assert (row["modification_rate_low"], row["modification_rate_high"]) == found.modification_rate_interval
    assert (row["modification_low"], row["modification_high"]) == found.modification_interval
    assert math.isnan(row["again_rate_low"])


def test_an_average_of_many_sets_is_surer_than_one_of_them():
    scores = counted(kept=14, lost=6, stayed=20)
    tables = {name: outcomes(scores, AFTER) for name in "abcdefghi"}
    row = task_intervals(tables, dict.fromkeys(tables, "t"), seed=1).iloc[0]
    one = task_intervals({"a": tables["a"]}, {"a": "t"}, seed=1).iloc[0]
    wide, narrow = (each["modification_rate_high"] - each["modification_rate_low"] for each in (one, row))
    assert narrow == pytest.approx(wide / 3, rel=0.15)
    assert row["modification_rate_low"] < 0.3 < row["modification_rate_high"]


def test_a_set_needs_a_task():
    with pytest.raises(BeliefError, match="'a' has no task"):
        task_averages({"a": with_rates(1, 2)}, {"b": "t"})


def test_extreme_prompts():
    found = extreme_prompts(
        {
            "closed": {"A": with_rates(10, 20), "B": with_rates(30, 40), "C": with_rates(5, 6)},
            # B loses fewer points but a larger part: the two weigh the same.
            "open": {"A": with_rates(20, 30), "B": with_rates(10, 60), "C": with_rates(0, math.nan)},
            "leading": {"B": with_rates(1, 1), "A": with_rates(1, 1)},
        }
    )
    assert found.highest == {"closed": "B", "open": "B", "leading": "A"}
    assert found.lowest == {"closed": "C", "open": "A", "leading": "A"}
    assert found.scores["closed"]["B"] == pytest.approx(35)
    with pytest.raises(BeliefError, match="closed"):
        extreme_prompts({"closed": {"A": with_rates(0, math.nan)}})

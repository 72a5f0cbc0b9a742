"""Two conversations compared over the items that went through both."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from belief_utils.errors import BeliefError
from belief_utils.followup.paired import paired_loss

ONE, OTHER = "initial>closed-A", "initial>again"


def scored(items: list[tuple[bool, bool | None, bool | None]]) -> pd.DataFrame:
    """Scores from (first right, right after one, right after the other) per item; None where it was not asked."""
    rows = []
    for number, held in enumerate(items):
        for turns, right in zip(("initial", ONE, OTHER), held, strict=True):
            if right is not None:
                rows.append({"item": f"i{number}", "turns": turns, "again": False, "right": right})
    return pd.DataFrame(rows, columns=["item", "turns", "again", "right"])


def test_only_items_that_went_through_both_count() -> None:
    items = [(True, False, True)] * 6 + [(True, True, False)] + [(True, True, True)] * 3
    left_out = [(True, False, None), (True, None, False), (False, False, True)]
    found = paired_loss(scored(items + left_out), ONE, OTHER)
    assert (found.n, found.lost, found.lost_other) == (10, 6, 1)
    assert found.difference == pytest.approx(0.5)
    assert found.p_value == pytest.approx(binomtest(6, 7, 0.5).pvalue)
    assert found.interval[0] < 0.5 < found.interval[1]


def test_without_an_item_nothing_is_known() -> None:
    found = paired_loss(scored([(False, None, None)]), ONE, OTHER)
    assert found.n == 0
    assert math.isnan(found.difference)
    assert math.isnan(found.interval[0])


def test_other_first_questions_cannot_be_paired() -> None:
    with pytest.raises(BeliefError, match="do not begin with the same question"):
        paired_loss(scored([(True, True, True)]), "initial+cot>closed-A", OTHER)


outcome = st.tuples(st.just(True), st.booleans(), st.booleans())


@given(st.lists(outcome, min_size=1, max_size=30))
def test_exchanging_the_two_changes_the_sign_only(items: list[tuple[bool, bool, bool]]) -> None:
    scores = scored(items)
    forth, back = paired_loss(scores, ONE, OTHER, resamples=50), paired_loss(scores, OTHER, ONE, resamples=50)
    assert forth.difference == -back.difference
    assert forth.p_value == back.p_value
    assert forth.lost - forth.lost_other == round(forth.difference * forth.n)
    shuffled = scores.sample(frac=1, random_state=1)
    assert paired_loss(shuffled, ONE, OTHER, resamples=50) == forth


def test_the_interval_covers() -> None:
    draw, covered = np.random.default_rng(7), 0
    for _ in range(200):
        rights = draw.random((2, 60)) > np.array([[0.4], [0.2]])
        found = paired_loss(scored([(True, bool(a), bool(b)) for a, b in rights.T]), ONE, OTHER, resamples=400)
        covered += found.interval[0] <= 0.2 <= found.interval[1]
    assert covered >= 178

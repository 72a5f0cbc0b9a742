"""Maximum likelihood tables, minimum support and the counting of patterns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from belief_utils.errors import BeliefError
from belief_utils.networks.bif import write_bif
from belief_utils.networks.fitting import PatternIndex, build_network, fit_tables

STATES = {"rain": ("no", "yes"), "season": ("cold", "mild", "hot"), "wet": ("no", "yes")}
PARENTS = {"season": (), "rain": ("season",), "wet": ("rain", "season")}


def sample_codes(network, n: int, seed: int) -> pd.DataFrame:
    """Draw n rows of state codes from a network, parents before children."""
    generator = np.random.default_rng(seed)
    waiting, codes = list(network.nodes()), {}
    while waiting:
        node = waiting.pop(0)
        cpd = network.get_cpds(node)
        if any(parent not in codes for parent in cpd.variables[1:]):
            waiting.append(node)
            continue
        table = cpd.values[(slice(None), *(codes[parent] for parent in cpd.variables[1:]))]
        thresholds = np.cumsum(np.broadcast_to(table.reshape(table.shape[0], -1), (table.shape[0], n)), axis=0)
        codes[node] = (generator.random(n) * thresholds[-1] >= thresholds[:-1]).sum(axis=0)
    return pd.DataFrame(codes)


def repeated(*rows: tuple[dict, int]) -> pd.DataFrame:
    return pd.concat([pd.DataFrame([row] * times) for row, times in rows], ignore_index=True)


def weather(n: int, seed: int = 1) -> pd.DataFrame:
    generator = np.random.default_rng(seed)
    season = generator.choice(3, size=n, p=[0.5, 0.3, 0.2])
    rain = (generator.random(n) < np.array([0.6, 0.3, 0.1])[season]).astype(int)
    wet = (generator.random(n) < 0.1 + 0.7 * rain + 0.1 * (season == 0)).astype(int)
    return pd.DataFrame({"wet": wet, "season": season, "rain": rain})


def test_tables_are_the_shares_in_the_rows():
    rows = weather(5_000)
    table = fit_tables(rows, PARENTS, STATES)["wet"]
    for (rain, season), group in rows.groupby(["rain", "season"]):
        assert table.values[1, rain, season] == pytest.approx(group["wet"].mean(), abs=1e-12)
    assert table.backed_off == 0
    assert table.configurations == 6


def test_a_known_table_is_recovered():
    table = fit_tables(weather(200_000), PARENTS, STATES)
    np.testing.assert_allclose(table["season"].values, [0.5, 0.3, 0.2], atol=0.01)
    np.testing.assert_allclose(table["rain"].values[1], [0.6, 0.3, 0.1], atol=0.01)
    np.testing.assert_allclose(table["wet"].values[1], [[0.2, 0.1, 0.1], [0.9, 0.8, 0.8]], atol=0.02)


def test_rare_configurations_drop_the_last_parent_first():
    rows = repeated(
        ({"rain": 0, "season": 0, "wet": 0}, 150),
        ({"rain": 0, "season": 1, "wet": 1}, 50),
        ({"rain": 1, "season": 0, "wet": 1}, 60),
        ({"rain": 1, "season": 1, "wet": 0}, 30),
    )
    table = fit_tables(rows, PARENTS, STATES)["wet"]
    share_wet = table.values[1]
    assert share_wet[0, 0] == 0  # 150 rows of its own
    assert share_wet[0, 1] == share_wet[0, 2] == pytest.approx(50 / 200)  # no rain, whatever the season
    assert share_wet[1] == pytest.approx([110 / 290] * 3)  # 90 rows with rain are too few: all rows
    assert table.backed_off == 5


@pytest.mark.parametrize(("rows_with_rain", "expected"), [(99, 0), (100, 1)])
def test_the_threshold_is_reached_by_exactly_a_hundred_rows(rows_with_rain, expected):
    rows = repeated(
        ({"season": 0, "rain": 0}, 101),
        ({"season": 1, "rain": 1}, rows_with_rain),
        ({"season": 2, "rain": 0}, 100),
    )
    table = fit_tables(rows, {"season": (), "rain": ("season",)}, STATES)["rain"]
    assert (table.values[1, 1] == 1) == bool(expected)
    assert table.backed_off == 1 - expected


def test_the_number_of_configurations_that_backed_off_is_logged(caplog):
    rows = repeated(({"season": 0, "rain": 0}, 100), ({"season": 1, "rain": 1}, 40))
    with caplog.at_level("INFO"):
        fit_tables(rows, {"season": (), "rain": ("season",)}, STATES)
    assert "rain: 2 of 3 configurations" in caplog.text
    assert "2 of 4 parent configurations had fewer than 100 rows" in caplog.text


@settings(max_examples=30, deadline=None)
@given(n=st.integers(20, 400), support=st.integers(1, 20), seed=st.integers(0, 10_000))
def test_every_column_is_a_distribution_whatever_the_support(n, support, seed):
    tables = fit_tables(weather(n, seed), PARENTS, STATES, minimum_support=support)
    for table in tables.values():
        np.testing.assert_allclose(table.values.sum(axis=0), 1, atol=1e-12)
        assert (table.values >= 0).all()


def test_the_order_of_the_rows_does_not_matter():
    rows = weather(1_000)
    first = fit_tables(rows, PARENTS, STATES)
    second = fit_tables(rows.sample(frac=1, random_state=3), PARENTS, STATES)
    assert all(np.array_equal(first[node].values, second[node].values) for node in PARENTS)


def test_too_few_rows_a_missing_column_and_an_unknown_code_are_named():
    with pytest.raises(BeliefError, match="99 rows are too few"):
        fit_tables(weather(99), PARENTS, STATES)
    with pytest.raises(BeliefError, match="no column 'rain'"):
        fit_tables(weather(200).drop(columns="rain"), PARENTS, STATES)
    rows = weather(200)
    rows.loc[4, "season"] = 3
    with pytest.raises(BeliefError, match="row 5, column 'season': code 3"):
        fit_tables(rows, PARENTS, STATES)


def test_the_network_carries_the_tables_and_survives_its_file(tmp_path):
    from pgmpy.readwrite import BIFReader

    tables = fit_tables(weather(3_000), PARENTS, STATES)
    network = build_network(tables, STATES)
    assert set(network.edges()) == {("season", "rain"), ("rain", "wet"), ("season", "wet")}
    network.name = "weather"
    write_bif(network, tmp_path / "weather.bif")
    read = BIFReader(str(tmp_path / "weather.bif")).get_model()
    for node, table in tables.items():
        cpd = read.get_cpds(node)
        assert tuple(cpd.variables) == (node, *table.parents)
        assert list(cpd.state_names[node]) == list(STATES[node])
        np.testing.assert_allclose(cpd.values, table.values, atol=1e-8)


@settings(max_examples=50, deadline=None)
@given(evidence=st.fixed_dictionaries({}, optional={name: st.sampled_from(STATES[name]) for name in STATES}))
def test_patterns_are_counted_as_by_hand(evidence):
    rows = weather(1_003)
    keep = np.ones(len(rows), dtype=bool)
    for variable, state in evidence.items():
        keep &= (rows[variable] == STATES[variable].index(state)).to_numpy()
    index = PatternIndex(rows, STATES, "wet", "yes")
    assert index.counts(evidence) == (keep.sum(), rows.loc[keep, "wet"].sum())


def test_unknown_variables_and_states_of_a_pattern_are_named():
    index = PatternIndex(weather(100), STATES, "wet", "yes")
    with pytest.raises(BeliefError, match="no variable 'snow'"):
        index.counts({"snow": "yes"})
    with pytest.raises(BeliefError, match="season has no state 'warm'; it has cold, mild, hot"):
        index.counts({"season": "warm"})

"""The controls: what is kept, that a run goes on where it stopped, the rates, and that the kept results come again."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock

from belief_utils.beliefs import controls
from belief_utils.beliefs.control_rates import RULES, chance_range, information_truth, rejection_rates
from belief_utils.beliefs.control_results import load_controls
from belief_utils.beliefs.controls import BATTERIES, SEEDS, run_controls
from belief_utils.beliefs.simulate import NULL_AGENTS, VIOLATIONS, ControlAgent, simulate_judgments
from belief_utils.beliefs.sufficiency import sufficiency_test
from belief_utils.cli import main
from belief_utils.errors import BeliefError
from belief_utils.reporting.control_figures import power_picture, rates_picture
from belief_utils.reporting.control_tables import rates_table, save_rates
from belief_utils.reporting.results import folder

KEPT = Path(__file__).resolve().parents[1] / "data" / "controls"
AGENTS = (NULL_AGENTS[0], VIOLATIONS["sufficiency"][4])


@pytest.fixture
def counted(monkeypatch):
    """How often each agent and seed was computed, with a test that takes no time."""
    calls = []

    def run(agent, seed, **size):
        calls.append((agent.name, seed))
        return {"p_value": seed / 10 + 0.001, "knows_more": seed == 0, "z_p_value": 1 / 3}

    battery = controls.Battery("sufficiency", AGENTS, SEEDS, run)
    monkeypatch.setitem(BATTERIES, "sufficiency", battery)
    return calls


def test_a_row_holds_what_the_test_finds(tmp_path):
    found = run_controls(AGENTS, [3], cache=tmp_path)
    test = sufficiency_test(simulate_judgments(AGENTS[1], seed=3), seed=3)
    row = found[found["agent"] == AGENTS[1].name].iloc[0]
    assert row["z"] == pytest.approx(test.z, rel=1e-5)
    assert row["p_value"] == test.p_value
    assert (row["knobs"], row["seed"], row["knows_more"]) == ("hidden=1.5", 3, 1)


def test_what_is_there_is_not_run_again(tmp_path, counted):
    run_controls(AGENTS, range(2), cache=tmp_path)
    assert counted == [(agent.name, seed) for seed in (0, 1) for agent in AGENTS]
    found = run_controls(AGENTS, range(3), cache=tmp_path)
    assert counted[4:] == [(agent.name, 2) for agent in AGENTS]
    assert found["seed"].tolist() == [0, 1, 2] * 2
    assert found["agent"].tolist() == [agent.name for agent in AGENTS for _ in range(3)]
    assert found["z_p_value"].iloc[0] == pytest.approx(1 / 3, abs=1e-6)
    pd.testing.assert_frame_equal(found, load_controls(tmp_path, "sufficiency"))


def test_the_packed_file_is_the_same_however_it_came_about(tmp_path, counted):
    run_controls(AGENTS, range(4), cache=tmp_path / "at once")
    run_controls(AGENTS[1:], [2, 3], cache=tmp_path / "in parts")
    run_controls(AGENTS, range(4), cache=tmp_path / "in parts")
    packed = [tmp_path / folder / "sufficiency.csv.gz" for folder in ("at once", "in parts")]
    assert packed[0].read_bytes() == packed[1].read_bytes()
    before = packed[0].stat().st_mtime_ns
    run_controls(AGENTS, range(4), cache=tmp_path / "at once")
    assert packed[0].stat().st_mtime_ns == before


def test_a_run_that_is_stopped_keeps_what_it_had(tmp_path, counted, monkeypatch):
    battery = BATTERIES["sufficiency"]

    def stopping(agent, seed, **size):
        if seed == 2:
            raise KeyboardInterrupt
        return battery.run(agent, seed, **size)

    monkeypatch.setitem(BATTERIES, "sufficiency", controls.Battery("sufficiency", AGENTS, SEEDS, stopping))
    with pytest.raises(KeyboardInterrupt):
        run_controls(AGENTS, range(4), cache=tmp_path)
    assert len(load_controls(tmp_path, "sufficiency")) == 4
    monkeypatch.setitem(BATTERIES, "sufficiency", battery)
    assert len(run_controls(AGENTS, range(4), cache=tmp_path)) == 8
    assert len(set(counted)) == len(counted) == 8


def test_a_torn_last_line_of_a_killed_run_is_run_again(tmp_path, counted):
    run_controls(AGENTS, range(2), cache=tmp_path)
    packed = tmp_path / "sufficiency.csv.gz"
    text = gzip.decompress(packed.read_bytes()).decode()
    packed.unlink()
    torn = text[: text.rindex("\n", 0, -1) + 7]
    (tmp_path / "sufficiency.csv").write_text(torn)
    assert len(load_controls(tmp_path, "sufficiency")) == 3
    assert len(run_controls(AGENTS, range(2), cache=tmp_path)) == 4
    assert len(counted) == 5
    assert gzip.decompress(packed.read_bytes()).decode() == text


def test_rows_of_an_agent_with_other_knobs_do_not_count(tmp_path, counted):
    run_controls([ControlAgent("plain", hidden=0.1)], [0], cache=tmp_path)
    run_controls([ControlAgent("plain")], [0], cache=tmp_path)
    assert counted == [("plain", 0)] * 2


@pytest.mark.parametrize(
    "content", [b"agent,seed\nplain,0\n", b"agent,knobs,seed\nplain,,0,1\n", b"agent,knobs,seed\n,\n"]
)
def test_a_damaged_file_is_named(tmp_path, content):
    (tmp_path / "sufficiency.csv").write_bytes(content)
    with pytest.raises(BeliefError, match=r"sufficiency\.csv: line 2 is damaged"):
        run_controls(AGENTS, [0], cache=tmp_path)


def test_a_packed_file_that_is_cut_short_is_named(tmp_path, counted):
    run_controls(AGENTS, [0], cache=tmp_path)
    packed = tmp_path / "sufficiency.csv.gz"
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(BeliefError, match="is damaged"):
        run_controls(AGENTS, [0], cache=tmp_path)


def test_two_runs_cannot_write_to_the_same_file(tmp_path, counted):
    with FileLock(tmp_path / "sufficiency.lock"), pytest.raises(BeliefError, match="another run"):
        run_controls(AGENTS, [0], cache=tmp_path)


def test_unknown_names_and_missing_results_are_named(tmp_path):
    with pytest.raises(BeliefError, match="choose one of sufficiency"):
        run_controls(AGENTS, [0], battery="odd", cache=tmp_path)
    with pytest.raises(BeliefError, match="belief controls"):
        load_controls(tmp_path, "sufficiency")
    with pytest.raises(BeliefError, match="no battery"):
        rejection_rates(pd.DataFrame(), "odd")


def test_several_processes_give_the_rows_of_one(tmp_path):
    both = [run_controls(AGENTS, range(2), jobs=jobs, cache=tmp_path / str(jobs)) for jobs in (1, 2)]
    pd.testing.assert_frame_equal(*both)


def test_a_dask_cluster_of_two_workers_gives_the_rows_of_one_process(tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    pytest.importorskip("dask")
    single = run_controls(AGENTS, range(2), cache=tmp_path / "one")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50
    )
    with cluster:
        several = run_controls(AGENTS, range(2), dask=cluster.scheduler_address, cache=tmp_path / "two")
    pd.testing.assert_frame_equal(single, several)


def test_rates_count_rejections_and_know_which_are_wrong(tmp_path, counted):
    rates = rejection_rates(run_controls(AGENTS, range(4), cache=tmp_path), "sufficiency")
    plain = rates[rates["agent"] == "plain"].set_index("rule")
    assert plain.loc["score test", ["rejected", "n", "rate"]].tolist() == [1, 4, 0.25]
    assert plain.loc["ordered score test", "rejected"] == 0
    assert plain["should_reject"].eq(False).all()
    assert rates.loc[rates["agent"] == "hides 1.5", "should_reject"].eq(True).all()


def test_each_rule_is_about_agents_of_its_battery():
    for rule in RULES:
        names = {agent.name for agent in BATTERIES[rule.battery].agents}
        assert set(rule.keep) <= names
        assert set(rule.broken) <= names
        assert not set(rule.keep) & set(rule.broken)


def test_the_chance_range_is_the_binomial_one():
    assert chance_range(400) == (0.025, 0.08)
    low, high = chance_range(100, rate=0.5, coverage=0.95)
    assert (low, high) == (0.4, 0.6)


@pytest.mark.parametrize("name", [name for name in BATTERIES if name != "forest"])
def test_the_kept_results_come_again(name):
    """A small part of what the notebook shows, computed anew: the first and the last seed of some agents."""
    battery, kept = BATTERIES[name], load_controls(KEPT, name)
    last = battery.most_seeds - 1
    for agent, seed in ((battery.agents[0], 0), (battery.agents[4], last), (battery.agents[-1], last)):
        row = kept[(kept["agent"] == agent.name) & (kept["knobs"] == agent.knobs) & (kept["seed"] == seed)].squeeze()
        for column, value in battery.run(agent, seed).items():
            assert row[column] == pytest.approx(float(value), rel=1e-4, abs=2e-3, nan_ok=True), (agent.name, column)


@pytest.mark.parametrize("name", list(BATTERIES))
def test_every_agent_and_seed_is_kept_once(name):
    battery, kept = BATTERIES[name], load_controls(KEPT, name)
    expected = {(agent.name, agent.knobs, seed) for agent in battery.agents for seed in range(battery.most_seeds)}
    keys = list(kept[["agent", "knobs", "seed"]].itertuples(index=False, name=None))
    assert len(keys) == len(set(keys))
    assert set(keys) == expected


def test_the_tests_we_decide_from_are_right():
    """False positives of the raw test (but for large noise) and of the verdict, and the power, as they are kept."""
    rates = rejection_rates(load_controls(KEPT, "sufficiency"), "sufficiency").set_index(["rule", "agent"])["rate"]
    low, high = chance_range(SEEDS)
    raw = rates["score test"][[agent.name for agent in NULL_AGENTS]]
    outside = raw[(raw < low) | (raw > high)]
    assert outside.index.tolist() == ["large noise"]
    assert rates["verdict: knows more"][raw.index].max() <= 0.08
    assert rates["score test"]["hides 1"] >= 0.95


def test_information_is_set_beside_the_truth():
    found = information_truth(load_controls(KEPT, "information"))
    assert found.loc["plain", "hidden"] == 0
    assert found.loc["hides 1", "hidden"] == pytest.approx(0.0254, abs=1e-4)
    # Near the truth where reports scatter a little, blind where a case's reports are all the same.
    assert found.loc["hides 1.5 ±.05", "excess"] == pytest.approx(found.loc["hides 1.5", "hidden"], abs=0.01)
    assert abs(found.loc["hides 1.5", "excess"]) < 0.01
    assert found["excess interval holds it"].between(0, 1).all()


def test_tables_show_false_positives_and_power(home):
    rates = rejection_rates(load_controls(KEPT, "sufficiency"), "sufficiency").assign(battery="sufficiency")
    wrong, right = (rates_table(rates, broken=broken) for broken in (False, True))
    assert wrong.index.tolist() == [agent.name for agent in NULL_AGENTS]
    assert right.index.tolist() == [agent.name for agent in VIOLATIONS["sufficiency"]]
    assert wrong["score test"].str.endswith("!").to_dict()["large noise"]
    assert not wrong["verdict: knows more"].str.endswith("!").any()
    save_rates(rates)
    where = folder("are_these_tests_right")
    assert len(pd.read_csv(where / "table.csv")) == len(rates)
    assert "| large noise | 22.2! |" in (where / "table.md").read_text(encoding="utf-8")
    assert "large noise & 22.2! &" in (where / "table.tex").read_text(encoding="utf-8")


def test_pictures_are_drawn_from_the_rates(home):
    rates = rejection_rates(load_controls(KEPT, "monotonicity"), "monotonicity")
    rules = ["bounds: rejected", "anchored bounds: rejected", "paper: interval below 0"]
    rates_picture("some", rates, rules, "Is monotonicity rejected?")
    power_picture(rejection_rates(load_controls(KEPT, "sufficiency"), "sufficiency"), ["score test"])
    where = folder("are_these_tests_right")
    plotted = pd.read_csv(where / "some.csv")
    assert set(plotted["rule"]) == set(rules)
    # The reversed agent keeps the free condition and breaks the anchored one.
    of_reversed = plotted[plotted["agent"] == "reversed"].set_index("rule")["should_reject"]
    assert of_reversed.to_dict() == dict(zip(rules, (0, 1, 0), strict=True))
    for name in ("some", "power"):
        assert (where / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (where / f"{name}.pdf").read_bytes().startswith(b"%PDF")


def test_the_command_runs_what_is_missing_and_prints_rates(home, capsys):
    assert main(["controls", "--battery", "sufficiency", "--seeds", "1", "--quiet"]) == 0
    told = capsys.readouterr().out
    assert "sufficiency: 15 data sets" in told
    assert "hides 1.5" in told
    with gzip.open(Path(os.environ["BELIEF_HOME"]) / "data" / "controls" / "sufficiency.csv.gz", "rt") as file:
        assert len(list(csv.DictReader(file))) == 15


def test_the_command_names_the_nearest_battery(home, capsys):
    assert main(["controls", "--battery", "sufficency"]) == 2
    assert "sufficiency" in capsys.readouterr().err


def test_an_address_without_a_scheduler_is_an_error_in_words(tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    with pytest.raises(BeliefError, match="no Dask scheduler answers"):
        run_controls(AGENTS, [0], dask="nowhere-at-all", cache=tmp_path)


def test_knows_more_is_kept_as_a_number(tmp_path):
    found = run_controls(AGENTS[:1], [0], cache=tmp_path)
    assert found["knows_more"].dtype == np.int64

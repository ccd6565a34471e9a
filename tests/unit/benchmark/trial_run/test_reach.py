"""Standard tests begin where the tester can, and test nothing above the experiment's maximum."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.trial_run import before_search
from plimsoll.errors import Interrupted
from plimsoll.generator.generator_plan import Launch
from plimsoll.generator.simulated import SimulatedGenerator, Simulation
from plimsoll.methods.latency_at_load.run import run_latency_at_load
from plimsoll.methods.latency_at_load.settings import LatencyAtLoadSettings
from plimsoll.methods.rfc2544.run import run_rfc2544
from plimsoll.methods.rfc2544.settings import BurstSettings, Rfc2544Settings
from plimsoll.methods.rfc9004.run import run_rfc9004
from plimsoll.methods.rfc9004.settings import Rfc9004Settings
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from tests.unit.benchmark.simulated_tests import (
    LINE_64_PPS,
    Seen,
    experiment,
    run_directory,
)

# What ports of 2 Gbit/s take of 64 B frames, in place of the 10 Gbit/s that the lab states.
TESTER_PPS = 2e9 / (84 * 8)
SMALL = Rfc2544Settings.quickly().model_copy(
    update={
        "sizes": (64,),
        "tests": ("throughput", "frame-loss"),
        "back_to_back": BurstSettings(limit_s=0.02, granularity=0.1, repeats=1),
    }
)


@pytest.fixture
def slow_tester(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on memif: the line rate is nominal, and the tester cannot fill it."""

    def start(planned: Simulation, _: Launch) -> SimulatedGenerator:
        return replace(planned, line_rate_bps=2e9).generator()

    monkeypatch.setattr(Simulation, "start", start)
    monkeypatch.setattr(before_search, "may_fall_short", lambda *_: True)


def fast_dut(**changes: object) -> Experiment:
    """Faster than the tester."""
    model = {"kind": "fixed-capacity", "capacity": "20Mpps", "capacity_deviation": 0}
    return experiment(lab={"kind": "simulated", "model": model}, **changes)


def judged(run: RunDirectory) -> list[TrialRecord]:
    return [each for each in read_journal(run.journal).trials() if each.verdict != "none"]


def ceilings(run: RunDirectory) -> list[TrialRecord]:
    return [each for each in read_journal(run.journal).trials() if each.phase == "ceiling"]


@pytest.mark.usefixtures("slow_tester")
def test_rfc2544_spends_no_trial_above_what_the_tester_offers(tmp_path: Path) -> None:
    run, seen = run_directory(tmp_path, fast_dut()), Seen()
    result = run_rfc2544(fast_dut(), SMALL, run, seen)
    assert [each.load_pps for each in ceilings(run)] == [pytest.approx(LINE_64_PPS)]
    assert {each.verdict for each in judged(run)} == {"pass"}
    assert max(each.load_pps for each in judged(run)) <= 0.98 * 1.01 * TESTER_PPS
    (row,) = result.parts.throughput or ()
    assert row.limited_by == "tester"
    assert row.subject.maximum_pps == pytest.approx(LINE_64_PPS)
    # 2 of 10 Gbit/s, of which a trial is to send 2 % less.
    assert row.percent_of_maximum == pytest.approx(0.98 * 20, rel=0.01)
    (losses,) = result.parts.frame_loss or ()
    assert losses.points[0].percent == 10.0
    (note,) = (each for each in result.notes if "on these ports the tester offers" in each)
    assert note.startswith("64: ")
    assert any("the search begins a little below" in each for each in seen.notes)


@pytest.mark.usefixtures("slow_tester")
def test_a_run_that_goes_on_keeps_the_ceiling(tmp_path: Path) -> None:
    run = run_directory(tmp_path, fast_dut())
    with pytest.raises(Interrupted):
        run_rfc2544(fast_dut(), SMALL, run, Seen(most=2))
    run_rfc2544(fast_dut(), SMALL, run, Seen())
    assert len(ceilings(run)) == 1


@pytest.mark.usefixtures("slow_tester")
def test_rfc9004_begins_there_too(tmp_path: Path) -> None:
    settings = Rfc9004Settings.quickly().model_copy(update={"sizes": (64,)})
    run = run_directory(tmp_path, fast_dut())
    result = run_rfc9004(fast_dut(), settings, run, Seen())
    searched = [each for each in judged(run) if each.phase in ("search", "validation")]
    assert {each.verdict for each in searched} == {"pass"}
    assert max(each.load_pps for each in searched) <= 0.98 * 1.01 * TESTER_PPS
    assert any("on these ports the tester offers" in each for each in result.notes)


@pytest.mark.usefixtures("slow_tester")
def test_latency_at_load_begins_there_too(tmp_path: Path) -> None:
    settings = LatencyAtLoadSettings.quickly()
    search = {"minimum": "10kpps", "maximum": "100%", "validation": {"duration": "2s"}}
    run = run_directory(tmp_path, fast_dut(search=search))
    result = run_latency_at_load(fast_dut(search=search), settings, run, Seen())
    searched = [each for each in judged(run) if each.phase in ("search", "validation")]
    assert {each.verdict for each in searched} == {"pass"}
    assert result.rate_pps == pytest.approx(0.98 * TESTER_PPS, rel=0.01)
    assert len(ceilings(run)) == 1


def test_the_experiments_maximum_is_kept(tmp_path: Path) -> None:
    plan = fast_dut(search={"minimum": "10kpps", "maximum": "3Mpps"})
    run = run_directory(tmp_path, plan)
    result = run_rfc2544(plan, SMALL, run, Seen())
    assert max(each.load_pps for each in judged(run)) == pytest.approx(3e6)
    assert ceilings(run) == []
    (row,) = result.parts.throughput or ()
    assert (row.pps, row.limited_by) == (pytest.approx(3e6), "maximum")
    assert row.percent_of_maximum == pytest.approx(100 * 3e6 / LINE_64_PPS)
    said = "64: no load above the experiment's search.maximum of 3 Mpps per direction was tested"
    assert any(each.startswith(said) for each in result.notes)


def test_of_large_frames_the_line_bounds_what_the_experiment_does_not(tmp_path: Path) -> None:
    plan = fast_dut(search={"minimum": "10kpps", "maximum": "3Mpps"})
    settings = SMALL.model_copy(update={"sizes": (1518,), "tests": ("throughput",)})
    result = run_rfc2544(plan, settings, run_directory(tmp_path, plan), Seen())
    (row,) = result.parts.throughput or ()
    assert (row.percent_of_maximum, row.limited_by) == (100.0, "maximum")

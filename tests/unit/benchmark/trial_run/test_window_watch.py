"""Validations of a search are judged per window as well, on the simulated lab."""

from pathlib import Path
from typing import Any

from plimsoll.benchmark.trial_run.trial_overseer import StartingTrial, WindowWatch, judged_as_it_ran
from plimsoll.dut.lab import LabPorts
from plimsoll.methods.load_line.run import find_load_line
from plimsoll.methods.soak.series import windows_of
from plimsoll.record.recorder import recording
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.judging.tester import TesterLimits
from plimsoll.trial.judging.windows import WindowRules
from tests.unit.methods.soak.soak_runs import Silent, soak_experiment, soak_run
from tests.unit.trial.trial_builder import QUEUE_FRAMES, interval, outcome
from tests.worded.says import Says

PORTS = LabPorts(("a", "b"), 64, QUEUE_FRAMES, ((0, 1), (1, 0)), "wire", None)


def journal_of_search(folder: Path, validation_s: float) -> JournalContents:
    search: dict[str, Any] = {
        "strategy": "binary",
        "minimum": "100kpps",
        "maximum": "2Mpps",
        "granularity": "20%",
        "duration": "2s",
        "validation": {"duration": validation_s},
    }
    experiment = soak_experiment(search=search, trial={"warmup": None, "window": "10s"})
    run = soak_run(folder, experiment)
    find_load_line(experiment, run, Silent())
    return read_journal(run.journal)


def test_a_long_validation_has_windows(tmp_path: Path, says: Says) -> None:
    journal = journal_of_search(tmp_path, 60.0)
    (proof,) = [
        each for each in journal.trials() if (each.phase, each.verdict) == ("validation", "pass")
    ]
    windows = [each for each in windows_of(journal) if each.trial == proof.number]
    assert [each.verdict for each in windows] == ["pass"] * 6
    (finding,) = [each for each in proof.findings if each.rule == "windows"]
    assert finding.outcome == "ok"
    assert finding.text == says("0", "6")


def test_a_short_one_has_none(tmp_path: Path) -> None:
    assert windows_of(journal_of_search(tmp_path, 19.0)) == ()


def watched(folder: Path, *, lost_in: int, stop: bool) -> tuple[WindowWatch, list[bool]]:
    """Thirty seconds in three windows, one of which loses a frame."""
    run = soak_run(folder, soak_experiment())
    ended = outcome(lost=1, ended_by="stop" if stop else "duration", sending_s=30.0)
    with recording(run) as recorder:
        rules = WindowRules(10.0, (LossRatio(at_most=0.0),), TesterLimits())
        watch = WindowWatch(rules, recorder, stop_on_failure=stop)
        plan = judged_as_it_ran(ended).plan
        watch.begin(StartingTrial(1, plan, PORTS, None))
        said = [watch.interval(interval(n, lost=int(n == lost_in))) for n in range(30)]
        judged, (finding,) = watch.ended(ended)
    assert finding.outcome == "fail"
    assert "number 1: 0-1: 1 of" in finding.text
    assert judged.plan.duration_s == (30.0 if stop else ended.plan.duration_s)
    return watch, said


def test_a_failed_window_fails_the_trial(tmp_path: Path) -> None:
    watch, said = watched(tmp_path, lost_in=4, stop=False)
    assert watch.failed == 1
    assert not any(said)


def test_a_failed_window_ends_the_trial_where_requested(tmp_path: Path) -> None:
    _, said = watched(tmp_path, lost_in=4, stop=True)
    # The window's last second is final when the next one has come.
    assert said.index(True) == 10

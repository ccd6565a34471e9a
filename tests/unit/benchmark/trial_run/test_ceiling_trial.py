"""A search by a tester that offers less than its maximum: 64 B at 10 Gbit/s are 14.88 Mpps."""

from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.trial_run.before_search import ceiling_of, has_ceiling
from plimsoll.benchmark.whole_run.simulation import SimulationRequest
from plimsoll.methods.load_line import run as load_line
from plimsoll.methods.load_line.run import find_load_line
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.trial.judging.tester import TesterLimits
from tests.unit.benchmark.whole_run.slow_tester import slow_tester
from tests.unit.benchmark.whole_run.test_simulation import Silent
from tests.unit.record.trial_parts import record
from tests.unit.record.trials.evidence import no_loss
from tests.worded.says import Says, passage

LINE_PPS = 10e9 / 672
STRATEGIES = ("binary", "load-line", "mlrsearch", "checkpoints")


@pytest.fixture
def _tester_of_ten_gigabit(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a link of 25, which the highest load of these searches fits on; real ones may be so."""
    slow_tester(monkeypatch, 10e9)
    monkeypatch.setattr(load_line, "may_fall_short", lambda *_: True)


def _experiment(strategy: str) -> Experiment:
    """A DUT of 20 Mpps, searched up to 30."""
    settings = {
        "capacity": "20Mpps",
        "search.minimum": "300kpps",
        "search.validation.duration": "20s",
    }
    given = {"model": "fixed-capacity", "strategy": strategy, "settings": settings}
    return SimulationRequest.model_validate(given).experiment()


def _run(tmp_path: Path, experiment: Experiment) -> RunDirectory:
    return RunDirectory.create(tmp_path, experiment.name, experiment.normalised())


def _trials(run: RunDirectory) -> tuple[TrialRecord, ...]:
    return read_journal(run.journal).trials()


@pytest.mark.usefixtures("_tester_of_ten_gigabit")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_trial_is_spent_above_what_the_tester_offers(
    tmp_path: Path, strategy: str, says: Says
) -> None:
    experiment = _experiment(strategy)
    run, listener = _run(tmp_path, experiment), Silent()
    result = find_load_line(experiment, run, listener)
    ceilings = [each for each in _trials(run) if each.phase == "ceiling"]
    judged = [each for each in _trials(run) if each.verdict != "none"]
    assert [each.load_pps for each in ceilings] == [30e6]
    assert {each.verdict for each in judged} == {"pass"}
    assert max(each.load_pps for each in judged) <= 0.98 * LINE_PPS
    assert result.limited_by == "tester"
    assert result.ceiling is not None
    assert result.ceiling.offered_pps == pytest.approx(LINE_PPS, rel=0.01)
    assert passage(listener.notes, "search") == says("search")


class _Killed(Exception):
    pass


class _KillsAfter(Silent):
    def __init__(self, trials: int) -> None:
        super().__init__()
        self._left = trials

    def trial_ended(self, record: TrialRecord) -> None:
        self._left -= 1
        if not self._left:
            raise _Killed


@pytest.mark.usefixtures("_tester_of_ten_gigabit")
@pytest.mark.parametrize("trials", [1, 2, 3])
def test_a_resumed_run_keeps_the_ceiling_that_was_measured(tmp_path: Path, trials: int) -> None:
    """Killed after the warm-up, after the ceiling, and after the first trial of the search."""
    experiment = _experiment("binary")
    run = _run(tmp_path, experiment)
    with pytest.raises(_Killed):
        find_load_line(experiment, run, _KillsAfter(trials))
    result = find_load_line(experiment, run, Silent())
    phases = [each.phase for each in _trials(run) if each.phase != "warmup"]
    assert phases == ["ceiling", "search", "validation"]
    assert result.limited_by == "tester"


def test_a_simulated_tester_below_its_line_rate_needs_no_ceiling(tmp_path: Path) -> None:
    experiment = SimulationRequest.model_validate({"model": "fixed-capacity"}).experiment()
    run = _run(tmp_path, experiment)
    result = find_load_line(experiment.validated_for(5.0), run, Silent())
    assert not has_ceiling(_trials(run))
    assert result.ceiling is None


def _ceiling(number: int, offered_pps: float) -> TrialRecord:
    evidence = no_loss(intervals=10, offered_pps=offered_pps)
    plain = record(number, phase="ceiling", verdict="none")
    return plain.model_copy(update={"load_pps": 6e6, "evidence": evidence})


def test_the_ceiling_is_the_most_that_any_of_the_trials_offered() -> None:
    """Something passing may have kept the others down."""
    trials = [_ceiling(1, 2e6), _ceiling(2, 3e6), _ceiling(3, 2.5e6)]
    found = ceiling_of(trials, TesterLimits())
    assert found is not None
    assert (found.trial, found.intended_pps, found.offered_pps) == (2, 6e6, 3e6)


@pytest.mark.parametrize(("offered_pps", "is_ceiling"), [(5.6e6, True), (5.75e6, False)])
def test_what_a_trial_may_be_short_by_is_no_ceiling(offered_pps: float, is_ceiling: bool) -> None:
    """Of 6 Mpps, 5 % are 0.3."""
    assert (ceiling_of([_ceiling(1, offered_pps)], TesterLimits()) is not None) == is_ceiling

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from plimsoll.benchmark.whole_run import method_run
from plimsoll.errors import Interrupted
from plimsoll.methods.trial.run import run_single_trial
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.text.units import parse_rate
from tests.unit.benchmark.whole_run.test_simulation import Silent
from tests.unit.methods.soak.soak_runs import soak_experiment


@contextlib.contextmanager
def interrupted(*_: object) -> Iterator[None]:
    raise Interrupted("SIGTERM")
    yield


def test_what_ended_a_trial_is_in_its_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(method_run, "testbed", interrupted)
    experiment = soak_experiment()
    run = RunDirectory.create(tmp_path, "demo", experiment.normalised())
    with pytest.raises(Interrupted):
        run_single_trial(experiment, run, parse_rate("10kpps"), 1.0, Silent())
    kinds = [event.kind for event in read_journal(run.journal).events]
    assert kinds[-1] == "interrupted"

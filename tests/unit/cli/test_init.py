"""`plimsoll init` as a user calls it, on a made-up host."""

from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import load_experiment
from plimsoll.benchmark.proposal.survey import HostSurvey
from plimsoll.errors import MachineError
from plimsoll.tune.fit.topology import Topology
from tests.unit.cli.runs_command import Plimsoll
from tests.worded.says import Says

CPUS = frozenset({0, 1})
TOPOLOGY = Topology(CPUS, {cpu: frozenset({cpu}) for cpu in CPUS}, {0: CPUS})


def host(no_testpmd: MachineError | None = None) -> HostSurvey:
    return HostSurvey(TOPOLOGY, frozenset(), CPUS, 1024, False, (), no_testpmd)


def test_it_writes_a_file_that_loads_and_says_how_to_run_it(
    monkeypatch: pytest.MonkeyPatch, plimsoll: Plimsoll, says: Says
) -> None:
    monkeypatch.setattr("plimsoll.cli.machine.init.survey_host", host)
    assert plimsoll("init", "-o", "experiment.yaml") == 0
    assert plimsoll.out == ""
    assert plimsoll.err == says("experiment.yaml", "plimsoll")
    assert load_experiment(Path("experiment.yaml")).generator.cpus == (0,)
    written = Path("experiment.yaml").read_text()
    assert plimsoll("init") == 0
    assert plimsoll.out == written


def test_it_overwrites_nothing(
    monkeypatch: pytest.MonkeyPatch, plimsoll: Plimsoll, says: Says
) -> None:
    monkeypatch.setattr("plimsoll.cli.machine.init.survey_host", host)
    Path("mine.yaml").write_text("precious")
    assert plimsoll("init", "--output", "mine.yaml") == 2
    assert plimsoll.err == says("mine.yaml", "--output")
    assert Path("mine.yaml").read_text() == "precious"


def test_a_host_that_cannot_run_learns_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, plimsoll: Plimsoll, says: Says
) -> None:
    missing = MachineError("dpdk-testpmd is missing", where="lab", remedy="install dpdk-dev")
    monkeypatch.setattr("plimsoll.cli.machine.init.survey_host", lambda: host(missing))
    assert plimsoll("init", "-o", "experiment.yaml") == 3
    assert plimsoll.err == says("dpdk-testpmd", "dpdk-dev")
    assert not Path("experiment.yaml").exists()

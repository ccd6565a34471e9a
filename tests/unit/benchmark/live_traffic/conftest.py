"""Live traffic on a generator that a test steps."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.live_traffic.experiment_traffic import ExperimentTraffic
from plimsoll.benchmark.live_traffic.live_traffic import LiveTraffic
from plimsoll.benchmark.live_traffic.live_trial import LiveSettings
from plimsoll.benchmark.testbed.host_captures import HostCaptures
from plimsoll.benchmark.testbed.testbed import Testbed, TestbedConfig
from plimsoll.benchmark.testbed.trial_marks import TrialMarks
from plimsoll.driving.traffic import Traffic
from plimsoll.dut.lab import LabPorts
from plimsoll.dut.labs.loopback import LoopbackSettings
from plimsoll.dut.wired import PassiveLab
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.observe.agent.observers import Observers
from tests.unit.benchmark.live_traffic.stepped_generator import SteppedGenerator, SteppedTrial


@dataclass
class Live:
    traffic: LiveTraffic
    generator: SteppedGenerator

    @property
    def trial(self) -> SteppedTrial:
        return self.generator.trials[-1]

    def step(self) -> None:
        self.trial.step()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    ports = LabPorts(("p0", "p1"), 1024, 1024, ((0, 1), (1, 0)), "tester", None)
    generator = SteppedGenerator()
    bed = Testbed(
        PassiveLab("loopback", ports),
        ports,
        generator,
        (),
        (),
        TrialMarks(),
        Observers(lambda _: None),
        HostCaptures(),
    )
    plan = TestbedConfig(LoopbackSettings(ports=2), EngineSettings(cpus=(0,)), 1518)
    traffic = LiveTraffic(bed, plan, LiveSettings(), tmp_path / "captured")
    yield Live(traffic, generator)
    traffic.close()


def python_traffic(live: Live) -> Traffic:
    """The same as `plimsoll.traffic` gives it, of an experiment with one load."""
    experiment = Experiment.model_validate(
        {
            "name": "x",
            "lab": {"kind": "loopback", "ports": 2},
            "profile": {"streams": [{"name": "load", "role": "load"}]},
            "search": {"minimum": "1kpps", "maximum": "8kpps"},
        }
    )
    return Traffic(ExperimentTraffic(live.traffic, experiment))

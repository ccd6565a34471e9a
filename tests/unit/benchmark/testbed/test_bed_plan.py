"""What a test bed is made of, before anything of it is started."""

from dataclasses import replace

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.benchmark.testbed.testbed import TestbedConfig
from plimsoll.dut.labs.loopback import LoopbackSettings

EXPERIMENT = Experiment.model_validate(
    {
        "name": "demo",
        "lab": {"kind": "testpmd-memif", "cpu": 3},
        "generator": {"cpus": [1, 2], "stamps": "hardware"},
        "profile": {"streams": [{"name": "load", "role": "load"}]},
        "require_hugepages": True,
        "search": {"minimum": "1kpps", "maximum": "2kpps"},
    }
)


def test_the_polling_loops_of_both_sides_are_busy() -> None:
    assert TestbedConfig.of(EXPERIMENT).busy_cpus == (1, 2, 3)


@pytest.mark.parametrize(("allowed", "expected"), [({0, 1, 2, 3}, {0}), ({1, 2, 3}, {1, 2})])
def test_what_does_not_poll_never_takes_the_duts_cpu(
    monkeypatch: pytest.MonkeyPatch, allowed: set[int], expected: set[int]
) -> None:
    monkeypatch.setattr("plimsoll.host.processes.affinity.allowed_cpus", lambda: frozenset(allowed))
    assert TestbedConfig.of(EXPERIMENT).housekeeping_cpus == expected


@pytest.mark.parametrize(("of_others", "expected"), [({0}, {4}), ({0, 4}, {1, 2})])
def test_what_does_not_poll_keeps_off_the_cpus_of_other_runs(
    monkeypatch: pytest.MonkeyPatch, of_others: set[int], expected: set[int]
) -> None:
    monkeypatch.setattr(
        "plimsoll.host.processes.affinity.allowed_cpus", lambda: frozenset(range(5))
    )
    plan = replace(TestbedConfig.of(EXPERIMENT), cpus_of_others=frozenset(of_others))
    assert plan.housekeeping_cpus == expected
    assert plan.busy_cpus == (1, 2, 3)


def test_caches_are_allocated_for_the_dut_and_not_on_rings() -> None:
    groups = {"groups": [{"name": "loops", "of": ["dut"], "schemata": {"L3": "0xf0"}}]}
    stated = Experiment.model_validate({**EXPERIMENT.normalised(), "resctrl": groups})
    plan = TestbedConfig.of(stated)
    assert plan.resctrl is stated.resctrl is not None
    assert plan.on_rings(2).resctrl is None
    assert Experiment.model_validate(stated.normalised()) == stated


def test_on_rings_it_is_the_same_tester_without_a_dut_and_without_a_ports_clock() -> None:
    rings = TestbedConfig.of(EXPERIMENT).on_rings(2)
    assert rings.lab == LoopbackSettings(ports=2)
    assert (rings.generator.cpus, rings.generator.stamps) == ((1, 2), "tsc")
    assert rings.busy_cpus == (1, 2)
    assert (rings.largest_frame_size, rings.require_hugepages) == (64, True)

"""Criteria on hosts as people write them, and what could never be observed."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.errors import InputError
from tests.worded.says import Says

TESTPMD = "lab: {kind: testpmd-memif, cpu: 1}"
EXPERIMENT = """\
{lab}
profile: {{streams: [{{name: load, role: load}}]}}
search: {{minimum: 1kpps, maximum: 1Mpps}}
observe: {{{observe}}}
criteria:
  - {{kind: loss-ratio}}
  - {{{criterion}}}
"""


def load(
    directory: Path, criterion: str, lab: str = TESTPMD, observe: str = "interval: 1s"
) -> Experiment:
    path = directory / "nightly.yaml"
    path.write_text(EXPERIMENT.format(criterion=criterion, lab=lab, observe=observe))
    return load_experiment(path)


def refused(directory: Path, criterion: str, **changes: str) -> str:
    with pytest.raises(InputError) as caught:
        load(directory, criterion, **changes)
    assert f"{directory / 'nightly.yaml'}:7" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "criterion",
    [
        "kind: steal",
        "kind: steal, at_most: 1%, cpus: all, on_breach: fail",
        "kind: throttled, at_most: 3",
        "kind: dut-interrupts, at_most: 100, without: [LOC, 31]",
        "kind: dut-interrupts, at_most: 0.5, statistic: max, on_breach: invalid",
        "kind: major-faults",
        "kind: busy, at_least: 99.5%, cpus: under-test",
        "kind: host-metric, source: mpstat, type: Busy-CPU, where: {type: [soft, irq]}, "
        "cpus: housekeeping, at_most: 0.5",
        "kind: host-metric, source: mpstat, type: NonBusy-CPU, where: {num: 3}, "
        "without: {type: iowait}, at_least: 0.1, statistic: max",
    ],
)
def test_every_criterion_is_read_again_as_it_was_normalised(tmp_path: Path, criterion: str) -> None:
    experiment = load(tmp_path, criterion)
    assert Experiment.model_validate(experiment.normalised()) == experiment


@pytest.mark.parametrize(
    ("criterion", "facts"),
    [
        ("kind: dut-interrupts", ("criteria[1].at_most",)),
        ("kind: dut-interrupts, at_most: -1", ("criteria[1].at_most",)),
        ("kind: steal, at_most: 120%", ("criteria[1].at_most",)),
        ("kind: steal, on_breach: warn", ("criteria[1].on_breach",)),
        ("kind: busy, cpus: all", ("criteria[1].cpus",)),
        ("kind: major-faults, at_most: 0.5", ("criteria[1].at_most",)),
        (
            "kind: host-metric, source: mpstat, type: Busy-CPU",
            ("criteria[1]", "host-metric", "at_most", "at_least"),
        ),
        (
            "kind: host-metric, source: mpstat, type: Busy-CPU, at_most: 1, at_least: 0",
            ("criteria[1]", "host-metric"),
        ),
        (
            "kind: host-metric, source: mpsat, type: Busy-CPU, at_most: 1",
            ("mpsat", "criteria[1].source"),
        ),
        (
            "kind: host-metric, source: mpstat, type: busy-cpu, at_most: 1",
            ("busy-cpu", "criteria[1].type", "mpstat"),
        ),
        (
            "kind: host-metric, source: mpstat, type: Busy-CPU, at_most: 1, statistic: total",
            ("criteria[1].statistic", "Busy-CPU", "total"),
        ),
        (
            "kind: host-metric, source: mpstat, type: Busy-CPU, at_most: .inf",
            ("criteria[1].at_most",),
        ),
        (
            "kind: host-metric, source: mpstat, type: Busy-CPU, at_most: 1, where: {num: []}",
            ("criteria[1].where.num",),
        ),
    ],
)
def test_a_mistake_names_its_place_and_the_remedy(
    tmp_path: Path, criterion: str, facts: tuple[str, ...], says: Says
) -> None:
    assert refused(tmp_path, criterion) == says(*facts)


@pytest.mark.parametrize(
    ("criterion", "changes", "facts"),
    [
        (
            "kind: steal",
            {"lab": "lab: {kind: simulated, model: {kind: fixed-capacity}}"},
            ("criteria[1]", "steal", "simulated", "lab"),
        ),
        (
            "kind: steal",
            {"observe": "enabled: false"},
            ("criteria[1]", "steal", "observe.enabled"),
        ),
        (
            "kind: major-faults",
            {"observe": "sources: [mpstat]"},
            ("criteria[1]", "major-faults", "observe.sources"),
        ),
        (
            "kind: busy",
            {"lab": "lab: {kind: loopback}"},
            ("criteria[1]", "busy", "observe.hosts", "polled_cpus"),
        ),
    ],
)
def test_what_could_never_be_observed_is_refused(
    tmp_path: Path, criterion: str, changes: dict[str, str], facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, criterion, **changes)
    assert caught.value == says(*facts)
    assert caught.value.remedy


def test_a_remote_host_may_have_the_duts_cpus(tmp_path: Path) -> None:
    hosts = "hosts: [{ssh: dut, polled_cpus: [5, 9]}]"
    experiment = load(tmp_path, "kind: busy", lab="lab: {kind: loopback}", observe=hosts)
    assert experiment.observe.hosts[0].polled_cpus == (5, 9)


def test_the_criteria_of_a_goal_are_looked_at_as_well(says: Says) -> None:
    document: dict[str, Any] = {
        "name": "goals",
        "lab": {"kind": "loopback"},
        "profile": {"streams": [{"name": "load", "role": "load"}]},
        "search": {
            "strategy": "mlrsearch",
            "minimum": "1kpps",
            "maximum": "1Mpps",
            "goals": [{"name": "quiet", "criteria": [{"kind": "busy"}]}],
        },
    }
    with pytest.raises(ValueError) as caught:
        Experiment.model_validate(document)
    assert caught.value == says("busy")

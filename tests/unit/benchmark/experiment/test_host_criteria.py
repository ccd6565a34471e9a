"""Criteria on hosts as people write them, and what could never be observed."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.benchmark.experiment.experiment import Experiment, load_experiment
from plimsoll.errors import InputError

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
    ("criterion", "said"),
    [
        ("kind: dut-interrupts", "criteria[1].at_most"),
        ("kind: dut-interrupts, at_most: -1", "criteria[1].at_most"),
        ("kind: steal, at_most: 120%", "criteria[1].at_most"),
        ("kind: steal, on_breach: warn", "criteria[1].on_breach"),
        ("kind: busy, cpus: all", "criteria[1].cpus"),
        ("kind: major-faults, at_most: 0.5", "criteria[1].at_most"),
        (
            "kind: host-metric, source: mpstat, type: Busy-CPU",
            "criteria[1]: a host-metric criterion with no bound (give at_most or at_least)",
        ),
        (
            "kind: host-metric, source: mpstat, type: Busy-CPU, at_most: 1, at_least: 0",
            "criteria[1]: a host-metric criterion with two bounds",
        ),
        (
            "kind: host-metric, source: mpsat, type: Busy-CPU, at_most: 1",
            "criteria[1].source: no source 'mpsat' (did you mean mpstat?)",
        ),
        (
            "kind: host-metric, source: mpstat, type: busy-cpu, at_most: 1",
            "criteria[1].type: mpstat has no type 'busy-cpu' (did you mean Busy-CPU?)",
        ),
        (
            "kind: host-metric, source: mpstat, type: Busy-CPU, at_most: 1, statistic: total",
            "criteria[1].statistic: Busy-CPU is not a count, so it has no total",
        ),
        (
            "kind: host-metric, source: mpstat, type: Busy-CPU, at_most: .inf",
            "criteria[1].at_most",
        ),
        (
            "kind: host-metric, source: mpstat, type: Busy-CPU, at_most: 1, where: {num: []}",
            "criteria[1].where.num",
        ),
    ],
)
def test_a_mistake_names_its_place_and_the_remedy(
    tmp_path: Path, criterion: str, said: str
) -> None:
    assert said in refused(tmp_path, criterion)


@pytest.mark.parametrize(
    ("criterion", "changes", "said"),
    [
        (
            "kind: steal",
            {"lab": "lab: {kind: simulated, model: {kind: fixed-capacity}}"},
            "criteria[1]: steal is about a host, and a simulated lab has none "
            "(remove it, or give the experiment another lab)",
        ),
        (
            "kind: steal",
            {"observe": "enabled: false"},
            "criteria[1]: steal is about a host, and observe.enabled is false "
            "(set it to true, or remove the criterion)",
        ),
        (
            "kind: major-faults",
            {"observe": "sources: [mpstat]"},
            "criteria[1]: major-faults is about sar-mem, which is not one of observe.sources "
            "(add sar-mem to them, or remove the criterion)",
        ),
        (
            "kind: busy",
            {"lab": "lab: {kind: loopback}"},
            "criteria[1]: busy is about CPUs of the DUT, and none are known "
            "(name its host under observe.hosts with polled_cpus, or remove the criterion)",
        ),
    ],
)
def test_what_could_never_be_observed_is_refused(
    tmp_path: Path, criterion: str, changes: dict[str, str], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, criterion, **changes)
    assert said in str(caught.value)
    assert caught.value.remedy


def test_a_remote_host_may_have_the_duts_cpus(tmp_path: Path) -> None:
    hosts = "hosts: [{ssh: dut, polled_cpus: [5, 9]}]"
    experiment = load(tmp_path, "kind: busy", lab="lab: {kind: loopback}", observe=hosts)
    assert experiment.observe.hosts[0].polled_cpus == (5, 9)


def test_the_criteria_of_a_goal_are_looked_at_as_well() -> None:
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
    with pytest.raises(ValueError, match="busy is about CPUs of the DUT"):
        Experiment.model_validate(document)

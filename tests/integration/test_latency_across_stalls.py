"""A real testpmd that is stopped, under a bound on the longest latency: never a pass."""

import secrets
from collections.abc import Sequence
from pathlib import Path

import pytest

from plimsoll.host.processes.schedule_stats import polling_threads
from tests.integration.command import Workplace, until
from tests.integration.provoked.disturbed_trial import (
    DUT_CPU,
    ENGINE_CPU,
    DisturbedTrial,
    built_disturber,
    disturbed_trial,
)

pytestmark = pytest.mark.alone

BOUND_NS = 7_000_000
CRITERIA = ({"kind": "latency", "quantile": "max", "at_most": "7ms"},)
SHORTEST_US, LONGEST_US = 6_000, 20_000
# The probe of the experiment sends 2000 frames a second.
PROBE_GAP_NS = 500_000


@pytest.fixture(scope="module")
def disturber(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_disturber(tmp_path_factory.mktemp("disturber"))


@pytest.mark.full
@pytest.mark.parametrize("_", [1, 2])
def test_a_dut_stopped_for_longer_than_the_bound_never_passes(
    place: Workplace, disturber: Path, _: int
) -> None:
    """Every verdict is held against what the stops of this trial did to the frames under way."""
    # Anew each time: the lengths that pass by chance are those that no one thinks of.
    length_us = SHORTEST_US + secrets.randbelow(LONGEST_US - SHORTEST_US + 1)

    def stopping(pids: dict[str, int]) -> Sequence[object]:
        until(lambda: bool(polling_threads(pids["dut"])), "the polling loop")
        (thread,) = polling_threads(pids["dut"])
        return ("stopper", ENGINE_CPU, pids["dut"], thread, length_us, 2_000)

    trial = disturbed_trial(place, disturber, stopping, criteria=CRITERIA, traced=False)
    (finding,) = (each for each in trial.record["findings"] if each["rule"] == "latency-max")
    (probe,) = (each for each in trial.record["streams"] if each["role"] == "latency")
    longest = probe["longest"]
    said = (length_us, longest, finding)
    parts = longest["tester_ns"] + longest["dut_ns"] + longest["undecided_ns"]
    assert parts == longest["latency_ns"], said
    if longest["latency_ns"] > BOUND_NS:
        assert finding["outcome"] in {"fail", "invalid"}, said
        assert trial.record["verdict"] != "pass", said
    else:
        assert finding["outcome"] == "ok", said
    if "kernel's events" in finding["text"]:
        assert _dut_was_away_ns(trial) > BOUND_NS, said
    if trial.record["ended_by"] == "duration":
        assert longest["latency_ns"] >= _held_ns(trial) - PROBE_GAP_NS - _late_ns(trial), said


def _held_ns(trial: DisturbedTrial) -> float:
    """How long the longest stop lasted at least: a frame sent as it began waited for so long."""
    stops = trial.named("stopper")
    assert stops, "the DUT was not stopped while frames were sent"
    return max(each.ns(trial.causes.tsc_hz) for each in stops)


def _late_ns(trial: DisturbedTrial) -> int:
    """By how much the tester itself may have been late with the first probe of a stop."""
    return max(worker["worst_stall_ns"] for worker in trial.record["workers"])


def _dut_was_away_ns(trial: DisturbedTrial) -> int:
    return max(
        cause.length_ns or 0
        for incident in trial.incidents("latency", "loss")
        for cause in incident.causes
        if cause.owner == "dut" and cause.cpu == DUT_CPU
    )

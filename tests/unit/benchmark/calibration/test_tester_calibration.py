"""A calibration, by a tester of which the rate and the latency are known."""

import pytest

from plimsoll.benchmark.calibration.tester_calibration import (
    LoneTester,
    MeasuredTester,
    calibration_profile,
    check_calibration_profile,
    measure_tester,
)
from plimsoll.errors import InputError
from plimsoll.text.units import Rate
from plimsoll.traffic.streams.profile import Profile
from tests.unit.benchmark.capped_generator import IN_FLIGHT_NS, PROBE_NS, CappedGenerator
from tests.worded.says import Says

RINGS = ((0, 0), (1, 1))


def measured(generator: CappedGenerator, steps: list[str] | None = None) -> MeasuredTester:
    tell = (steps if steps is not None else []).append
    return measure_tester(LoneTester(generator), calibration_profile(), RINGS, 1e9, tell)


def test_a_tester_is_measured_idle_and_at_its_clean_rate(says: Says) -> None:
    found = measured(CappedGenerator(2_000_000))
    assert found.clean_rate is not None
    rate = found.clean_rate.pps_per_direction
    assert 1_900_000 <= rate <= 2_000_000
    assert (found.clean_rate.clean_trials, found.clean_rate.trials) == (3, 3)
    assert (found.clean_rate.fault_above or "") == says()
    assert [(point.name, point.load_pps) for point in found.points] == [
        ("idle", 0.0),
        ("one in flight", 0.0),
        ("half clean rate", rate / 2),
        ("clean rate", rate),
    ]
    assert [point.latency.p50_ns for point in found.points] == [
        *(PROBE_NS, IN_FLIGHT_NS),
        *(PROBE_NS, PROBE_NS),
    ]
    # Both directions' probes; then the load of one direction.
    assert [round(point.sent_pps) for point in found.points] == [
        *(1000, 500_000),
        *(round(rate / 2), round(rate)),
    ]
    assert {(point.stalls, point.worst_stall_ns) for point in found.points} == {(2, 70_000)}


def test_the_idle_tester_sends_probes_alone() -> None:
    generator = CappedGenerator(2_000_000)
    measured(generator)
    assert {stream.role for plan in generator.plans[:2] for stream in plan.streams} == {"latency"}
    assert [each.pacing.kind for each in generator.plans[1].streams] == ["one-in-flight"] * 2
    assert {stream.role for stream in generator.plans[2].streams} == {"load", "latency"}


def test_a_tester_that_carries_nothing_is_measured_idle() -> None:
    found = measured(CappedGenerator(100))
    assert found.clean_rate is None
    assert [point.name for point in found.points] == ["idle", "one in flight"]


def test_every_step_is_reported(says: Says) -> None:
    steps: list[str] = []
    measured(CappedGenerator(150_000), steps)
    assert steps[:3] == ["idle", "one in flight", says("100")]
    assert steps[3] == says("200", "25,000", "load/0-0")
    assert steps[-1] == "clean rate"


def test_the_default_traffic_is_64_bytes_in_1024_flows_and_a_probe() -> None:
    load, probe = calibration_profile().streams
    assert (load.role, load.flows, probe.role) == ("load", 1024, "latency")
    assert probe.rate == Rate(1000.0, "pps")


@pytest.mark.parametrize("role", ["load", "latency"])
def test_a_profile_without_load_or_probe_is_refused(role: str, says: Says) -> None:
    streams = [each for each in calibration_profile().streams if each.role != role]
    profile = Profile(streams=tuple(streams))
    with pytest.raises(InputError, match=role) as caught:
        check_calibration_profile(profile, "mine.yaml")
    assert caught.value.where == "mine.yaml"
    assert caught.value == says()

"""Live traffic from Python, with the real engine and a real DUT."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import plimsoll
from plimsoll.benchmark.live_traffic.experiment_traffic import live_traffic
from plimsoll.benchmark.live_traffic.live_trial import LiveSettings
from plimsoll.benchmark.testbed.testbed import TestbedConfig
from plimsoll.dut.labs.loopback import LoopbackSettings
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.host.processes.affinity import pinned_to
from plimsoll.traffic.plan import Pacing, StreamPlan
from tests.integration.command import Workplace, workplace
from tests.integration.engine.requests import FRAME

pytestmark = pytest.mark.usefixtures("live_in_turn")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workplace]:
    with workplace(tmp_path) as place:
        monkeypatch.setenv("PLIMSOLL_STATE", str(place.state))
        yield place


def stream(number: int, rate_pps: float | None, port: int = 0, **changes: object) -> StreamPlan:
    changed = {"role": "load", "pacing": Pacing(), "frame_count": None, **changes}
    return StreamPlan(
        stream=number,
        name=f"s{number}",
        tx_port=port,
        rx_port=port,
        frames=(FRAME,),
        rate_pps=rate_pps,
        **changed,  # type: ignore[arg-type]
    )


def test_streams_come_and_go_and_no_frame_is_miscounted(place: Workplace) -> None:
    plan = TestbedConfig(LoopbackSettings(ports=2), EngineSettings(), 1518)
    settings = LiveSettings(interval_s=0.1, catch_up_us=1e6)
    with live_traffic(plan, settings=settings) as traffic:
        traffic.add([stream(1, 2000.0), stream(2, 500.0, port=1, role="latency")])
        traffic.start([1])
        traffic.set_rate(1, 5000.0)
        traffic.start()
        assert traffic.gaps == ()
        traffic.add([stream(3, 1000.0, frame_count=300)])
        unpaced = Pacing("back-to-back")
        traffic.add([stream(4, None, port=1, pacing=unpaced, frame_count=50_000)])
        traffic.start([3])
        traffic.start([4])
        assert len(traffic.gaps) == 2
        while {3, 4} & traffic.sending:
            time.sleep(0.05)
        traffic.stop([1, 2])
        assert traffic.wait(60)
        counts = traffic.counts()
    assert [counts.stream(number).state for number in (3, 4)] == ["finished", "finished"]
    assert [counts.stream(number).counts.sent for number in (3, 4)] == [300, 50_000]
    for each in counts.streams:
        assert (each.counts.received, each.lost) == (each.counts.sent, 0)
        latency = each.counts.latency.count + each.counts.latency_across_stalls.count
        assert latency == each.counts.received > 0
    assert [port.tx_frames for port in counts.ports] == [port.rx_frames for port in counts.ports]


def test_streams_go_on_while_a_link_is_down(place: Workplace) -> None:
    """A ring goes on passing frames; they are counted as what they are, as is the link."""
    plan = TestbedConfig(LoopbackSettings(ports=2), EngineSettings(), 1518)
    settings = LiveSettings(interval_s=0.1, catch_up_us=1e6)
    with live_traffic(plan, settings=settings) as traffic:
        assert traffic.set_link(1, up=False) is False
        traffic.add([stream(1, 2000.0)])
        traffic.start()
        assert traffic.set_link(0, up=False) is False
        before = traffic.counts(fresh=True)
        assert [port.link_up for port in before.ports] == [False, False]
        after = traffic.counts(fresh=True)
        assert traffic.sending == {1}
        assert after.stream(1).counts.received > before.stream(1).counts.received
        assert traffic.set_link(0, up=True) is True
        assert [port.link_up for port in traffic.counts(fresh=True).ports] == [True, False]
        traffic.stop()
        assert traffic.set_link(1, up=True) is True
        counts = traffic.counts()
        assert traffic.failure is None
    assert [port.link_up for port in counts.ports] == [True, True]
    assert counts.stream(1).lost == counts.stream(1).counts.refused == 0


def test_an_experiment_is_driven_from_python(place: Workplace) -> None:
    """Against testpmd in a process of its own, whose lab is gone afterwards."""
    with plimsoll.traffic(place.experiment(), tell=print) as traffic:
        traffic.start(load="1kpps")
        traffic.set_load("2kpps")
        first = traffic.stats(fresh=True)
        assert first.counts.sending
        traffic.stop()
        stats = traffic.stats()
    rows = {row["stream"]: row for row in stats.streams.rows()}
    assert set(rows) == {"load/0-1", "load/1-0", "probe/0-1"}
    for row in rows.values():
        assert row["sent"] > 0
        assert row["received"] + row["lost"] == row["sent"]
    assert "load/0-1" in repr(stats)
    assert "<table>" in stats._repr_html_()
    assert not list(place.state.iterdir())


def test_a_trial_and_a_lab_from_python(place: Workplace) -> None:
    trial = plimsoll.trial(place.experiment(), "1kpps", "1s", runs=place.runs, tell=print)
    assert trial.load_pps == 1000
    assert trial.verdict in ("pass", "fail", "invalid")
    assert {each.name for each in trial.streams} == {"load/0-1", "load/1-0", "probe/0-1"}
    with plimsoll.lab("testpmd-memif") as lab:
        assert lab.as_external()["kind"] == "external"
        assert len(lab.devargs) == 2
        assert "testpmd" in repr(lab)
    assert not list(place.state.iterdir())


def engines() -> list[int]:
    """Those that this process has started."""
    found = subprocess.run(
        ["pgrep", "--parent", str(os.getpid()), "--exact", "plimsoll-engine"],
        capture_output=True,
        check=False,
        text=True,
    )
    return [int(pid) for pid in found.stdout.split()]


@pytest.mark.parametrize(("shares_cpus", "niceness"), [(True, -10), (False, -20)])
def test_loops_leave_clients_some_of_their_cpus_where_no_other_is_free(
    place: Workplace, shares_cpus: bool, niceness: int
) -> None:
    cpu = min(os.sched_getaffinity(0))
    plan = TestbedConfig(LoopbackSettings(ports=2), EngineSettings(cpus=(cpu,)), 1518)
    settings = LiveSettings(shares_cpus=shares_cpus)
    with pinned_to({cpu}), live_traffic(plan, settings=settings):
        assert [os.getpriority(os.PRIO_PROCESS, each) for each in engines()] == [niceness]


def test_loops_keep_their_cpus_for_themselves_where_another_is_free(place: Workplace) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    plan = TestbedConfig(LoopbackSettings(ports=2), EngineSettings(cpus=(cpus[0],)), 1518)
    with live_traffic(plan, settings=LiveSettings(shares_cpus=True)):
        assert [os.getpriority(os.PRIO_PROCESS, each) for each in engines()] == [-20]

"""The UDP probe between real network namespaces: what a slow, a cut and a stopped way do to it."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plimsoll.churn.latency.probes import (
    LatencyProbeSettings,
    Probes,
    probe_figures,
    probe_seconds,
    probing,
)
from plimsoll.churn.streams.networks import Fabric, HostNetwork, MacvlanNetwork, network
from plimsoll.errors import MachineError
from plimsoll.host.ledger.janitor import swept_ledger
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import run_program
from tests.integration.command import until
from tests.integration.machine_watch import spoilt_where_away
from tests.tried_again import SpoiltByMachine

_PPS = 1000
# A prober that is kept from its CPU for longer sends and reads too little of what is asserted.
watched = spoilt_where_away(longest_s=0.2)
_KINDS = {"host": HostNetwork(kind="host"), "macvlan": MacvlanNetwork(kind="macvlan")}

# The prober sends a thousand datagrams a second by itself.
pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(os.geteuid() != 0, reason="making namespaces needs root"),
]


@contextmanager
def probed(kind: str, pairs: int = 1) -> Iterator[tuple[Fabric, Probes, Ledger]]:
    settings = LatencyProbeSettings(pps=_PPS, pairs=pairs)
    with (
        swept_ledger("churn") as ledger,
        network(_KINDS[kind], pairs, ledger) as fabric,
        probing(fabric, settings, ledger, "test") as probes,
    ):
        _wait_until_sent(probes, ledger)
        yield fabric, probes, ledger


def _wait_until_sent(probes: Probes, ledger: Ledger) -> None:
    """Each has written its first lines."""
    logs = list(ledger.directory.glob("test-*-probe.csv"))

    def all_wrote() -> bool:
        probes.check()
        return all(log.stat().st_size for log in logs)

    until(all_wrote, "the first datagrams")


def _prober(ledger: Ledger) -> int:
    """The process of the first pair's probe."""
    noted = ledger.record.processes
    return next(each.identity.pid for each in noted if each.name == "udp probe 1")


@pytest.mark.parametrize("kind", _KINDS)
@watched
def test_every_datagram_of_every_pair_is_accounted_for(kind: str) -> None:
    with probed(kind, pairs=2) as (_, probes, _ledger):
        begin_ns = time.time_ns()
        time.sleep(1)
        churn_ns = time.time_ns()
        time.sleep(1)
        logs = probes.stop()
    assert [log.pair for log in logs] == [1, 2]
    found = probe_figures(logs, begin_ns, churn_ns)
    assert (found.lost, found.duplicates) == (0, 0)
    assert sum(count for _, count in found.histogram) == found.sent
    for log in logs:
        # Each slot of the rate was either sent in or counted as missed; one may be under way.
        length_s = (log.samples[-1].sent_ns - log.samples[0].sent_ns) / 1e9
        assert len(log.samples) + log.unsent == pytest.approx(length_s * _PPS, abs=0.05 * _PPS)


@watched
def test_a_bottleneck_of_known_rate_shows_its_queue_and_its_drops() -> None:
    with probed("macvlan") as (fabric, probes, _ledger):
        begin_ns = time.time_ns()
        time.sleep(1)
        # 1000 frames of 106 bytes a second do not fit 500 kbit/s: a queue of 50 ms fills.
        sender = fabric.pairs[0].client
        queue = ("tbf", "rate", "500kbit", "burst", "1600", "latency", "50ms")
        run_program(sender.enter("tc", "qdisc", "add", "dev", "eth0", "root", *queue), where="test")
        time.sleep(1)
        churn_ns = time.time_ns()
        time.sleep(2)
        logs = probes.stop()
    found = probe_figures(logs, begin_ns, churn_ns)
    if found.unsent > found.sent // 4:
        raise SpoiltByMachine(f"{found.unsent} of its probes had no CPU when they were due")
    assert found.lost > 0
    assert found.p50_us > 30_000
    assert found.before_p50_us < found.p50_us


@watched
def test_a_cut_way_is_lost_in_the_seconds_of_the_cut() -> None:
    with probed("host") as (fabric, probes, _ledger):
        begin_ns = time.time_ns()
        time.sleep(1)
        client = fabric.pairs[0].client
        cut_ns = time.time_ns()
        client.ip("link set nic0 down")
        time.sleep(1)
        client.ip("link set nic0 up")
        mended_ns = time.time_ns()
        time.sleep(2)
        (log,) = probes.stop()
    lost = [each.sent_ns for each in log.samples if each.latency_ns is None]
    assert len(lost) > 0
    assert min(lost) >= cut_ns
    whole_ns = 10**9
    of_cut = [
        each
        for each in probe_seconds(log)
        if each.begin_ns + whole_ns > cut_ns and each.begin_ns < mended_ns
    ]
    assert sum(each.lost for each in of_cut) > 0
    assert probe_figures([log], begin_ns, cut_ns).lost == len(lost)


@watched
def test_a_prober_without_cpu_sends_less_and_measures_no_longer_way() -> None:
    with probed("host") as (_, probes, ledger):
        begin_ns = time.time_ns()
        time.sleep(0.5)
        pid = _prober(ledger)
        churn_ns = time.time_ns()
        os.kill(pid, signal.SIGSTOP)
        time.sleep(1)
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.5)
        (log,) = probes.stop()
    found = probe_figures([log], begin_ns, churn_ns)
    assert found.unsent >= 0.9 * _PPS
    # What came while it slept has the kernel's stamp.
    assert found.p99_us < 1e6
    assert found.lost == 0


def test_a_prober_that_dies_is_named_with_what_to_do() -> None:
    with probed("host") as (_, probes, ledger):
        pid = _prober(ledger)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(MachineError, match="UDP probe of pair 1 has ended") as refused:
            _check_until_refused(probes)
    assert refused.value.remedy


def _check_until_refused(probes: Probes) -> None:
    """A killed process takes a moment to be gone."""

    def checked() -> bool:
        probes.check()
        return False

    until(checked, "the prober to be missed")

"""Both directions through dpdk-testpmd in mac mode over memif, by the DUT's own counters.

The machine may change its state within a second (README.md), so that two measurements one after
the other say little of each other. Here both sides and a DUT of each stand the whole time, and take
turns of a quarter of a second: all processes of the side whose turn it is not are stopped.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from bench_bed import BenchBed, bench_bed
from contest import Contest
from our_engine import load_stream, our_engine, run
from peer_testpmd import peer_testpmd
from reading import mpps_over

from plimsoll.dut.lab import LabPorts
from plimsoll.dut.labs.testpmd_memif import TestpmdSettings
from plimsoll.dut.two_ports import PATHS
from plimsoll.dut.userspace.testpmd import TestpmdLab
from plimsoll.errors import MachineError
from plimsoll.host.processes.child import wait_until
from plimsoll.traffic.streams.compile import compile_profile
from plimsoll.traffic.streams.profile import Profile

_LINK_WAIT_S = 15.0
_START_WAIT_S = 30.0
# What a process that was stopped needs to get its caches back is left out.
_SETTLE_S = 0.06
_TURN_S = 0.25
_TURNS = 8
# The trial ends with the contest.
_LONGEST_S = 3600.0


def dut_contest(bed: BenchBed) -> Contest:
    """Frames that the DUT forwarded, no matter who made them."""

    sides: list[_Side] = []

    @contextmanager
    def stand() -> Iterator[None]:
        # The peer and its DUT have a ledger and memory of their own.
        with bench_bed(bed.generator_cpu, bed.other_cpu, bed.seconds) as peers, _ours(bed) as ours:
            ours.stop()
            with _theirs(peers) as theirs:
                theirs.stop()
                sides[:] = ours, theirs
                yield

    return Contest(
        name="dut",
        works=("TX + RX through testpmd mac over memif, 2 ports, as the DUT counts",),
        peer="testpmd flowgen in the engine's place",
        unit="Mpps",
        ours=lambda: (sides[0].turn(),),
        theirs=lambda: (sides[1].turn(),),
        stand=stand,
        turns=_TURNS,
    )


@dataclass(frozen=True)
class _Side:
    """A generator that sends and its DUT, stopped but for their turns."""

    lab: TestpmdLab
    pids: Sequence[int]

    def turn(self) -> float:
        """Million frames a second that the DUT forwarded in one turn."""
        self.go_on()
        try:
            time.sleep(_SETTLE_S)
            return mpps_over(_TURN_S, lambda: _forwarded(self.lab))
        finally:
            self.stop()

    def stop(self) -> None:
        """Its CPUs are the other side's."""
        for pid in self.pids:
            os.kill(pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """As if nothing had been."""
        for pid in self.pids:
            os.kill(pid, signal.SIGCONT)


@contextmanager
def _ours(bed: BenchBed) -> Iterator[_Side]:
    cpus = (bed.generator_cpu,)
    ended = False
    # Frames are made once before any CPU is polled: what that loads would take long afterwards.
    compile_profile(Profile(streams=(load_stream(),)), 1.0, PATHS)
    with (
        _dut(bed) as (lab, ports),
        our_engine(bed, ports.devargs, cpus) as engine,
        ThreadPoolExecutor(1) as thread,
    ):
        trial = thread.submit(run, engine, ports.paths, _LONGEST_S, watch=lambda _: ended)
        side = _Side(lab, (engine.identity.pid, *_pids(lab)))
        try:
            _wait(lambda: trial.done() or _forwarded(lab) > 0)
            yield side
        finally:
            side.go_on()
            ended = True
            trial.result()


@contextmanager
def _theirs(bed: BenchBed) -> Iterator[_Side]:
    cpus = (bed.generator_cpu,)
    with _dut(bed) as (lab, ports), peer_testpmd(bed, "flowgen", ports.devargs, cpus) as peer:
        side = _Side(lab, (peer.pid, *_pids(lab)))
        try:
            lab.wait_links(_LINK_WAIT_S)
            _wait(lambda: _forwarded(lab) > 0)
            yield side
        finally:
            side.go_on()


@contextmanager
def _dut(bed: BenchBed) -> Iterator[tuple[TestpmdLab, LabPorts]]:
    lab = TestpmdSettings(cpu=bed.other_cpu).make(bed.ledger, bed.dut_memory, "ours")
    try:
        yield lab, lab.up()
    finally:
        lab.down()


def _pids(lab: TestpmdLab) -> tuple[int, ...]:
    return tuple(process.pid for process in lab.processes())


def _forwarded(lab: TestpmdLab) -> int:
    return sum(port.tx_frames for port in lab.counters())


def _wait(holds: Callable[[], bool]) -> None:
    """Raises MachineError."""
    if not wait_until(holds, _START_WAIT_S, every_s=_SETTLE_S):
        raise MachineError(
            f"the DUT forwarded nothing within {_START_WAIT_S:g} s",
            where="dut",
            remedy="start again on a less busy machine",
        )

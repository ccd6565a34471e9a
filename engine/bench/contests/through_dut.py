"""Both directions through dpdk-testpmd in mac mode over memif, by the DUT's own counters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bench_bed import BenchBed
from contest import Contest
from our_engine import WARMUP_S, our_engine, run
from peer_testpmd import peer_testpmd
from reading import Reading, mpps_between, mpps_over, read

from plimsoll.dut.lab import LabPorts
from plimsoll.dut.userspace.testpmd import TestpmdLab, TestpmdSettings
from plimsoll.generator.interface import Interval

_LINK_WAIT_S = 15.0


def dut_contest(bed: BenchBed) -> Contest:
    """Frames that the DUT forwarded, no matter who made them."""
    cpus = (bed.generator_cpu,)

    def ours() -> tuple[float, ...]:
        with _dut(bed) as (lab, ports), our_engine(bed, ports.devargs, cpus) as engine:
            readings: list[Reading] = []

            def watch(interval: Interval) -> bool:
                if interval.phase == "send":
                    readings.append(read(lambda: _forwarded(lab)))
                return False

            run(engine, ports.paths, bed.seconds, watch=watch)
            return (mpps_between(readings[0], readings[-1]),)

    def theirs() -> tuple[float, ...]:
        with _dut(bed) as (lab, ports), peer_testpmd(bed, "flowgen", ports.devargs, cpus):
            lab.wait_links(_LINK_WAIT_S)
            mpps_over(WARMUP_S, lambda: _forwarded(lab))
            return (mpps_over(bed.seconds, lambda: _forwarded(lab)),)

    return Contest(
        name="dut",
        works=("TX + RX through testpmd mac over memif, 2 ports, as the DUT counts",),
        peer="testpmd flowgen in the engine's place",
        unit="Mpps",
        ours=ours,
        theirs=theirs,
    )


@contextmanager
def _dut(bed: BenchBed) -> Iterator[tuple[TestpmdLab, LabPorts]]:
    """A fresh DUT, because testpmd may crash when its peer hangs up."""
    lab = TestpmdSettings(cpu=bed.other_cpu).make(bed.ledger, bed.dut_memory, "ours")
    try:
        yield lab, lab.up()
    finally:
        lab.down()


def _forwarded(lab: TestpmdLab) -> int:
    return sum(port.tx_frames for port in lab.counters())

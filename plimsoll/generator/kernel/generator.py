"""The kernel as a generator: trafgen sends through packet sockets, interfaces count."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.generator.interface import (
    GeneratorDied,
    GeneratorFacts,
    GeneratorRefused,
    Interval,
    PortInfo,
    TrialPlan,
    TrialReport,
)
from plimsoll.generator.kernel.written_frames import written_frames
from plimsoll.generator.port_streams import totals_by_port
from plimsoll.generator.sampled_trial import PortTotals, Totals, run_sampled_trial
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.processes.child import Child, describe_exit, log_ending
from plimsoll.traffic.plan import StreamPlan

TRAFGEN = "trafgen"
SENDING_TRAFGEN = "trafgen"
_SYS = Path("/sys/class/net")
_FIRST_FRAME_S = 15.0
_END_PATIENCE_S = 5.0
_POLL_S = 0.001
# Beyond which a trial was ended early, and not by the end of its time.
_CLOCKS_APART_S = 0.05
# How much longer than planned a sender that does not keep its rate may take.
_LATE_SHARE = 0.25
# Which no machine keeps: then there is no pause between two system calls.
_UNPACED_PPS = 10_000_000
NOTES = (
    "trafgen sent the profile's own frames through packet sockets, one system call a frame; "
    "gaps are slept, so that high rates are not kept",
    "losses are of interface counters: order, duplicates, damage and latency were not looked at, "
    "nor were stalls of the sending processes",
)


@dataclass
class _Sending:
    """One trafgen for each stream, for one trial."""

    generator: TrafgenSender
    plan: TrialPlan
    children: list[Child] = field(default_factory=list)
    began_s: float = 0.0

    def begin(self) -> None:
        before = self.totals()
        try:
            for stream in self.plan.streams:
                self.children.append(self.generator.send(stream, self.plan.duration_s))
            self._wait_for_first(before)
        except BaseException:
            self._stop()
            raise
        self.began_s = time.monotonic()

    def totals(self) -> Totals:
        names = self.generator.netdevs
        count = {
            number: {what: _counter(name, what) for what in _COUNTERS}
            for number, name in enumerate(names)
        }
        return totals_by_port(
            self.plan.streams,
            {number: each["tx_packets"] for number, each in count.items()},
            {number: each["rx_packets"] for number, each in count.items()},
            {
                number: PortTotals(rx_missed=each["rx_dropped"], rx_errors=each["rx_errors"])
                for number, each in count.items()
            },
        )

    def end(self) -> float:
        """With a rate each has so many frames to send; one that is slow is waited for."""
        sent_s = time.monotonic() - self.began_s
        paced = all(each.rate_pps is not None for each in self.plan.streams)
        if paced and sent_s > self.plan.duration_s - _CLOCKS_APART_S:
            late_s = self.plan.duration_s * _LATE_SHARE
            sent_s = self.plan.duration_s
            for child in self.children:
                if child.exit_status() is None:
                    child.wait(max(0.0, self.began_s + sent_s + late_s - time.monotonic()))
                    sent_s = time.monotonic() - self.began_s
        self._stop()
        return sent_s

    def drained(self) -> None:
        """The kernel has counted all that came."""

    def _wait_for_first(self, before: Totals) -> None:
        deadline_s = time.monotonic() + _FIRST_FRAME_S
        waiting = set(before.streams)
        while waiting:
            for child in self.children:
                if status := child.exit_status():
                    said = f"{describe_exit(status)}{log_ending(child.log)}"
                    raise GeneratorDied(
                        f"trafgen (pid {child.pid}) {said}",
                        where="generator",
                        remedy="fix what its log names, and start again",
                    )
            if time.monotonic() > deadline_s:
                raise GeneratorDied(
                    f"trafgen sent nothing within {_FIRST_FRAME_S:g} s",
                    where="generator",
                    remedy="start it again on a less busy machine",
                )
            time.sleep(_POLL_S)
            now = self.totals().streams
            waiting = {each for each in waiting if now[each].sent == before.streams[each].sent}

    def _stop(self) -> None:
        # The one that sends is forked by the one that was started, in one process group.
        for child in self.children:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGINT)
        for child in self.children:
            child.wait(_END_PATIENCE_S)
            child.end(_END_PATIENCE_S)


@dataclass
class TrafgenSender:
    """Interfaces of this machine, by port, and the CPU that each one's sender is pinned to."""

    netdevs: tuple[str, ...]
    cpus: tuple[int, ...]
    ledger: Ledger
    version: str

    @property
    def facts(self) -> GeneratorFacts:
        """Its version is trafgen's."""
        return GeneratorFacts(name="trafgen", version=self.version, notes=NOTES)

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        """As the kernel has them."""
        return tuple(_port(number, name) for number, name in enumerate(self.netdevs))

    def send(self, stream: StreamPlan, duration_s: float) -> Child:
        """Start the sender of a stream, noted in the ledger; unpaced it is to be ended."""
        place = self.ledger.directory / f"trafgen-{stream.stream}.cfg"
        place.write_text("".join(f"{{ {_bytes(frame)} }}\n" for frame in written_frames(stream)))
        pps, frames = stream.rate_pps or _UNPACED_PPS, 0
        if stream.rate_pps is not None:
            frames = round(stream.rate_pps * duration_s)
        cpu = self.cpus[stream.tx_port % len(self.cpus)]
        child = Child.start(
            (
                *("taskset", "-c", str(cpu)),
                *(TRAFGEN, "--dev", self.netdevs[stream.tx_port], "--conf", str(place)),
                *("--cpus", "1", "--no-sock-mem", "--notouch-irq", "--no-cpu-stats"),
                *("--rate", f"{round(pps)}pps", "--num", str(frames)),
            ),
            log=self.ledger.directory / f"trafgen-{stream.stream}.log",
            environment=self.ledger.environment,
        )
        self.ledger.note_process(SENDING_TRAFGEN, child.identity)
        return child

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """Send for the time planned. Raises GeneratorRefused and GeneratorDied."""
        try:
            for each in plan.streams:
                next(written_frames(each))
        except (InputError, ValueError) as error:
            raise GeneratorRefused(
                str(error), where="generator: trial", remedy="use another generator"
            ) from None
        return run_sampled_trial(_Sending(self, plan), plan, watch)

    def close(self) -> None:
        """Nothing runs between trials."""


_COUNTERS = ("tx_packets", "rx_packets", "rx_dropped", "rx_errors")


def _bytes(frame: bytes) -> str:
    return ", ".join(f"0x{byte:02x}" for byte in frame)


def _counter(netdev: str, what: str) -> int:
    try:
        return int((_SYS / netdev / "statistics" / what).read_text())
    except OSError as error:
        raise GeneratorDied(
            f"interface {netdev} is gone: {error.strerror}",
            where="generator",
            remedy="bring it back, and find out who took it away",
        ) from error


def _port(number: int, name: str) -> PortInfo:
    read: Mapping[str, str] = {
        what: (_SYS / name / what).read_text().strip() for what in ("address", "operstate")
    }
    return PortInfo(
        port=number,
        devargs=name,
        driver="packet socket",
        mac=read["address"],
        link_up=read["operstate"] == "up",
        link_mbps=None,
    )

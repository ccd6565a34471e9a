"""dpdk-testpmd as a generator: flowgen sends and receives as fast as it can, ports count."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from plimsoll.generator.interface import (
    GeneratorDied,
    GeneratorFacts,
    GeneratorRefused,
    Interval,
    PortInfo,
    TrialPlan,
    TrialReport,
)
from plimsoll.generator.port_streams import linked_ports, totals_by_port
from plimsoll.generator.sampled_trial import PortTotals, Totals, run_sampled_trial
from plimsoll.generator.testpmd.console import Console

Read = TypeVar("Read")
# EAL and ports, on a machine that is busy.
_START_TIMEOUT_S = 60.0
_VERSION = re.compile(r"RTE Version: '([^']+)'")
# What testpmd says where it does not do what was requested.
_REFUSALS = ("Bad arguments", "Command not found", "Ambiguous command", "Invalid", "Fail")
NOTES = (
    "testpmd's flowgen sent frames of its own: UDP over IPv4, of the profile's size and number of "
    "flows, with its own addresses (00:01:02:03:04:00 to :01, 10.254.0.0 to 10.253.0.0)",
    "unpaced: every burst is sent as soon as the one before has been; what the port had no room "
    "for was not counted, and other frames took its place",
    "losses are of port counters: order, duplicates, damage and latency were not looked at, nor "
    "were stalls of its loops",
)
_PORT = re.compile(r"NIC statistics for port (\d+)")
_COUNT = re.compile(r"([RT]X-[a-z]+): +(\d+)")
_MBPS = {"Mbps": 1, "Gbps": 1000}


@dataclass
class _Flowgen:
    """Sends on all ports, for one trial."""

    console: Console
    plan: TrialPlan
    began_s: float = 0.0

    def begin(self) -> None:
        command(self.console, f"set txpkts {len(self.plan.streams[0].frames[0])}")
        command(self.console, "set fwd flowgen")
        command(self.console, "start")
        self.began_s = time.monotonic()

    def totals(self) -> Totals:
        found = _read(self.console, "show port stats all", read_statistics)
        ports = {
            number: PortTotals(
                rx_missed=each.rx_missed, rx_errors=each.rx_errors, rx_no_mbuf=each.rx_no_mbuf
            )
            for number, each in found.items()
        }
        sent = {number: each.sent for number, each in found.items()}
        received = {number: each.received for number, each in found.items()}
        return totals_by_port(self.plan.streams, sent, received, ports)

    def end(self) -> float:
        sent_s = time.monotonic() - self.began_s
        command(self.console, "stop")
        # Flowgen only receives while it sends; the rest is received by rxonly.
        command(self.console, "set fwd rxonly")
        command(self.console, "start")
        return sent_s

    def drained(self) -> None:
        command(self.console, "stop")


@dataclass
class Testpmd:
    """One testpmd that sends, and its ports."""

    __test__ = False

    console: Console
    memory_note: str | None
    version: str = ""
    ports: tuple[PortInfo, ...] = field(default=())

    @property
    def facts(self) -> GeneratorFacts:
        """Its version is DPDK's."""
        notes = NOTES if self.memory_note is None else (self.memory_note, *NOTES)
        return GeneratorFacts(
            name="testpmd",
            version=self.version,
            dpdk=self.version,
            pid=self.console.pid,
            notes=notes,
        )

    def open(self, port_count: int, link_wait_s: float) -> None:
        """Wait for its prompt and for the links. Raises MachineError and GeneratorDied."""
        version = _VERSION.search(self.console.greeting(_START_TIMEOUT_S))
        self.version = version[1] if version else ""
        self.ports = linked_ports(
            lambda: tuple(self._port(number) for number in range(port_count)), link_wait_s
        )

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """Send on all ports for the time planned. Raises GeneratorRefused and GeneratorDied."""
        senders = {each.tx_port for each in plan.streams}
        sizes = {len(frame) for each in plan.streams for frame in each.frames}
        if senders != set(range(len(self.ports))) or len(sizes) != 1:
            raise GeneratorRefused(
                "testpmd sends frames of one size on all of its ports",
                where="generator: trial",
                remedy="use a profile of one bidirectional stream, or another generator",
            )
        return run_sampled_trial(_Flowgen(self.console, plan), plan, watch)

    def close(self) -> None:
        """End it."""
        self.console.close()

    def _port(self, number: int) -> PortInfo:
        seen = _read(self.console, f"show port info {number}", read_description)
        return PortInfo(
            port=number,
            devargs=seen.device,
            driver=seen.driver,
            mac=seen.mac,
            link_up=seen.link_up,
            link_mbps=seen.link_mbps,
        )


def command(console: Console, line: str) -> str:
    """What testpmd says to a command that it obeys. Raises GeneratorRefused where it does not."""
    said = console.ask(line)
    if any(refusal in said for refusal in _REFUSALS):
        raise GeneratorRefused(
            f"testpmd answers to {line!r}: {said.strip()}",
            where="generator",
            remedy="use a testpmd of DPDK 22.11 or later",
        )
    return said


def _read(console: Console, line: str, reader: Callable[[str], Read]) -> Read:
    said = console.ask(line)
    try:
        return reader(said)
    except ValueError as error:
        raise GeneratorDied(
            f"testpmd's answer to {line!r} cannot be read: {error}",
            where="generator",
            remedy="use a testpmd of DPDK 22.11 or later",
        ) from error


# What testpmd says of its ports, read.
@dataclass(frozen=True, slots=True)
class PortStatistics:
    """A port's counters since it was started."""

    received: int
    rx_missed: int
    rx_errors: int
    rx_no_mbuf: int
    sent: int


@dataclass(frozen=True, slots=True)
class PortDescription:
    """A port as testpmd describes it; `link_mbps` is None where it has no speed."""

    device: str
    driver: str
    mac: str
    link_up: bool
    link_mbps: int | None


def read_statistics(said: str) -> dict[int, PortStatistics]:
    """By port, from the answer to `show port stats all`. Raises ValueError where one is short."""
    parts = _PORT.split(said)[1:]
    return {
        int(number): _statistics(number, text)
        for number, text in zip(parts[::2], parts[1::2], strict=True)
    }


def read_description(said: str) -> PortDescription:
    """From the answer to `show port info N`. Raises ValueError where a line is missing."""
    speed = re.search(r"^Link speed: (\d+(?:\.\d+)?) ([MG]bps)", said, re.MULTILINE)
    return PortDescription(
        device=_line(said, "Device name"),
        driver=_line(said, "Driver name"),
        mac=_line(said, "MAC address").lower(),
        link_up=_line(said, "Link status") == "up",
        link_mbps=round(float(speed[1]) * _MBPS[speed[2]]) if speed else None,
    )


def _statistics(number: str, text: str) -> PortStatistics:
    counts = {name: int(count) for name, count in _COUNT.findall(text)}
    try:
        return PortStatistics(
            received=counts["RX-packets"],
            rx_missed=counts["RX-missed"],
            rx_errors=counts["RX-errors"],
            rx_no_mbuf=counts["RX-nombuf"],
            sent=counts["TX-packets"],
        )
    except KeyError as error:
        raise ValueError(f"no {error.args[0]} among the statistics of port {number}") from error


def _line(said: str, name: str) -> str:
    found = re.search(rf"^{name}: *(\S+)", said, re.MULTILINE)
    if found is None:
        raise ValueError(f"no {name!r} in the description of a port")
    return found[1]

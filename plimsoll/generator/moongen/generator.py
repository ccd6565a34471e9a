"""MoonGen as a generator: loops of a script of ours in it, counted by its ports."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

from plimsoll.errors import InputError
from plimsoll.generator.interface import (
    GeneratorFacts,
    GeneratorRefused,
    Interval,
    PortInfo,
    TrialPlan,
    TrialReport,
)
from plimsoll.generator.linked_ports import linked_ports
from plimsoll.generator.moongen.port_settings import check_streams, port_settings
from plimsoll.generator.port_streams import totals_by_port
from plimsoll.generator.sampled_trial import PortTotals, Totals, run_sampled_trial
from plimsoll.generator.scripted.conversation import ScriptAnswer, ScriptConversation

NOTES = (
    "MoonGen: the profile's frames, written anew by a loop of Plimsoll's script for each port; UDP "
    "checksums that would have changed are none (0)",
    "MoonGen: frames leave in bursts at equal gaps; a loop that is late catches up by 10 ms of "
    "them, and drops the rest, which the offered rate shows",
    "MoonGen: a burst that finds no room in the port is tried again until it does: nothing is "
    "counted as refused. Where the kernel does not take frames as fast as they are due, the driver "
    "of its DPDK (17.08) counts too few and sends some twice: the DUT's counters show it",
    "MoonGen: losses are of port counters: order, duplicates and damage were not looked at, nor "
    "were stalls of its loops",
)
_START_TIMEOUT_S = 60.0
_FIRST_FRAME_S = 15.0
_POLL_S = 0.002
# Longer than frames are on their way, unless they wait for a CPU.
_ON_THEIR_WAY_S = 0.02
_COUNTERS = ("imissed", "ierrors", "rx_nombuf")


@dataclass
class _Sending:
    """The streams of one trial."""

    conversation: ScriptConversation
    plan: TrialPlan
    ports: tuple[PortInfo, ...]
    began_s: float = 0.0

    @property
    def senders(self) -> str:
        """The ports that send, as the script has them."""
        return ",".join(str(each.tx_port) for each in self.plan.streams)

    def begin(self) -> None:
        """Return once each port sends."""
        before = self._sent()
        self.conversation.ask("start", self.senders)
        deadline_s = time.monotonic() + _FIRST_FRAME_S
        while any(count == before[port] for port, count in self._sent().items()):
            if time.monotonic() > deadline_s:
                raise self.conversation.died(f"sent nothing for {_FIRST_FRAME_S:g} s")
            time.sleep(_POLL_S)
        self.began_s = time.monotonic()

    def totals(self) -> Totals:
        """What was sent is older than what was received, so that no frame looks lost that is on
        its way.
        """
        sent = self._sent()
        time.sleep(_ON_THEIR_WAY_S)
        seen = {port.port: self._count(port.port) for port in self.ports}
        received = {port: each.number("ipackets") for port, each in seen.items()}
        return totals_by_port(
            self.plan.streams,
            sent,
            received,
            {port: self._port(port, each) for port, each in seen.items()},
        )

    def end(self) -> float:
        sent_s = time.monotonic() - self.began_s
        self.conversation.ask("stop", self.senders)
        return sent_s

    def drained(self) -> None:
        """Its loops go on receiving."""

    def _sent(self) -> dict[int, int]:
        ports = [each.tx_port for each in self.plan.streams]
        return {port: self._count(port).number("opackets") for port in ports}

    def _count(self, port: int) -> ScriptAnswer:
        return self.conversation.ask("count", port)

    def _port(self, port: int, seen: ScriptAnswer) -> PortTotals:
        missed, errors, no_mbuf = (seen.number(name) for name in _COUNTERS)
        return PortTotals(
            rx_missed=missed,
            rx_errors=errors,
            rx_no_mbuf=no_mbuf,
            link_up=self.conversation.ask("port", port).text("link") == "up",
        )


@dataclass
class MoonGen:
    """One MoonGen, its ports, and what ends it."""

    conversation: ScriptConversation
    version: str
    burst: int
    ports: tuple[PortInfo, ...] = ()
    started: ExitStack = field(default_factory=ExitStack)

    @property
    def facts(self) -> GeneratorFacts:
        """Its version is that of its tree, as far as that says one."""
        return GeneratorFacts(
            name="moongen",
            version=self.version,
            pid=self.conversation.child.pid,
            notes=NOTES,
        )

    def open(self, devargs: tuple[str, ...], link_wait_s: float) -> None:
        """Wait for its start and for the links. Raises MachineError and GeneratorDied."""
        self.conversation.greeting(_START_TIMEOUT_S)
        self.ports = linked_ports(
            lambda: tuple(self._port(number, each) for number, each in enumerate(devargs)),
            link_wait_s,
        )

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """Send for the time planned. Raises GeneratorRefused and GeneratorDied."""
        try:
            check_streams(plan.streams)
        except InputError as error:
            raise GeneratorRefused(error.message, where="generator", remedy=error.remedy) from None
        for stream in plan.streams:
            for request in port_settings(stream, self.burst):
                self.conversation.ask(*request)
        return run_sampled_trial(_Sending(self.conversation, plan, self.ports), plan, watch)

    def close(self) -> None:
        """End it."""
        self.started.close()

    def _port(self, number: int, devargs: str) -> PortInfo:
        seen = self.conversation.ask("port", number)
        return PortInfo(
            port=number,
            devargs=devargs,
            driver=seen.text("driver"),
            mac=seen.text("mac").lower(),
            link_up=seen.text("link") == "up",
            link_mbps=seen.number("mbps") or None,
        )

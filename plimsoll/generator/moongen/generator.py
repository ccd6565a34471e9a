"""MoonGen as a generator: loops of a script of ours in it, counted by its ports."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.generator.histogram import HIGHEST_NS, histogram_of, microseconds_of
from plimsoll.generator.interface import (
    GeneratorFacts,
    GeneratorRefused,
    Interval,
    PortInfo,
    TrialPlan,
    TrialReport,
)
from plimsoll.generator.moongen.port_settings import (
    check_streams,
    loads_of,
    port_settings,
    probe_settings,
    probes_of,
)
from plimsoll.generator.port_streams import linked_ports, refused_in_trials
from plimsoll.generator.sampled_trial import (
    PortTotals,
    StreamTotals,
    Totals,
    run_sampled_trial,
)
from plimsoll.generator.scripted.conversation import LatencyFile, ScriptAnswer, ScriptConversation
from plimsoll.traffic.plan import StreamPlan

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
PROBE_NOTES = (
    "MoonGen: probes are timed by its timestamper, between the stamps of both cards, one probe at "
    "a time over all streams; it sets both clocks before each. How exact they are is the cards': "
    "an 82576 counts by 16 ns",
    "MoonGen: a probe that came back without both stamps, or with a negative latency, counts as "
    "received and has no latency; why, its timestamper does not say",
)
_START_TIMEOUT_S = 60.0
_FIRST_FRAME_S = 15.0
_POLL_S = 0.002
# Longer than frames are on their way, unless they wait for a CPU.
_ON_THEIR_WAY_S = 0.02
# Of the script, beyond what it waits for; and for a file of as many latencies as differ.
_ANSWER_S, _SAVE_S = 20.0, 120.0
_COUNTERS = ("imissed", "ierrors", "rx_nombuf")
# A latency in ns and how often it was seen, by Lua's %s of two numbers (histogram:save of
# libmoon's lua/histogram.lua).
_LINE = re.compile(r"(\d{1,15}(?:\.\d{1,15})?),(\d{1,15})")
# As many latencies as differ; the timestamper keeps those below twice what it waits.
_MAX_BYTES = 64_000_000


@dataclass
class _Sending:
    """The streams of one trial."""

    conversation: ScriptConversation
    plan: TrialPlan
    ports: tuple[PortInfo, ...]
    # By their numbers: the files that the latencies of streams go to.
    files: Mapping[int, Path]
    timed: dict[int, Mapping[int, int]] = field(default_factory=dict)
    began_s: float = 0.0

    @property
    def senders(self) -> str:
        """The ports that send load, as the script has them."""
        return ",".join(str(each.tx_port) for each in loads_of(self.plan.streams))

    def begin(self) -> None:
        """Return once each port sends."""
        before = self._sent()
        if self.files:
            self.conversation.ask("send")
        if self.senders:
            self.conversation.ask("start", self.senders)
        self.began_s = time.monotonic()
        deadline_s = time.monotonic() + _FIRST_FRAME_S
        while any(count == before[port] for port, count in self._sent().items()):
            if time.monotonic() > deadline_s:
                raise self.conversation.died(f"sent nothing for {_FIRST_FRAME_S:g} s")
            time.sleep(_POLL_S)

    def totals(self) -> Totals:
        """What was sent is older than what was received, so that no frame looks lost that is on
        its way.
        """
        sending = {port: self._count(port) for port in self._tx_ports()}
        time.sleep(_ON_THEIR_WAY_S)
        seen = {port.port: self._count(port.port) for port in self.ports}
        streams = {
            each.stream: self._stream(each, sending[each.tx_port], seen[each.rx_port])
            for each in self.plan.streams
        }
        return Totals(streams, {port: self._port(port, each) for port, each in seen.items()})

    def end(self) -> float:
        if self.senders:
            self.conversation.ask("stop", self.senders)
        sent_s = time.monotonic() - self.began_s
        if self.files:
            longest_s = max(each.pacing.timeout_us for each in probes_of(self.plan.streams)) / 1e6
            self.conversation.ask("listen", timeout_s=_ANSWER_S + len(self.files) * longest_s)
        return sent_s

    def drained(self) -> None:
        """Its loops go on receiving."""
        if self.files:
            self.conversation.ask("save", timeout_s=_SAVE_S)
            self.timed = {stream: read_latencies(file) for stream, file in self.files.items()}

    def _stream(
        self, stream: StreamPlan, sending: ScriptAnswer, receiving: ScriptAnswer
    ) -> StreamTotals:
        """Probes are counted by the timestamper's task; what else its queue had is foreign."""
        sent, received = sending.number("probes_sent"), receiving.number("probes_received")
        if stream.role == "latency":
            timed = self.timed.get(stream.stream, {})
            return StreamTotals(
                sent=sent,
                received=received,
                latency=histogram_of(timed),
                latency_us=microseconds_of(timed),
            )
        others = receiving.number("others")
        return StreamTotals(
            sent=sending.number("opackets") - sent,
            received=receiving.number("ipackets") - received - others,
        )

    def _tx_ports(self) -> set[int]:
        return {each.tx_port for each in self.plan.streams}

    def _sent(self) -> dict[int, int]:
        return {port: self._count(port).number("opackets") for port in self._tx_ports()}

    def _count(self, port: int) -> ScriptAnswer:
        return self.conversation.ask("count", port)

    def _port(self, port: int, seen: ScriptAnswer) -> PortTotals:
        missed, errors, no_mbuf = (seen.number(name) for name in _COUNTERS)
        return PortTotals(
            foreign=seen.number("others"),
            rx_missed=missed,
            rx_errors=errors,
            rx_no_mbuf=no_mbuf,
            link_up=self.conversation.ask("port", port).text("link") == "up",
        )


@dataclass
class MoonGen:
    """One MoonGen, its ports, and what ends it."""

    conversation: ScriptConversation
    folder: Path
    version: str
    burst: int
    notes: tuple[str, ...] = ()
    ports: tuple[PortInfo, ...] = ()
    started: ExitStack = field(default_factory=ExitStack)

    @property
    def facts(self) -> GeneratorFacts:
        """Its version is that of its tree, as far as that says one."""
        return GeneratorFacts(
            name="moongen",
            version=self.version,
            pid=self.conversation.child.pid,
            notes=(*self.notes, *NOTES, *(PROBE_NOTES if self._stamping else ())),
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
        with refused_in_trials():
            check_streams(plan.streams)
        probes = probes_of(plan.streams)
        self._check_stamps(probes)
        for stream in loads_of(plan.streams):
            for request in port_settings(stream, self.burst):
                self.conversation.ask(*request)
        files = {each.stream: self._latencies(each) for each in probes}
        for number, stream in enumerate(probes):
            self.conversation.ask(*probe_settings(number, stream, files[stream.stream]))
        return run_sampled_trial(_Sending(self.conversation, plan, self.ports, files), plan, watch)

    def close(self) -> None:
        """End it."""
        self.started.close()

    @property
    def _stamping(self) -> bool:
        return any(port.tx_stamps for port in self.ports)

    def _latencies(self, stream: StreamPlan) -> Path:
        return self.folder / f"moongen-latency-{stream.stream}.csv"

    def _check_stamps(self, probes: tuple[StreamPlan, ...]) -> None:
        for stream in probes:
            for number in (stream.tx_port, stream.rx_port):
                port = self.ports[number]
                if not port.tx_stamps:
                    raise GeneratorRefused(
                        f"stream {stream.name} is to be timed, and MoonGen reads no stamps of port "
                        f"{number}, {port.devargs} by {port.driver}",
                        where="generator",
                        remedy="use cards whose clocks it knows (igb, ixgbe, i40e), leave out "
                        "latency streams, or use another generator",
                    )

    def _port(self, number: int, devargs: str) -> PortInfo:
        seen = self.conversation.ask("port", number)
        stamps = seen.number("stamps") == 1
        return PortInfo(
            port=number,
            devargs=devargs,
            driver=seen.text("driver"),
            mac=seen.text("mac").lower(),
            link_up=seen.text("link") == "up",
            link_mbps=seen.number("mbps") or None,
            rx_stamps=stamps,
            tx_stamps=stamps,
            latency_clock="timesync" if stamps else "tsc",
        )


# The CSV of MoonGen's histograms.
def read_latencies(file: Path) -> Counter[int]:
    """How many there are of each latency, to 1 ns.

    Raises GeneratorDied where it is no file of `histogram:save`.
    """
    given = LatencyFile(
        file, "MoonGen's latencies", "use a MoonGen of 2021 or later, with its own libmoon"
    )
    *lines, rest = given.lines(_MAX_BYTES)
    if rest:
        raise given.unread(f"it ends in {rest[:50]!r}")
    samples: Counter[int] = Counter()
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None or float(found[1]) > HIGHEST_NS:
            raise given.unread(f"it has the line {line[:50]!r}")
        samples[round(float(found[1]))] += int(found[2])
    return samples

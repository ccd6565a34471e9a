"""Pktgen-DPDK as a generator: set and started by its Lua library, counted by its ports."""

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
    GeneratorDied,
    GeneratorFacts,
    GeneratorRefused,
    Interval,
    PortInfo,
    TrialPlan,
    TrialReport,
)
from plimsoll.generator.pktgen.port_settings import (
    MAX_SAMPLES,
    PortStreams,
    port_settings,
    probe_settings,
    rate_percent,
    streams_by_port,
)
from plimsoll.generator.port_streams import linked_ports, refused_in_trials
from plimsoll.generator.sampled_trial import (
    PortTotals,
    StreamTotals,
    Totals,
    run_sampled_trial,
)
from plimsoll.generator.scripted.conversation import LatencyFile, ScriptConversation
from plimsoll.host.dpdk_telemetry import Telemetry, TelemetryError, counter
from plimsoll.host.processes.child import wait_until
from plimsoll.traffic.plan import StreamPlan

NOTES = (
    "Pktgen: frames are of its range mode, with the profile's addresses, ports, size, TOS and TTL; "
    "losses are of port counters: order, duplicates and damage were not looked at, nor were stalls "
    "of its loops",
    "Pktgen: load leaves in bursts, and the time of the next one counts from the last: what a loop "
    "is late is not made up for, so that the offered rate stays below the planned one",
    "Pktgen: a burst that finds no room in the port is tried again until it does, so that a DUT "
    "that holds back slows the sender; nothing is counted as refused",
    "Pktgen: frames of a port are written into its buffers once, and a buffer that comes back is "
    "sent again first: flows have no order, and where ports copy frames only a burst's are sent",
)
PROBE_NOTES = (
    "Pktgen: a probe leaves right behind a burst of load, at most one a burst, stamped by the TSC "
    "when it is written, and is read by the receiving loop: the burst before it, and what either "
    "loop is late, are in the latency",
    "Pktgen: how many probes it sent it does not say: those that did not come back count as lost "
    "load; the first of a trial and those behind a lost one are counted and not timed. A port that "
    "times sends one a second itself, counted as load",
)
_START_TIMEOUT_S = 60.0
_FIRST_FRAME_S = 15.0
_POLL_S = 0.001
# Longer than frames are on their way, unless they wait for a CPU.
_ON_THEIR_WAY_S = 0.02
_LINK = re.compile(r"<(UP|DOWN)-(\d{1,7})-[A-Z]{2}>")
# Those whose ports copy a frame and give its buffer back at once: these take turns.
_COPYING = (
    *("net_memif", "net_vhost", "net_virtio_user", "net_tap", "net_pcap"),
    *("net_af_packet", "net_af_xdp"),
)
# Of the sampler, by which it takes every frame.
_EVERY_FRAME = 1_000_000_000
_TITLE = "Latency"
_LONGEST_NUMBER = 20
_MAX_BYTES = 2_000_000


@dataclass
class _Sending:
    """The streams of one trial."""

    pktgen: Pktgen
    plan: TrialPlan
    ports: Mapping[int, PortStreams]
    # Those that send probes or time them.
    timing: frozenset[int]
    timed: dict[int, Mapping[int, int]] = field(default_factory=dict)
    began_s: float = 0.0

    def begin(self) -> None:
        """Return once each port sends: it first writes its frames, for some 10 ms."""
        before = {port: self._sent(port) for port in self.ports}
        for port in sorted(self.timing):
            self.pktgen.conversation.ask("call", "latsampler", port, "on")
        self.pktgen.conversation.ask("call", "start", ",".join(map(str, sorted(self.ports))))
        sends = wait_until(
            lambda: all(self._sent(port) > count for port, count in before.items()),
            _FIRST_FRAME_S,
            every_s=_POLL_S,
        )
        if not sends:
            raise self.pktgen.conversation.died(f"sent nothing for {_FIRST_FRAME_S:g} s")
        self.began_s = time.monotonic()

    def totals(self) -> Totals:
        """What was sent is older than what was received, so that no frame looks lost that is on
        its way.
        """
        sent = {port: self._sent(port) for port in self.ports}
        time.sleep(_ON_THEIR_WAY_S)
        seen = {port.port: self.pktgen.stats(port.port) for port in self.pktgen.ports}
        probes = {port: self._probes(streams) for port, streams in self.ports.items()}
        streams: dict[int, StreamTotals] = {}
        for port, each in self.ports.items():
            load = each.load
            streams[load.stream] = StreamTotals(
                sent=sent[port] - probes[port],
                received=counter(seen[load.rx_port], "ipackets") - probes[port],
            )
            if each.probe is not None:
                timed = self.timed.get(load.rx_port, {})
                streams[each.probe.stream] = StreamTotals(
                    sent=probes[port],
                    received=probes[port],
                    latency=histogram_of(timed),
                    latency_us=microseconds_of(timed),
                )
        return Totals(
            {each.stream: streams[each.stream] for each in self.plan.streams},
            {port: self._port(port, each) for port, each in seen.items()},
        )

    def end(self) -> float:
        sent_s = time.monotonic() - self.began_s
        self.pktgen.conversation.ask("call", "stop", ",".join(map(str, sorted(self.ports))))
        return sent_s

    def drained(self) -> None:
        for port in sorted(self.timing):
            self.pktgen.conversation.ask("call", "latsampler", port, "off")
            self.timed[port] = read_samples(self.pktgen.samples_file(port))
            self.pktgen.conversation.ask("call", "latency", port, "off")

    def _sent(self, port: int) -> int:
        return counter(self.pktgen.stats(port), "opackets")

    def _probes(self, streams: PortStreams) -> int:
        if streams.probe is None:
            return 0
        seen = self.pktgen.conversation.ask("latency", streams.probe.rx_port)
        return seen.number("timed") + seen.number("skipped")

    def _port(self, port: int, stats: Mapping[str, object]) -> PortTotals:
        return PortTotals(
            rx_missed=counter(stats, "imissed"),
            rx_errors=counter(stats, "ierrors"),
            rx_no_mbuf=counter(stats, "rx_nombuf"),
            link_up=self.pktgen.query(f"/ethdev/link_status,{port}").get("status") == "UP",
        )


@dataclass
class Pktgen:
    """One Pktgen, its ports, and what ends it."""

    conversation: ScriptConversation
    folder: Path
    burst: int
    telemetry: Telemetry | None = None
    notes: tuple[str, ...] = ()
    version: str = ""
    dpdk: str = ""
    ports: tuple[PortInfo, ...] = ()
    started: ExitStack = field(default_factory=ExitStack)

    @property
    def facts(self) -> GeneratorFacts:
        """Its version is its own."""
        return GeneratorFacts(
            name="pktgen",
            version=self.version,
            dpdk=self.dpdk,
            pid=self.conversation.child.pid,
            notes=(*self.notes, *NOTES, *PROBE_NOTES),
        )

    def open(self, devargs: tuple[str, ...], telemetry: Path, link_wait_s: float) -> None:
        """Wait for its start and for the links. Raises MachineError and GeneratorDied.

        `telemetry` is the socket of its DPDK.
        """
        self.conversation.greeting(_START_TIMEOUT_S)
        try:
            self.telemetry = Telemetry(telemetry)
        except TelemetryError as error:
            raise self._silent(error) from error
        versions = self.conversation.ask("versions")
        self.version = versions.text("pktgen").removeprefix("Pktgen ")
        self.dpdk = versions.text("dpdk").removeprefix("DPDK ")
        self.ports = linked_ports(
            lambda: tuple(self._port(number, each) for number, each in enumerate(devargs)),
            link_wait_s,
        )

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """Send for the time planned. Raises GeneratorRefused and GeneratorDied."""
        with refused_in_trials():
            ports = streams_by_port(plan.streams)
        probes = [each.probe for each in ports.values() if each.probe is not None]
        timing = frozenset(port for each in probes for port in (each.tx_port, each.rx_port))
        for port, streams in ports.items():
            self._check_flows(port, streams)
            self.conversation.call(list(port_settings(port, streams, self.burst)))
            self._set_rate(port, streams.load)
        for port in sorted(timing):
            due = max((each.rate_pps or 0.0 for each in probes), default=0.0) * plan.duration_s
            samples = _EVERY_FRAME if due <= MAX_SAMPLES else int(MAX_SAMPLES / plan.duration_s)
            probe = ports[port].probe if port in ports else None
            file = str(self.samples_file(port))
            self.conversation.call(list(probe_settings(port, probe, max(1, samples), file)))
            self.conversation.ask("call", "clear", port)
        return run_sampled_trial(_Sending(self, plan, ports, timing), plan, watch)

    def close(self) -> None:
        """End it."""
        with self.started:
            if self.telemetry is not None:
                self.telemetry.close()

    def stats(self, port: int) -> dict[str, object]:
        """A port's counters as they are now. Pktgen's own look is up to a second old."""
        return self.query(f"/ethdev/stats,{port}")

    def query(self, command: str) -> dict[str, object]:
        """The answer of its telemetry. Raises GeneratorDied where there is none."""
        assert self.telemetry is not None  # noqa: S101 - it is open
        try:
            return self.telemetry.query(command)
        except TelemetryError as error:
            raise self._silent(error) from error

    def samples_file(self, port: int) -> Path:
        """Where the latencies go that a port has seen."""
        return self.folder / f"pktgen-latency-{port}.txt"

    def _silent(self, error: TelemetryError) -> GeneratorDied:
        return self.conversation.died(f"does not tell its counters ({error.message})")

    def _port(self, number: int, devargs: str) -> PortInfo:
        info = self.query(f"/ethdev/info,{number}")
        up, mbps = self._link(number)
        return PortInfo(
            port=number,
            devargs=devargs,
            driver=devargs.split(",", maxsplit=1)[0].rstrip("0123456789"),
            mac=str(info.get("mac_addr", "")).lower(),
            link_up=up,
            link_mbps=mbps or None,
        )

    def _link(self, port: int) -> tuple[bool, int]:
        """Whether it is up, and the speed in Mbit/s that Pktgen takes for it."""
        said = self.conversation.ask("port", port).text("link")
        found = _LINK.fullmatch(said)
        return (found[1] == "UP", int(found[2])) if found else (False, 0)

    def _check_flows(self, port: int, streams: PortStreams) -> None:
        device = self.ports[port].devargs
        if streams.flows > self.burst and device.startswith(_COPYING):
            raise GeneratorRefused(
                f"stream {streams.load.name} has {streams.flows} flows, and through {device}, "
                f"which copies frames, Pktgen sends those of one burst, {self.burst}",
                where="profile.streams",
                remedy="take no more flows than generator.burst, or another generator",
            )

    def _set_rate(self, port: int, load: StreamPlan) -> None:
        """A share of the speed that the link claims; Pktgen waits so many ticks between bursts."""
        _, mbps = self._link(port)
        pps, percent = load.rate_pps, 100.0
        if pps is not None:
            percent = rate_percent(pps, mbps, load.largest_frame_size) if mbps else 101.0
        if percent > 100.0:
            raise GeneratorRefused(
                f"stream {load.name} at {pps:g} pps is more than port {port} claims, whose link "
                f"has {mbps} Mbit/s",
                where="generator",
                remedy="send less, or use another generator",
            )
        self.conversation.ask("call", "set", port, "rate", f"{percent:.12g}")
        paced = self.conversation.ask("port", port)
        if pps is not None and abs(paced.number("pps") - pps) > 1.0:
            raise GeneratorRefused(
                f"Pktgen makes {paced.number('pps')} pps of the {pps:g} of stream {load.name}",
                where="generator",
                remedy="use a Pktgen of 24.07 or later",
            )


# The file of Pktgen's latency sampler.
def read_samples(file: Path) -> Counter[int]:
    """How many there are of each sample, in ns.

    Raises GeneratorDied where it is not a file of Pktgen's sampler.

    It has a title, and then a sample a line (pktgen_stop_latency_sampler of its sources).
    """
    given = LatencyFile(
        file,
        "Pktgen's latency samples",
        "use a Pktgen of 24.07 or later, and CPUs whose TSCs agree",
    )
    title, *lines = given.lines(_MAX_BYTES)
    if title != _TITLE or lines[-1:] != [""]:
        raise given.unread("it does not begin and end as one")
    return Counter(_sample(line, given) for line in lines[:-1])


def _sample(line: str, given: LatencyFile) -> int:
    if not (line.isdigit() and len(line) <= _LONGEST_NUMBER):
        raise given.unread(f"it has the line {line[:50]!r}")
    # TSCs of two CPUs may be apart by some ticks: a negative latency is a huge number here.
    sample = int(line)
    if sample > HIGHEST_NS:
        raise given.unread(f"it has a latency of {sample} ns")
    return sample

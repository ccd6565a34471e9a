"""What a traffic generator is to the layers above: open, run trials, close."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field

from plimsoll.errors import TESTER_COULD_NOT_TELL, MachineError, PlimsollError
from plimsoll.generator.histogram import Histogram
from plimsoll.search.evidence.trial_evidence import recorded
from plimsoll.text.units import format_ns
from plimsoll.traffic.plan import StreamPlan

# By `losses`: the generator itself ended the trial, by one of the plan's loss limits. By `streams`:
# the last stream ended.
EndedBy = Literal["duration", "stop", "link_down", "losses", "streams"]
TrialStage = Literal["send", "drain"]
# Who stamps frames: the worker by the TSC; the port itself, all that it receives; or the port,
# probes that it takes for PTP's, as they leave and as they come.
Stamps = Literal["tsc", "hardware", "timesync"]
# A port and the number of one of its queues.
PortQueue = tuple[int, int]

NO_ENDS: Mapping[int, float] = MappingProxyType({})
# In the metadata of a counter of frames: the metric that it is recorded as.
METRIC = "metric"

# What says that a received frame is whole: its signature alone, or its checksums as well.
FrameCheck = Literal["signature", "checksums"]
# What may have befallen a frame that came back at all.
FrameFault = Literal["out-of-order", "duplicate", "corrupt", "misdirected"]


@dataclass(frozen=True, slots=True)
class WorstLatency:
    """Frames of one train: sent at once and received together, from number `sequence` on.

    Times are TSC ticks of the tester. `across_stall` says that a stall of the tester
    may have delayed it, by `delayed_ticks` at most, so that not all of the latency need be the
    DUT's.
    """

    sequence: int
    frames: int
    sent_tsc: int
    received_tsc: int
    across_stall: bool
    delayed_ticks: int = 0

    @property
    def latency_ticks(self) -> int:
        """From sending to receiving."""
        return self.received_tsc - self.sent_tsc


@dataclass(frozen=True, slots=True)
class LossEvent:
    """A gap in a stream's sequence: `frames` missing from number `first` on.

    Of them `filled` came late after all. What is missing was sent between `after_tsc`
    (None: nothing had come before) and `before_tsc`, the send stamps of the frames next to
    the gap; it was seen at `seen_tsc`. Times are TSC ticks of the tester.
    """

    first: int
    frames: int
    filled: int
    after_tsc: int | None
    before_tsc: int
    seen_tsc: int

    @property
    def lost(self) -> int:
        """Frames that did not come at all."""
        return self.frames - self.filled


@dataclass(frozen=True, slots=True)
class LossesLeftOut:
    """Loss events that a list had no room for, at most so many, and their missing frames."""

    events: int = 0
    frames: int = 0


@dataclass(frozen=True, slots=True)
class ClockReading:
    """The tester's TSC, CLOCK_MONOTONIC_RAW and wall clock, read within `width_ns`."""

    tsc: int
    raw_ns: int
    unix_ns: int
    width_ns: int


@dataclass(frozen=True, slots=True)
class RefusalEvent:
    """From when to when, by the TSC, a port had no room for `frames` frames of a stream.

    Refusals less than 100 us apart are one event.
    """

    first_tsc: int
    last_tsc: int
    frames: int


@dataclass(frozen=True, slots=True)
class FlowCounts:
    """What came of a stream's flows in a whole trial, by flow. Fields as in the engine protocol.

    `timed` frames are those of the stream's `latency`; a flow without one has no least and
    greatest latency.
    """

    sent: tuple[int, ...]
    received: tuple[int, ...]
    duplicate: tuple[int, ...]
    timed: tuple[int, ...]
    latency_sum_ns: tuple[int, ...]
    latency_min_ns: tuple[int | None, ...]
    latency_max_ns: tuple[int | None, ...]

    def missing(self, flow: int) -> int:
        """Frames of it that were sent and have not come, as `StreamCounts.missing`."""
        return self.sent[flow] - (self.received[flow] - self.duplicate[flow])


@recorded
@dataclass(frozen=True, slots=True)
class StampCounts:
    """Probes that came back, by what their ports stamped of them; only the first have a latency."""

    stamped: Annotated[
        int, Field(description="Probes that both the sending and the receiving port stamped.")
    ]
    no_tx_stamp: Annotated[
        int, Field(description="Probes for which the sending port gave no stamp in time.")
    ]
    no_rx_stamp: Annotated[
        int, Field(description="Probes for which the receiving port gave no stamp.")
    ]
    unmatched: Annotated[
        int,
        Field(
            description="Those whose ports gave a stamp that cannot be theirs, as it lies outside "
            "the time that they were under way: one of another PTP frame."
        ),
    ]
    error_ns: Annotated[
        int,
        Field(
            description="By how much a latency may be off at most, in ns, for the two ports' "
            "clocks are not exactly known to each other. What the ports' own stamps are off by "
            "comes on top."
        ),
    ]

    @property
    def sentence(self) -> str:
        """For people."""
        without = {
            "no stamp of leaving": self.no_tx_stamp,
            "no stamp of coming": self.no_rx_stamp,
            "a stamp that is not theirs": self.unmatched,
        }
        left_out = [f"{count:,} have {what}" for what, count in without.items() if count]
        back = self.stamped + sum(without.values())
        return (
            f"{self.stamped:,} of {back:,} probes that came back were stamped by both ports"
            f"{''.join(f', {each}' for each in left_out)}; as the ports' clocks are known to each "
            f"other, a latency is off by at most {format_ns(self.error_ns)}"
        )


@dataclass(frozen=True, slots=True)
class DelayedEnds:
    """Which two ends frames have that stalls of the tester may have delayed.

    `frames` are (bucket of the low end, bucket of the high end, how many), where a bucket is eight
    of a histogram's; the list had no room for those `left_out`.
    """

    frames: tuple[tuple[int, int, int], ...] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class StreamCounts:
    """One stream over an interval or a whole trial. Fields as in the engine protocol.

    `latency_us` has a latency stream's latencies in whole microseconds, rounded down, as
    (microseconds, frames); the last, 1000, holds those of a millisecond and more. `worst`
    are the longest latencies, longest first, `losses` the loss events and `refusals` the times
    at which the port had no room, largest first;
    Of the received frames `checked` are those whose checksums cover the whole packet and were
    right, `header_checked` those with no more than an IPv4 header's, and `unchecked` those with
    less than every frame of the stream had when it was sent.
    `spikes_left_out` are frames above the plan's `spike_us` that `worst` does not list. `stamps`
    is None unless the ports stamp its probes; the latencies are then between their stamps.
    `latency` has the samples that no stall of the tester can have delayed. The others are in
    `latency_across_stalls` as measured, and in `latency_less_stalls` less the most that stalls can
    have delayed them: between the two lies the DUT's latency. `low_end_unknown` of them were sent
    so long ago that their stalls were forgotten. `delayed_ends` says of a whole trial which of
    these two belong together; None where the generator does not. `received_bytes` is the length
    of the received frames with FCS, together; 0 where the generator does not count it.
    """

    stream: int
    sent: int = field(metadata={METRIC: "stream-tx-pps"})
    refused: int = field(metadata={METRIC: "refused-pps"})
    # Never sent, because the tester was late with them.
    skipped: int = field(metadata={METRIC: "late-pps"})
    no_buffer: int = field(metadata={METRIC: "no-buffer-pps"})
    timed_out: int = field(metadata={METRIC: "timed-out-pps"})
    received: int = field(metadata={METRIC: "stream-rx-pps"})
    missing: int
    out_of_order: int = field(metadata={METRIC: "out-of-order-pps"})
    duplicate: int = field(metadata={METRIC: "duplicate-pps"})
    corrupt: int = field(metadata={METRIC: "corrupt-pps"})
    misdirected: int = field(metadata={METRIC: "misdirected-pps"})
    latency: Histogram
    latency_across_stalls: Histogram
    lateness: Histogram
    latency_us: tuple[tuple[int, int], ...] = ()
    worst: tuple[WorstLatency, ...] = ()
    spikes_left_out: int = 0
    losses: tuple[LossEvent, ...] = ()
    losses_left_out: LossesLeftOut = LossesLeftOut()
    refusals: tuple[RefusalEvent, ...] = ()
    refusals_left_out: LossesLeftOut = LossesLeftOut()
    checked: int = 0
    header_checked: int = 0
    unchecked: int = 0
    flows: FlowCounts | None = None
    stamps: StampCounts | None = None
    latency_less_stalls: Histogram = field(default_factory=Histogram)
    low_end_unknown: int = 0
    received_bytes: int = 0
    delayed_ends: DelayedEnds | None = None


@dataclass(frozen=True, slots=True)
class PortCounts:
    """One port over an interval or a whole trial; `foreign_kinds` adds up to `foreign`.

    `truncated` are frames without our signature that were cut short, by the length of their IP
    packet. `buffers_in_use` is as read at the end: in the port's queues, being worked on, or lost.
    `host` counts frames to and from the tester's own host on the port, which are not foreign:
    requests by kind (`arp`, `nd`, `echo`), what neighbours said (`heard`), the answers that were
    sent (`answered`), and frames by which a neighbour has another MAC address (`moved`).
    """

    port: int
    foreign: int
    foreign_kinds: dict[str, int]
    stale: int = field(metadata={METRIC: "stale-pps"})
    rx_missed: int = field(metadata={METRIC: "rx-missed-pps"})
    rx_errors: int = field(metadata={METRIC: "rx-errors-pps"})
    rx_no_mbuf: int = field(metadata={METRIC: "rx-no-mbuf-pps"})
    buffers_in_use: int
    link_up: bool
    host: dict[str, int] = field(default_factory=dict)
    truncated: int = field(default=0, metadata={METRIC: "truncated-pps"})

    @property
    def others(self) -> int:
        """Frames received that are neither of the trial's streams nor for the port's host."""
        return self.foreign + self.stale + self.truncated

    @property
    def to_host(self) -> int:
        """Frames received that were for the port's host."""
        return sum(self.host.get(kind, 0) for kind in ("arp", "nd", "echo", "heard"))

    @property
    def from_host(self) -> int:
        """Frames that the port's host sent."""
        return self.host.get("answered", 0)


@recorded
@dataclass(frozen=True, slots=True)
class Stall:
    """A gap in a polling loop of the tester."""

    at_s: Annotated[float, Field(description="When it ended, in s since the trial's first frame.")]
    tsc: Annotated[
        int,
        Field(
            description="The time stamp counter when it ended: the kernel's trace clock x86-tsc, "
            "by which its cause can be looked up."
        ),
    ]
    length_ns: Annotated[int, Field(description="Its length, in ns.")]


@recorded
@dataclass(frozen=True, slots=True)
class Cycles:
    """TSC ticks that one step of a polling loop took for `frames` frames, in sampled bursts."""

    ticks: Annotated[int, Field(description="Time stamp counter ticks.")]
    frames: Annotated[int, Field(description="Frames handled in that time.")]

    @property
    def per_frame(self) -> float | None:
        """None when no burst was sampled."""
        return self.ticks / self.frames if self.frames else None


@recorded
@dataclass(frozen=True, slots=True)
class CycleBudget:
    """Where a polling loop's time goes: making frames, sending, asking for them, measuring."""

    build: Annotated[Cycles, Field(description="Making frames: schedule, buffers, fields.")]
    send: Annotated[Cycles, Field(description="Handing them to the port.")]
    poll: Annotated[Cycles, Field(description="Asking the port for frames.")]
    measure: Annotated[Cycles, Field(description="Looking at received frames and counting them.")]


@dataclass(frozen=True, slots=True)
class WorkerCounts:
    """One polling loop over an interval or a whole trial.

    `gaps` has every gap between two looks at the clock from the trial's `gap_us` on, work
    included; stalls are those longer than its `stall_us`.
    """

    cpu: int
    polls: int
    idle_polls: int
    stalls: int
    stalled_ns: int
    worst_stall_ns: int
    gaps: Histogram
    cycles: CycleBudget
    longest: tuple[Stall, ...] = ()


@dataclass(frozen=True, slots=True)
class Interval:
    """What happened between `begin_s` and `end_s` of the trial."""

    index: int
    phase: TrialStage
    begin_s: float
    end_s: float
    end_unix_ns: int
    streams: tuple[StreamCounts, ...]
    ports: tuple[PortCounts, ...]
    workers: tuple[WorkerCounts, ...]


@dataclass(frozen=True, slots=True)
class LossLimit:
    """The most `frames` that `streams` may lose together; with more, sending ends.

    Where `refused`, those that find no room in the port are lost, too. A generator may
    leave limits to the process that watches the trial.
    """

    frames: int
    streams: tuple[int, ...]
    refused: bool = False


@dataclass(frozen=True, slots=True)
class ResolvedAddress:
    """Whom a port's host looked for, `tries` times; `mac` is None where there was no answer."""

    port: int
    address: str
    mac: str | None
    tries: int


@dataclass(frozen=True, slots=True)
class CapturePlan:
    """Frames that `port` receives go to the pcap file `path`, which the generator makes.

    Of each frame the first `snap_bytes` are kept, None for all of it; the file takes
    `most_frames`. It captures from the trial's begin, or once it is switched `on`.
    """

    port: int
    path: str
    most_frames: int
    snap_bytes: int | None = None
    on: bool = True


@dataclass(frozen=True, slots=True)
class CaptureCounts:
    """Frames in the file of a port's capture, and those `left_out` of it while it was on.

    They came faster than they were written, the file has as many as planned, or it could not be
    written, for the reason `error`.
    """

    port: int
    frames: int
    left_out: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """One trial: what to send, for how long, and how closely to watch.

    Without streams the polling loops only look at the clock. Gaps between two looks from
    `gap_us` on are counted, those above `stall_us` are stalls, and of each loop and
    interval the `longest` are listed (0 to 64).

    Of each stream and interval the `worst` longest latencies are listed (0 to 64), and all
    of `spike_us` and more while there is room. Intervals may wait for `hold_s` before they
    are handed over, so that no process wakes for them; with 0 each is handed over as it
    ends. The CPU time of the processes in `cpu_time_of` (pids) is reported. `check` says by
    what a received frame counts as whole. `load_pps` is the load per direction that the
    streams' rates were made of, 0 where they were not made of one. `resolved` are the neighbours
    to which MAC addresses were found for it. `captures`, each of a port of its own, are for
    generators that have them (`Capabilities.captures`).

    Of a live generator the first frame is due `begin_delay_s` after the request, until when CPUs
    are not polled, and it tells when streams end. With `end_with_streams` sending ends when the
    last stream has, and the drain when all frames have come back.
    """

    mark: int
    streams: tuple[StreamPlan, ...]
    duration_s: float
    drain_s: float
    interval_s: float = 1.0
    catch_up_us: float = 1000.0
    stall_us: float = 20.0
    gap_us: float = 1.0
    longest: int = 16
    worst: int = 16
    spike_us: float | None = None
    hold_s: float = 0.0
    loss_limits: tuple[LossLimit, ...] = ()
    cpu_time_of: tuple[int, ...] = ()
    check: FrameCheck = "checksums"
    load_pps: float = 0.0
    resolved: tuple[ResolvedAddress, ...] = ()
    captures: tuple[CapturePlan, ...] = ()
    begin_delay_s: float | None = None
    report_ends: bool = False
    end_with_streams: bool = False


@dataclass(frozen=True, slots=True)
class StreamBegin:
    """How a stream is to begin while a trial runs: for `duration_s`, or None for its length."""

    rate_pps: float
    duration_s: float | None = None


@dataclass(frozen=True, slots=True)
class StreamCourse:
    """From when to when a stream sends or sent (ns since 1970); None: its end is not known."""

    stream: int
    begin_unix_ns: int
    end_unix_ns: int | None


@dataclass(frozen=True, slots=True)
class StreamsBegun:
    """The streams that were begun, and when the first frame of their trial was due."""

    trial_unix_ns: int
    streams: tuple[StreamCourse, ...] = ()


@dataclass(frozen=True, slots=True)
class ProcessCpuTime:
    """CPU time of one process; `cpu_ns` is None where it did not live all the time."""

    pid: int
    cpu_ns: int | None


@dataclass(frozen=True, slots=True)
class CpuTime:
    """CPU time in ns that the generator took outside its polling loops while frames were sent.

    `processes` are those named in the plan's `cpu_time_of`.
    """

    main_thread_ns: int
    processes: tuple[ProcessCpuTime, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialReport:
    """Totals of one trial, read after the drain; `clock` spans it from begin to end.

    `cpu_time` is None where none is taken. `captures` are those of the plan, each with the counts
    of its last file.
    """

    ended_by: EndedBy
    sending_s: float
    begin_unix_ns: int
    streams: tuple[StreamCounts, ...]
    ports: tuple[PortCounts, ...]
    workers: tuple[WorkerCounts, ...]
    cpu_time: CpuTime | None = None
    clock: tuple[ClockReading, ...] = ()
    captures: tuple[CaptureCounts, ...] = ()


@dataclass(frozen=True, slots=True)
class PortInfo:
    """One opened port, as the generator sees it.

    `latency_clock` says where receive stamps were taken: "tsc" by the worker, or
    "hardware" by the port; with "timesync" the port stamps probes both ways, and the worker
    all other frames. The two capabilities are what the driver offers, used or not. Of a
    generator that does not say, a port is as by default here.
    """

    port: int
    devargs: str
    driver: str
    mac: str
    link_up: bool
    link_mbps: int | None
    numa_node: int | None = None
    rx_queues: int = 1
    tx_queues: int = 1
    rss: bool = False
    rx_stamps: bool = False
    tx_stamps: bool = False
    latency_clock: Stamps = "tsc"


@dataclass(frozen=True, slots=True)
class WorkerLayout:
    """One polling loop: its CPU and the queues that it sends on and receives from."""

    cpu: int
    tx: tuple[PortQueue, ...]
    rx: tuple[PortQueue, ...]


@dataclass(frozen=True, slots=True)
class GeneratorFacts:
    """How a generator that was started identifies itself, for records and calibrations.

    `name` and `version` are its own, `dpdk` the version of the DPDK that it runs on, and
    `pid` its process on this host; None stands for what has no part in it. A `simulated` one
    sends nothing. Of one whose ports are open, `tsc_hz` is the rate of its ticks, and
    `workers` are its polling loops. `notes` are for readers of the results.
    """

    name: str
    version: str
    dpdk: str | None = None
    pid: int | None = None
    simulated: bool = False
    tsc_hz: float | None = None
    workers: tuple[WorkerLayout, ...] = ()
    notes: tuple[str, ...] = ()


class GeneratorDied(PlimsollError):
    """A generator ended by itself, or went silent and was ended."""

    exit_code = TESTER_COULD_NOT_TELL


class GeneratorRefused(PlimsollError):
    """A generator refused a request; `where` is the place in the request."""

    exit_code = MachineError.exit_code


class Generator(Protocol):
    """Sends and measures. `watch` sees each interval and returns True to stop the trial."""

    @property
    def facts(self) -> GeneratorFacts:
        """What it is."""

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        """The open ports."""

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """Run one trial to its end."""

    def close(self) -> None:
        """End it."""


@runtime_checkable
class ResolvingGenerator(Protocol):
    """One whose ports may have hosts, which find out the MACs of next hops."""

    def resolve(self, plan: TrialPlan) -> TrialPlan:
        """The plan with the MACs that its frames lack, as they are now.

        What came before counts no longer, but for frames of earlier trials; what the hosts send
        and receive from here on is part of the trial. Raises MachineError
        where there is no answer, InputError where it is not known whom to look for.
        """


class RunningTrial(Protocol):
    """A trial that runs. One thread follows it; others may change it and stop it."""

    def follow(
        self,
        watch: Callable[[Interval], bool],
        ended: Callable[[tuple[StreamCourse, ...]], None] = lambda _: None,
    ) -> TrialReport:
        """Receive it to its end; `watch` sees each interval and stops the trial with True.

        `ended` gets the streams that end before the trial, once an interval has what they sent.
        """

    def change_rates(
        self, rates_pps: Mapping[int, float], ends_s: Mapping[int, float] = NO_ENDS
    ) -> None:
        """Give streams, by number, new rates; returns when they are taken over.

        0 pauses a stream. Those in `ends_s` end so long after that, the others when they would
        have. Raises GeneratorRefused, also where the trial has ended, and changes nothing then.
        """

    def begin_streams(self, begins: Mapping[int, StreamBegin]) -> StreamsBegun:
        """Let streams with a rate begin, their schedules and frame counts anew.

        Each begins when its polling loop takes that over, or with the trial, if that has yet to
        begin. Returns when that is known. Raises as `change_rates` does.
        """

    def switch_capture(self, port: int, *, on: bool, path: str | None = None) -> CaptureCounts:
        """Switch the capture of a port, perhaps to another file; what came before is in its file.

        Raises GeneratorRefused, also where the trial has ended, and changes nothing then.
        """

    def set_link(self, port: int, *, up: bool) -> bool:
        """Take the link of a port down or bring it up; whether it is up then.

        For generators that can (`Capabilities.links`). Raises GeneratorRefused where the port's
        driver cannot, and where the trial has ended; it may have been done then.
        """

    def stop(self) -> None:
        """End the sending now; the drain follows."""


class LiveGenerator(Generator, Protocol):
    """One that changes rates while it sends (`Capabilities.live`)."""

    def begin(self, plan: TrialPlan) -> RunningTrial:
        """Begin a trial, which is then to be followed to its end."""

    def set_link(self, port: int, *, up: bool) -> bool:
        """The same as of a `RunningTrial`, while none runs."""

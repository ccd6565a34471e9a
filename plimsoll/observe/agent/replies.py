"""What an agent answers, a JSON object a line, each with its name under `reply`.

What an agent answers about the kernel's trace of its host. What comes from there is whatever that
host sends: each field has its bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec
from pydantic import Field

from plimsoll.host.processes.polling_loops import FoundLoop
from plimsoll.host.processes.ticks import HostTicks
from plimsoll.observe.kernel_trace.trace_program import KernelEvent

# Of one line: with these, less than a megabyte of them.
EVENTS_OF_A_LINE = 1000
MAX_TASKS = 65_536
_LARGEST_NS = 2**63 - 1
# NR_CPUS of x86-64 is 8192 at most.
_LARGEST_CPU = 8191
_LONGEST_TEXT = 4096

_Cpu = Annotated[int, Field(ge=0, le=_LARGEST_CPU)]
_TaskId = Annotated[int, Field(ge=0, le=2**31 - 1)]
_RawNs = Annotated[int, Field(ge=0, le=_LARGEST_NS)]
_Text = Annotated[str, Field(max_length=_LONGEST_TEXT)]
_Name = Annotated[str, Field(max_length=64)]
_Number = Annotated[int, Field(ge=0, le=_LARGEST_NS)]


@dataclass(frozen=True, slots=True)
class AgentLoop:
    """A FoundLoop."""

    process: _Name
    cpu: _Cpu
    thread_id: _TaskId
    sleeps: bool

    @property
    def found(self) -> FoundLoop:
        """As it is used here."""
        return FoundLoop(self.process, self.cpu, self.thread_id, self.sleeps)


@dataclass(frozen=True, slots=True)
class AgentTicks:
    """HostTicks."""

    period_s: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
    tickless: Annotated[tuple[_Cpu, ...], Field(max_length=_LARGEST_CPU + 1)]
    virtual: bool
    irq_time: bool
    steal_apart: bool

    @classmethod
    def of(cls, ticks: HostTicks) -> AgentTicks:
        """To be sent."""
        return cls(
            ticks.period_s,
            tuple(sorted(ticks.tickless)),
            ticks.virtual,
            ticks.irq_time,
            ticks.steal_apart,
        )

    @property
    def ticks(self) -> HostTicks:
        """As they are used here."""
        return HostTicks(
            self.period_s, frozenset(self.tickless), self.virtual, self.irq_time, self.steal_apart
        )


@dataclass(frozen=True, slots=True)
class TraceOpened:
    """The loops on the CPUs under test, and whether what has these CPUs can be recorded.

    `names` are the events that are, `unavailable` why none are; then `remedy` is what to do.
    Times are of the host's CLOCK_MONOTONIC_RAW, in ns, in whatever follows.
    """

    reply: ClassVar[str] = "trace-opened"
    loops: Annotated[tuple[AgentLoop, ...], Field(max_length=_LARGEST_CPU + 1)]
    ticks: AgentTicks
    names: Annotated[tuple[_Name, ...], Field(max_length=4096)]
    unavailable: _Text | None = None
    remedy: _Text | None = None


@dataclass(frozen=True, slots=True)
class TraceStarted:
    """What happens from now on is recorded."""

    reply: ClassVar[str] = "trace-started"


@dataclass(frozen=True, slots=True)
class TraceRate:
    """How many events a second there were on the CPUs under test since the trace was started."""

    reply: ClassVar[str] = "trace-rate"
    events_per_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True, slots=True)
class TraceFailed:
    """The kernel, or what reads its events, did not do its part: there is no trace any more."""

    reply: ClassVar[str] = "trace-failed"
    reason: _Text
    remedy: _Text


@dataclass(frozen=True, slots=True)
class AgentLoss:
    """LostEvents of one CPU's own buffer."""

    cpu: _Cpu
    events: _Number
    complete_from_ns: _RawNs | None


@dataclass(frozen=True, slots=True)
class TraceRead:
    """All events in the windows were sent, but for `left_out` behind the last.

    `lost` is what the CPUs under test lost since the trace was started, or last read. `cgroups`
    are those of tasks that had a CPU and still live, `own_threads` the tasks among them that are
    the agent's.
    """

    reply: ClassVar[str] = "trace-read"
    left_out: _Number
    lost: Annotated[tuple[AgentLoss, ...], Field(max_length=_LARGEST_CPU + 1)]
    cgroups: Annotated[dict[_TaskId, _Text], Field(max_length=MAX_TASKS)]
    own_threads: Annotated[tuple[_TaskId, ...], Field(max_length=MAX_TASKS)]


@dataclass(frozen=True, slots=True)
class ClockRead:
    """CLOCK_MONOTONIC_RAW and, right after it, the wall clock, in ns."""

    reply: ClassVar[str] = "clock"
    raw_ns: _RawNs
    unix_ns: _RawNs


class AgentEvent(msgspec.Struct, frozen=True, array_like=True):
    """A KernelEvent, `ns` its time."""

    ns: Annotated[int, msgspec.Meta(ge=0, le=_LARGEST_NS)]
    cpu: Annotated[int, msgspec.Meta(ge=0, le=_LARGEST_CPU)]
    name: Annotated[str, msgspec.Meta(max_length=64)]
    fields: Annotated[
        dict[
            Annotated[str, msgspec.Meta(max_length=64)],
            int | Annotated[str, msgspec.Meta(max_length=_LONGEST_TEXT)],
        ],
        msgspec.Meta(max_length=64),
    ]

    @classmethod
    def of(cls, event: KernelEvent) -> AgentEvent:
        """To be sent; texts that are too long are cut off."""
        fields = {
            name: value if isinstance(value, int) else value[:_LONGEST_TEXT]
            for name, value in event.fields.items()
        }
        return cls(event.tsc, event.cpu, event.name, fields)

    @property
    def event(self) -> KernelEvent:
        """As it is used here, with the time that it has there."""
        return KernelEvent(self.ns, self.cpu, self.name, self.fields)


class TraceEvents(msgspec.Struct, frozen=True, tag="trace-events", tag_field="reply"):
    """Some of the events in the windows, in order; a TraceRead follows the last."""

    events: Annotated[list[AgentEvent], msgspec.Meta(max_length=EVENTS_OF_A_LINE)]


TraceReply = TraceOpened | TraceStarted | TraceRate | TraceFailed | TraceRead | ClockRead


Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class Opened:
    """It is ready, and keeps to the CPUs `ran_on`, a list in the kernel's form.

    `version` is that of its Plimsoll. `missing` says of each source that is not read there why.
    """

    reply: ClassVar[str] = "opened"
    version: str
    hostname: str
    pid: int
    ran_on: str
    interval_s: float
    sources: tuple[str, ...]
    missing: dict[str, str]


@dataclass(frozen=True, slots=True)
class Begun:
    """A period began, at `unix_ns` by the host's own clock."""

    reply: ClassVar[str] = "begun"
    unix_ns: int


@dataclass(frozen=True, slots=True)
class Ended:
    """The period's last reading was made; `skipped` were due while the agent could not run.

    `cpu_s` is what all of them took; `missing` also has the sources that were lost during it.
    """

    reply: ClassVar[str] = "ended"
    ticks: Count
    skipped: Count
    cpu_s: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    missing: dict[str, str]


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """A request was not understood or could not be done."""

    reply: ClassVar[str] = "refused"
    problem: str


Reply = Opened | Begun | Ended | RequestRefused | TraceReply
# How a line that is one begins; all others are lines of a metrics file.
REPLY_HEAD = '{"reply"'

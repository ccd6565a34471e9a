"""The agent: reads a host's figures during trials, in a process of its own.

It takes requests on stdin and answers on stdout, a JSON object a line, so that it runs the same
as a child process and over ssh (docs/metrics.md). The end of stdin ends it. Between
"begin" and "end" its answers are mixed with the lines of a metrics file.
"""

from __future__ import annotations

import json
import os
import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass

import msgspec
from pydantic import ValidationError

from plimsoll.host.cpus import format_cpu_list
from plimsoll.host.wall_clock import wall_minus_monotonic_ns
from plimsoll.observe.agent.host_trace import HostTrace, read_clock
from plimsoll.observe.agent.registry import OBSERVERS
from plimsoll.observe.agent.replies import Begun, Ended, Opened, Reply, RequestRefused, TraceEvents
from plimsoll.observe.reading.host_files import HostFiles, printable
from plimsoll.observe.reading.observer import NotObservable, Observation, ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.metrics.metric_log import MetricLog
from plimsoll.version import VERSION


# All observers of a host over one period.
@dataclass(frozen=True, slots=True)
class _Reader:
    observer: Observer
    readings: Readings


class Sampler:
    """Reads all observers one after the other, each with its own time."""

    def __init__(
        self, host: ObservedHost, observers: Sequence[type[Observer]], hostname: str, period: str
    ) -> None:
        """Find what is to be read, and read where it all stands."""
        # The period's wall clock goes on with the monotonic one, whatever is done to the host's.
        self._wall_minus_monotonic_ns = wall_minus_monotonic_ns()
        names = {"hostname": hostname, "cstype": "profiler"}
        self._log = MetricLog(period, self._wall_minus_monotonic_ns, names)
        # By the observer's name.
        self._readers: dict[str, _Reader] = {}
        # Of each observer that does not read: why.
        self.missing: dict[str, str] = {}
        for observer in observers:
            self._begin(observer, host)

    @property
    def sources(self) -> tuple[str, ...]:
        """What is read."""
        return tuple(dict.fromkeys(each.observer.source for each in self._readers.values()))

    def tick(self) -> list[str]:
        """Read everything once: the lines for the metrics file."""
        return [line for name in tuple(self._readers) for line in self._read(name)]

    def _begin(self, observer: type[Observer], host: ObservedHost) -> None:
        name = observer.name()
        readings = Readings(name, self._log)
        readings.begin(self._now_ns())
        try:
            self._readers[name] = _Reader(observer(host, readings), readings)
        except (NotObservable, OSError, ValueError) as error:
            self.missing[name] = str(error)
            return
        self._read(name)

    def _read(self, name: str) -> list[str]:
        reader = self._readers[name]
        reader.readings.begin(self._now_ns())
        try:
            reader.observer.read(reader.readings)
        except (OSError, ValueError) as error:
            # The others go on; the record says which was lost, and its series end here.
            self.missing[name] = f"{type(error).__name__}: {error}"
            del self._readers[name]
            return []
        return reader.readings.lines()

    def _now_ns(self) -> int:
        return time.monotonic_ns() + self._wall_minus_monotonic_ns


# The host's name where the agent is in a container, which has one of its own.
HOSTNAME_VARIABLE = "PLIMSOLL_HOSTNAME"
_BLOCK_BYTES = 65536
WriteLines = Callable[[list[str]], None]


@dataclass(slots=True)
class _Period:
    """One that is going on. Times are of the monotonic clock, in ns."""

    sampler: Sampler
    due_ns: int
    cpu_began_ns: int
    ticks: int = 0
    skipped: int = 0


class Agent:
    """Answers requests and reads when it is time. `write` takes whole lines."""

    def __init__(self, write: WriteLines, files: HostFiles) -> None:
        self._write = write
        self._host = ObservedHost(files)
        # Whatever bytes an administrator chose; as text they are in files and on terminals.
        name = os.environ.get(HOSTNAME_VARIABLE) or socket.gethostname()
        self._hostname = printable(os.fsencode(name))
        self._period: _Period | None = None
        self._trace: HostTrace | None = None

    def wait_s(self) -> float | None:
        """The time until the next reading; None when there is none to come."""
        if self._period is None:
            return None
        return max(0.0, (self._period.due_ns - time.monotonic_ns()) / 1e9)

    def read_if_due(self) -> None:
        """Read once if it is time, and never twice to make up for readings that were missed."""
        period = self._period
        if period is None or (late_ns := time.monotonic_ns() - period.due_ns) < 0:
            return
        interval_ns = self._interval_ns
        period.skipped += late_ns // interval_ns
        period.due_ns += (1 + late_ns // interval_ns) * interval_ns
        self._tick(period)

    def answer(self, line: bytes) -> None:
        """Do what one request asks."""
        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                raise ValueError("not an object")
            for reply in self._answers(request):
                self._reply(reply)
        except RecursionError:
            self._reply(RequestRefused(problem="the line is nested too deep"))
        except (ValueError, ValidationError, OSError) as error:
            self._reply(RequestRefused(problem=f"{type(error).__name__}: {error}"))

    def close(self) -> None:
        """Leave nothing on the host; may be repeated."""
        if self._trace is not None:
            self._trace.close()
        self._trace = None

    def _answers(self, request: Mapping[str, object]) -> Iterator[Reply | TraceEvents]:
        match request:
            case {"request": "open", "observation": dict(fields)}:
                yield self._open(Observation.model_validate(fields))
            case {"request": "begin", "period": str(period)} if self._period is None:
                yield self._begin(period)
            case {"request": "end"} if self._period is not None:
                yield self._end(self._period)
            case {"request": "clock"}:
                yield read_clock()
            case {"request": "trace-open"}:
                self.close()
                self._trace = HostTrace(self._host.observation.polled_cpus)
                yield self._trace.opened
            case {"request": str(name)} if self._trace is not None and name.startswith("trace-"):
                yield from self._trace.answers(request)
            case _:
                raise ValueError(f"not now, or not known: {request.get('request')!r}")

    def _open(self, observation: Observation) -> Opened:
        known = {each.source for each in OBSERVERS}
        if unknown := set(observation.sources or ()) - known:
            raise ValueError(f"no source {', '.join(sorted(unknown))}")
        _keep_to(observation)
        self._host = ObservedHost(self._host.files, observation)
        tried = self._sampler("trial")
        return Opened(
            version=VERSION,
            hostname=self._hostname,
            pid=os.getpid(),
            ran_on=format_cpu_list(os.sched_getaffinity(0)),
            interval_s=observation.interval_s,
            sources=tried.sources,
            missing=tried.missing,
        )

    def _begin(self, period: str) -> Begun:
        sampler = self._sampler(period)
        now_ns = time.monotonic_ns()
        self._period = _Period(sampler, now_ns + self._interval_ns, time.process_time_ns())
        return Begun(unix_ns=time.time_ns())

    def _sampler(self, period: str) -> Sampler:
        selected = self._host.observation.sources
        observers = [each for each in OBSERVERS if selected is None or each.source in selected]
        return Sampler(self._host, observers, self._hostname, period)

    def _end(self, period: _Period) -> Ended:
        self._tick(period)
        self._period = None
        return Ended(
            ticks=period.ticks,
            skipped=period.skipped,
            cpu_s=(time.process_time_ns() - period.cpu_began_ns) / 1e9,
            missing=period.sampler.missing,
        )

    def _tick(self, period: _Period) -> None:
        period.ticks += 1
        self._write(period.sampler.tick())

    def _reply(self, reply: Reply | TraceEvents) -> None:
        if isinstance(reply, TraceEvents):
            self._write([msgspec.json.encode(reply).decode()])
        else:
            self._write([json.dumps({"reply": reply.reply, **asdict(reply)})])

    @property
    def _interval_ns(self) -> int:
        return round(self._host.observation.interval_s * 1e9)


def serve(requests: int, answers: int, files: HostFiles) -> None:
    """Be an agent on two file descriptors until the first of them ends."""
    with closing(Agent(lambda lines: _write_all(answers, lines), files)) as agent:
        unread = b""
        while True:
            ready, _, _ = select.select([requests], [], [], agent.wait_s())
            if ready:
                block = os.read(requests, _BLOCK_BYTES)
                if not block:
                    return
                *lines, unread = (unread + block).split(b"\n")
                for line in lines:
                    agent.answer(line)
            agent.read_if_due()


def _keep_to(observation: Observation) -> None:
    """Run where the run says, else on CPUs that are not under test, where there are others."""
    others = os.sched_getaffinity(0) - set(observation.polled_cpus)
    if cpus := observation.run_on or tuple(others):
        os.sched_setaffinity(0, cpus)


def _write_all(descriptor: int, lines: list[str]) -> None:
    rest = memoryview("".join(f"{line}\n" for line in lines).encode())
    while rest:
        rest = rest[os.write(descriptor, rest) :]

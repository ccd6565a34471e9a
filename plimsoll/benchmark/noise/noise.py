"""`plimsoll osnoise`: loops that only look at the clock, and what takes their CPUs from them.

Measured in stretches, between which the kernel's events are read: its buffers hold seconds,
and nothing of ours runs while a stretch lasts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.benchmark.noise.stretch import NoiseCounters, StretchRun, smi_count
from plimsoll.benchmark.noise.summary import NoiseSummary
from plimsoll.benchmark.session.session import versions
from plimsoll.benchmark.testbed.shared_cpus import SharedCpus
from plimsoll.benchmark.testbed.trial_marks import TrialMarks
from plimsoll.errors import InputError, MachineError
from plimsoll.generator.engine.engine import Engine
from plimsoll.generator.engine.program import ENGINE
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.host.cpus import check_cpus
from plimsoll.host.ledger.cpu_claims import CpuClaim, claim_cpus, cpus_polled_by_others
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.ledger.own_processes import StartedByRun
from plimsoll.host.processes.affinity import housekeeping_cpus, pinned_off, pinned_thread
from plimsoll.host.processes.garbage_collection import gc_frozen
from plimsoll.observe.kernel_trace.kernel_trace import KernelTrace
from plimsoll.observe.kernel_trace.trace_program import TraceUnavailable
from plimsoll.record.results.noise_result import NoiseResult, NoiseTrace
from plimsoll.record.run.environment import read_environment
from plimsoll.text.units import format_ns

# The engine's own bounds (docs/engine-protocol.md).
MIN_THRESHOLD_NS = 1_000
MAX_THRESHOLD_NS = 1_000_000_000
_MAX_CPUS = 64
_MIN_S = 0.1
_MAX_S = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class NoiseSettings:
    """CPUs to measure, for how long, and what counts.

    A gap of `threshold_ns` or more between two looks at the clock is a stall. `max_ns` is the
    longest that passes; None where any does. With `trace` kernel events are recorded.
    """

    cpus: tuple[int, ...]
    duration_s: float = 60.0
    threshold_ns: int = MIN_THRESHOLD_NS
    max_ns: int | None = None
    trace: bool = True

    def check(self) -> None:
        """Raise InputError for what cannot be measured here."""
        check_cpus([("--cpus", cpu) for cpu in self.cpus])
        if len(self.cpus) > _MAX_CPUS:
            raise InputError(
                f"{len(self.cpus)} CPUs are more than the engine has loops for",
                where="--cpus",
                remedy=f"measure at most {_MAX_CPUS} at once",
            )
        if not _MIN_S <= self.duration_s <= _MAX_S:
            raise InputError(
                f"{self.duration_s:g} s is too {'short' if self.duration_s < _MIN_S else 'long'}",
                where="--duration",
                remedy="give 100ms to 7d",
            )
        if not MIN_THRESHOLD_NS <= self.threshold_ns <= MAX_THRESHOLD_NS:
            raise InputError(
                f"stalls cannot begin at {format_ns(self.threshold_ns)}",
                where="--threshold",
                remedy="give 1us to 1s",
            )
        if self.max_ns is not None and self.max_ns < self.threshold_ns:
            raise InputError(
                f"{format_ns(self.max_ns)} is below the threshold of "
                f"{format_ns(self.threshold_ns)}, so what breaks it would not be looked into",
                where="--max",
                remedy="raise it, or lower --threshold",
            )


# At 20,000 events a second, which a busy CPU has, this fills what plimsoll-trace hands over of
# one CPU (200,000 events).
STRETCH_S = 10.0
_MEGABYTES = 64
_MAX_FRAME_BYTES = 60
# lcore-worker-1 before DPDK 23.07, dpdk-worker1 since.
_WORKER = "worker"
_SWITCHED_OFF = TraceUnavailable("switched off", "leave out --no-trace")


@dataclass(frozen=True)
class _Meter:
    """An engine without ports, and the trace where there is one."""

    engine: Engine
    loops: tuple[PollingLoop, ...]
    tsc_hz: float
    trace: KernelTrace | TraceUnavailable
    shared: SharedCpus
    # The CPUs that are polled, by its loops and by others.
    avoided: frozenset[int]


def measure_noise(
    settings: NoiseSettings, ledger: Ledger, tell: Callable[[str], None]
) -> NoiseResult:
    """Measure; `tell` hears of each stretch. Raises InputError, MachineError and GeneratorDied."""
    begun_at = datetime.now(UTC)
    with ExitStack() as stack:
        meter = stack.enter_context(_meter(settings, ledger))
        stack.enter_context(pinned_off(meter.avoided))
        summary = NoiseSummary(meter.loops)
        lengths = stretch_lengths(settings.duration_s)
        run = _stretch_run(settings, meter, ledger)
        marks = TrialMarks()
        for number, length_s in enumerate(lengths, 1):
            tell(f"stretch {number} of {len(lengths)}")
            with gc_frozen():
                stretch = run.run(marks.take(), length_s)
            summary.add(stretch)
            own = meter.shared.own_time(stretch.report)
            summary.own_ns += 0 if own is None else sum(ns or 0 for ns in own.cpu_ns.values())
        return _result(settings, meter, summary, begun_at, len(lengths))


def stretch_lengths(duration_s: float) -> tuple[float, ...]:
    """Equal lengths of at most STRETCH_S that add up to the duration."""
    count = max(1, math.ceil(duration_s / STRETCH_S))
    return (duration_s / count,) * count


@contextmanager
def _meter(settings: NoiseSettings, ledger: Ledger) -> Iterator[_Meter]:
    """Bring the loops up, and the trace; both down at the end."""
    with ExitStack() as stack:
        claim_cpus(ledger, [CpuClaim("--cpus", cpu, ENGINE) for cpu in settings.cpus])
        avoided = cpus_polled_by_others(ledger).union(settings.cpus)
        log = ledger.directory / "engine.log"
        engine = stack.enter_context(closing(Engine.start(log, ledger.environment)))
        ledger.note_process(ENGINE, engine.identity)
        engine.open(
            workers=EngineSettings(cpus=settings.cpus).layout(0),
            stamps="tsc",
            memory=MemoryPlan(huge=False, megabytes=_MEGABYTES),
            devargs=(),
            descriptors=0,
            main_cpus=housekeeping_cpus(avoided),
            max_frame_bytes=_MAX_FRAME_BYTES,
        )
        facts = engine.facts
        if facts.pid is None or facts.tsc_hz is None:
            raise ValueError("an open engine has a process and a clock")
        loops = _loops(facts.pid, settings.cpus)
        threads = [loop.thread_id for loop in loops]
        trace = (
            KernelTrace.open(settings.cpus, ledger, threads) if settings.trace else _SWITCHED_OFF
        )
        if isinstance(trace, KernelTrace):
            stack.enter_context(trace)
        with pinned_off(avoided):
            shared = SharedCpus.of(settings.cpus, avoided, ledger)
        yield _Meter(engine, loops, facts.tsc_hz, trace, shared, avoided)


def _loops(pid: int, cpus: Sequence[int]) -> tuple[PollingLoop, ...]:
    loops = []
    for cpu in cpus:
        thread = pinned_thread(pid, cpu, _WORKER)
        if thread is None:
            raise MachineError(f"the engine's loop for CPU {cpu} is not there", where=ENGINE)
        loops.append(PollingLoop("tester", ENGINE, cpu, thread))
    return tuple(loops)


def _stretch_run(settings: NoiseSettings, meter: _Meter, ledger: Ledger) -> StretchRun:
    return StretchRun(
        generator=meter.engine,
        loops=meter.loops,
        tsc_hz=meter.tsc_hz,
        threshold_ns=settings.threshold_ns,
        crowded=meter.shared.crowded,
        trace=meter.trace if isinstance(meter.trace, KernelTrace) else None,
        counters=NoiseCounters(settings.cpus, smi_count(settings.cpus)),
        own_pids=tuple(meter.shared.processes),
        started=lambda: StartedByRun.of(ledger, meter.engine.facts.pid),
    )


def _result(
    settings: NoiseSettings,
    meter: _Meter,
    summary: NoiseSummary,
    begun_at: datetime,
    stretches: int,
) -> NoiseResult:
    cpus = summary.cpus()
    longest_ns = max((each.max_ns or 0 for each in cpus), default=0)
    host = read_environment(versions(meter.engine.facts))
    return NoiseResult(
        begun_at=begun_at,
        host=host.host,
        kernel=host.kernel,
        cpu_model=host.cpu_model,
        cmdline=host.cmdline,
        versions=host.versions,
        tsc_hz=meter.tsc_hz,
        duration_s=settings.duration_s,
        stretches=stretches,
        threshold_ns=settings.threshold_ns,
        max_ns=settings.max_ns,
        passed=None if settings.max_ns is None else longest_ns <= settings.max_ns,
        cpus=cpus,
        listed_stalls=summary.listed_stalls,
        listed_ns=summary.listed_ns,
        causes=summary.causes(),
        worst=summary.worst,
        trace=_trace(meter.trace, summary),
        own_share=summary.own_ns / 1e9 / (settings.duration_s * len(settings.cpus)),
    )


def _trace(trace: KernelTrace | TraceUnavailable, summary: NoiseSummary) -> NoiseTrace:
    if isinstance(trace, TraceUnavailable):
        return NoiseTrace(unavailable=f"{trace.reason}: {trace.remedy}")
    return NoiseTrace(
        clock=trace.clock,
        events=summary.events,
        lost_events=summary.lost_events,
        names=trace.events,
        incomplete_stretches=summary.incomplete_stretches,
    )

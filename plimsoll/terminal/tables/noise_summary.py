"""What the tester measured of itself and its CPUs, on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from rich.console import Console

from plimsoll.host.cpus import format_cpu_list
from plimsoll.record.calibrations.calibration import CalibrationPoint
from plimsoll.record.calibrations.stored_calibration import StoredCalibration
from plimsoll.record.causes.causes_record import Remedy
from plimsoll.record.results.noise_result import CpuNoise, GapBucket, NoiseCause, NoiseResult
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.plain_text import plain_text
from plimsoll.text.units import format_duration, format_ns, format_pps, format_ratio

_UNKNOWN = "-"
_MAX_CAUSES = 20
_MAX_WORST = 5
_MAX_REMEDIES = 5


def print_noise(result: NoiseResult, console: Console) -> None:
    """Gaps by CPU, their histogram, causes with remedies, the longest stalls, and the verdict."""
    console.print(_gaps(result))
    console.print()
    console.print(_histogram(result))
    console.print()
    if result.causes:
        console.print(_causes(result))
        console.print()
    for line in _remarks(result):
        console.print(line, highlight=False, soft_wrap=True)


def _gaps(result: NoiseResult) -> FigureTable:
    quantiles = result.cpus[0].quantiles if result.cpus else ()
    headings = ("min", *(f"p{each.quantile * 100:g}" for each in quantiles), "max")
    counted = (f"from {format_ns(result.threshold_ns)}", "of the time")
    table = FigureTable(
        f"Gaps between two looks at the clock, {format_duration(result.duration_s)}",
        (TableColumn("CPU"), *(TableColumn(each) for each in (*headings, *counted))),
    )
    for cpu in result.cpus:
        lengths = (cpu.min_ns, *(each.ns for each in cpu.quantiles), cpu.max_ns)
        table.add_row(
            str(cpu.cpu),
            *(_ns(each) for each in lengths),
            f"{cpu.stalls:,}",
            format_ratio(cpu.stalled_share),
        )
    return table


def _histogram(result: NoiseResult) -> FigureTable:
    table = FigureTable(
        "Gaps by length",
        (TableColumn("length", "left"), *(TableColumn(f"CPU {cpu.cpu}") for cpu in result.cpus)),
    )
    buckets = {each.from_ns: each for cpu in result.cpus for each in cpu.buckets}
    for begin, bucket in sorted(buckets.items()):
        table.add_row(_span(bucket), *(_count(cpu, begin) for cpu in result.cpus))
    return table


def _span(bucket: GapBucket) -> str:
    if bucket.below_ns is None:
        return f"from {format_ns(bucket.from_ns)}"
    if bucket.from_ns == 0:
        return f"below {format_ns(bucket.below_ns)}"
    return f"{format_ns(bucket.from_ns)} to {format_ns(bucket.below_ns)}"


def _count(cpu: CpuNoise, begin_ns: int) -> str:
    return f"{next((each.count for each in cpu.buckets if each.from_ns == begin_ns), 0):,}"


def _causes(result: NoiseResult) -> FigureTable:
    table = FigureTable(
        f"What had the CPUs during {result.listed_stalls:,} stalls",
        (
            TableColumn("cause", "left", wraps=True),
            *(TableColumn(each) for each in ("CPU", "times", "total", "of the time", "longest")),
            TableColumn("evidence", "left"),
        ),
    )
    for cause in result.causes[:_MAX_CAUSES]:
        table.add_row(
            _named(cause),
            _UNKNOWN if cause.cpu is None else str(cause.cpu),
            f"{cause.occurrences:,}",
            _ns(cause.total_ns),
            _UNKNOWN if cause.time_share is None else format_ratio(cause.time_share),
            _ns(cause.worst_ns),
            cause.confidence,
        )
    return table


def _named(cause: NoiseCause) -> str:
    own = " (Plimsoll's own)" if cause.own else ""
    return f"{cause.kind}: {plain_text(cause.name)}{own}"


def _remarks(result: NoiseResult) -> Iterator[str]:
    if len(result.causes) > _MAX_CAUSES:
        yield f"{len(result.causes) - _MAX_CAUSES} further causes are in --json."
    yield from _listed(result)
    yield from _remedies(result)
    if result.worst:
        yield "The longest:"
    for stall in result.worst[:_MAX_WORST]:
        yield f"  {plain_text(stall.sentence)}"
    if result.trace.unavailable is not None:
        yield f"Without the kernel's events: {result.trace.unavailable}."
    if result.trace.incomplete_stretches:
        yield (
            f"Kernel events were lost in {result.trace.incomplete_stretches} of "
            f"{result.stretches} stretches; stalls there are not explained by them."
        )
    yield from _verdict(result)


def _listed(result: NoiseResult) -> Iterator[str]:
    stalls = sum(cpu.stalls for cpu in result.cpus)
    stalled_ns = sum(cpu.stalled_ns for cpu in result.cpus)
    if stalls > result.listed_stalls and stalled_ns:
        share = format_ratio(min(1.0, result.listed_ns / stalled_ns))
        yield (
            f"Looked into: the longest {result.listed_stalls:,} of {stalls:,} stalls, "
            f"{share} of the time lost. A higher --threshold leaves fewer."
        )


def _remedies(result: NoiseResult) -> Iterator[str]:
    """Each once, in the order of what it would help against."""
    remedies: dict[str, str] = {}
    for cause in result.causes[:_MAX_CAUSES]:
        if cause.remedy is not None:
            remedies.setdefault(_said(cause.remedy), _named(cause))
    if remedies:
        yield "What helps against most of it:"
    for remedy, named in islice(remedies.items(), _MAX_REMEDIES):
        yield f"  {named}: {remedy}"


def _said(remedy: Remedy) -> str:
    if not remedy.checks:
        return remedy.text
    checks = ", ".join(str(number) for number in remedy.checks)
    plural = "s" if len(remedy.checks) > 1 else ""
    return f"{remedy.text} (plimsoll tune audit, check{plural} {checks})"


def _verdict(result: NoiseResult) -> Iterator[str]:
    if result.max_ns is None or not result.cpus:
        return
    noisiest = max(result.cpus, key=lambda cpu: cpu.max_ns or 0)
    longest = f"CPU {noisiest.cpu} was away for {_ns(noisiest.max_ns)} at worst"
    kept = "within" if result.passed else "above"
    yield f"{longest}, {kept} the {format_ns(result.max_ns)} of --max."


def _ns(value: int | None) -> str:
    return _UNKNOWN if value is None else format_ns(value)


def print_calibration(calibration: StoredCalibration, console: Console) -> None:
    """A line for each point, and one plain sentence; a point's stall is its longest."""
    headings = ("sent", "p50", "p99", "p99.9", "max", "stall")
    table = FigureTable(
        f"{calibration.tester.port_kind}: {calibration.traffic}",
        (TableColumn("", "left"), *(TableColumn(heading) for heading in headings)),
    )
    for point in calibration.points:
        table.add_row(point.name, *_cells(point))
    console.print(table)
    unloaded = ", ".join(point.name for point in calibration.points if not point.load_pps)
    if unloaded:
        line = f"Without load, what is sent is the probes: {unloaded}."
        console.print(line, highlight=False, soft_wrap=True)
    console.print(f"\n{_sentence(calibration)}\n", highlight=False, soft_wrap=True)


def _cells(point: CalibrationPoint) -> tuple[str, ...]:
    latency = point.latency
    times = (latency.p50_ns, latency.p99_ns, latency.p99_9_ns, latency.max_ns)
    return (
        format_pps(point.sent_pps),
        *("-" if each is None else format_ns(each) for each in times),
        format_ns(point.worst_stall_ns),
    )


def _sentence(calibration: StoredCalibration) -> str:
    """ "On CPU 0 this tester adds 310 ns and carries 12 Mpps per direction clean …"."""
    cpus = calibration.tester.cpus
    where = f"On CPU{'s' if len(cpus) > 1 else ''} {format_cpu_list(cpus)} this tester"
    bias_ns = calibration.bias_ns
    adds = "adds an unknown latency" if bias_ns is None else f"adds {format_ns(bias_ns)}"
    rate = calibration.clean_rate
    if rate is None:
        return f"{where} {adds} and carries no load clean over {calibration.tester.port_kind}."
    several = calibration.directions > 1
    ways = f"{calibration.directions} directions at once" if several else "one direction"
    return (
        f"{where} {adds} and carries {format_pps(rate.pps_per_direction)} per direction clean "
        f"({ways}, over {calibration.tester.port_kind})."
    )

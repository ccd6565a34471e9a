"""The tester's own part in the focus trial, and its calibrations: this run's, and earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from plimsoll.generator.interface import Cycles
from plimsoll.host.cpus import format_cpu_list
from plimsoll.record.calibrations.calibration import CalibrationPoint, TesterCalibration
from plimsoll.record.calibrations.stored_calibration import StoredCalibration
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.tester_record import PortRecord, WorkerRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.times import GAP_COLUMNS, cells, time_columns
from plimsoll.report.figures.table import (
    Cell,
    ReportColumn,
    ReportTable,
    count,
    ns,
    number,
    pps,
    ratio,
    text,
)
from plimsoll.text.units import format_duration, format_number, format_pps, format_ratio

_KINDS = {
    "arp": "ARP",
    "lldp": "LLDP",
    "stp": "STP",
    "slow_protocols": "slow protocols (LACP and the like)",
    "flow_control": "flow control",
    "ptp": "PTP",
    "ipv4": "other IPv4",
    "ipv6": "other IPv6",
    "runt": "runts",
}
_LOOP = ReportColumn(("cpu",), "Polling loop", lambda cpu: f"CPU {cpu}", number=False)
# Of 64 for each loop in the record.
_LONGEST_SHOWN = 20
_CLOCKS = {
    "tsc": "time stamp counter of the polling loop (software stamps)",
    "hardware": "clock of the port (hardware stamps of what comes in)",
    "timesync": "clock of the port for probes (hardware stamps as they leave and as they come); "
    "time stamp counter of the polling loop for all other frames",
}


@dataclass(frozen=True, slots=True)
class TesterSection:
    """Tables without rows and empty texts where there is nothing to show."""

    loops: ReportTable
    across_stalls: str
    longest_latencies: ReportTable
    longest_stalls: ReportTable
    cycles: ReportTable
    foreign: ReportTable
    foreign_frames: int
    clocks: tuple[str, ...]


def tester_section(data: RunData) -> TesterSection:
    """The focus trial's; without one only the clocks. Clocks that were set are all trials'."""
    focus = data.focus
    clocks = tuple(
        f"Port {port}: {_CLOCKS.get(clock, clock)}."
        for port, clock in sorted(data.latency_clocks.items())
    ) + tuple(
        f"In trial {trial.number} {step.sentence}: its times go on as before."
        for trial in data.trials
        for step in trial.clock_steps
    )
    workers = focus.workers if focus else ()
    ports = focus.ports if focus else ()
    streams = focus.streams if focus else ()
    return TesterSection(
        loops=_loops(focus),
        across_stalls=_across_stalls(focus) if focus else "",
        longest_latencies=_longest_latencies(streams),
        longest_stalls=_longest_stalls(workers),
        cycles=_cycles_per_frame(workers),
        foreign=_foreign(ports),
        foreign_frames=sum(sum(port.foreign_kinds.values()) for port in ports),
        clocks=(
            *clocks,
            *(f"{each.name}: {each.stamps.sentence}." for each in streams if each.stamps),
        ),
    )


def _loops(trial: TrialRecord | None) -> ReportTable:
    columns = (
        _LOOP,
        count("stalls", "Stalls"),
        ns("longest_stall_ns", "Longest"),
        # As the trial's check has it.
        ratio("stalled_share", "Share of sending and drain"),
        count("gaps", "Gaps"),
        *time_columns(GAP_COLUMNS),
    )
    rows = tuple(
        (
            worker.cpu,
            worker.stalls,
            worker.worst_stall_ns,
            _stalled_share(worker, trial),
            worker.gaps.count,
            *cells(worker.gaps, GAP_COLUMNS),
        )
        for worker in (trial.workers if trial else ())
        if trial
    )
    return ReportTable("polling-loops", columns, rows, "Polling loops")


def _stalled_share(worker: WorkerRecord, trial: TrialRecord) -> float | None:
    """As the check found it: the record does not keep the drain that its base includes."""
    subject = f"CPU {worker.cpu}"
    found = (
        each.value
        for each in trial.findings
        if each.rule == "stalled-share" and each.subject == subject
    )
    return next(found, None)


def _cycles_per_frame(workers: Sequence[WorkerRecord]) -> ReportTable:
    steps = ("build", "send", "poll", "measure")
    columns = (
        _LOOP,
        *(number(f"{step}_cycles", step.capitalize(), _cycles) for step in steps),
    )
    rows = tuple(
        (worker.cpu, *(_per_frame(getattr(worker.cycles, step)) for step in steps))
        for worker in workers
    )
    return ReportTable("cycles-per-frame", columns, rows, "Cycles per frame")


def _per_frame(cycles: Cycles) -> float | None:
    return cycles.ticks / cycles.frames if cycles.frames else None


def _cycles(each: float) -> str:
    return f"{each:,.0f}" if each >= 1000 else format_number(each)


def _across_stalls(trial: TrialRecord) -> str:
    apart = sum(stream.samples_across_stalls for stream in trial.streams)
    total = apart + sum(stream.latency.count for stream in trial.streams)
    if not total:
        return ""
    share = format_ratio(apart / total)
    return f"{apart:,} of {total:,} latency samples ({share}) were taken across a stall."


def _longest_latencies(streams: Sequence[StreamRecord]) -> ReportTable:
    """Of each over all its samples, in the parts of tester and DUT."""
    columns = (
        text("stream", "Stream"),
        ns("latency_ns", "Longest"),
        ns("tester_ns", "Tester"),
        ns("dut_ns", "DUT"),
        ns("undecided_ns", "Undecided"),
        text("counted", "Counted"),
    )
    rows = tuple(
        (
            stream.name,
            longest.latency_ns,
            longest.tester_ns,
            longest.dut_ns,
            longest.undecided_ns,
            "excluded from the quantiles: a tester stall may have delayed it"
            if longest.across_stall
            else "in the quantiles",
        )
        for stream in streams
        if (longest := stream.longest) is not None
    )
    title = "The longest latency of each stream, all samples counted, and who was away then"
    style = "cards longest-latencies"
    return ReportTable("longest-latencies", columns, rows, title, style=style, captioned=True)


def _longest_stalls(workers: Sequence[WorkerRecord]) -> ReportTable:
    """Of all loops together, the longest first."""
    stalls = [(stall, worker.cpu) for worker in workers for stall in worker.longest]
    stalls.sort(key=lambda each: -each[0].length_ns)
    columns = (
        _LOOP,
        ns("length_ns", "Length"),
        number("ended_s", "Ended, into the trial", lambda at_s: f"{at_s:.6f} s"),
        number("tsc", "Time stamp counter", str),
    )
    rows = tuple(
        (cpu, stall.length_ns, stall.at_s, stall.tsc) for stall, cpu in stalls[:_LONGEST_SHOWN]
    )
    return ReportTable("longest-stalls", columns, rows, "Longest stalls")


def _foreign(ports: Sequence[PortRecord]) -> ReportTable:
    columns = (
        ReportColumn(("port",), "Into", lambda port: f"port {port}", number=False),
        text("kind", "Kind"),
        count("frames", "Frames"),
    )
    rows = tuple(
        (port.port, _KINDS.get(kind, kind), frames)
        for port in ports
        for kind, frames in sorted(port.foreign_kinds.items(), key=lambda each: -each[1])
        if frames
    )
    return ReportTable("foreign-frames", columns, rows, "Foreign frames")


_CALIBRATION_COLUMNS = ("min", "p50", "p99", "p99.9", "max")
_SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class CalibrationSection:
    """One calibration: how it was taken, what follows from it, and its points."""

    title: str
    sentences: tuple[str, ...]
    points: ReportTable


def calibrations(data: RunData) -> tuple[CalibrationSection, ...]:
    """This run's own first; earlier ones of the same tester with their age."""
    own = _own(data)
    earlier = data.environment.earlier_calibrations if data.environment else ()
    return (
        *([_of_this_run(own)] if own else []),
        *(_earlier(place, each, data.began) for place, each in enumerate(earlier, start=1)),
    )


def _own(data: RunData) -> TesterCalibration | None:
    if data.environment is not None and data.environment.calibration is not None:
        return data.environment.calibration
    return data.result.calibration if data.result else None


def _of_this_run(calibration: TesterCalibration) -> CalibrationSection:
    title, sentences = "In this run", [f"{calibration.how}."]
    if calibration.taken_in is not None:
        title = "In another run of the matrix"
        sentences.append(f"Taken in {calibration.taken_in}, of the same tester and streams.")
    return CalibrationSection(title, tuple(sentences), _points("calibration", calibration.points))


def _earlier(
    place: int, calibration: StoredCalibration, began: datetime | None
) -> CalibrationSection:
    tester = calibration.tester
    taken = f"{calibration.measured_at:%Y-%m-%d %H:%M} UTC"
    return CalibrationSection(
        title=f"By plimsoll calibrate over {tester.port_kind}, {taken}{_age(calibration, began)}",
        sentences=(
            f"The same {tester.generator} {tester.engine} on the same CPU "
            f"{format_cpu_list(tester.cpus)} ({tester.cpu_model or 'model unknown'}), "
            f"{tester.dpdk}, kernel {calibration.kernel or 'unknown'}; {calibration.traffic}.",
            _clean_rate(calibration),
        ),
        points=_points(f"earlier-calibration-{place}", calibration.points),
    )


def _age(calibration: StoredCalibration, began: datetime | None) -> str:
    if began is None:
        return ""
    age_s = (began - calibration.measured_at).total_seconds()
    if age_s < 0:
        return ", after this run began"
    days = age_s / _SECONDS_A_DAY
    text = f"{days:.0f} days" if days >= 2 else format_duration(age_s)
    return f", {text} before this run"


def _clean_rate(calibration: StoredCalibration) -> str:
    rate = calibration.clean_rate
    if rate is None:
        return "It carried no load without a fault of its own."
    ways = f", {calibration.directions} at once," if calibration.directions > 1 else ""
    above = f" Above it: {rate.fault_above}." if rate.fault_above else ""
    trials = f"{rate.clean_trials} of {rate.trials} trials of {format_duration(rate.trial_s)}"
    return (
        f"It carried {format_pps(rate.pps_per_direction)} per direction{ways} without a fault of "
        f"its own, in {trials}.{above}"
    )


def _points(name: str, points: Sequence[CalibrationPoint]) -> ReportTable:
    columns = (
        text("point", "Point"),
        pps("load_pps", "Load"),
        pps("sent_pps", "Sent"),
        *time_columns(_CALIBRATION_COLUMNS),
        ns("longest_stall_ns", "Longest stall"),
    )
    rows = tuple(
        (
            point.name,
            Cell((point.load_pps,), None if point.load_pps else "none"),
            Cell(
                (point.sent_pps,),
                None if point.load_pps else f"{format_pps(point.sent_pps)} of probes",
            ),
            *cells(point.latency, _CALIBRATION_COLUMNS),
            point.worst_stall_ns,
        )
        for point in points
    )
    return ReportTable(name, columns, rows, "Calibration")

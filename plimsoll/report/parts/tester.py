"""The tester's own part in the focus trial, and its calibrations: this run's, and earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from plimsoll.generator.interface import Cycles
from plimsoll.host.cpus import format_cpu_list
from plimsoll.record.calibrations.calibration import CalibrationPoint, TesterCalibration
from plimsoll.record.calibrations.stored_calibration import StoredCalibration
from plimsoll.record.trials.tester_record import WorkerRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.times import GAP_COLUMNS, cells
from plimsoll.text.units import format_duration, format_ns, format_number, format_pps, format_ratio

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
# Of 64 for each loop in the record.
_LONGEST_SHOWN = 20
_CLOCKS = {
    "tsc": "time stamp counter of the polling loop (software stamps)",
    "hardware": "clock of the port (hardware stamps of what comes in)",
    "timesync": "clock of the port for probes (hardware stamps as they leave and as they come); "
    "time stamp counter of the polling loop for all other frames",
}


@dataclass(frozen=True, slots=True)
class LoopLine:
    """One polling loop: its stalls, its gaps in GAP_COLUMNS, its cycles per frame by step.

    `share` is of sending and drain together, as the trial's check has it.
    """

    cpu: int
    stalls: int
    worst: str
    share: str
    gaps: int
    gap_times: tuple[str, ...]
    cycles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StallLine:
    """One of the longest stalls: when it ended, and what the time stamp counter said then."""

    cpu: int
    at: str
    tsc: int
    length: str


@dataclass(frozen=True, slots=True)
class LatencyLine:
    """The longest latency of a stream over all its samples, in the parts of tester and DUT."""

    stream: str
    latency: str
    tester: str
    dut: str
    undecided: str
    left_out: bool


@dataclass(frozen=True, slots=True)
class ForeignLine:
    """Foreign frames that came into a port, of one kind."""

    port: int
    kind: str
    frames: int


@dataclass(frozen=True, slots=True)
class TesterSection:
    """Empty tuples and texts where there is nothing to show."""

    loops: tuple[LoopLine, ...]
    across_stalls: str
    longest_latencies: tuple[LatencyLine, ...]
    longest: tuple[StallLine, ...]
    foreign: tuple[ForeignLine, ...]
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
    if focus is None:
        return TesterSection((), "", (), (), (), clocks)
    return TesterSection(
        loops=tuple(_loop(worker, focus) for worker in focus.workers),
        across_stalls=_across_stalls(focus),
        longest_latencies=_longest_latencies(focus),
        longest=_longest(focus),
        foreign=_foreign(focus),
        clocks=(
            *clocks,
            *(f"{each.name}: {each.stamps.sentence}." for each in focus.streams if each.stamps),
        ),
    )


def _loop(worker: WorkerRecord, trial: TrialRecord) -> LoopLine:
    share = _stalled_share(worker, trial)
    budget = worker.cycles
    return LoopLine(
        cpu=worker.cpu,
        stalls=worker.stalls,
        worst=format_ns(worker.worst_stall_ns),
        share="-" if share is None else format_ratio(share),
        gaps=worker.gaps.count,
        gap_times=cells(worker.gaps, GAP_COLUMNS),
        cycles=tuple(
            _per_frame(each) for each in (budget.build, budget.send, budget.poll, budget.measure)
        ),
    )


def _stalled_share(worker: WorkerRecord, trial: TrialRecord) -> float | None:
    """As the check found it: the record does not keep the drain that its base includes."""
    subject = f"CPU {worker.cpu}"
    found = (
        each.value
        for each in trial.findings
        if each.rule == "stalled-share" and each.subject == subject
    )
    return next(found, None)


def _per_frame(cycles: Cycles) -> str:
    return _cycles(cycles.ticks / cycles.frames) if cycles.frames else "-"


def _cycles(each: float) -> str:
    return f"{each:,.0f}" if each >= 1000 else format_number(each)


def _across_stalls(trial: TrialRecord) -> str:
    apart = sum(stream.samples_across_stalls for stream in trial.streams)
    total = apart + sum(stream.latency.count for stream in trial.streams)
    if not total:
        return ""
    share = format_ratio(apart / total)
    return f"{apart:,} of {total:,} latency samples ({share}) were taken across a stall."


def _longest_latencies(trial: TrialRecord) -> tuple[LatencyLine, ...]:
    return tuple(
        LatencyLine(
            stream=stream.name,
            latency=format_ns(longest.latency_ns),
            tester=format_ns(longest.tester_ns),
            dut=format_ns(longest.dut_ns),
            undecided=format_ns(longest.undecided_ns),
            left_out=longest.across_stall,
        )
        for stream in trial.streams
        if (longest := stream.longest) is not None
    )


def _longest(trial: TrialRecord) -> tuple[StallLine, ...]:
    """Of all loops together, the longest first."""
    stalls = [(stall, worker.cpu) for worker in trial.workers for stall in worker.longest]
    stalls.sort(key=lambda each: -each[0].length_ns)
    return tuple(
        StallLine(cpu, f"{stall.at_s:.6f} s", stall.tsc, format_ns(stall.length_ns))
        for stall, cpu in stalls[:_LONGEST_SHOWN]
    )


def _foreign(trial: TrialRecord) -> tuple[ForeignLine, ...]:
    return tuple(
        ForeignLine(port.port, _KINDS.get(kind, kind), frames)
        for port in trial.ports
        for kind, frames in sorted(port.foreign_kinds.items(), key=lambda each: -each[1])
        if frames
    )


CALIBRATION_COLUMNS = ("min", "p50", "p99", "p99.9", "max")
_SECONDS_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class CalibrationLine:
    """One point in words; `times` are the probe's in CALIBRATION_COLUMNS."""

    name: str
    load: str
    sent: str
    times: tuple[str, ...]
    worst_stall: str


@dataclass(frozen=True, slots=True)
class CalibrationTable:
    """One calibration: how it was taken, what follows from it, and its points."""

    title: str
    sentences: tuple[str, ...]
    points: tuple[CalibrationLine, ...]


def calibration_tables(data: RunData) -> tuple[CalibrationTable, ...]:
    """This run's own first; earlier ones of the same tester with their age."""
    own = _own(data)
    earlier = data.environment.earlier_calibrations if data.environment else ()
    return (
        *([_own_table(own)] if own else []),
        *(_earlier_table(each, data.began) for each in earlier),
    )


def _own(data: RunData) -> TesterCalibration | None:
    if data.environment is not None and data.environment.calibration is not None:
        return data.environment.calibration
    return data.result.calibration if data.result else None


def _own_table(calibration: TesterCalibration) -> CalibrationTable:
    title, sentences = "In this run", [f"{calibration.how}."]
    if calibration.taken_in is not None:
        title = "In another run of the matrix"
        sentences.append(f"Taken in {calibration.taken_in}, of the same tester and streams.")
    return CalibrationTable(title, tuple(sentences), _lines(calibration.points))


def _earlier_table(calibration: StoredCalibration, began: datetime | None) -> CalibrationTable:
    tester = calibration.tester
    taken = f"{calibration.measured_at:%Y-%m-%d %H:%M} UTC"
    return CalibrationTable(
        title=f"By plimsoll calibrate over {tester.port_kind}, {taken}{_age(calibration, began)}",
        sentences=(
            f"The same {tester.generator} {tester.engine} on the same CPU "
            f"{format_cpu_list(tester.cpus)} ({tester.cpu_model or 'model unknown'}), "
            f"{tester.dpdk}, kernel {calibration.kernel or 'unknown'}; {calibration.traffic}.",
            _clean_rate(calibration),
        ),
        points=_lines(calibration.points),
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


def _lines(points: Sequence[CalibrationPoint]) -> tuple[CalibrationLine, ...]:
    return tuple(
        CalibrationLine(
            name=point.name,
            load=format_pps(point.load_pps) if point.load_pps else "none",
            sent=format_pps(point.sent_pps) + ("" if point.load_pps else " of probes"),
            times=cells(point.latency, CALIBRATION_COLUMNS),
            worst_stall=format_ns(point.worst_stall_ns),
        )
        for point in points
    )

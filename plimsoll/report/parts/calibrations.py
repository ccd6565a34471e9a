"""Calibrations of the tester as the page shows them: this run's own, and earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from plimsoll.host.cpus import format_cpu_list
from plimsoll.record.calibrations.calibration import CalibrationPoint, TesterCalibration
from plimsoll.record.calibrations.stored_calibration import StoredCalibration
from plimsoll.report.data.run_data import RunData
from plimsoll.report.data.times import cells
from plimsoll.text.units import format_duration, format_ns, format_pps

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

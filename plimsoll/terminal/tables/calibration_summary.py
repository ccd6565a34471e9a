"""A calibration of the tester on the terminal."""

from __future__ import annotations

from rich.console import Console

from plimsoll.host.cpus import format_cpu_list
from plimsoll.record.calibrations.calibration import CalibrationPoint
from plimsoll.record.calibrations.stored_calibration import StoredCalibration
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.units import format_ns, format_pps


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

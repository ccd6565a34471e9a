"""What a run of an experiment would do, or all its mistakes, printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
from rich.console import Console
from rich.text import Text

from plimsoll.benchmark.check.check import check_experiment
from plimsoll.benchmark.experiment.set_field import SetField
from plimsoll.errors import InputError, PlimsollError
from plimsoll.record.results.check_result import (
    CheckResult,
    PlannedCpu,
    PlannedPhase,
    PlannedRate,
    PlannedRun,
    PlannedStream,
)
from plimsoll.terminal.options.options import parse_option
from plimsoll.terminal.output import errors, stdout
from plimsoll.terminal.tables.figure_table import FigureTable, TableColumn
from plimsoll.text.counted import counted
from plimsoll.text.units import (
    format_duration,
    format_number,
    format_pps,
    format_ratio,
    parse_duration,
)

_UNKNOWN = "-"


def print_planned_run(run: PlannedRun, console: Console) -> None:
    """Its loads, streams, ports, CPUs, phases and frames."""
    for line in _heading(run):
        console.print(Text(line), soft_wrap=True)
    for table in (_streams(run), _ports(run), _cpus(run), _phases(run)):
        console.print()
        console.print(table)
    for line in _remarks(run):
        console.print(Text(line, "dim"), soft_wrap=True)
    for stream in run.streams:
        console.print()
        _print_frames(stream, console)


def _heading(run: PlannedRun) -> Iterator[str]:
    loads = f"{_pps(run.minimum_pps)} to {_pps(run.maximum_pps)} per direction"
    yield f"{run.name}: no mistake was found. plimsoll run would search {loads}"
    line = "" if run.line_rate_bps is None else f", line rate {_bps(run.line_rate_bps)}"
    yield f"strategy {run.strategy}, lab {run.lab}{line}"


def _streams(run: PlannedRun) -> FigureTable:
    table = FigureTable(
        "Streams",
        (
            TableColumn("stream", "left"),
            TableColumn("ports", "left"),
            TableColumn("frames", "left", wraps=True),
            *_rate_columns(),
        ),
    )
    for each in run.streams:
        ports = f"{each.tx_port} to {each.rx_port}"
        table.add_row(each.name, ports, _content(each), *_rates(each.at_minimum, each.at_maximum))
    return table


def _content(stream: PlannedStream) -> str:
    sizes = sorted({frame.size for frame in stream.frames})
    size = f"{sizes[0]} B" if len(sizes) == 1 else f"{format_number(stream.mean_frame_size)} B mean"
    flows = f", {stream.flows:,} flows by {', '.join(stream.varies)}" if stream.varies else ""
    churn = f", {stream.churn:,g} new a second" if stream.churn else ""
    return f"{stream.role}, {stream.pacing}, {size}{flows}{churn}"


def _ports(run: PlannedRun) -> FigureTable:
    table = FigureTable(
        "Sent by the tester's ports",
        (TableColumn("port"), *_rate_columns(), TableColumn("of the line")),
    )
    for each in run.ports:
        share = _UNKNOWN if each.line_share is None else format_ratio(each.line_share)
        table.add_row(str(each.port), *_rates(each.at_minimum, each.at_maximum), share)
    return table


def _rate_columns() -> tuple[TableColumn, ...]:
    return tuple(TableColumn(f"{end} {of}") for end in ("min", "max") for of in ("pps", "L1", "L2"))


def _rates(least: PlannedRate | None, most: PlannedRate | None) -> Iterator[str]:
    for rate in (least, most):
        if rate is None:
            yield from (_UNKNOWN,) * 3
        else:
            yield from (format_pps(rate.pps), _bps(rate.l1_bps), _bps(rate.l2_bps))


def _cpus(run: PlannedRun) -> FigureTable:
    table = FigureTable(
        "CPUs that would be polled" if run.cpus else "No CPU of this machine would be polled",
        (
            TableColumn("CPU"),
            TableColumn("by", "left"),
            TableColumn("field", "left"),
            TableColumn("sends", "left", wraps=True),
            TableColumn("receives from", "left"),
            TableColumn("now", "left", wraps=True),
        ),
    )
    for each in run.cpus:
        ports = ", ".join(map(str, each.receives_from))
        received = f"{'port' if len(each.receives_from) == 1 else 'ports'} {ports}" if ports else ""
        sends = ", ".join(each.sends)
        table.add_row(str(each.cpu), each.role, each.field, sends, received, _now(each))
    return table


def _now(cpu: PlannedCpu) -> str:
    if not cpu.busy_share:
        return "free"
    who = ", ".join(cpu.busy_with) or "processes that have ended, or interrupts"
    return f"{cpu.busy_share:.0%} busy with {who}"


def _phases(run: PlannedRun) -> FigureTable:
    table = FigureTable(
        "Trials",
        (
            TableColumn("for", "left"),
            TableColumn("trials"),
            TableColumn("time"),
            TableColumn("to learn", "left"),
        ),
    )
    for each in run.phases:
        table.add_row(each.name, _trials(each), _time(each.least_s, each.most_s), each.about)
    table.add_row("in all", "", _time(run.least_s, run.most_s), "")
    return table


def _trials(phase: PlannedPhase) -> str:
    if phase.trials_least is None or phase.trials_most is None:
        return _UNKNOWN
    if phase.trials_least == phase.trials_most:
        return f"{phase.trials_least}"
    return f"{phase.trials_least} to {phase.trials_most}"


def _time(least_s: float | None, most_s: float | None) -> str:
    if least_s is None or most_s is None:
        return _UNKNOWN
    least, most = (format_duration(each) if each else "0s" for each in (least_s, most_s))
    return least if least == most else f"{least} to {most}"


def _remarks(run: PlannedRun) -> Iterator[str]:
    yield from run.assumptions
    yield from run.notes


def _print_frames(stream: PlannedStream, console: Console) -> None:
    for frame in stream.frames:
        share = "" if stream.templates == 1 else f", {format_ratio(frame.share)} of its frames"
        title = f"{stream.name}: {frame.size} bytes with FCS{share}"
        console.print(Text(title, "bold"), soft_wrap=True)
        console.print(Text(frame.summary), soft_wrap=True)
        console.print(Text(frame.shown, "dim"), soft_wrap=True)
    if more := stream.templates - len(stream.frames):
        console.print(Text(f"and {counted(more, 'further frame')}", "dim"))


def _pps(pps: float | None) -> str:
    return "a share of the line rate" if pps is None else format_pps(pps)


def _bps(bps: float) -> str:
    for factor, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if bps >= factor:
            return f"{format_number(bps / factor)} {prefix}bps"
    return f"{format_number(bps)} bps"


def check_and_show(
    experiment: Path, set_fields: Sequence[SetField], validation: str | None, json: bool
) -> None:
    """Check the experiment and print what was found; ends with its exit code."""
    validation_s = None
    if validation is not None:
        validation_s = parse_option("--validation", parse_duration, validation)
    result = check_experiment(experiment, set_fields, validation_s)
    if json:
        typer.echo(result.model_dump_json(indent=2))
    elif result.run is not None:
        print_planned_run(result.run, stdout)
    else:
        _print_mistakes(result)
    if result.mistakes:
        raise typer.Exit(_exit_code(result))


def _print_mistakes(result: CheckResult) -> None:
    for each in result.mistakes:
        errors.print_error(PlimsollError(each.message, where=each.where, remedy=each.remedy))


def _exit_code(result: CheckResult) -> int:
    """Bad input before what the machine lacks, as that may be about the wrong input."""
    codes = [each.exit_code for each in result.mistakes]
    return InputError.exit_code if InputError.exit_code in codes else codes[0]

"""An RFC 2544 run, as its page and the terminal show it: the tables and graphs of section 26."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from plimsoll.methods.rfc2544.charts import frame_rates, loss_rates
from plimsoll.methods.rfc2544.result import (
    ROW,
    BackToBackRow,
    FrameLossRow,
    LatencyRow,
    RecoveryRow,
    RepeatedSpread,
    ResetStatement,
    Rfc2544Parts,
    Rfc2544Result,
    ThroughputRow,
)
from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.data.times import nanoseconds
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    count,
    number,
    pps,
    sentence,
    tenths,
    text,
)
from plimsoll.report.pages.standard.page import frames_words, standard_page, trials_of_frames
from plimsoll.report.pages.standard.sections import (
    NO_FIGURE,
    KeyFigure,
    PageAnswer,
    PageSection,
    nonempty,
    shortfall_warnings,
)
from plimsoll.report.parts.page import Page
from plimsoll.text.units import format_duration, format_number, format_pps

_FRAMES = text("frames", "Frames, B")
_WHY = sentence("remark", "Remark")
_NO_TIMES = (None,) * 4
Row = TypeVar("Row", bound=RecordModel)


def run_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    journal = read_journal(run.journal)
    return standard_page(run, journal, rfc2544_answer(run), trials_of_frames(journal))


def rfc2544_answer(run: RunDirectory) -> PageAnswer:
    """What the run has found, finished or not. Raises RecordError."""
    journal = read_journal(run.journal)
    result = read_run_result(run, Rfc2544Result)
    parts = result.parts if result else _parts_so_far(journal)
    return PageAnswer(
        heading=_heading(parts),
        sentences=_sentences(result),
        warnings=shortfall_warnings(journal, "RFC 2544"),
        sections=tuple(_sections(parts, result)),
        figure=throughput_figure(parts.throughput or ()),
    )


def throughput_figure(rows: Sequence[ThroughputRow]) -> KeyFigure:
    """The throughput of the first size that has one, and those of the others."""
    known = [(row, row.pps) for row in rows if row.pps is not None]
    if not known:
        return NO_FIGURE
    (first, pps), *others = known
    value, unit = format_pps(pps).split(" ")
    facts = tuple((format_pps(rate), frames_words(row.subject.frames)) for row, rate in others)
    size = frames_words(first.subject.frames)
    return KeyFigure(value, f"{unit} per direction at {size}", facts)


def throughput_section(rows: Sequence[ThroughputRow]) -> PageSection:
    """Section 26.1's table and graph."""
    columns = (
        _FRAMES,
        pps("throughput_pps", "Throughput"),
        count("exact_throughput_pps", "Frames a second"),
        pps("intended_pps", "Intended"),
        pps("maximum_pps", "Maximum"),
        number("maximum_percent", "% of maximum"),
        number("l1_bps", "Gbps, layer 1", lambda bps: format_number(bps / 1e9)),
        text("limited_by", "Limited by"),
        ReportColumn(
            ("final_trial", "final_s"),
            "Final trial",
            lambda trial, length_s: f"#{trial}, {format_duration(length_s)}",
        ),
        _WHY,
    )
    table = ReportTable("throughput", columns, tuple(_throughput_row(row) for row in rows))
    basis = "theoretical" if rows and rows[0].subject.maximum_basis == "line-rate" else "stated"
    said = (
        "Per direction, as the final trial offered it; intended is what it was to offer. "
        f"The maximum is the {basis} one for the frame size."
    )
    return PageSection("Throughput", (said,), (table,), (frame_rates(rows),))


def _heading(parts: Rfc2544Parts) -> str:
    """The smallest frames' throughput: the figure that section 26.1 lets stand alone."""
    known = [row for row in parts.throughput or () if row.pps is not None]
    if not known:
        return "RFC 2544"
    row = min(known, key=lambda each: each.subject.mean_frame_size)
    frames, most = frames_words(row.subject.frames), format_pps(row.subject.maximum_pps)
    basis = "theoretical" if row.subject.maximum_basis == "line-rate" else "stated"
    return (
        f"RFC 2544: {format_pps(row.pps or 0.0)} per direction at {frames} ({basis} maximum {most})"
    )


def _sentences(result: Rfc2544Result | None) -> tuple[str, ...]:
    if result is None:
        return ()
    ways = "one direction" if result.directions == 1 else f"{result.directions} directions at once"
    return (
        f"Streams: {result.traffic}; {ways}, every rate per direction.",
        f"Media: {result.media}.",
        *result.notes,
    )


def _sections(parts: Rfc2544Parts, result: Rfc2544Result | None) -> Iterator[PageSection]:
    if parts.throughput:
        yield throughput_section(parts.throughput)
    if parts.latency:
        yield _latency_section(parts.latency, result)
    if parts.frame_loss:
        yield _frame_loss_section(parts.frame_loss)
    if parts.back_to_back:
        yield back_to_back_section(parts.back_to_back)
    if parts.recovery:
        yield _recovery_section(parts.recovery)
    if parts.reset:
        yield PageSection("Reset", tuple(_reset_sentence(each) for each in parts.reset))


def _throughput_row(row: ThroughputRow) -> Cells:
    subject = row.subject
    return (
        subject.frames,
        row.pps,
        row.pps,
        row.intended_pps,
        subject.maximum_pps,
        row.percent_of_maximum,
        row.l1_bps,
        row.limited_by or "-",
        Cell((row.final_trial, row.final_s)),
        row.reason or "",
    )


def _latency_section(rows: Sequence[LatencyRow], result: Rfc2544Result | None) -> PageSection:
    columns = (
        _FRAMES,
        pps("rate_pps", "Rate"),
        count("tagged_frames", "Tagged frames"),
        *(_time(f"tagged_{name.lower()}_ns", name) for name in ("Mean", "Min", "Max", "Deviation")),
        _time("mean_ns", "All frames: mean"),
        _time("p50_ns", "p50"),
        _time("p99_ns", "p99"),
        _time("p99_9_ns", "p99.9"),
        _time("max_ns", "max"),
        count("lost_frames", "Lost"),
        _WHY,
    )
    said = (
        "Latency at the throughput. Reported is the mean of the tagged frames, one for each "
        "repetition and direction. Next to it stand all load frames, whose quantiles are those "
        "of the worst repetition."
    )
    table = ReportTable("latency", columns, tuple(_latency_row(row) for row in rows))
    return PageSection(
        "Latency", nonempty((said, result.latency_definition if result else None)), (table,)
    )


def _time(name: str, heading: str) -> ReportColumn:
    return number(name, heading, nanoseconds)


def _latency_row(row: LatencyRow) -> Cells:
    tagged, every = row.tagged_ns, row.all_frames
    return (
        row.subject.frames,
        row.load_pps,
        tagged.count if tagged else 0,
        *((tagged.mean, tagged.minimum, tagged.maximum, tagged.deviation) if tagged else _NO_TIMES),
        *(
            (every.mean_ns, every.p50_ns, every.p99_ns, every.p99_9_ns, every.max_ns)
            if every
            else (None, *_NO_TIMES)
        ),
        row.lost,
        row.reason or "",
    )


def _frame_loss_section(rows: Sequence[FrameLossRow]) -> PageSection:
    columns = (
        _FRAMES,
        number("maximum_percent", "% of maximum"),
        pps("input_pps", "Input rate"),
        count("offered_frames", "Offered"),
        count("lost_frames", "Lost"),
        number("lost_percent", "% lost"),
        _WHY,
    )
    cells = tuple(
        (
            row.subject.frames,
            point.percent,
            point.load_pps,
            point.offered,
            point.lost,
            point.loss_percent,
            point.reason or "",
        )
        for row in rows
        for point in row.points
    )
    open_ended = [row.subject.frames for row in rows if not row.complete]
    said = None
    if open_ended:
        said = (
            f"Frames of {', '.join(open_ended)}: no two successive rates were found without loss, "
            "however low."
        )
    table = ReportTable("frame-loss", columns, cells, "All rates", long=len(cells) > 24)
    return PageSection("Frame loss rate", nonempty((said,)), (table,), (loss_rates(rows),))


def back_to_back_section(rows: Sequence[BackToBackRow]) -> PageSection:
    """Section 26.4's table."""
    columns = (
        _FRAMES,
        tenths("mean_frames", "Mean burst, frames"),
        count("min_frames", "Min"),
        count("max_frames", "Max"),
        tenths("deviation_frames", "Deviation"),
        count("searches", "Searches"),
        ReportColumn(
            ("longest_tried_frames", "longest_tried_s"),
            "Longest tried",
            lambda frames, length_s: f"{frames:,} ({format_duration(length_s)})",
        ),
        count("known_to_frames", "Known to"),
        _WHY,
    )
    table = ReportTable("back-to-back", columns, tuple(_burst_row(row) for row in rows))
    said = "The longest burst, in frames of each direction, of which nothing was lost."
    return PageSection("Back-to-back frames", (said,), (table,))


def _burst_row(row: BackToBackRow) -> Cells:
    return (
        row.subject.frames,
        *_spread(row.frames),
        Cell((row.limit_frames, row.limit_s)),
        row.step_frames,
        row.reason or _at_limit(row),
    )


def _at_limit(row: BackToBackRow) -> str:
    if not row.at_limit:
        return ""
    return f"at least: {row.at_limit} searches lost nothing of the longest burst that could be sent"


def _spread(spread: RepeatedSpread | None) -> Cells:
    if spread is None:
        return (None, None, None, None, 0)
    return (spread.mean, spread.minimum, spread.maximum, spread.deviation, spread.count)


def _recovery_section(rows: Sequence[RecoveryRow]) -> PageSection:
    columns = (
        _FRAMES,
        pps("throughput_pps", "Throughput"),
        pps("overload_pps", "Overload"),
        pps("reduced_pps", "Reduced to"),
        number("recovery_mean_s", "Recovery, mean", _seconds),
        number("recovery_max_s", "Max", _seconds),
        number("known_to_s", "Known to", _seconds),
        count("trials", "Trials"),
        _WHY,
    )
    table = ReportTable("recovery", columns, tuple(_recovery_row(row) for row in rows))
    said = (
        "From the moment the rate was halved to the end of the last interval in which a frame "
        "was lost; 0 where none was."
    )
    return PageSection("System recovery", (said,), (table,))


def _recovery_row(row: RecoveryRow) -> Cells:
    times = row.recovery_s
    remarks = nonempty(
        (
            row.reason,
            f"trials that still lost frames at their end: {row.not_recovered}"
            if row.not_recovered
            else None,
            f"trials that lost nothing even under the overload: {row.never_overloaded}"
            if row.never_overloaded
            else None,
        )
    )
    return (
        row.subject.frames,
        row.throughput_pps,
        row.overload_pps,
        row.reduced_pps,
        times.mean if times else None,
        times.maximum if times else None,
        row.resolution_s,
        (times.count if times else 0) + row.not_recovered,
        "; ".join(remarks),
    )


def _reset_sentence(statement: ResetStatement) -> str:
    """A simple statement for each kind of reset, as section 26.6 wants it."""
    if statement.outage_s is None:
        return f"Reset value: {statement.reason}."
    return (
        f"Reset by {statement.kind}: the stream of {statement.subject.frames} B frames at "
        f"{_pps(statement.load_pps)} per direction was interrupted for "
        f"{_seconds(statement.outage_s)} ({statement.lost:,} frames lost)."
    )


def _pps(pps: float | None) -> str:
    return "-" if pps is None else format_pps(pps)


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return "0s" if seconds == 0 else format_duration(seconds)


def _parts_so_far(journal: JournalContents) -> Rfc2544Parts:
    """The rows that an unfinished run has recorded; of a row recorded twice, the last."""
    return Rfc2544Parts(
        throughput=_rows(journal, "throughput", ThroughputRow),
        latency=_rows(journal, "latency", LatencyRow),
        frame_loss=_rows(journal, "frame-loss", FrameLossRow),
        back_to_back=_rows(journal, "back-to-back", BackToBackRow),
        recovery=_rows(journal, "recovery", RecoveryRow),
        reset=_rows(journal, "reset", ResetStatement),
    )


def _rows(journal: JournalContents, test: str, model: type[Row]) -> tuple[Row, ...]:
    said: dict[str, Row] = {}
    for event in journal.of_kind(ROW):
        row = event.fields.get("row")
        if event.fields.get("test") == test and isinstance(row, dict):
            said[str(row["subject"]["frames"])] = model.model_validate(row)
    return tuple(said.values())

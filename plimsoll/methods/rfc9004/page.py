"""An RFC 9004 run, as its page and the terminal show it: the table of section 7."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.methods.rfc2544.page import (
    back_to_back_section,
    throughput_section,
)
from plimsoll.methods.rfc9004.result import ROW, BufferRow, Rfc9004Result
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    count,
    number,
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
    shortfall_warnings,
)
from plimsoll.report.parts.page import Page
from plimsoll.text.units import format_ns


def run_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    journal = read_journal(run.journal)
    return standard_page(run, journal, rfc9004_answer(run), trials_of_frames(journal))


def rfc9004_answer(run: RunDirectory) -> PageAnswer:
    """What the run has found, finished or not. Raises RecordError."""
    journal = read_journal(run.journal)
    result = read_run_result(run, Rfc9004Result)
    rows = result.rows if result else _rows_so_far(journal)
    return PageAnswer(
        heading=_heading(rows),
        sentences=_sentences(result),
        warnings=shortfall_warnings(journal, "RFC 2544 as RFC 9004 updates it"),
        sections=tuple(_sections(rows)) if rows else (),
        figure=_figure(rows),
    )


def _figure(rows: Sequence[BufferRow]) -> KeyFigure:
    """The corrected buffer time of the first size that has one, and those of the others."""
    known = [row for row in rows if row.corrected_s is not None]
    if not known:
        return NO_FIGURE
    value, unit = _time(known[0].corrected_s).split(" ")
    size = frames_words(known[0].throughput.subject.frames)
    return KeyFigure(
        value,
        f"{unit} of buffer, corrected, at {size}",
        tuple(
            (_time(row.corrected_s), frames_words(row.throughput.subject.frames))
            for row in known[1:]
        ),
    )


def _heading(rows: Sequence[BufferRow]) -> str:
    known = [row for row in rows if row.corrected_s is not None]
    if not known:
        return "RFC 9004: back-to-back frames"
    row = known[0]
    note = "" if row.valid else " (not valid)"
    return (
        f"RFC 9004: corrected DUT buffer time {_time(row.corrected_s)} "
        f"at {row.throughput.subject.frames} B{note}"
    )


def _sentences(result: Rfc9004Result | None) -> tuple[str, ...]:
    if result is None:
        return ()
    return (
        f"Streams: {result.traffic}; directions at once: {result.directions}, "
        "every figure per direction.",
        f"Media: {result.media}. Repetitions of each search, N: {result.repetitions}.",
        *result.notes,
    )


def _sections(rows: Sequence[BufferRow]) -> list[PageSection]:
    columns = (
        text("frames", "Frames, B"),
        tenths("mean_frames", "Mean burst, frames"),
        ReportColumn(
            ("min_frames", "max_frames", "deviation_frames"),
            "Min, max, deviation",
            lambda least, most, off: f"{least:,.0f}, {most:,.0f}, {off:,.1f}",
        ),
        count("searches", "N"),
        number("implied_s", "Implied buffer time", _time),
        number("corrected_s", "Corrected buffer time", _time),
        count("known_to_frames", "Known to, frames"),
        sentence("remark", "Remark"),
    )
    table = ReportTable("buffer-time", columns, tuple(_row(row) for row in rows))
    said = (
        "Implied is the mean burst ÷ the maximum frame rate; corrected is that · "
        "(1 - throughput ÷ maximum): without what the DUT forwarded during the burst."
    )
    sections = [PageSection("Back-to-back frames and buffer time", (said,), (table,))]
    if bursts := [row.bursts for row in rows if row.bursts is not None]:
        sections.append(back_to_back_section(bursts))
    return [*sections, throughput_section([row.throughput for row in rows])]


def _row(row: BufferRow) -> Cells:
    size = row.throughput.subject.frames
    frames = row.bursts.frames if row.bursts else None
    if row.bursts is None or frames is None:
        return (size, None, Cell((None,) * 3), *(None,) * 4, row.reason or "")
    spread = (frames.minimum, frames.maximum, frames.deviation)
    return (
        size,
        frames.mean,
        Cell(spread, _spread_of_one(*spread)),
        frames.count,
        row.implied_s,
        row.corrected_s,
        row.bursts.step_frames,
        row.reason if row.reason else "" if row.valid else "not valid",
    )


def _spread_of_one(least: float, most: float, deviation: float | None) -> str | None:
    """Without a deviation, which one burst does not have."""
    return f"{least:,.0f}, {most:,.0f}, -" if deviation is None else None


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else format_ns(seconds * 1e9)


def _rows_so_far(journal: JournalContents) -> tuple[BufferRow, ...]:
    """Of a row recorded twice, the last."""
    rows = [BufferRow.model_validate(event.fields.get("row")) for event in journal.of_kind(ROW)]
    return tuple({row.throughput.subject.frames: row for row in rows}.values())

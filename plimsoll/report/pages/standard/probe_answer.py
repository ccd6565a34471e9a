"""A probe run, as its page and the terminal show it: buckets, percentiles, windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from plimsoll.benchmark.probe.summary import lines_of, segments_of, statistics_of, windows_of
from plimsoll.record.results.probe_result import (
    ProbeLine,
    ProbeResult,
    ProbeSegment,
    ProbeStatistics,
)
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.charts.probe_buckets import probe_buckets
from plimsoll.report.charts.probe_windows import probe_windows
from plimsoll.report.data.host_figures import longest_trial
from plimsoll.report.data.times import nanoseconds
from plimsoll.report.pages.standard.answering_trials import AnsweringTrials
from plimsoll.report.pages.standard.page import standard_page
from plimsoll.report.pages.standard.sections import (
    NO_FIGURE,
    Heading,
    KeyFigure,
    PageAnswer,
    PageSection,
    SectionTable,
    numbers,
    words,
)
from plimsoll.report.parts.page import Page
from plimsoll.text.units import format_duration, format_pps, format_ratio

_DIRECTION = Heading("Direction", number=False)
# The last bucket of the engine's, which holds everything from there on.
_LAST_US = 1000


def probe_page(run: RunDirectory) -> Page:
    """The page of a run in any state. Raises RecordError when the record is damaged."""
    journal = read_journal(run.journal)
    return standard_page(run, journal, probe_answer(run), _longest(journal))


def probe_answer(run: RunDirectory) -> PageAnswer:
    """What the run has found, finished or not. Raises RecordError."""
    journal = read_journal(run.journal)
    result = read_run_result(run, ProbeResult)
    windows = windows_of(journal)
    segments = result.segments if result else segments_of(journal)
    statistics = result.statistics if result else statistics_of(windows, segments)
    lines = result.windows if result else lines_of(windows)
    return PageAnswer(
        heading=_heading(statistics, segments),
        sentences=tuple(_sentences(result)),
        warnings=tuple(_warnings(result, segments)),
        sections=tuple(_sections(statistics, lines, segments)),
        figure=_figure(statistics),
    )


def _figure(statistics: Sequence[ProbeStatistics]) -> KeyFigure:
    """The median of the slowest direction, and how far its tail reaches."""
    known = [each for each in statistics if each.median_ns is not None]
    if not known:
        return NO_FIGURE
    worst = max(known, key=lambda each: each.median_ns or 0.0)
    value, unit = nanoseconds(worst.median_ns).split(" ")
    facts = (
        ("p99", worst.p99_ns),
        ("p99.9", worst.p99_9_ns),
        ("max", worst.stream.max_ns),
    )
    return KeyFigure(
        value,
        f"{unit} median, {worst.stream.name}",
        (
            *((nanoseconds(ns), name) for name, ns in facts),
            (f"{worst.stream.samples:,}", "samples"),
        ),
    )


def _longest(journal: JournalContents) -> AnsweringTrials:
    trial = longest_trial(journal.trials(), "probe")
    said = "During the longest trial in which probes were sent."
    return AnsweringTrials(said, {"": trial} if trial else {})


def _heading(statistics: Sequence[ProbeStatistics], segments: Sequence[ProbeSegment]) -> str:
    worst = [each.stream.max_ns for each in statistics if each.stream.max_ns is not None]
    medians = [each.median_ns for each in statistics if each.median_ns is not None]
    if not worst or not medians:
        return "One probe in flight: nothing came back yet"
    probed = format_duration(sum(segment.sending_s for segment in segments))
    return (
        f"One probe in flight for {probed}: median {nanoseconds(max(medians))}, "
        f"greatest {nanoseconds(max(worst))}"
    )


def _sentences(result: ProbeResult | None) -> Iterator[str]:
    if result is None:
        return
    rate = "as fast as they come back" if result.rate_pps is None else format_pps(result.rate_pps)
    yield (
        f"Each direction sends at most {rate}, and gives a probe up after "
        f"{nanoseconds(result.timeout_us * 1e3)}. Media: {result.media}."
    )
    yield from result.notes


def _warnings(result: ProbeResult | None, segments: Sequence[ProbeSegment]) -> Iterator[str]:
    if result is not None and result.quick:
        yield (
            f"Quick preset: {format_duration(result.requested_s)} instead of the hours that show "
            "a worst case."
        )
    if result is not None and result.ended == "signal":
        yield (
            f"A signal ended it after {format_duration(result.probed_s)} of "
            f"{format_duration(result.requested_s)}."
        )
    for segment in segments:
        if segment.verdict == "invalid":
            yield f"The tester was at fault in trial {segment.trial}: {'; '.join(segment.reasons)}."


def _sections(
    statistics: Sequence[ProbeStatistics],
    lines: Sequence[ProbeLine],
    segments: Sequence[ProbeSegment],
) -> Iterator[PageSection]:
    yield PageSection("Latency", (), (_statistics_table(statistics), _loss_table(statistics)))
    yield PageSection(
        "Buckets of 1 µs",
        ("The percentile is the share of samples in this bucket and those below it.",),
        tuple(_bucket_table(each) for each in statistics),
        (probe_buckets(statistics),),
    )
    windows = _window_table(lines)
    yield PageSection("Windows", (), (windows,), (probe_windows(lines, segments),))
    yield PageSection("Segments", _segment_sentences(segments), (_segment_table(segments),))


def _statistics_table(statistics: Sequence[ProbeStatistics]) -> SectionTable:
    columns = (
        _DIRECTION,
        *numbers("Samples", "Min", "Median", "Mean", "Max", "Deviation"),
        *numbers("p99", "p99.9", "p99.99", "p99.999"),
    )
    rows = tuple(
        (
            each.stream.name,
            f"{each.stream.samples:,}",
            *(
                nanoseconds(ns)
                for ns in (
                    each.stream.min_ns,
                    each.median_ns,
                    each.mean_ns,
                    each.stream.max_ns,
                    each.deviation_ns,
                    each.p99_ns,
                    each.p99_9_ns,
                    each.p99_99_ns,
                    each.p99_999_ns,
                )
            ),
        )
        for each in statistics
    )
    return SectionTable("", columns, rows)


def _loss_table(statistics: Sequence[ProbeStatistics]) -> SectionTable:
    columns = (
        _DIRECTION,
        *numbers("Sent", "Came back", "Timed out", "Lost", "Loss", "Across tester stalls"),
    )
    rows = tuple(
        (
            each.stream.name,
            f"{each.stream.sent:,}",
            f"{each.stream.received:,}",
            f"{each.stream.timed_out:,}",
            f"{each.lost:,}",
            "-" if each.loss_ratio is None else format_ratio(each.loss_ratio),
            f"{each.stream.across_stalls:,}",
        )
        for each in statistics
    )
    return SectionTable("Probes", columns, rows)


def _bucket_table(statistics: ProbeStatistics) -> SectionTable:
    rows: list[tuple[str, ...]] = []
    below = 0
    for us, samples in statistics.stream.latency_us:
        below += samples
        name = f"{us} and more" if us == _LAST_US else str(us)
        percentile = f"{100 * below / statistics.stream.samples:.6f}"
        rows.append((name, f"{samples:,}", percentile))
    columns = numbers("Latency, µs", "Samples", "Percentile")
    return SectionTable(statistics.stream.name, columns, tuple(rows), long=len(rows) > 40)


def _window_table(lines: Sequence[ProbeLine]) -> SectionTable:
    columns = (
        Heading("Began, UTC", number=False),
        _DIRECTION,
        *numbers("Length", "Sent", "Timed out", "Samples", "Min", "Median", "Mean", "Max"),
    )
    rows = tuple(
        (
            f"{datetime.fromtimestamp(line.begin_unix_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S}",
            line.stream,
            format_duration(line.length_s),
            f"{line.sent:,}",
            f"{line.timed_out:,}",
            f"{line.samples:,}",
            nanoseconds(line.min_ns),
            nanoseconds(line.median_ns),
            nanoseconds(line.mean_ns),
            nanoseconds(line.max_ns),
        )
        for line in lines
    )
    return SectionTable(f"{len(rows)} lines", columns, rows, long=True)


def _segment_sentences(segments: Sequence[ProbeSegment]) -> tuple[str, ...]:
    if len(segments) < 2:
        return ()
    return ("The run was resumed; nothing was measured between its segments.",)


def _segment_table(segments: Sequence[ProbeSegment]) -> SectionTable:
    columns = (
        *numbers("Trial", "Probed for", "Gap before"),
        Heading("Tester", number=False),
        words("Reason"),
    )
    rows = tuple(
        (
            str(each.trial),
            format_duration(each.sending_s),
            "-" if each.gap_s == 0 else format_duration(each.gap_s),
            {"pass": "fit", "none": "cut short"}.get(each.verdict, each.verdict),
            "; ".join(each.reasons),
        )
        for each in segments
    )
    return SectionTable("", columns, rows)

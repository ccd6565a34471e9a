"""A probe run, as its page and the terminal show it: buckets, percentiles, windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from plimsoll.methods.probe.charts import probe_buckets, probe_windows
from plimsoll.methods.probe.result import (
    ProbeEnd,
    ProbeLine,
    ProbeResult,
    ProbeSegment,
    ProbeStatistics,
    greatest,
)
from plimsoll.methods.probe.summary import (
    delayed_us,
    lines_of,
    segments_of,
    statistics_of,
    windows_of,
)
from plimsoll.record.run.journal import JournalContents, read_journal
from plimsoll.record.run.result_file import read_run_result
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.report.data.one_host import longest_trial
from plimsoll.report.data.times import nanoseconds, nanoseconds_between
from plimsoll.report.figures.table import (
    Cell,
    Cells,
    ReportColumn,
    ReportTable,
    count,
    ns_between,
    number,
    ratio,
    seconds,
    sentence,
    text,
)
from plimsoll.report.pages.standard.page import AnsweringTrials, standard_page
from plimsoll.report.pages.standard.sections import (
    NO_FIGURE,
    KeyFigure,
    PageAnswer,
    PageSection,
)
from plimsoll.report.parts.page import Page
from plimsoll.text.plain_text import slug
from plimsoll.text.units import format_duration, format_ns_between, format_pps

_DIRECTION = text("direction", "Direction")
_NAMES = ("min_ns", "median_ns", "mean_ns", "max_ns")
_TIMES = tuple(ns_between(name, name.removesuffix("_ns").capitalize()) for name in _NAMES)
_TAIL = ("99", "99.9", "99.99", "99.999")
_OF_ENDS = (
    "Stalls of the tester may have delayed some samples: where that leaves a latency open, what "
    "the DUT took at least and at most are both given. The deviation is that of the other samples."
)
_OF_BUCKETS = (
    "Samples that stalls of the tester may have delayed are in a column of their own for what the "
    "DUT took at least, and in one for what it took at most; the percentiles are of all samples."
)
# The last bucket of the engine's, which holds everything from there on.
_LAST_US = 1000


def run_page(run: RunDirectory) -> Page:
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
    known = [each for each in statistics if each.ends[1].median_ns is not None]
    if not known:
        return NO_FIGURE
    worst = max(known, key=lambda each: each.ends[1].median_ns or 0)
    low, high = worst.ends
    value, _, unit = nanoseconds_between(low.median_ns, high.median_ns).rpartition(" ")
    facts = (
        ("p99", low.p99_ns, high.p99_ns),
        ("p99.9", low.p99_9_ns, high.p99_9_ns),
        ("max", low.max_ns, high.max_ns),
    )
    return KeyFigure(
        value,
        f"{unit} median, {worst.stream.name}",
        (
            *((nanoseconds_between(*ends), name) for name, *ends in facts),
            (f"{high.samples:,}", "samples"),
        ),
    )


def _longest(journal: JournalContents) -> AnsweringTrials:
    trial = longest_trial(journal.trials(), "probe")
    said = "During the longest trial in which probes were sent."
    return AnsweringTrials(said, {"": trial} if trial else {})


def _heading(statistics: Sequence[ProbeStatistics], segments: Sequence[ProbeSegment]) -> str:
    found = greatest(statistics)
    if found is None:
        return "One probe in flight: nothing came back yet"
    probed = format_duration(sum(segment.sending_s for segment in segments))
    return (
        f"One probe in flight for {probed}: median {format_ns_between(*found.median)}, "
        f"greatest {format_ns_between(*found.longest)}"
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
    delayed = any(each.low for each in statistics)
    yield PageSection(
        "Latency",
        (_OF_ENDS,) if delayed else (),
        (_statistics_table(statistics), _loss_table(statistics)),
    )
    of_buckets = "The percentile is the share of samples in this bucket and those below it."
    yield PageSection(
        "Buckets of 1 µs",
        (of_buckets, _OF_BUCKETS) if delayed else (of_buckets,),
        tuple(_bucket_table(each) for each in statistics),
        (probe_buckets(statistics),),
    )
    windows = _window_table(lines)
    yield PageSection("Windows", (), (windows,), (probe_windows(lines, segments),))
    yield PageSection("Segments", _segment_sentences(segments), (_segment_table(segments),))


def _statistics_table(statistics: Sequence[ProbeStatistics]) -> ReportTable:
    columns = (
        _DIRECTION,
        count("samples", "Samples"),
        *_TIMES,
        number("deviation_ns", "Deviation", nanoseconds),
        *(ns_between(f"p{each.replace('.', '_')}_ns", f"p{each}") for each in _TAIL),
    )
    rows = tuple(
        (
            each.stream.name,
            each.ends[1].samples,
            *_between(each.ends, *_NAMES),
            each.deviation_ns,
            *_between(each.ends, "p99_ns", "p99_9_ns", "p99_99_ns", "p99_999_ns"),
        )
        for each in statistics
    )
    return ReportTable("latency", columns, rows)


def _between(ends: tuple[ProbeEnd, ProbeEnd], *names: str) -> Iterator[Cell]:
    low, high = ends
    return (Cell((getattr(low, name), getattr(high, name))) for name in names)


def _loss_table(statistics: Sequence[ProbeStatistics]) -> ReportTable:
    columns = (
        _DIRECTION,
        count("sent", "Sent"),
        count("came_back", "Came back"),
        count("timed_out", "Timed out"),
        count("lost", "Lost"),
        ratio("loss_ratio", "Loss"),
        count("across_stalls", "Across tester stalls"),
    )
    rows = tuple(
        (
            each.stream.name,
            each.stream.sent,
            each.stream.received,
            each.stream.timed_out,
            each.lost,
            each.loss_ratio,
            each.stream.across_stalls,
        )
        for each in statistics
    )
    return ReportTable("probes", columns, rows, "Probes")


def _bucket_table(statistics: ProbeStatistics) -> ReportTable:
    stream = statistics.stream
    if stream.delayed_low or stream.delayed_high:
        return _bucket_table_of_ends(statistics)
    rows: list[Cells] = []
    below = 0
    for us, samples in stream.latency_us:
        below += samples
        rows.append((us, samples, 100 * below / stream.samples))
    columns = (_BUCKET, count("samples", "Samples"), number("percentile", "Percentile", _share))
    return _buckets(stream.name, columns, rows)


def _bucket_table_of_ends(statistics: ProbeStatistics) -> ReportTable:
    """The same where stalls may have delayed some: a percentile lies between two shares."""
    exact = Counter(dict(statistics.stream.latency_us))
    low, high = (Counter(dict(each)) for each in delayed_us(statistics.stream))
    total = exact.total() + high.total()
    rows: list[Cells] = []
    least = most = 0
    for us in sorted({*exact, *low, *high}):
        least += exact[us] + high[us]
        most += exact[us] + low[us]
        shares = Cell((100 * least / total, 100 * most / total))
        rows.append((us, exact[us], low[us], high[us], shares))
    columns = (
        _BUCKET,
        count("samples", "Samples"),
        count("delayed_at_least_samples", "Delayed, at least"),
        count("delayed_at_most_samples", "Delayed, at most"),
        ReportColumn(("percentile_at_least", "percentile_at_most"), "Percentile", _share_between),
    )
    return _buckets(statistics.stream.name, columns, rows)


def _buckets(stream: str, columns: tuple[ReportColumn, ...], rows: list[Cells]) -> ReportTable:
    return ReportTable(f"buckets-{slug(stream)}", columns, tuple(rows), stream, long=len(rows) > 40)


def _bucket(us: int) -> str:
    return f"{us} and more" if us == _LAST_US else str(us)


def _share(percentile: float) -> str:
    return f"{percentile:.6f}"


def _share_between(low: float, high: float) -> str:
    return " to ".join(dict.fromkeys((_share(low), _share(high))))


_BUCKET = number("latency_us", "Latency, µs", _bucket)


def _window_table(lines: Sequence[ProbeLine]) -> ReportTable:
    columns = (
        text("began_utc", "Began, UTC"),
        _DIRECTION,
        seconds("length_s", "Length"),
        count("sent", "Sent"),
        count("timed_out", "Timed out"),
        count("samples", "Samples"),
        *_TIMES,
    )
    rows: tuple[Cells, ...] = tuple(
        (
            f"{datetime.fromtimestamp(line.begin_unix_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S}",
            line.stream,
            line.length_s,
            line.sent,
            line.timed_out,
            line.ends[1].samples,
            *_between(line.ends, *_NAMES),
        )
        for line in lines
    )
    return ReportTable("windows", columns, rows, f"{len(rows)} lines", long=True)


def _segment_sentences(segments: Sequence[ProbeSegment]) -> tuple[str, ...]:
    if len(segments) < 2:
        return ()
    return ("The run was resumed; nothing was measured between its segments.",)


def _segment_table(segments: Sequence[ProbeSegment]) -> ReportTable:
    columns = (
        number("trial", "Trial", str),
        seconds("probed_s", "Probed for"),
        seconds("gap_s", "Gap before"),
        text("verdict", "Tester"),
        sentence("reason", "Reason"),
    )
    rows = tuple(
        (
            each.trial,
            each.sending_s,
            Cell((each.gap_s,), None if each.gap_s else "-"),
            Cell((each.verdict,), {"pass": "fit", "none": "cut short"}.get(each.verdict)),
            "; ".join(each.reasons),
        )
        for each in segments
    )
    return ReportTable("segments", columns, rows)

"""The lines in which metrics grow, and the rows that the SQL makes of them."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.record.metrics.metric_log import MetricLog, is_head
from plimsoll.record.metrics.metrics import METRICS, MetricsWriter, metric_parts, read_metrics
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.samples.metric_type import MetricSample, MetricType

MS = 10**6
S = 10**9
# 2026-03-14 09:26:53 UTC; the host had been up for 1000 s.
ZERO_NS = 1_773_480_413 * S
UPTIME_NS = 1_000 * S

INTERRUPTS = MetricType(
    "procstat", "interrupts-sec", "throughput", "1/s", "sum", counted=True, carried=True
)
# Counted in ticks of 10 ms: a hundred a second are one CPU.
BUSY = MetricType("mpstat", "Busy-CPU", "count", "CPUs", "sum", counted=True, scale=0.01)
MHZ = MetricType("cpufreq", "MHz", "count", "MHz", "mean", carried=True)
LOAD = MetricType("sar-scheduler", "Load-Average-01m", "count", "tasks", "sum")


class Written:
    """A period in a run, written line by line, and read as rows in s since ZERO_NS."""

    def __init__(self, folder: Path, *, measured_by: str | None = None, **options: int) -> None:
        self.run = RunDirectory.create(folder, "demo", {})
        self.log = MetricLog("trial-0001", ZERO_NS - UPTIME_NS, **options)
        self.writer = MetricsWriter(self.run, "trial-0001", measured_by)

    def series(self, metric: MetricType, since_s: float = 0.0, **names: str) -> int:
        return self.log.series(metric, names, ZERO_NS + round(since_s * S))

    def tick(
        self, source: str, begin_s: float, end_s: float, values: dict[int, float | None]
    ) -> None:
        begin_ns, end_ns = (ZERO_NS + round(each * S) for each in (begin_s, end_s))
        self.writer.append(
            self.log.tick(source, begin_ns, end_ns, list(values), list(values.values()))
        )

    def rows(self, **names: str) -> list[tuple[float, float, int | None, float]]:
        """Begin, end, count and value of the rows with these names, by time."""
        return [
            (seconds(row.begin_ms), seconds(row.end_ms), row.count, row.value)
            for row in read_metrics(self.run)
            if names.items() <= dict(row.names).items()
        ]


def seconds(at_ms: int) -> float:
    return (at_ms - ZERO_NS // MS) / 1000


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


def test_a_carried_counter_stands_at_zero_while_it_does_not_count(written: Written) -> None:
    number = written.series(INTERRUPTS, cpu="0")
    written.tick("procstat", 0, 1, {number: 3})
    for second in range(1, 4):
        written.tick("procstat", second, second + 1, {})
    written.tick("procstat", 4, 6, {number: 5})
    written.tick("procstat", 6, 7, {})
    assert written.rows() == [(0, 1, 3, 3.0), (1, 4, 0, 0.0), (4, 6, 5, 2.5), (6, 7, 0, 0.0)]


def test_a_counter_that_never_counts_is_one_row_of_zero(written: Written) -> None:
    written.series(INTERRUPTS, cpu="0")
    for second in range(100):
        written.tick("procstat", second, second + 1, {})
    assert written.rows() == [(0, 100, 0, 0.0)]


def test_a_gauge_stays_as_it_was(written: Written) -> None:
    number = written.series(MHZ, cpu="0")
    written.tick("cpufreq", 0, 1, {number: 2250.0})
    written.tick("cpufreq", 1, 2, {})
    written.tick("cpufreq", 2, 3, {number: 3100.5})
    written.tick("cpufreq", 3, 4, {})
    assert written.rows() == [(0, 2, None, 2250.0), (2, 4, None, 3100.5)]


def test_a_gauge_is_absent_until_it_is_reported(written: Written) -> None:
    number = written.series(MHZ, cpu="0")
    written.tick("cpufreq", 0, 1, {})
    written.tick("cpufreq", 1, 2, {number: 0.0})
    # Zero is a value.
    assert written.rows() == [(1, 2, None, 0.0)]


def test_what_is_not_carried_is_of_its_tick_alone(written: Written) -> None:
    number = written.series(LOAD)
    written.tick("sar-scheduler", 0, 1, {number: 0.5})
    written.tick("sar-scheduler", 1, 2, {})
    written.tick("sar-scheduler", 2, 3, {number: None})
    written.tick("sar-scheduler", 3, 4, {number: 0.5})
    written.tick("sar-scheduler", 4, 5, {number: 0.5})
    assert written.rows() == [(0, 1, None, 0.5), (3, 4, None, 0.5), (4, 5, None, 0.5)]


def test_absence_is_no_row_and_a_counter_may_come_back(written: Written) -> None:
    number = written.series(INTERRUPTS, cpu="3")
    written.tick("procstat", 0, 1, {number: 2})
    written.tick("procstat", 1, 2, {number: None})
    written.tick("procstat", 2, 3, {})
    written.tick("procstat", 3, 4, {number: 0})
    written.tick("procstat", 4, 5, {})
    written.tick("procstat", 5, 6, {number: 7})
    assert written.rows() == [(0, 1, 2, 2.0), (3, 4, 0, 0.0), (4, 5, 0, 0.0), (5, 6, 7, 7.0)]


def test_a_gauge_may_go_and_come_back(written: Written) -> None:
    number = written.series(MHZ, cpu="3")
    written.tick("cpufreq", 0, 1, {number: 1000.0})
    written.tick("cpufreq", 1, 2, {number: None})
    written.tick("cpufreq", 2, 3, {})
    written.tick("cpufreq", 3, 4, {number: 1000.0})
    assert written.rows() == [(0, 1, None, 1000.0), (3, 4, None, 1000.0)]


def test_a_series_that_appears_late_begins_late(written: Written) -> None:
    first = written.series(INTERRUPTS, cpu="0")
    written.tick("procstat", 0, 1, {first: 1})
    # The reading at 2 s finds it; from then on it is counted.
    late = written.series(INTERRUPTS, since_s=2, cpu="1")
    written.tick("procstat", 1, 2, {first: 1})
    written.tick("procstat", 2, 3, {})
    written.tick("procstat", 3, 4, {late: 4})
    assert written.rows(cpu="1") == [(2, 3, 0, 0.0), (3, 4, 4, 4.0)]
    assert written.rows(cpu="0") == [(0, 1, 1, 1.0), (1, 2, 1, 1.0), (2, 4, 0, 0.0)]


def test_of_a_gap_between_ticks_nothing_is_known(written: Written) -> None:
    counter = written.series(INTERRUPTS, cpu="0")
    gauge = written.log.series(MHZ, {"cpu": "0"}, ZERO_NS, reader="procstat")
    written.tick("procstat", 0, 1, {counter: 1, gauge: 5.0})
    written.tick("procstat", 1, 2, {})
    written.tick("procstat", 3, 4, {})
    written.tick("procstat", 4, 5, {counter: 1})
    rows = written.rows()
    assert [row for row in rows if row[2] is not None] == [
        (0, 1, 1, 1.0),
        (1, 2, 0, 0.0),
        (3, 4, 0, 0.0),
        (4, 5, 1, 1.0),
    ]
    assert [row for row in rows if row[2] is None] == [(0, 2, None, 5.0), (3, 5, None, 5.0)]


def test_one_source_does_not_lengthen_what_another_found(written: Written) -> None:
    counter = written.series(INTERRUPTS, cpu="0")
    gauge = written.series(MHZ, cpu="0")
    written.tick("procstat", 0, 1, {counter: 1})
    written.tick("cpufreq", 0, 10, {gauge: 9.0})
    assert written.rows() == [(0, 10, None, 9.0), (0, 1, 1, 1.0)]


def test_two_readers_of_a_source_have_their_own_times(written: Written) -> None:
    counter = written.log.series(INTERRUPTS, {"cpu": "0"}, ZERO_NS, reader="procstat hard")
    other = written.log.series(INTERRUPTS, {"cpu": "1"}, ZERO_NS, reader="procstat soft")
    written.tick("procstat hard", 0, 2, {counter: 4})
    written.tick("procstat soft", 0, 1, {other: 1})
    written.tick("procstat soft", 1, 3, {})
    assert written.rows(cpu="0") == [(0, 2, 4, 2.0)]
    assert written.rows(cpu="1") == [(0, 1, 1, 1.0), (1, 3, 0, 0.0)]


def test_a_count_is_exact_and_scaled_only_in_its_value(written: Written) -> None:
    number = written.series(BUSY, num="0", type="usr")
    written.tick("mpstat", 0, 0.3, {number: 2**52 + 1})
    written.tick("mpstat", 0.3, 1.3, {number: 87})
    (first, second) = written.rows()
    assert first[:3] == (0, 0.3, 2**52 + 1)
    assert first[3] == pytest.approx((2**52 + 1) / 30)
    assert second == (0.3, 1.3, 87, pytest.approx(0.87))


def test_neighbours_share_a_border_in_whole_ms(written: Written) -> None:
    number = written.series(BUSY, num="0", type="usr")
    for begin_ns, end_ns in ((0, 1_000_499_999), (1_000_499_999, 2_000_500_000)):
        written.writer.append(
            written.log.tick("mpstat", ZERO_NS + begin_ns, ZERO_NS + end_ns, [number], [100])
        )
    rows = read_metrics(written.run)
    assert [(seconds(row.begin_ms), seconds(row.end_ms)) for row in rows] == [
        (0, 1.0),
        (1.0, 2.001),
    ]
    assert [row.monotonic_ms for row in rows] == [1_001_000, 1_002_001]
    # The rate is of the exact time.
    assert rows[0].value == pytest.approx(1 / 1.000499999, rel=1e-12)


def test_a_tick_without_length_has_no_rows(written: Written) -> None:
    counter = written.series(INTERRUPTS, since_s=1, cpu="0")
    busy = written.series(BUSY, num="0")
    written.tick("procstat", 1, 1, {counter: 3})
    written.tick("mpstat", 1, 1, {busy: 3})
    assert written.rows() == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_absent(written: Written, value: float) -> None:
    number, other = written.series(MHZ, cpu="0"), written.series(MHZ, cpu="1")
    written.tick("cpufreq", 0, 1, {number: 1.0, other: 1.0})
    written.tick("cpufreq", 1, 2, {number: value})
    assert written.rows(cpu="0") == [(0, 1, None, 1.0)]
    assert written.rows(cpu="1") == [(0, 2, None, 1.0)]


def test_a_row_says_what_it_is_of_and_whose(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    names = {"hostname": "dut", "cstype": "profiler"}
    log = MetricLog("trial-0007", ZERO_NS - UPTIME_NS, names)
    number = log.series(INTERRUPTS, {"desc": 'i40e-"ens7f0",TxRx-0 é'}, ZERO_NS)
    with MetricsWriter(run, "trial-0007", "dut") as writer:
        writer.append(log.tick("procstat", ZERO_NS, ZERO_NS + S, [number], [1]))
        (row,) = read_metrics(run)
        writer.finish()
    assert read_metrics(run) == [row]
    assert (row.period, row.source, row.type) == ("trial-0007", "procstat", "interrupts-sec")
    assert (row.metric_class, row.unit, row.aggregation) == ("throughput", "1/s", "sum")
    assert row.names == {**names, "desc": 'i40e-"ens7f0",TxRx-0 é'}


def test_names_that_are_no_text_do_not_cost_the_line(written: Written) -> None:
    # As Python reads the byte 0x80 of a file name or of /proc.
    number = written.series(INTERRUPTS, desc="eth\udc80-0")
    written.tick("procstat", 0, 1, {number: 1})
    (row,) = read_metrics(written.run)
    assert (row.names, row.count) == ({"desc": "eth?-0"}, 1)


def test_hosts_are_read_together_each_by_its_own_numbers_and_clock(tmp_path: Path) -> None:
    run = RunDirectory.create(tmp_path, "demo", {})
    for host, uptime_s, count in (("tester", 1_000, 3), ("dut", 50_000, 4)):
        log = MetricLog("trial-0001", ZERO_NS - uptime_s * S, {"hostname": host})
        # Number 0 is of another type on each.
        first = BUSY if host == "dut" else INTERRUPTS
        numbers = [log.series(each, {}, ZERO_NS) for each in dict.fromkeys((first, INTERRUPTS))]
        with MetricsWriter(run, "trial-0001", host) as writer:
            writer.append(
                log.tick("procstat", ZERO_NS, ZERO_NS + S, numbers, [count] * len(numbers))
            )
    rows = [row for row in read_metrics(run) if row.type == "interrupts-sec"]
    found = {row.names["hostname"]: (row.monotonic_ms, row.count) for row in rows}
    assert found == {"tester": (1_001_000, 3), "dut": (50_001_000, 4)}


def test_a_part_tells_all_anew(tmp_path: Path) -> None:
    written = Written(tmp_path, measured_by="dut", part_values=3)
    counter = written.series(INTERRUPTS, cpu="0")
    silent = written.series(INTERRUPTS, cpu="1")
    gone = written.series(INTERRUPTS, cpu="2")
    gauge = written.log.series(MHZ, {"cpu": "3"}, ZERO_NS, reader="procstat")
    written.tick("procstat", 0, 1, {counter: 2, gone: None, gauge: 5.0})
    written.tick("procstat", 1, 2, {counter: 4})
    written.tick("procstat", 2, 3, {counter: 0, silent: 1})
    late = written.series(INTERRUPTS, since_s=3, cpu="4")
    written.tick("procstat", 3, 4, {})
    written.tick("procstat", 4, 5, {late: 6, gone: 1})
    paths = [*written.writer.finish()]
    assert [path.name for path in paths] == [
        "trial-0001@dut.parquet",
        "trial-0001@dut-002.parquet",
        "trial-0001@dut-003.parquet",
    ]
    # The values of a part: 3; then the gauge, which is recalled, and 3 more; then the rest.
    assert written.rows(cpu="0") == [
        (0, 1, 2, 2.0),
        (1, 2, 4, 4.0),
        (2, 3, 0, 0.0),
        (3, 5, 0, 0.0),
    ]
    assert written.rows(cpu="1") == [(0, 1, 0, 0.0), (1, 2, 0, 0.0), (2, 3, 1, 1.0), (3, 5, 0, 0.0)]
    assert written.rows(cpu="2") == [(4, 5, 1, 1.0)]
    assert written.rows(cpu="3") == [(0, 1, None, 5.0), (1, 3, None, 5.0), (3, 5, None, 5.0)]
    assert written.rows(cpu="4") == [(3, 4, 0, 0.0), (4, 5, 6, 6.0)]


def test_a_counter_that_is_reported_late_stood_at_zero_in_the_parts_before(tmp_path: Path) -> None:
    written = Written(tmp_path, part_values=1)
    counter = written.series(INTERRUPTS, cpu="0")
    for second in range(3):
        written.tick("procstat", second, second + 1, {counter: 1})
    # It was read as zero all the time, which no one needed to say.
    late = written.series(INTERRUPTS, since_s=0, cpu="1")
    written.tick("procstat", 3, 4, {late: 8})
    written.tick("procstat", 4, 5, {})
    assert len(metric_parts(written.run)[0]) == 4
    assert written.rows(cpu="1") == [(0, 3, 0, 0.0), (3, 4, 8, 8.0), (4, 5, 0, 0.0)]


def test_of_a_gap_between_parts_nothing_is_known(tmp_path: Path) -> None:
    written = Written(tmp_path, part_values=1)
    counter = written.series(INTERRUPTS, cpu="0")
    other = written.series(INTERRUPTS, cpu="1")
    written.tick("procstat", 0, 1, {counter: 2})
    written.tick("procstat", 6, 7, {})
    assert written.rows(cpu="0") == [(0, 1, 2, 2.0), (6, 7, 0, 0.0)]
    assert written.rows(cpu="1") == [(0, 1, 0, 0.0), (6, 7, 0, 0.0)]
    assert other != counter


def test_a_part_without_a_source_says_nothing_of_it(tmp_path: Path) -> None:
    written = Written(tmp_path, part_values=1)
    counter, gauge = written.series(INTERRUPTS, cpu="0"), written.series(MHZ, cpu="0")
    written.tick("cpufreq", 0, 1, {gauge: 7.0})
    # Another part, in which cpufreq is not read any more: an observer that failed.
    written.tick("procstat", 0, 1, {counter: 1})
    written.tick("procstat", 1, 9, {counter: 1})
    assert [row for row in written.rows() if row[2] is None] == [(0, 1, None, 7.0)]


def test_only_heads_begin_a_part_and_nothing_is_reported_twice_in_one(tmp_path: Path) -> None:
    log = MetricLog("trial-0001", 0, part_values=4)
    number = log.series(INTERRUPTS, {"cpu": "0"}, 0)
    assert log.series(INTERRUPTS, {"cpu": "0"}, 5) == number
    lines = [log.tick("procstat", n, n + 1, [number, number], [n, n]) for n in range(9)]
    # A number that is reported twice in a tick counts once, as reported last: 4 ticks a part.
    assert [len(each) for each in lines] == [3, 1, 1, 1, 3, 1, 1, 1, 3]
    assert all(
        is_head(line) == (place == 0) for each in lines[::4] for place, line in enumerate(each)
    )
    assert not any(is_head(each[0]) for each in lines if len(each) == 1)
    assert all(len(json.loads(each[-1])["numbers"]) == 1 for each in lines)


def test_samples_of_several_sources_are_ticks_of_each(written: Written) -> None:
    samples = [
        MetricSample(BUSY, {"num": "0"}, 50),
        MetricSample(LOAD, {"num": "1"}, 1.5),
        MetricSample(BUSY, {"num": "2"}, 0),
    ]
    for second in (0, 1):
        begin_ns = ZERO_NS + second * S
        written.writer.append(written.log.samples(samples, begin_ns, begin_ns + S))
    assert written.rows(num="0") == [(0, 1, 50, 0.5), (1, 2, 50, 0.5)]
    assert written.rows(num="1") == [(0, 1, None, 1.5), (1, 2, None, 1.5)]
    assert written.rows(num="2") == [(0, 1, 0, 0.0), (1, 2, 0, 0.0)]


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.8, 0.97])
def test_what_a_kill_leaves_is_complete_to_its_last_line(written: Written, kept: float) -> None:
    number = written.series(INTERRUPTS, cpu="0")
    for second in range(20):
        written.tick("procstat", second, second + 1, {number: second + 1})
    _, (path,) = metric_parts(written.run)
    data = path.read_bytes()
    path.write_bytes(data[: round(len(data) * kept)])
    whole = path.read_bytes().count(b"\n") - 2
    assert written.rows() == [(n, n + 1, n + 1, n + 1.0) for n in range(whole)]
    assert 0 < whole < 20


# The rules of metric_log.py and metric_type.py once more, tick by tick and without SQL.

KINDS = {
    "counter": INTERRUPTS,
    "gauge": MHZ,
    "rate": BUSY,
    "value": LOAD,
}


@dataclass
class Tick:
    reader: str
    begin_ms: int
    end_ms: int
    # By the series' place: what is reported, None for absence.
    values: dict[int, int | None]


@dataclass
class Story:
    """Series (kind, reader, the tick of that reader since which it is read), and ticks."""

    series: list[tuple[str, str, int]]
    ticks: list[Tick]
    part_values: int


@st.composite
def stories(draw: st.DrawFn) -> Story:
    readers = ("a", "b")
    series = draw(
        st.lists(
            st.tuples(st.sampled_from(sorted(KINDS)), st.sampled_from(readers), st.integers(0, 4)),
            min_size=1,
            max_size=6,
        )
    )
    ticks: list[Tick] = []
    ends = dict.fromkeys(readers, 0)
    count = dict.fromkeys(readers, 0)
    for reader in draw(st.lists(st.sampled_from(readers), min_size=1, max_size=12)):
        begin_ms = ends[reader] + draw(st.sampled_from([0, 0, 0, 0, 500]))
        end_ms = begin_ms + draw(st.sampled_from([100, 1000, 2500]))
        known = [
            n for n, (_, of, since) in enumerate(series) if of == reader and since <= count[reader]
        ]
        values = draw(
            st.dictionaries(
                st.sampled_from(known), st.one_of(st.none(), st.integers(0, 5)), max_size=4
            )
            if known
            else st.just({})
        )
        ticks.append(Tick(reader, begin_ms, end_ms, values))
        ends[reader], count[reader] = end_ms, count[reader] + 1
    return Story(series, ticks, draw(st.sampled_from([1, 2, 5, 10_000])))


# A count, which is exact, or a value.
Expected = tuple[str, float]


@dataclass
class Model:
    """What one series stands at, tick by tick of its reader."""

    kind: str
    present: bool = False
    value: int | None = None
    found: dict[tuple[int, int], Expected] = field(default_factory=dict)

    def see(self, tick: Tick, number: int) -> None:
        known = number in tick.values
        if known:
            self.value = tick.values[number]
            self.present = self.value is not None
        if not self.present or self.value is None:
            return
        span = (tick.begin_ms, tick.end_ms)
        if self.kind == "gauge":
            self.found[span] = ("value", self.value)
        elif self.kind == "counter":
            self.found[span] = ("count", self.value if known else 0)
        elif known:
            self.found[span] = ("count" if self.kind == "rate" else "value", self.value)


def expected_of(story: Story) -> dict[tuple[int, int, int], Expected]:
    """By series, begin and end of a tick."""
    found: dict[tuple[int, int, int], Expected] = {}
    for number, (kind, reader, since) in enumerate(story.series):
        model = Model(kind)
        own = [tick for tick in story.ticks if tick.reader == reader]
        for place, tick in enumerate(own):
            if place == since and kind == "counter":
                model.present, model.value = True, 0
            model.see(tick, number)
        found |= {(number, *span): value for span, value in model.found.items()}
    return found


def lines_of(story: Story) -> list[list[str]]:
    """The lines of each part."""
    log = MetricLog("trial-0001", 0, part_values=story.part_values)
    numbers: dict[int, int] = {}
    count = {"a": 0, "b": 0}
    parts: list[list[str]] = []
    for tick in story.ticks:
        for place, (kind, reader, since) in enumerate(story.series):
            if reader == tick.reader and since == count[reader]:
                names = {"of": str(place)}
                numbers[place] = log.series(KINDS[kind], names, tick.begin_ms * MS, reader)
        count[tick.reader] += 1
        lines = log.tick(
            tick.reader,
            tick.begin_ms * MS,
            tick.end_ms * MS,
            [numbers[place] for place in tick.values],
            list(tick.values.values()),
        )
        if is_head(lines[0]):
            parts.append([])
        parts[-1] += lines
    return parts


@given(stories())
def test_the_sql_says_what_the_rules_say(
    tmp_path_factory: pytest.TempPathFactory, story: Story
) -> None:
    folder = tmp_path_factory.mktemp("story")
    paths = []
    for number, lines in enumerate(lines_of(story)):
        paths.append(folder / f"{number}.jsonl")
        paths[-1].write_text("".join(f"{line}\n" for line in lines))
    statement = (
        "SELECT names['of']::INTEGER, begin_ms, end_ms, count, value FROM rows "
        "ORDER BY names['of'], begin_ms"
    )
    rows = METRICS.query([], paths, statement)
    expected = expected_of(story)
    covered: dict[tuple[int, int, int], Expected] = {}
    for tick in story.ticks:
        for number, (kind, reader, _) in enumerate(story.series):
            if reader != tick.reader:
                continue
            over = [
                r for r in rows if r[0] == number and r[1] < tick.end_ms and r[2] > tick.begin_ms
            ]
            assert len(over) <= 1
            for _, begin_ms, end_ms, counted, value in over:
                # Rows end with ticks; those longer than one tick are of what stays.
                assert begin_ms <= tick.begin_ms
                assert end_ms >= tick.end_ms
                if counted is not None:
                    assert value == pytest.approx(
                        counted * KINDS[kind].scale * 1000 / (end_ms - begin_ms)
                    )
                    assert counted == 0 or (begin_ms, end_ms) == (tick.begin_ms, tick.end_ms)
                is_count = counted is not None
                covered[number, tick.begin_ms, tick.end_ms] = (
                    ("count", counted) if is_count else ("value", value)
                )
    assert covered == expected
    # And beyond the ticks of their readers there is nothing.
    assert sum(row[2] - row[1] for row in rows) == sum(end - begin for _, begin, end in expected)

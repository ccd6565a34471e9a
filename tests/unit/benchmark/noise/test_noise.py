"""A measurement of noise: what may be requested, and stretches added up to a result."""

from dataclasses import replace

import pytest

from plimsoll.attribution.incidents.incident import Explanation, Incident
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.benchmark.noise.noise import STRETCH_S, NoiseSettings, stretch_lengths
from plimsoll.benchmark.noise.stretch import (
    CounterReading,
    NoiseCounters,
    NoiseStretch,
    stolen_ticks,
)
from plimsoll.benchmark.noise.summary import MAX_WORST, REST, NoiseSummary, gap_buckets
from plimsoll.errors import InputError
from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import (
    ClockReading,
    CycleBudget,
    Cycles,
    TrialReport,
    WorkerCounts,
)
from plimsoll.host.cpus import allowed_cpus
from plimsoll.record.causes.causes_record import Cause
from plimsoll.record.trials.clock_fit import ClockFit
from tests.unit.attribution.cause_records import a_cause
from tests.worded.says import Says

US = 1_000
CPU = min(allowed_cpus())
LOOP = PollingLoop("tester", "plimsoll-engine", 1, 100)
NO_GAPS = Histogram()
NOTHING = CycleBudget(*(Cycles(0, 0) for _ in range(4)))
# One tick is a nanosecond, and the wall clock 1000 s ahead.
CLOCK = tuple(ClockReading(at, at, at + 10**12, 10) for at in (0, 10**9))


def cause(kind: str, name: str, length_ns: int, at: int, confidence: str = "exact") -> Cause:
    return a_cause(
        kind=kind,
        name=name,
        owner="tester",
        begin_tsc=None if confidence == "unexplained" else at,
        length_ns=length_ns,
        confidence=confidence,
    )


def stall(at: int, length_ns: int, *causes: Cause) -> Explanation:
    return Explanation(Incident("stall", "CPU 1", at, at + length_ns, 0, length_ns), causes)


def stretch(
    *explanations: Explanation, gaps: Histogram = NO_GAPS, **changes: object
) -> NoiseStretch:
    lengths = [each.incident.length_ns for each in explanations]
    worker = WorkerCounts(
        cpu=1,
        polls=gaps.count,
        idle_polls=gaps.count,
        stalls=len(lengths),
        stalled_ns=sum(lengths),
        worst_stall_ns=max(lengths, default=0),
        gaps=gaps,
        cycles=NOTHING,
    )
    report = TrialReport("duration", 1.0, 0, (), (), (worker,), clock=CLOCK)
    return replace(NoiseStretch(report, explanations), **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "where", "facts"),
    [
        ({"cpus": (8191,)}, "--cpus", ("8191",)),
        ({"duration_s": 0.05}, "--duration", ("0.05",)),
        ({"duration_s": 700_000.0}, "--duration", ("700000",)),
        ({"threshold_ns": 999}, "--threshold", ("999",)),
        ({"threshold_ns": 10**9 + 1}, "--threshold", ("1",)),
        (
            {"threshold_ns": 20 * US, "max_ns": 10 * US},
            "--max",
            ("10", "20"),
        ),
    ],
)
def test_what_cannot_be_measured_is_refused(
    changes: dict[str, object], where: str, facts: tuple[str, ...], says: Says
) -> None:
    settings = replace(NoiseSettings(cpus=(CPU,)), **changes)  # type: ignore[arg-type]
    with pytest.raises(InputError) as refused:
        settings.check()
    assert refused.value.where == where
    assert refused.value == says(*facts)
    assert refused.value.remedy


def test_bounds_themselves_are_allowed() -> None:
    NoiseSettings((CPU,), duration_s=0.1, threshold_ns=US, max_ns=US).check()
    NoiseSettings((CPU,), duration_s=604_800, threshold_ns=10**9).check()


@pytest.mark.parametrize(
    ("duration_s", "count"), [(0.1, 1), (STRETCH_S, 1), (STRETCH_S + 0.1, 2), (60.0, 6)]
)
def test_stretches_are_equal_and_add_up(duration_s: float, count: int) -> None:
    lengths = stretch_lengths(duration_s)
    assert len(lengths) == count
    assert sum(lengths) == pytest.approx(duration_s)
    assert max(lengths) <= STRETCH_S


def test_gaps_are_counted_by_1_2_and_5() -> None:
    # Below 256 ns an index is its ns; 2048 = 128 << 4, whose index is 4 * 128 + 128.
    gaps = Histogram(10, 0, 99, 2050, ((99, 4), (100, 3), (250, 2), (4 * 128 + 128, 1)))
    found = [(each.from_ns, each.below_ns, each.count) for each in gap_buckets(gaps)]
    assert found == [
        (0, 100, 4),
        (100, 200, 3),
        (200, 500, 2),
        (500, 1000, 0),
        (1000, 2000, 0),
        (2000, 5000, 1),
    ]


def test_no_gaps_are_no_buckets() -> None:
    assert gap_buckets(Histogram()) == ()


def test_gaps_of_a_second_and_more_are_in_the_last_bucket() -> None:
    # 2^36 ns, 68.7 s, are 128 << 29, whose index is 29 * 128 + 128.
    (bucket,) = gap_buckets(Histogram(1, 2**36, 2**36, 2**36, ((30 * 128, 1),)))
    assert (bucket.from_ns, bucket.below_ns, bucket.count) == (10**9, None, 1)


def test_stretches_are_added_up() -> None:
    summary = NoiseSummary((LOOP,))
    ones = Histogram(1000, 20_000, 10, 30 * US, ((10, 999), (30 * US // 128, 1)))
    tick = cause("timer-tick", "local_timer", 10 * US, 5)
    summary.add(stretch(stall(0, 10 * US, tick), gaps=ones, events=7, lost_events=0))
    later = tick.model_copy(update={"begin_tsc": 900, "length_ns": 30 * US})
    task = cause("task", "java", 50 * US, 2000)
    summary.add(
        stretch(
            stall(890, 30 * US, later),
            stall(1990, 50 * US, task),
            gaps=ones,
            events=5,
            lost_events=3,
            trace_complete=False,
        )
    )
    (cpu,) = summary.cpus()
    assert (cpu.cpu, cpu.looks, cpu.min_ns, cpu.max_ns) == (1, 2000, 10, 30 * US)
    assert (cpu.stalls, cpu.stalled_ns, cpu.measured_ns) == (3, 90 * US, 2 * 10**9)
    assert cpu.stalled_share == pytest.approx(90 * US / 2e9)
    assert (summary.listed_stalls, summary.listed_ns) == (3, 90 * US)
    assert (summary.events, summary.lost_events, summary.incomplete_stretches) == (12, 3, 1)
    first, second = summary.causes()
    assert (first.name, first.total_ns, first.worst_ns) == ("java", 50 * US, 50 * US)
    assert (second.name, second.occurrences, second.incidents) == ("local_timer", 2, 2)
    assert (second.total_ns, second.worst_ns) == (40 * US, 30 * US)
    assert second.time_share == pytest.approx(40 * US / 2e9)
    assert second.remedy is not None


def test_the_rest_of_an_explained_stall_is_no_stall_without_events() -> None:
    summary = NoiseSummary((LOOP,))
    tick = cause("timer-tick", "local_timer", 3 * US, 5, "partial")
    rest = cause("unexplained", "no kernel event", 7 * US, 0, "unexplained")
    whole = rest.model_copy(update={"length_ns": 20 * US})
    summary.add(stretch(stall(0, 10 * US, tick, rest), stall(500, 20 * US, whole)))
    found = {row.name: (row.kind, row.total_ns, row.occurrences) for row in summary.causes()}
    assert found == {
        "no kernel event": ("unexplained", 20 * US, 1),
        REST: ("unexplained", 7 * US, 1),
        "local_timer": ("timer-tick", 3 * US, 1),
    }


def test_a_cause_of_unknown_length_has_no_share_and_comes_last() -> None:
    summary = NoiseSummary((LOOP,))
    steal = cause("hypervisor-steal", "steal", 1, 0, "counter")
    steal = steal.model_copy(update={"length_ns": None})
    summary.add(stretch(stall(0, 9 * US, steal), stall(50, US, cause("task", "a", US, 50))))
    last = summary.causes()[-1]
    assert (last.kind, last.total_ns, last.worst_ns, last.time_share) == (
        "hypervisor-steal",
        None,
        None,
        None,
    )


def test_the_longest_stalls_of_all_stretches_are_kept_with_their_wall_clock() -> None:
    summary = NoiseSummary((LOOP,))
    for number in range(3):
        summary.add(
            stretch(
                *(
                    stall(1000 * place, (100 * number + place + 1) * US)
                    for place in range(MAX_WORST)
                )
            )
        )
    assert len(summary.worst) == MAX_WORST
    assert [each.length_ns for each in summary.worst] == [
        (220 - place) * US for place in range(MAX_WORST)
    ]
    assert summary.worst[0].begin_unix_ns == 10**12 + 19_000


def test_stolen_time_is_read_of_the_cpus_requested() -> None:
    stat = (
        "cpu  1 2 3 4 5 6 7 30 0 0\n"
        "cpu0 1 2 3 4 5 6 7 10 0 0\n"
        "cpu1 1 2 3 4 5 6 7 20 0 0\n"
        "intr 99 0 0 0 0 0 0 0 0\n"
    )
    assert stolen_ticks(stat, {1, 2}) == {1: 20}


def test_counters_that_moved_are_reported_with_their_time() -> None:
    counters = NoiseCounters((0, 1), None)
    ahead = 10**12
    counters.readings = [
        CounterReading(ahead, {0: 5, 1: 100}, 2**32 - 1),
        CounterReading(ahead + 500, {0: 5, 1: 110}, 2),
        CounterReading(ahead + 900, {0: 5, 1: 110}, 2),
    ]
    moves = counters.moves(ClockFit.of(CLOCK))
    said = [(m.kind, m.name, m.cpu, m.begin_tsc, m.end_tsc) for m in moves]
    assert said == [
        ("hypervisor-steal", "steal of CPU 1", 1, 0, 500),
        ("hardware", "SMIs", None, 0, 500),
    ]
    # 10 ticks of USER_HZ = 100 (proc(5)) are 0.1 s; the SMIs' count ran over.
    assert [(m.moved_ns, m.events) for m in moves] == [(100_000_000, 1), (None, 3)]

"""What the windows of a probe come to, by hand and by the statistics module."""

import statistics

import pytest

from plimsoll.benchmark.probe.settings import ProbeSettings
from plimsoll.benchmark.probe.summary import lines_of, statistics_of
from plimsoll.errors import InputError
from plimsoll.generator.engine.settings import EngineSettings
from plimsoll.record.results.probe_result import ProbedStream, ProbeSegment, ProbeWindow
from plimsoll.record.trials.trial_record import Verdict


def probed(values_ns: list[int], sent: int, timed_out: int = 0) -> ProbedStream:
    """Latencies below 256 ns, each of which has a bucket of its own."""
    assert all(value < 256 for value in values_ns)
    return ProbedStream(
        name="probe/0-1",
        sent=sent,
        received=len(values_ns),
        timed_out=timed_out,
        across_stalls=0,
        samples=len(values_ns),
        sum_ns=sum(values_ns),
        min_ns=min(values_ns),
        max_ns=max(values_ns),
        latency_us=((0, len(values_ns)),),
        buckets=tuple((value, values_ns.count(value)) for value in sorted(set(values_ns))),
    )


def window(index: int, stream: ProbedStream) -> ProbeWindow:
    begin_s = float(index)
    return ProbeWindow(
        trial=1,
        index=index,
        begin_s=begin_s,
        end_s=begin_s + 1,
        begin_unix_ns=index * 10**9,
        streams=(stream,),
    )


FIRST, SECOND = [100, 110, 120, 120], [90, 200]
WINDOWS = (window(0, probed(FIRST, sent=4)), window(1, probed(SECOND, sent=5, timed_out=3)))


def segment(verdict: Verdict) -> ProbeSegment:
    return ProbeSegment(
        trial=1, begin_unix_ns=0, sending_s=2.0, gap_s=0.0, verdict=verdict, reasons=()
    )


def test_the_probe_in_flight_at_a_kill_is_not_lost() -> None:
    # 4 and 2 of 4 and 5 came back; of the 3 that did not, one was never given up.
    cut = (WINDOWS[0], window(1, probed(SECOND, sent=5, timed_out=2)))
    assert statistics_of(cut, [segment("none")])[0].lost == 2
    assert statistics_of(cut, [segment("pass")])[0].lost == 3


def test_a_run_is_the_sum_of_its_windows() -> None:
    (found,) = statistics_of(WINDOWS, [segment("pass")])
    every = FIRST + SECOND
    assert (found.stream.samples, found.stream.timed_out, found.lost) == (6, 3, 3)
    assert found.loss_ratio == pytest.approx(3 / 9)
    assert (found.stream.min_ns, found.stream.max_ns) == (90, 200)
    assert found.mean_ns == pytest.approx(statistics.fmean(every))
    assert found.deviation_ns == pytest.approx(statistics.stdev(every))
    # The smallest value that half of the samples do not exceed.
    assert found.median_ns == 110
    assert found.stream.latency_us == ((0, 6),)


def test_each_window_has_a_line() -> None:
    first, second = lines_of(WINDOWS)
    assert (first.median_ns, first.max_ns, first.sent) == (110, 120, 4)
    assert (second.begin_unix_ns, second.timed_out, second.min_ns) == (10**9, 3, 90)


@pytest.mark.parametrize(("duration_s", "window_s"), [(10, 1), (600, 10), (8 * 3600, 60)])
def test_windows_are_a_sixtieth_of_the_run_between_a_second_and_a_minute(
    duration_s: float, window_s: float
) -> None:
    assert ProbeSettings(duration_s=duration_s).window_s == window_s


def test_a_probe_has_a_rate_in_frames() -> None:
    with pytest.raises(InputError, match="is not the rate of a probe") as error:
        ProbeSettings(rate="10%").check(EngineSettings())  # type: ignore[arg-type]
    assert (error.value.where, error.value.remedy) == (
        "--rate",
        "give it in pps, such as 10kpps",
    )


def test_a_probe_has_a_rate_that_the_generator_sends() -> None:
    with pytest.raises(InputError, match="sends no probes at 2000000000pps") as error:
        ProbeSettings(rate="2Gpps").check(EngineSettings())  # type: ignore[arg-type]
    assert error.value.where == "--rate"

"""Whole soaks, on the simulated lab."""

import gc
import signal
import tracemalloc
from pathlib import Path

import pytest

from plimsoll.benchmark.session.session import begin, resumable
from plimsoll.errors import InputError, Interrupted
from plimsoll.generator.interface import Interval
from plimsoll.methods.soak.result import METHOD
from plimsoll.methods.soak.run import run_soak
from plimsoll.methods.soak.series import windows_of
from plimsoll.methods.soak.settings import SoakSettings
from plimsoll.methods.soak.summary import read_soak_result, summarise_soak
from plimsoll.methods.trial.result import METHOD as TRIAL
from plimsoll.record.metrics.histogram_log import read_histogram_log, stream_tag
from plimsoll.record.metrics.metrics import query_metrics
from plimsoll.record.recorder import recording
from plimsoll.record.run.journal import read_journal
from plimsoll.record.run.run_directory import RunDirectory
from tests.unit.methods.soak.soak_runs import (
    Silent,
    soak_experiment,
    soak_run,
    soak_settings,
    soaked,
)
from tests.worded.says import Says

OVERLOAD = "1.1Mpps"


def size_of(run: RunDirectory) -> int:
    return sum(path.stat().st_size for path in run.path.rglob("*") if path.is_file())


def test_a_load_that_holds_passes_in_every_window(tmp_path: Path, says: Says) -> None:
    run, result = soaked(tmp_path, soak_settings())
    assert (result.verdict, result.ended, result.sent_s) == ("pass", "duration", 180.0)
    assert (result.windows.passed, result.windows.failed, result.windows.invalid) == (3, 0, 0)
    # Three in three minutes are sixty in an hour.
    assert result.losses.events_per_hour_below == pytest.approx(60.0)
    assert " ".join(result.notes) == says("180")
    assert read_soak_result(run) == result
    assert [each.drifts for each in result.drift if each.kind == "rate"] == [False, False]


def test_windows_metrics_and_histograms_add_up_to_the_trial(tmp_path: Path) -> None:
    run, result = soaked(tmp_path, soak_settings(OVERLOAD, duration_s=780.0))
    (segment,) = result.segments
    windows = windows_of(read_journal(run.journal))
    assert len(windows) == 13
    for stream in segment.streams:
        own = [each for window in windows for each in window.streams if each.name == stream.name]
        assert sum(each.sent for each in own) == stream.sent
        assert sum(each.lost for each in own) == stream.lost
        assert sum(each.latency.count for each in own) == stream.latency.count
        assert max(each.latency.max_ns or 0 for each in own) == stream.latency.max_ns
        tag = stream_tag(stream.name, stream.tx_port, stream.rx_port)
        logged = [each for each in read_histogram_log(run.histograms) if each.tag == tag]
        assert sum(each.histogram.get_total_count() for each in logged) == stream.latency.count
    ((sent,),) = query_metrics(run, "SELECT sum(count) FROM rows WHERE type = 'stream-tx-pps'")
    assert sent == sum(stream.sent for stream in segment.streams)


def test_a_load_that_is_too_much_fails_and_goes_on(tmp_path: Path) -> None:
    _, result = soaked(tmp_path, soak_settings(OVERLOAD))
    assert (result.verdict, result.ended, result.sent_s) == ("fail", "duration", 180.0)
    assert result.windows.failed == 3
    # It loses from the first second to the last: one event.
    assert result.losses.event_count == 1
    lost = sum(stream.lost for stream in result.segments[0].streams)
    assert result.losses.frames == lost > 180 * 100_000


def test_with_stop_on_failure_it_ends_early(tmp_path: Path) -> None:
    run, result = soaked(
        tmp_path, soak_settings(OVERLOAD, duration_s=36_000.0, stop_on_failure=True)
    )
    assert (result.verdict, result.ended) == ("fail", "failure")
    assert result.sent_s < 70
    assert read_journal(run.journal).of_kind("finished")


def test_windows_that_the_tester_spoils_are_invalid_and_do_not_fail(tmp_path: Path) -> None:
    run, result = soaked(tmp_path, soak_settings(duration_s=600.0), {"kind": "stalling-tester"})
    counts = result.windows
    assert counts.failed == 0
    assert counts.invalid > 0
    assert result.verdict == "invalid"
    assert result.tester.stalls > 0
    assert result.invalid_reasons
    invalid = [w for w in windows_of(read_journal(run.journal)) if w.verdict == "invalid"]
    assert len(invalid) == counts.invalid
    assert all(window.reasons for window in invalid)


def test_stalls_of_the_dut_are_spikes_that_no_one_can_explain(tmp_path: Path) -> None:
    _, result = soaked(tmp_path, soak_settings(duration_s=600.0), {"kind": "rare-stalls"})
    assert result.spikes.counts.keys() == {"unattributed"}
    worst = max(result.spikes.worst, key=lambda spike: spike.latency_ns)
    assert worst.latency_ns > 5 * result.spikes.usual_ns[worst.stream]
    assert 0 <= worst.at_s <= 600


def test_a_signal_ends_it_in_good_order_and_it_can_be_resumed(tmp_path: Path, says: Says) -> None:
    def interrupt(interval: Interval) -> None:
        if interval.begin_s == 100.0:
            signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        run, result = soaked(tmp_path, soak_settings(duration_s=300.0), each=interrupt)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (result.ended, result.verdict) == ("signal", "pass")
    assert 100 < result.sent_s < 104
    assert result.notes[0] == says("signal")
    experiment = soak_experiment()
    plan = resumable(run, METHOD, experiment, SoakSettings)
    resumed = run_soak(experiment, plan, run, Silent())
    assert (resumed.ended, resumed.verdict, resumed.sent_s) == ("duration", "pass", 300.0)
    assert [each.trial for each in resumed.segments] == [1, 2]
    assert "2 trials, without traffic for" in " ".join(resumed.notes) or not any(
        each.gap_s for each in resumed.segments
    )
    # Now it is over, and its result stands.
    listener = Silent()
    assert run_soak(experiment, plan, run, listener) == resumed
    assert "already finished" in listener.notes[0]


class Broken(Exception):
    """Stands for whatever ends a process in the middle."""


def test_what_breaks_off_loses_no_closed_window(tmp_path: Path) -> None:
    def break_off(interval: Interval) -> None:
        if interval.begin_s == 200.0:
            raise Broken

    experiment = soak_experiment()
    run = soak_run(tmp_path, experiment)
    plan = soak_settings(duration_s=400.0)
    with pytest.raises(Broken):
        run_soak(experiment, plan, run, Silent(break_off))
    cut = summarise_soak(run)
    assert (cut.ended, cut.windows.passed, cut.sent_s) == ("unfinished", 3, 180.0)
    resumed = run_soak(experiment, plan, run, Silent())
    assert (resumed.ended, resumed.verdict, resumed.sent_s) == ("duration", "pass", 400.0)
    assert [(e.verdict, e.sending_s) for e in resumed.segments] == [
        ("none", 180.0),
        ("pass", 220.0),
    ]
    # 220 s are three windows and a remainder that the last of them has.
    assert resumed.windows.passed == 3 + 4
    assert resumed.losses.no_loss_s == pytest.approx(400.0)


def test_a_run_of_another_kind_is_no_soak_to_resume(tmp_path: Path) -> None:
    experiment = soak_experiment()
    run = soak_run(tmp_path, experiment)
    with recording(run) as recorder:
        begin(recorder, TRIAL, experiment)
    with pytest.raises(InputError, match="another kind"):
        resumable(run, METHOD, experiment, SoakSettings)


def test_a_second_signal_breaks_it_off(tmp_path: Path) -> None:
    def interrupt(number: int, _: object) -> None:
        raise Interrupted(signal.Signals(number).name)

    def twice(interval: Interval) -> None:
        if interval.begin_s == 100.0:
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        with pytest.raises(Interrupted):
            soaked(tmp_path, soak_settings(), each=twice)
    finally:
        signal.signal(signal.SIGTERM, before)
    (path,) = tmp_path.iterdir()
    history = read_journal(RunDirectory(path).journal)
    assert history.of_kind("interrupted")
    assert history.of_kind("run-started")[0].fields["method"] == "soak"


@pytest.mark.slow
def test_a_long_soak_takes_no_more_memory_and_little_room(tmp_path: Path) -> None:
    """A quarter of an hour; benchmarks/soak_record.py does the eight hours."""
    held: dict[float, int] = {}
    largest = 0

    def look(interval: Interval) -> None:
        nonlocal largest
        if interval.begin_s == 640.0:
            tracemalloc.start()
        if interval.begin_s in (720.0, 900.0):
            gc.collect()
            held[interval.begin_s] = tracemalloc.get_traced_memory()[0]
            (path,) = tmp_path.iterdir()
            largest = max(largest, size_of(RunDirectory(path)))

    try:
        soaked(tmp_path, soak_settings(duration_s=910.0, window_s=60.0), each=look)
    finally:
        tracemalloc.stop()
    # The seconds' columns take 3 times 64 bytes and 33 more, 0.04 MB in three minutes, and
    # some reserve. An interval kept of each second would be several MB.
    assert held[900.0] - held[720.0] < 300_000
    # 65,536 values that are still JSON lines, about 1 MB, and what is finished.
    assert largest < 3_000_000

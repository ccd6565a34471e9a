"""Windows of trials made by hand: expectations are sums of what is put in."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll.dut.lab import LabPorts
from plimsoll.generator.interface import Interval, PortCounts, TrialPlan
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.window_record import WindowRecord
from plimsoll.trial.criteria.hosts.steal import Steal
from plimsoll.trial.criteria.latency_bound import LatencyBound
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.judging.tester import TesterLimits
from plimsoll.trial.judging.windows import WindowRules, Windows
from plimsoll.trial.outcome.outcome import Outcome
from tests.unit.trial.host_record import BEGIN_MS, HostRecord, Series, observed_host
from tests.unit.trial.trial_builder import (
    LOAD_OUT,
    PLAN,
    PROBE,
    PROBE_PPS,
    QUEUE_FRAMES,
    RATE_PPS,
    interval,
    outcome,
    port_counts,
    samples,
    stream_counts,
    worker_counts,
)
from tests.worded.says import Says

PORTS = LabPorts(
    devargs=("a", "b"),
    descriptors=64,
    queue_frames=QUEUE_FRAMES,
    paths=((0, 1), (1, 0)),
    drained_by="wire",
    line_rate_bps=None,
)
STRICT = (LossRatio(at_most=0.0),)


def plan(seconds: int) -> TrialPlan:
    return replace(PLAN, duration_s=float(seconds))


def windows_of(
    intervals: Sequence[Interval],
    ended: Outcome,
    *,
    seconds: int,
    window_s: float = 10.0,
    criteria: Sequence[LossRatio | LatencyBound] = STRICT,
) -> list[WindowRecord]:
    closed: list[WindowRecord] = []
    rules = WindowRules(window_s, criteria, TesterLimits())
    windows = Windows(rules, plan(seconds), PORTS, trial=4, baseline=None, closed=closed.append)
    for each in intervals:
        windows.add(each)
    windows.finish(ended)
    return closed


def whole(seconds: int, lost: int = 0) -> Outcome:
    """The totals of so many seconds."""
    streams = [
        stream_counts(each.stream, round(each.rate_pps or 0) * seconds, 0) for each in PLAN.streams
    ]
    streams[LOAD_OUT] = stream_counts(LOAD_OUT, RATE_PPS * seconds, lost)
    return outcome(streams=streams, plan=plan(seconds))


def verdicts(windows: Sequence[WindowRecord]) -> list[str]:
    return [window.verdict for window in windows]


def test_each_window_is_judged_by_itself(says: Says) -> None:
    intervals = [interval(n, lost=3 if n == 14 else 0) for n in range(30)]
    windows = windows_of(intervals, whole(30, lost=3), seconds=30)
    assert verdicts(windows) == ["pass", "fail", "pass"]
    assert [(each.index, each.begin_s, each.end_s) for each in windows] == [
        (1, 0.0, 10.0),
        (2, 10.0, 20.0),
        (3, 20.0, 30.0),
    ]
    failed = windows[1]
    assert [(each.begin_s, each.end_s, each.frames) for each in failed.losses] == [(14.0, 15.0, 3)]
    assert failed.reasons[0].text == says("3", "1,010,000")
    assert failed.streams[LOAD_OUT].received == 10 * RATE_PPS - 3


def test_counts_and_histograms_of_all_windows_add_up_to_the_trials() -> None:
    intervals = [interval(n, lost=n) for n in range(25)]
    windows = windows_of(intervals, whole(25, lost=sum(range(25))), seconds=25)
    # The last five seconds are a window of their own: half of one.
    assert [round(window.sending_s) for window in windows] == [10, 10, 5]
    load = [window.streams[LOAD_OUT] for window in windows]
    assert [each.lost for each in load] == [sum(range(10)), sum(range(10, 20)), sum(range(20, 25))]
    assert sum(each.sent for each in load) == 25 * RATE_PPS
    probes = [window.streams[PROBE].latency for window in windows]
    # 120 samples a second: 100, 110 and 120 ns.
    assert [each.count for each in probes] == [1200, 1200, 600]
    assert {each.p50_ns for each in probes} == {110}


def test_a_remainder_of_less_than_half_a_window_belongs_to_the_last() -> None:
    windows = windows_of([interval(n) for n in range(24)], whole(24), seconds=24)
    assert [round(window.sending_s) for window in windows] == [10, 14]


def test_a_last_interval_that_ended_late_is_no_time_of_sending() -> None:
    """A starved tester: what it sent in time was less than its interval's length asks for."""
    intervals = [interval(n) for n in range(20)]
    intervals[-1] = replace(intervals[-1], end_s=22.8)
    windows = windows_of(intervals, whole(20), seconds=20)
    assert [window.sending_s for window in windows] == [10.0, 10.0]
    assert verdicts(windows) == ["pass", "pass"]


def test_the_drain_belongs_to_the_last_window() -> None:
    drained = interval(20, drain=True)
    late = replace(
        drained,
        streams=tuple(replace(each, sent=0, received=0) for each in drained.streams),
    )
    windows = windows_of([*(interval(n) for n in range(20)), late], whole(20), seconds=20)
    assert [(w.sending_s, w.end_s) for w in windows] == [(10.0, 10.0), (10.0, 21.0)]
    assert verdicts(windows) == ["pass", "pass"]


def test_frames_under_way_at_the_border_are_no_loss_of_either_window() -> None:
    intervals = [interval(n) for n in range(20)]
    # Forty frames are sent in the first window and come back in the second.
    for index, more in ((9, -40), (10, 40)):
        streams = tuple(
            replace(each, received=each.received + more) if each.stream == LOAD_OUT else each
            for each in intervals[index].streams
        )
        intervals[index] = replace(intervals[index], streams=streams)
    windows = windows_of(intervals, whole(20), seconds=20)
    assert verdicts(windows) == ["pass", "pass"]
    assert [window.streams[LOAD_OUT].lost for window in windows] == [0, 0]


def test_frames_out_of_order_across_the_border_are_no_loss() -> None:
    intervals = [interval(n, lost={9: 5, 10: -5}.get(n, 0)) for n in range(20)]
    assert verdicts(windows_of(intervals, whole(20), seconds=20)) == ["pass", "pass"]


def test_a_dut_that_falls_silent_fails_the_windows_it_is_silent_in() -> None:
    silent = [
        replace(
            each,
            streams=tuple(
                replace(s, received=0, latency=samples(0)) if s.stream == LOAD_OUT else s
                for s in each.streams
            ),
        )
        for each in (interval(n) for n in range(8, 30))
    ]
    intervals = [*(interval(n) for n in range(8)), *silent]
    windows = windows_of(intervals, whole(30, lost=22 * RATE_PPS), seconds=30)
    assert verdicts(windows) == ["fail", "fail", "fail"]
    # What was sent in the last silent second of a window is known to be lost in the next.
    lost = [window.streams[LOAD_OUT].lost for window in windows]
    assert lost == [1 * RATE_PPS, 10 * RATE_PPS, 11 * RATE_PPS]


def test_what_is_lost_after_the_last_frame_came_back_is_the_last_windows() -> None:
    windows = windows_of([interval(n) for n in range(20)], whole(20, lost=9), seconds=20)
    assert [window.streams[LOAD_OUT].lost for window in windows] == [0, 9]
    assert verdicts(windows) == ["pass", "fail"]


def test_a_window_that_the_tester_spoiled_is_invalid_and_the_others_are_not() -> None:
    # 60 ms away: more than the 50 ms that a tester is allowed.
    intervals = [interval(n, stalls_ns=(60_000_000,) if n == 4 else ()) for n in range(20)]
    windows = windows_of(intervals, whole(20), seconds=20)
    assert verdicts(windows) == ["invalid", "pass"]
    assert windows[0].reasons[0].rule == "stall"
    assert (windows[0].stalls, windows[0].worst_stall_ns) == (1, 60_000_000)
    assert windows[0].stalled_share == pytest.approx(0.006)


def test_a_stall_excuses_losses_that_show_in_the_next_window(says: Says) -> None:
    # 30 ms away at the end of the first window; the port's queue holds 1 ms of frames.
    intervals = [
        interval(n, stalls_ns=(30_000_000,) if n == 9 else (), lost=500 if n == 10 else 0)
        for n in range(20)
    ]
    windows = windows_of(intervals, whole(20, lost=500), seconds=20)
    assert verdicts(windows) == ["pass", "invalid"]
    assert windows[1].reasons[0].text == says("0")
    assert windows[1].lost == 0


def test_a_trial_that_was_stopped_early_in_a_window_leaves_it_unjudged() -> None:
    windows = windows_of([interval(n) for n in range(13)], whole(13), seconds=100)
    assert verdicts(windows) == ["pass", "none"]
    assert windows[1].streams[LOAD_OUT].sent == 3 * RATE_PPS


def test_a_trial_stopped_late_in_a_window_has_it_judged() -> None:
    windows = windows_of([interval(n) for n in range(17)], whole(17), seconds=100)
    assert verdicts(windows) == ["pass", "pass"]


def test_a_window_whose_latency_stalls_of_the_tester_leave_open_is_undecided() -> None:
    """Losses apart, which are the DUT's whatever the tester did."""
    intervals = [interval(n) for n in range(20)]
    intervals[12] = replace(
        intervals[12],
        streams=tuple(
            replace(
                each,
                latency_across_stalls=samples(*[250] * 120),
                latency_less_stalls=samples(*[90] * 120),
            )
            if each.stream == PROBE
            else each
            for each in intervals[12].streams
        ),
    )
    bound = LatencyBound.model_validate({"quantile": "max", "at_most": "200ns"})
    windows = windows_of(intervals, whole(20), seconds=20, criteria=(*STRICT, bound))
    assert verdicts(windows) == ["pass", "undecided"]
    assert [(each.rule, each.undecided) for each in windows[1].reasons] == [("latency-max", True)]
    intervals[13] = interval(13, lost=1)
    windows = windows_of(intervals, whole(20, lost=1), seconds=20, criteria=(*STRICT, bound))
    assert verdicts(windows) == ["pass", "fail"]


def test_latency_is_that_of_the_window_alone() -> None:
    slow = samples(*[250] * 120)
    intervals = [interval(n) for n in range(20)]
    intervals[12] = replace(
        intervals[12],
        streams=tuple(
            replace(each, latency=slow) if each.stream == PROBE else each
            for each in intervals[12].streams
        ),
    )
    bound = LatencyBound(quantile="max", at_most="200ns")  # type: ignore[arg-type]
    windows = windows_of(intervals, whole(20), seconds=20, criteria=(bound,))
    assert verdicts(windows) == ["pass", "fail"]
    assert [window.streams[PROBE].latency.max_ns for window in windows] == [120, 250]


def test_ports_and_loops_are_summed_up() -> None:
    foreign = {
        3: PortCounts(0, 5, {"arp": 2, "lldp": 3}, 0, 0, 0, 0, 70, link_up=True),
        4: PortCounts(0, 4, {"arp": 4}, 0, 0, 0, 0, 60, link_up=True),
    }
    intervals = [
        replace(interval(n, stalls_ns=(1000, 3000)), ports=(foreign.get(n, port_counts(0)),))
        for n in range(10)
    ]
    (window,) = windows_of(intervals, whole(10), seconds=10)
    assert window.verdict == "pass"
    assert (window.stalls, window.worst_stall_ns) == (20, 3000)
    assert window.stalled_share == pytest.approx(10 * 4000 / 1e9 / 10)


def test_a_link_that_goes_down_spoils_its_window() -> None:
    intervals = [replace(interval(n), ports=(port_counts(0, link_up=n != 15),)) for n in range(20)]
    windows = windows_of(intervals, whole(20), seconds=20)
    assert verdicts(windows) == ["pass", "invalid"]


def test_a_trial_without_an_interval_has_no_window() -> None:
    assert windows_of([], whole(0), seconds=20) == []


def test_intervals_that_end_a_little_early_still_end_their_window() -> None:
    early = [replace(interval(n), begin_s=n * 0.9999, end_s=(n + 1) * 0.9999) for n in range(30)]
    windows = windows_of(early, whole(30), seconds=30)
    assert [window.index for window in windows] == [1, 2, 3]
    assert sum(window.streams[PROBE].sent for window in windows) == 30 * PROBE_PPS


def test_trials_of_less_than_two_windows_have_none() -> None:
    rules = WindowRules(300.0, STRICT, TesterLimits())
    assert not rules.applies_to(599.0)
    assert rules.applies_to(600.0)


def test_adjacent_losses_are_one_event() -> None:
    losses = {3: 1, 4: 2, 5: 4, 7: 8}
    intervals = [interval(n, lost=losses.get(n, 0)) for n in range(10)]
    (window,) = windows_of(intervals, whole(10, lost=15), seconds=10)
    assert [(e.begin_s, e.end_s, e.frames) for e in window.losses] == [(3, 6, 7), (7, 8, 8)]
    assert (window.loss_events, window.lost) == (2, 15)


def test_many_losses_are_counted_and_the_largest_kept() -> None:
    # Every other second loses one more.
    intervals = [interval(n, lost=n if n % 2 else 0) for n in range(100)]
    lost = sum(range(1, 100, 2))
    (window,) = windows_of(intervals, whole(100, lost=lost), seconds=100, window_s=100.0)
    assert (window.loss_events, window.lost) == (50, lost)
    assert [each.frames for each in window.losses] == list(range(37, 100, 2))


def test_stalls_of_several_loops_are_summed_and_the_worst_loop_named() -> None:
    both = (worker_counts(4_000_000), replace(worker_counts(2_000_000, 2_000_000), cpu=2))
    intervals = [replace(interval(n), workers=both) for n in range(10)]
    (window,) = windows_of(intervals, whole(10), seconds=10)
    assert window.stalls == 30
    assert window.stalled_share == pytest.approx(0.004)


def test_each_window_is_held_to_what_its_own_hosts_did_then(tmp_path: Path) -> None:
    stolen = Series(
        "mpstat",
        "Busy-CPU",
        {"num": "1", "type": "steal"},
        ((0, 14, 0), (14, 15, 0.5), (15, 40, 0)),
    )
    hosts = (observed_host(polled={"dut": "1"}),)
    metrics = HostRecord(RunDirectory.create(tmp_path, "demo", {}), hosts).write(stolen)
    closed: list[WindowRecord] = []
    windows = Windows(
        WindowRules(10.0, [Steal()], TesterLimits()),
        plan(30),
        PORTS,
        trial=4,
        baseline=None,
        closed=closed.append,
        host=metrics,
    )
    for n in range(30):
        windows.add(replace(interval(n), end_unix_ns=(BEGIN_MS + (n + 1) * 1000) * 10**6))
    windows.finish(whole(30))
    assert verdicts(closed) == ["pass", "invalid", "pass"]
    (reason,) = closed[1].reasons
    # Half a second of ten.
    assert (reason.rule, reason.value) == ("steal", pytest.approx(0.05))

"""What a soak's result is made of: segments, losses, drift, spikes, verdict."""

import random

import pytest

from plimsoll.errors import InputError
from plimsoll.methods.soak.series import MAX, P99, RX, begins_of, segments_of
from plimsoll.methods.soak.settings import SoakSettings
from plimsoll.methods.soak.summary import drifts_of, losses_of, spikes_of
from plimsoll.methods.soak.verdict import end_of, left_s, verdict_of
from plimsoll.record.causes.spikes import TESTER_STALL, UNATTRIBUTED, Spike
from plimsoll.record.results.load_line import events_per_hour_below
from plimsoll.record.run.journal import JournalContents, JournalEvent
from plimsoll.record.trials.finding_record import FindingRecord
from plimsoll.text.units import parse_rate
from tests.unit.methods.soak.soak_parts import BEGIN_NS, segment, series, window
from tests.unit.record.trial_parts import record
from tests.worded.says import Says

BEGINS = {1: 0.0, 2: 1000.0}
OPEN = FindingRecord(
    rule="latency-p99",
    subject="probe/0-1",
    value=250.0,
    limit=200.0,
    unit="ns",
    outcome="invalid",
    text="probe/0-1: p99 latency between 180 ns and 250 ns",
    undecided=True,
)


def soak_settings(duration_s: float = 600.0, window_s: float = 60.0) -> SoakSettings:
    return SoakSettings(load=parse_rate("1Mpps"), duration_s=duration_s, window_s=window_s)


def test_losses_that_touch_at_a_windows_border_are_one_event() -> None:
    windows = [
        window(1, "fail", losses=[(5.0, 7.0, 7), (59.0, 60.0, 10)]),
        window(2, "fail", losses=[(60.0, 61.0, 20), (90.0, 91.0, 1)]),
        window(1, "fail", trial=2, losses=[(91.0, 92.0, 2)]),
    ]
    losses = losses_of(windows, BEGINS)
    found = [(each.trial, each.at_s, each.length_s, each.frames) for each in losses.events]
    assert found == [
        (1, 5.0, 2.0, 7),
        (1, 59.0, 2.0, 30),
        (1, 90.0, 1.0, 1),
        (2, 1091.0, 1.0, 2),
    ]
    assert (losses.event_count, losses.frames) == (4, 40)
    assert losses.no_loss_s is None
    assert losses.events_per_hour_below is None


def test_the_largest_hundred_events_are_listed_by_time() -> None:
    every_other = [(2.0 * n, 2.0 * n + 1, n + 1) for n in range(30)]
    windows = [window(n, "fail", losses=every_other, trial=n) for n in range(1, 6)]
    losses = losses_of(windows, {n: n * 1000.0 for n in range(1, 6)})
    assert losses.event_count == 150
    assert len(losses.events) == 100
    assert min(each.frames for each in losses.events) == 11
    assert [e.at_s for e in losses.events] == sorted(e.at_s for e in losses.events)


def test_no_loss_is_stated_of_the_judged_windows_with_its_bound() -> None:
    losses = losses_of([window(1), window(2, "invalid"), window(3)], BEGINS)
    assert losses.no_loss_s == 120.0
    # Three in two minutes are ninety in an hour.
    assert losses.events_per_hour_below == pytest.approx(90.0)


def test_without_a_judged_window_nothing_is_bounded() -> None:
    losses = losses_of([window(1, "invalid")], BEGINS)
    assert losses.no_loss_s is None


def test_three_hours_without_an_event_bound_one_an_hour() -> None:
    assert events_per_hour_below(3 * 3600) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="no time"):
        events_per_hour_below(0.0)


def test_a_steady_noisy_series_does_not_drift(says: Says) -> None:
    chance = random.Random(7)  # noqa: S311
    values = [100.0 + chance.gauss(0, 2) for _ in range(200)]
    (drift,) = drifts_of([series(P99, "probe", values)])
    assert not drift.drifts
    assert drift.slope_low < 0 < drift.slope_high
    assert drift.text == says("p99", "100.4", "24m52s", "100.3")


def test_a_slope_is_found_under_noise_and_wild_values(says: Says) -> None:
    chance = random.Random(7)  # noqa: S311
    # 200 minutes of 6 us an hour, and every twentieth value is wild.
    values = [100.0 + 0.1 * n + chance.gauss(0, 2) for n in range(200)]
    values = [9000.0 if n % 20 == 3 else value for n, value in enumerate(values)]
    (drift,) = drifts_of([series(P99, "probe", values)])
    assert drift.drifts
    assert drift.slope_per_hour == pytest.approx(6.0, rel=0.1)
    assert drift.slope_low < 6.0 < drift.slope_high
    # 199 minutes: an eighth is shorter than an hour.
    assert drift.span_s == pytest.approx(199 * 60 / 8)
    assert drift.text == says("p99", "probe", "101")


def test_the_slope_and_its_interval_are_those_of_sen() -> None:
    # Of 28 slopes with Kendall's 1.96 sqrt(8 * 7 * 21 / 18) = 15.84, the interval runs from
    # the (28 - 15.84) / 2 = 6.08th smallest, rounded outwards the 6th, to the 6th largest.
    values = [9.0, 15.0, 19.0, 20.0, 45.0, 55.0, 78.0, 80.0]
    slopes = sorted((values[j] - values[i]) / (j - i) for i in range(8) for j in range(i + 1, 8))
    (drift,) = drifts_of([series(P99, "probe", values, width_s=3600.0)])
    assert drift.slope_per_hour == pytest.approx((slopes[13] + slopes[14]) / 2)
    assert (drift.slope_low, drift.slope_high) == pytest.approx((slopes[5], slopes[22]))


def test_a_change_below_the_histograms_resolution_is_no_drift() -> None:
    (drift,) = drifts_of([series(P99, "probe", [100.0 + n * 0.004 for n in range(100)])])
    assert drift.slope_low > 0
    assert not drift.drifts


def test_rates_are_reported_in_pps_and_of_the_first_and_last_hour(says: Says) -> None:
    values = [1e6 - 100.0 * n for n in range(600)]
    (drift,) = drifts_of([series(RX, "0 → 1", values)])
    assert drift.drifts
    assert drift.span_s == 3600.0
    assert drift.slope_per_hour == pytest.approx(-6000.0)
    assert drift.text == says("0", "1", "6")


def test_a_short_soak_is_not_stretched_to_an_hour() -> None:
    (drift,) = drifts_of([series(P99, "probe", [100.0 + n for n in range(40)])])
    assert drift.drifts
    assert "an hour" not in drift.text


def test_too_short_a_series_says_nothing() -> None:
    assert drifts_of([series(P99, "probe", [1.0] * 7)]) == ()


def spike(at_s: float, length_ns: int, cause: str = UNATTRIBUTED, trial: int = 1) -> Spike:
    begin_ms = BEGIN_NS / 1e6 + at_s * 1e3
    return Spike("latency", trial, begin_ms, begin_ms + 1000, length_ns, None, None, "probe", cause)


def test_spikes_stand_out_of_what_is_usual() -> None:
    usual = series(MAX, "probe", [10.0, 12.0, 11.0])
    spikes = [
        spike(3.0, 55_000),
        spike(4.0, 55_001),
        spike(9.0, 90_000, TESTER_STALL),
        spike(9.0, 90_000, trial=7),
    ]
    found = spikes_of(spikes, [usual], [segment()])
    assert found.usual_ns == {"probe": 11_000.0}
    assert found.counts == {UNATTRIBUTED: 1, TESTER_STALL: 1}
    assert [(each.at_s, each.latency_ns, each.cause) for each in found.worst] == [
        (pytest.approx(4.0), 55_001, UNATTRIBUTED),
        (pytest.approx(9.0), 90_000, TESTER_STALL),
    ]


def test_twenty_of_each_cause_are_shown_and_all_counted() -> None:
    spikes = [spike(float(n), 10**6 + n) for n in range(30)]
    found = spikes_of(spikes, [series(MAX, "probe", [1.0])], [segment()])
    assert found.counts == {UNATTRIBUTED: 30}
    assert [each.latency_ns for each in found.worst] == [10**6 + n for n in range(10, 30)]


def test_a_later_segment_begins_after_the_pause_whatever_the_clock_says() -> None:
    for begin_s in (500.0, -30.0):
        later = segment(2, begin_s=begin_s).model_copy(update={"gap_s": 380.0})
        assert begins_of([segment(1, sending_s=120), later]) == {1: 0.0, 2: 500.0}


def journal(*events: tuple[str, dict[str, object]]) -> JournalContents:
    return JournalContents(
        tuple(JournalEvent(kind, BEGIN_NS + n, fields) for n, (kind, fields) in enumerate(events))
    )


def test_segments_are_the_soaks_trials_finished_or_killed() -> None:
    started = [
        ("trial-started", {"number": n, "phase": p}) for n, p in ((1, "warmup"), (2, "soak"))
    ]
    killed = ("window", {"window": window(1, trial=2).model_dump(mode="json")})
    ended = record(3, phase="soak").model_dump(mode="json")
    history = journal(
        *started,
        killed,
        ("trial-started", {"number": 3, "phase": "soak"}),
        ("trial", {"trial": ended}),
    )
    first, second = segments_of(history)
    assert (first.trial, first.sending_s, first.verdict, first.windows) == (2, 60.0, "none", 1)
    assert (second.trial, second.sending_s, second.verdict) == (3, 2.0, "pass")
    assert left_s((first, second), soak_settings(600.0)) == 538.0


def test_too_little_to_judge_is_not_left_to_run() -> None:
    assert left_s([segment(sending_s=570.0)], soak_settings(600.0)) == 30.0
    assert left_s([segment(sending_s=571.0)], soak_settings(600.0)) == 0.0


@pytest.mark.parametrize(
    ("windows", "segments", "expected"),
    [
        ([window(1), window(2)], [segment()], "pass"),
        ([window(1), window(2, "fail")], [segment()], "fail"),
        ([window(1)], [segment(verdict="fail")], "fail"),
        ([window(1), window(2, "invalid")], [segment(verdict="invalid")], "invalid"),
        # Killed: the windows that it closed speak for it.
        ([window(1)], [segment(verdict="none")], "pass"),
        ([window(1), window(2, "invalid")], [segment(verdict="none")], "invalid"),
        ([window(1, trial=2)], [segment(1, "none"), segment(2)], "pass"),
        ([window(1, "none")], [segment()], "invalid"),
        ([], [], "invalid"),
    ],
)
def test_the_verdict_is_on_all_windows_and_the_whole(
    windows: list[object], segments: list[object], expected: str
) -> None:
    assert verdict_of(windows, segments, 0.5) == expected  # type: ignore[arg-type]


def test_windows_that_stalls_of_the_tester_leave_open_have_a_limit_of_their_own() -> None:
    whole = [segment(verdict="invalid", reasons=(OPEN,))]
    windows = [window(1), window(2), window(3, "undecided")]
    assert verdict_of(windows, whole, 1 / 3) == "pass"
    assert verdict_of(windows, whole, 0.33) == "invalid"
    # Nothing is proven where all are open, and whatever else spoiled the whole counts.
    assert verdict_of([window(1, "undecided")], whole, 1.0) == "invalid"
    spoiled = OPEN.model_copy(update={"undecided": False})
    assert verdict_of(windows, [segment(verdict="invalid", reasons=(OPEN, spoiled))], 1.0) == (
        "invalid"
    )
    assert verdict_of([*windows, window(4, "fail")], whole, 1.0) == "fail"


def test_losses_are_judged_in_windows_whose_latency_is_open() -> None:
    windows = [window(1), window(2, "undecided"), window(3, "invalid")]
    assert losses_of(windows, {1: 0.0}).no_loss_s == 120.0


def test_why_a_soak_is_over() -> None:
    assert end_of(journal(), [], soak_settings()) == "unfinished"
    assert end_of(journal(), [segment(verdict="none")], soak_settings()) == "unfinished"
    assert end_of(journal(), [segment(sending_s=600.0)], soak_settings()) == "duration"
    stopped = record(1, phase="soak").model_copy(update={"ended_by": "stop"})
    for why in ("signal", "failure"):
        history = journal(
            ("trial", {"trial": stopped.model_dump(mode="json")}), ("soak-stopped", {"why": why})
        )
        assert end_of(history, [segment()], soak_settings()) == why


@pytest.mark.parametrize(
    ("duration_s", "window_s", "where", "facts"),
    [
        (0.0001, 60.0, "--duration", ("1ms", "7d")),
        (9.0, 300.0, "--duration", ("10s",)),
        (600.0, 9.0, "--window", ("10s",)),
        (600.0, 601.0, "--window", ("10m00s",)),
    ],
)
def test_soaks_that_cannot_be_are_refused(
    duration_s: float, window_s: float, where: str, facts: tuple[str, ...], says: Says
) -> None:
    with pytest.raises(InputError) as caught:
        soak_settings(duration_s, window_s).check()
    assert caught.value == says(*facts)
    assert caught.value.where == where


def test_what_was_requested_is_read_back_from_the_journal(says: Says) -> None:
    given = soak_settings(28_800.0, 300.0)
    assert SoakSettings.recorded(given.model_dump(mode="json"), "journal") == given
    with pytest.raises(InputError) as caught:
        SoakSettings.recorded({"load": "much"}, "runs/x/journal.jsonl")
    assert caught.value == says("runs/x/journal.jsonl")
    assert caught.value.where == "runs/x/journal.jsonl"

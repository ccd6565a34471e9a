"""What makes the tester unfit to judge by."""

from dataclasses import replace
from typing import Any

import pytest

from plimsoll.dut.lab import DrainedBy
from plimsoll.generator.histogram import Histogram, empty_hdr
from plimsoll.generator.interface import Cycles
from plimsoll.traffic.plan import Pacing
from plimsoll.trial.judging.tester import TesterLimits as Limits
from plimsoll.trial.outcome.finding import Finding
from plimsoll.trial.outcome.outcome import Outcome
from tests.unit.trial.trial_builder import (
    DURATION_S,
    LOAD_BACK,
    LOAD_OUT,
    PLAN,
    PROBE,
    PROBE_PPS,
    RATE_PPS,
    outcome,
    port_counts,
    stream_counts,
    worker_counts,
)
from tests.worded.says import Says

SENT = RATE_PPS * DURATION_S
PROBES = PROBE_PPS * DURATION_S


def _broken(judged: Outcome, limits: Limits | None = None) -> list[Finding]:
    findings = (limits or Limits()).findings(judged)
    assert all(each.outcome in ("ok", "invalid") for each in findings)
    return [each for each in findings if each.outcome == "invalid"]


def _sent(load_out: int, **changes: Any) -> list[Any]:
    return [
        stream_counts(LOAD_OUT, load_out, **changes),
        stream_counts(LOAD_BACK, SENT),
        stream_counts(PROBE, PROBES),
    ]


def test_a_clean_trial_breaks_nothing() -> None:
    assert _broken(outcome()) == []


@pytest.mark.parametrize(("sent", "fit"), [(0.951, True), (0.949, False), (1.06, False)])
def test_the_offered_rate_stays_within_its_tolerance(sent: float, fit: bool) -> None:
    broken = _broken(outcome(streams=_sent(int(SENT * sent))))
    assert [each.rule for each in broken] == ([] if fit else ["offered-rate"])


def test_a_rate_that_falls_short_is_reported(says: Says) -> None:
    (finding,) = _broken(outcome(streams=_sent(SENT // 2)))
    assert finding.subject == "load/0-1"
    assert finding.text == says("load/0-1", "500,000", "1,000,000", "100", "50", "5")


@pytest.mark.parametrize(("drained_by", "fit"), [("dut", True), ("wire", False), ("tester", False)])
def test_frames_refused_are_offered_only_where_the_dut_drains(drained_by: Any, fit: bool) -> None:
    judged = outcome(streams=_sent(SENT // 2, refused=SENT // 2), drained_by=drained_by)
    assert (_broken(judged) == []) is fit


def test_a_frame_more_or_less_is_no_stray() -> None:
    """A trial stopped after 4 ms: 4 frames of the probe, or 3 or 5, but not 2."""
    for probes, fit in ((3, True), (5, True), (2, False)):
        streams = [
            stream_counts(LOAD_OUT, 400),
            stream_counts(LOAD_BACK, 400),
            stream_counts(PROBE, probes),
        ]
        stopped = outcome(streams=streams, sending_s=0.004, ended_by="stop")
        assert (_broken(stopped) == []) is fit


def _paced(stream: int, **changes: Any) -> Any:
    """The plan with one stream paced otherwise."""
    streams = [replace(each, **changes) if each.stream == stream else each for each in PLAN.streams]
    return replace(PLAN, streams=tuple(streams))


@pytest.mark.parametrize(
    "changes",
    [
        {"rate_pps": None, "pacing": Pacing("back-to-back")},
        {"rate_pps": None, "pacing": Pacing("one-in-flight")},
        # It never exceeds the rate, and waits for the DUT.
        {"pacing": Pacing("one-in-flight")},
    ],
)
def test_a_stream_without_a_schedule_has_no_rate_to_fall_short_of(changes: dict[str, Any]) -> None:
    judged = outcome(streams=_sent(17), plan=_paced(LOAD_OUT, **changes))
    assert _broken(judged) == []
    assert {each.subject for each in Limits().findings(judged) if each.rule == "offered-rate"} == {
        "load/1-0",
        "probe/0-1",
    }


def test_a_stream_that_ends_early_is_held_to_its_frames() -> None:
    ends = _paced(LOAD_OUT, frame_count=5_000)
    assert _broken(outcome(streams=_sent(5_000), plan=ends)) == []
    (finding,) = _broken(outcome(streams=_sent(4_000), plan=ends))
    assert "4,000 of 5,000 frames" in finding.text


@pytest.mark.parametrize(
    ("pacing", "sent", "fit"),
    [
        # 400 due at 1000 pps in 0.4 s, so 380 are within the 5 %.
        (Pacing("constant"), 379, False),
        # The last burst of 32 may just not have begun, or just have gone.
        (Pacing("burst", burst_frames=32), 368, True),
        (Pacing("burst", burst_frames=32), 367, False),
        # Five standard deviations: 100 frames, and one as ever.
        (Pacing("poisson", seed=1), 299, True),
        (Pacing("poisson", seed=1), 298, False),
    ],
)
def test_a_schedule_may_scatter_as_it_must(pacing: Pacing, sent: int, fit: bool) -> None:
    streams = [
        stream_counts(LOAD_OUT, RATE_PPS * 4 // 10),
        stream_counts(LOAD_BACK, RATE_PPS * 4 // 10),
        stream_counts(PROBE, sent),
    ]
    judged = outcome(
        streams=streams, plan=_paced(PROBE, pacing=pacing), sending_s=0.4, ended_by="stop"
    )
    assert (_broken(judged) == []) is fit


def test_an_empty_mempool_is_reported(says: Says) -> None:
    (finding,) = _broken(outcome(streams=_sent(SENT - 3, no_buffer=3)))
    assert (finding.rule, finding.value, finding.limit) == ("no-buffer", 3, 0)
    assert finding.text == says("load/0-1", "3")
    assert _broken(outcome(streams=_sent(SENT - 3, no_buffer=3)), Limits(max_no_buffer=3)) == []


def _probing(drained_by: DrainedBy = "wire", **changes: Any) -> Outcome:
    """A trial whose probe's counts are these."""
    streams = _sent(SENT)
    return outcome(streams=[*streams[:2], replace(streams[2], **changes)], drained_by=drained_by)


def test_probes_that_leave_late_are_reported(says: Says) -> None:
    # Bucket 1349 is (1349 % 128 + 128) << 9: from 100,864 to 101,375 ns.
    buckets = ((200, PROBES - 501), (1349, 501))
    judged = _probing(lateness=Histogram(PROBES, 0, 200, 101_000, buckets))
    (finding,) = _broken(judged)
    assert (finding.rule, finding.subject, finding.limit) == ("late-probes", "probe/0-1", 0.05)
    assert finding.value == pytest.approx(0.0501)
    assert finding.text == says("probe/0-1", "10,000", "501", "100", "5.01")
    assert _broken(judged, Limits(late_probe=200e-6)) == []
    assert _broken(judged, Limits(max_late_share=0.06)) == []


@pytest.mark.parametrize(
    ("drained_by", "changes", "share"),
    [
        # 600 of the 10,000 probes that were due.
        ("wire", {"sent": PROBES - 600, "skipped": 600}, 0.06),
        ("wire", {"sent": PROBES - 600, "refused": 600}, 0.06),
        ("dut", {"sent": PROBES - 600, "refused": 600}, 0.0),
        ("wire", {"sent": PROBES - 600, "skipped": 300, "no_buffer": 300}, 0.06),
    ],
)
def test_probes_never_sent_count_as_late(
    drained_by: DrainedBy, changes: dict[str, int], share: float
) -> None:
    judged = _probing(drained_by, **changes, received=changes["sent"])
    (finding,) = [each for each in Limits().findings(judged) if each.rule == "late-probes"]
    assert finding.value == pytest.approx(share)
    assert finding.outcome == ("invalid" if share else "ok")


def test_probes_that_wait_for_the_dut_are_neither_late_nor_at_fault() -> None:
    """A time-out is the DUT's: it lost the probe, or is slow."""
    one = _paced(PROBE, rate_pps=None, pacing=Pacing("one-in-flight"))
    streams = [*_sent(SENT)[:2], stream_counts(PROBE, 60, lost=60, timed_out=60)]
    findings = Limits().findings(outcome(streams=streams, plan=one))
    assert {each.outcome for each in findings} == {"ok"}
    assert "late-probes" not in {each.rule for each in findings}


def test_nothing_sent_is_never_fit() -> None:
    streams = [stream_counts(each, 0) for each in (LOAD_OUT, LOAD_BACK, PROBE)]
    broken = _broken(outcome(streams=streams, sending_s=0.0, ended_by="stop"))
    assert [each.rule for each in broken] == ["offered-rate"] * 3


@pytest.mark.parametrize(("sending_s", "fit"), [(9.6, True), (9.4, False), (10.6, False)])
def test_the_runtime_stays_within_its_tolerance(sending_s: float, fit: bool) -> None:
    streams = [
        stream_counts(LOAD_OUT, int(RATE_PPS * sending_s)),
        stream_counts(LOAD_BACK, int(RATE_PPS * sending_s)),
        stream_counts(PROBE, int(PROBE_PPS * sending_s)),
    ]
    broken = _broken(outcome(streams=streams, sending_s=sending_s))
    assert [each.rule for each in broken] == ([] if fit else ["runtime"])
    assert _broken(outcome(streams=streams, sending_s=sending_s, ended_by="stop")) == []


def test_a_long_stall_is_reported(says: Says) -> None:
    (finding,) = _broken(outcome(workers=(worker_counts(60_000_000),)))
    assert (finding.rule, finding.subject, finding.value, finding.limit) == (
        "stall",
        "CPU 1",
        60_000_000,
        50_000_000,
    )
    assert finding.text == says("CPU", "1", "60", "50")


def test_many_short_stalls_are_reported() -> None:
    """0.66 of 11 s."""
    (finding,) = _broken(outcome(workers=(worker_counts(*[10**6] * 660),)))
    assert finding.rule == "stalled-share"
    assert finding.value == pytest.approx(0.06)


def test_no_more_than_all_of_the_time_is_stalled(says: Says) -> None:
    """12 s of 11 s, as the drain ended late."""
    away = outcome(workers=(worker_counts(12 * 10**9),))
    (share,) = (each for each in Limits().findings(away) if each.rule == "stalled-share")
    assert share.value == 1.0
    assert share.text == says("100")


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"link_up": False}, "link"),
        ({"stale": 1}, "stale-frames"),
        ({"host": {"moved": 2}}, "next-hop-moved"),
        ({"rx_missed": 1}, "unread-frames"),
        ({"rx_no_mbuf": 1}, "unread-frames"),
        ({"rx_errors": 1}, "unread-frames"),
    ],
)
def test_what_happened_on_a_port_is_reported(changes: dict[str, Any], rule: str) -> None:
    (finding,) = _broken(outcome(ports=(port_counts(0), port_counts(1, **changes))))
    assert (finding.rule, finding.subject) == (rule, "port 1")


def test_a_hosts_own_frames_are_no_fault() -> None:
    said = {"arp": 3, "nd": 2, "echo": 9, "heard": 1, "answered": 14, "moved": 0}
    assert _broken(outcome(ports=(port_counts(0, host=said), port_counts(1)))) == []


def test_frames_of_others_are_no_fault() -> None:
    assert _broken(outcome(ports=(port_counts(0, foreign=5), port_counts(1)))) == []


def test_more_frames_back_than_sent_is_impossible(says: Says) -> None:
    (finding,) = _broken(outcome(lost=-3))
    assert (finding.rule, finding.value) == ("negative-loss", -3)
    assert finding.text == says("load/0-1", "3")


def test_limits_are_settings() -> None:
    limits = Limits.model_validate(
        {"rate_tolerance": "60%", "max_stall": "100ms", "max_stalled_share": "10%"}
    )
    spoiled = outcome(streams=_sent(SENT // 2), workers=(worker_counts(60_000_000),))
    assert len(_broken(spoiled)) == 2
    assert _broken(spoiled, limits) == []


def test_a_carrier_that_was_lost_is_named(says: Says) -> None:
    (finding,) = _broken(replace(outcome(), links_lost=("interface eth1",)))
    assert (finding.rule, finding.subject) == ("link", "interface eth1")
    assert finding.text == says("interface", "eth1")


def _histogram(*gaps_ns: int) -> Histogram:
    """By the buckets of the hdrhistogram package."""
    hdr = empty_hdr()
    for gap_ns in gaps_ns:
        hdr.record_value(gap_ns)
    buckets = tuple((index, count) for index, count in enumerate(hdr.counts) if count)
    return Histogram(len(gaps_ns), sum(gaps_ns), min(gaps_ns), max(gaps_ns), buckets)


def _watched(sent: int, skipped: int, *gaps_ns: int) -> Outcome:
    """A trial with a catch-up of 1 ms, whose loop had these gaps."""
    worker = replace(worker_counts(), gaps=_histogram(*gaps_ns))
    return outcome(streams=_sent(sent, skipped=skipped), workers=(worker,))


def test_a_validation_is_held_to_half_a_percent(says: Says) -> None:
    strict = Limits().of_validation()
    assert _broken(outcome(streams=_sent(SENT * 9951 // 10000)), strict) == []
    (finding,) = _broken(outcome(streams=_sent(SENT * 9949 // 10000)), strict)
    assert (finding.rule, finding.limit) == ("offered-rate", 0.005)
    assert finding.text == says("load/0-1", "994,900", "1,000,000", "100", "0.51", "0.5")


@pytest.mark.parametrize(
    ("stated", "probes", "fit"),
    [
        ({}, PROBES * 951 // 1000, True),
        ({}, PROBES * 949 // 1000, False),
        ({"rate_tolerance": "3%"}, PROBES * 969 // 1000, False),
        ({"validation_rate_tolerance": "1%"}, PROBES * 951 // 1000, True),
    ],
)
def test_probes_prove_no_load_and_keep_the_tolerance_of_trials(
    stated: dict[str, str], probes: int, fit: bool
) -> None:
    strict = Limits.model_validate(stated).of_validation()
    streams = [*_sent(SENT)[:2], stream_counts(PROBE, probes)]
    broken = _broken(outcome(streams=streams), strict)
    assert [(f.rule, f.subject) for f in broken] == ([] if fit else [("offered-rate", "probe/0-1")])


@pytest.mark.parametrize(
    ("stated", "search", "validation"),
    [
        ({}, 0.05, 0.005),
        ({"rate_tolerance": "3%"}, 0.03, 0.03),
        ({"validation_rate_tolerance": "1%"}, 0.05, 0.01),
        ({"rate_tolerance": "3%", "validation_rate_tolerance": "1%"}, 0.03, 0.01),
    ],
)
def test_the_experiment_may_say_otherwise(
    stated: dict[str, str], search: float, validation: float
) -> None:
    limits = Limits.model_validate(stated)
    # As a run that is resumed reads what it has written down.
    for each in (limits, Limits.model_validate(limits.model_dump(mode="json"))):
        assert each.offered_tolerance == pytest.approx(search)
        assert each.of_validation().offered_tolerance == pytest.approx(validation)


def test_frames_due_while_the_loop_was_away_do_not_count_in_a_validation(says: Says) -> None:
    # Away for 100 ms beyond the catch-up, at 100 kpps 10,000 frames (less 0.8 % by the buckets);
    # gaps within the catch-up explain none.
    away = _watched(SENT - 12_000, 12_000, 101_000_000, *[900_000] * 50)
    findings = Limits().of_validation().findings(away)
    (offered,) = (f for f in findings if (f.rule, f.subject) == ("offered-rate", "load/0-1"))
    assert (offered.outcome, offered.limit) == ("ok", 0.005)
    assert offered.value == pytest.approx(0.002, abs=0.0001)
    (absent,) = (f for f in findings if f.rule == "absent-frames")
    assert (absent.subject, absent.outcome, absent.unit) == ("load/0-1", "ok", "frames")
    assert absent.value == pytest.approx(10_000, rel=0.009)
    assert absent.text == says("load/0-1", "9,966", "0.9966")


def test_nor_more_of_them_than_were_skipped(says: Says) -> None:
    # Frames without a buffer, say, are missing for another reason.
    away = _watched(SENT - 12_000, 3_000, 101_000_000)
    (finding,) = _broken(away, Limits().of_validation())
    assert (finding.rule, finding.value) == ("offered-rate", pytest.approx(0.009))
    assert finding.text == says("load/0-1", "988,000", "1,000,000", "100", "1.2", "0.9")


def test_a_loop_that_is_there_and_too_slow_has_no_excuse() -> None:
    slow = _watched(SENT - 12_000, 12_000, *[900_000] * 5_000)
    (finding,) = _broken(slow, Limits().of_validation())
    assert (finding.rule, finding.value) == ("offered-rate", pytest.approx(0.012))


def test_a_loop_that_only_receives_delays_no_frame() -> None:
    receiver = replace(worker_counts(), gaps=_histogram(500_000_000))
    budget = replace(receiver.cycles, send=Cycles(6400, 64))
    sender = replace(worker_counts(), cpu=2, cycles=budget)
    judged = outcome(streams=_sent(SENT - 12_000, skipped=12_000), workers=(receiver, sender))
    assert [f.rule for f in _broken(judged, Limits().of_validation())] == ["offered-rate"]


def test_a_trial_of_the_search_leaves_nothing_out() -> None:
    findings = Limits().findings(_watched(SENT - 12_000, 12_000, 101_000_000))
    assert [f for f in findings if f.rule == "absent-frames"] == []
    assert {f.limit for f in findings if f.rule == "offered-rate"} == {0.05}

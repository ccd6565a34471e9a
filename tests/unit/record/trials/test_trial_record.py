import json
from dataclasses import dataclass, replace

import pytest
from pydantic import ValidationError

from plimsoll.generator.histogram import Histogram, bucket_of
from plimsoll.generator.interface import TrialReport
from plimsoll.record.trials.latency_record import LongestLatency
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_parts import TrialContext, TrialIdentity
from plimsoll.record.trials.trial_record import DutPortRecord, TrialRecord
from plimsoll.traffic.plan import CapturedGaps, Pacing
from tests.unit.record.trial_parts import FOUR, NONE, counts, plan, record


@dataclass(frozen=True)
class Finding:
    rule: str
    subject: str
    value: float | None
    limit: float | None
    unit: str
    outcome: str
    text: str


@dataclass(frozen=True)
class LatencyParts:
    stream: str
    frames: int
    across_stall: bool
    latency_ns: int
    tester_ns: int
    dut_ns: int
    undecided_ns: int
    held_by_dut_ns: int


BROKEN = Finding("loss-ratio", "0:1", 0.1, 0.00002, "ratio", "fail", "0:1 lost too much")
KEPT = Finding("latency-p99", "probe", 9.0, 10.0, "ns", "ok", "probe is fast enough")
_SINGLE = TrialIdentity(1, "single")


def test_a_record_survives_json_unchanged() -> None:
    trial = record(findings=(BROKEN, KEPT), verdict="fail")
    assert TrialRecord.model_validate_json(trial.model_dump_json()) == trial


def test_latency_of_hand_counted_samples() -> None:
    # 100, 200, 200, 250 ns: the mean is 187.5, the second of four is 200, all others the last.
    latency = record().streams[1].latency
    assert (latency.count, latency.min_ns, latency.mean_ns, latency.max_ns) == (4, 100, 187.5, 250)
    assert (latency.p50_ns, latency.p90_ns, latency.p99_99_ns) == (200, 250, 250)


def test_a_stream_that_stalls_may_have_delayed_has_both_ends_of_its_latency() -> None:
    assert record().streams[1].latency_low is None
    low, high = record().streams[1].latency_ends
    assert low == high == record().streams[1].latency
    delayed = Histogram(1, 900, 900, 900, ((bucket_of(900), 1),))
    less = Histogram(1, 60, 60, 60, ((60, 1),))
    each = counts(1, latency=FOUR, across=delayed, less_stalls=less)
    kept = StreamRecord.of(plan().streams[1], each, lost=0)
    assert kept.latency.count == 4
    low, high = kept.latency_ends
    assert (low.count, low.min_ns, low.max_ns) == (5, 60, 250)
    assert (high.count, high.min_ns, high.max_ns) == (5, 100, 900)
    assert StreamRecord.model_validate_json(kept.model_dump_json()) == kept


def test_without_samples_there_is_no_latency() -> None:
    lateness = record().streams[0].lateness
    assert lateness.count == 0
    assert set(lateness.model_dump().values()) == {0, None}


def test_loss_ratio_is_lost_of_offered() -> None:
    assert record().streams[2].loss_ratio == pytest.approx(2 / 1000)


def test_duplicates_do_not_hide_losses_in_the_ratio() -> None:
    # 100 offered, of which 90 came, 5 of them twice.
    stream = StreamRecord.of(
        plan().streams[0], counts(0, sent=100, received=95, duplicate=5), lost=10
    )
    assert stream.loss_ratio == pytest.approx(0.1)


def test_nothing_offered_has_no_loss_ratio() -> None:
    assert StreamRecord.of(plan().streams[0], counts(0), lost=0).loss_ratio is None


def test_frame_size_is_with_its_check_sequence() -> None:
    assert [stream.mean_frame_size for stream in record().streams] == [64, 128, 64]


def test_frame_sizes_are_reported_with_their_weights() -> None:
    frames = tuple(bytes(size - 4) for size in (594, 64, 64, 1518))
    mixed = replace(plan().streams[0], frames=frames, order=(0, 1, 0, 2, 0, 1, 0, 2, 3, 3))
    stream = StreamRecord.of(mixed, counts(0), lost=0)
    assert [(each.size, each.weight) for each in stream.frame_sizes] == [
        (64, 2),
        (594, 2),
        (1518, 1),
    ]
    assert stream.mean_frame_size == pytest.approx((4 * 64 + 4 * 594 + 2 * 1518) / 10)


def test_a_stream_without_a_rate_has_none_planned() -> None:
    waiting = replace(plan().streams[1], rate_pps=None, pacing=Pacing("one-in-flight"))
    samples = counts(1, sent=3, received=2, timed_out=1, latency_us=((4, 1), (1000, 1)))
    stream = StreamRecord.of(waiting, samples, lost=1)
    assert (stream.pacing, stream.planned_pps, stream.timed_out) == ("one-in-flight", None, 1)
    assert stream.latency_us == ((4, 1), (1000, 1))


def test_a_replay_is_recorded_with_the_capture_s_own_rate() -> None:
    gaps = CapturedGaps((1_000_000, 3_000_000))
    replayed = replace(plan().streams[0], pacing=Pacing("captured", gaps=gaps))
    stream = StreamRecord.of(replayed, counts(0), lost=0)
    assert (stream.pacing, stream.captured_pps) == ("captured", 500)
    assert StreamRecord.of(plan().streams[0], counts(0), lost=0).captured_pps is None


def test_the_testers_own_part_is_kept() -> None:
    trial = record()
    (worker,), (port,) = trial.workers, trial.ports
    assert (worker.gaps.count, worker.gaps.p50_ns, worker.gaps.max_ns) == (4, 200, 250)
    assert (worker.cycles.build.ticks, worker.cycles.build.frames) == (2304, 64)
    assert [(stall.at_s, stall.tsc, stall.length_ns) for stall in worker.longest] == [
        (0.5, 77, 30_000)
    ]
    assert (port.foreign, port.foreign_kinds) == (7, {"arp": 3, "lldp": 4})
    assert port.buffers_in_use == 900


def test_reasons_are_the_findings_behind_the_verdict() -> None:
    failed = record(findings=(BROKEN, KEPT), verdict="fail")
    assert [finding.rule for finding in failed.reasons] == ["loss-ratio"]
    assert record(findings=(KEPT,)).reasons == ()


def test_a_number_that_json_lacks_becomes_null() -> None:
    endless = Finding("spread", "all", float("inf"), 1.0, "", "fail", "no end")
    written = json.loads(record(findings=(endless,)).model_dump_json())
    assert written["findings"][0]["value"] is None


def test_an_unknown_field_is_refused() -> None:
    fields = record().model_dump()
    with pytest.raises(ValidationError, match="colour"):
        TrialRecord.model_validate({**fields, "colour": "red"})


def test_a_lost_count_must_be_given_for_each_stream() -> None:
    with pytest.raises(KeyError):
        TrialRecord.from_report(_SINGLE, plan(), _report_of_streams(), lost={0: 0})


def _longest(*parts: LatencyParts, across: Histogram = NONE) -> LongestLatency | None:
    streams = (counts(0, sent=1, received=1, latency=FOUR, across=across),)
    report = TrialReport("duration", 2.0, 0, streams, (), ())
    trial = TrialRecord.from_report(_SINGLE, plan(), report, lost={0: 0}, longest=parts)
    return trial.streams[0].longest


def test_the_longest_latency_is_kept_with_its_parts() -> None:
    name = plan().streams[0].name
    shorter = LatencyParts(name, 1, False, 500, 0, 500, 0, 0)
    longer = LatencyParts(name, 2, True, 900, 200, 600, 100, 600)
    elsewhere = LatencyParts("another", 1, True, 5000, 5000, 0, 0, 0)
    kept = _longest(shorter, longer, elsewhere)
    assert kept is not None
    assert kept.model_dump() == {
        "latency_ns": 900,
        "across_stall": True,
        "tester_ns": 200,
        "dut_ns": 600,
        "undecided_ns": 100,
    }


def test_without_its_parts_the_longest_latency_is_undecided() -> None:
    kept = _longest()
    assert kept is not None
    assert (kept.latency_ns, kept.across_stall) == (FOUR.max_ns, False)
    assert (kept.tester_ns, kept.dut_ns, kept.undecided_ns) == (0, 0, FOUR.max_ns)
    assert FOUR.max_ns is not None
    beyond = Histogram(1, FOUR.max_ns + 1, FOUR.max_ns + 1, FOUR.max_ns + 1)
    kept = _longest(across=beyond)
    assert kept is not None
    assert (kept.latency_ns, kept.across_stall) == (FOUR.max_ns + 1, True)


def test_dut_counters_are_kept() -> None:
    dut = DutPortRecord(
        port=0, rx_frames=1, tx_frames=2, rx_missed=3, rx_errors=4, tx_errors=5, rx_no_mbuf=6
    )
    trial = TrialRecord.from_report(
        _SINGLE,
        plan(),
        _report_of_streams(),
        lost={0: 0, 1: 0},
        context=TrialContext(dut=(dut,)),
    )
    assert trial.dut == (dut,)


def _report_of_streams() -> TrialReport:
    streams = (counts(0, sent=1, received=1), counts(1, sent=1, received=1, latency=FOUR))
    return TrialReport("duration", 2.0, 0, streams, (), ())

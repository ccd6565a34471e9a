"""Each criterion by hand: kept, broken, excused, and impossible to evaluate."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from plimsoll.generator.histogram import Histogram
from plimsoll.generator.interface import FrameCheck
from plimsoll.traffic.plan import Pacing
from plimsoll.trial.criteria.criterion import Criterion, LossBudget
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.criteria.registry import (
    AllowedFault,
    CriterionSettings,
    default_criteria,
)
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
    interval,
    outcome,
    samples,
    stream_counts,
)
from tests.worded.says import Says

SENT = RATE_PPS * DURATION_S
PROBES = PROBE_PPS * DURATION_S
# 0.002 % of the load and the probes of one direction.
ALLOWED_OUT = 20


def _criterion(**settings: Any) -> Criterion:
    criterion: Criterion = TypeAdapter(CriterionSettings).validate_python(settings)
    return criterion


def _found(criterion: Criterion, judged: Outcome) -> dict[str, tuple[str, float | None]]:
    return {each.subject: (each.outcome, each.value) for each in criterion.evaluate(judged)}


def _with(stream: int, **changes: Any) -> Outcome:
    """A trial in which one stream's counts differ from a clean one's."""
    clean = outcome()
    streams = [
        replace(each, **changes) if each.stream == stream else each for each in clean.report.streams
    ]
    return outcome(streams=streams)


def test_loss_up_to_the_limit_is_kept_and_stated() -> None:
    found = _found(LossRatio(), outcome(lost=ALLOWED_OUT))
    assert found == {"0-1": ("ok", ALLOWED_OUT / (SENT + PROBES)), "1-0": ("ok", 0.0)}


def test_loss_beyond_the_limit_fails_its_direction_alone() -> None:
    lost = ALLOWED_OUT + 1
    found = LossRatio().evaluate(outcome(lost=lost))
    assert [(each.subject, each.outcome) for each in found] == [("0-1", "fail"), ("1-0", "ok")]
    assert found[0].text == (
        "0-1: 21 of 1,010,000 frames lost (0.002079 %); at most 0.002 % allowed"
    )
    assert (found[0].rule, found[0].limit, found[0].unit) == ("loss-ratio", 2e-5, "ratio")


def test_loss_per_stream_and_in_total() -> None:
    lossy = outcome(lost=15)
    assert _found(LossRatio(per="stream", at_most=1e-5), lossy) == {
        "load/0-1": ("fail", 15 / SENT),
        "load/1-0": ("ok", 0.0),
        "probe/0-1": ("ok", 0.0),
    }
    assert _found(LossRatio(per="total", at_most=1e-5), lossy) == {
        "all streams": ("ok", 15 / (2 * SENT + PROBES))
    }


def test_a_port_pair_is_both_directions_between_two_ports() -> None:
    two_ports_more = replace(PLAN.streams[LOAD_OUT], stream=3, tx_port=2, rx_port=3)
    plan = replace(PLAN, streams=(*PLAN.streams, two_ports_more))
    streams = [*outcome(lost=15).report.streams, stream_counts(3, SENT, lost=30)]
    criterion = LossRatio(per="port-pair", at_most=1e-5)
    assert _found(criterion, outcome(streams=streams, plan=plan)) == {
        "ports 0 and 1": ("ok", 15 / (2 * SENT + PROBES)),
        "ports 2 and 3": ("fail", 30 / SENT),
    }
    assert [each.streams for each in criterion.losses_allowed(plan)] == [
        frozenset({LOAD_OUT, LOAD_BACK, PROBE}),
        frozenset({3}),
    ]


def test_zero_loss_can_be_requested() -> None:
    criterion = _criterion(kind="loss-ratio", at_most=0)
    assert _found(criterion, outcome())["0-1"][0] == "ok"
    assert _found(criterion, outcome(lost=1))["0-1"][0] == "fail"


def test_duplicates_do_not_hide_a_loss() -> None:
    judged = _with(LOAD_OUT, received=SENT, duplicate=500)
    assert judged.lost(LOAD_OUT) == 500
    assert _found(LossRatio(), judged)["0-1"][0] == "fail"


def test_frames_refused_are_lost_where_the_dut_drains_the_queue() -> None:
    streams = [
        stream_counts(LOAD_OUT, SENT - 100, refused=100),
        stream_counts(LOAD_BACK, SENT),
        stream_counts(PROBE, PROBES),
    ]
    by_dut = outcome(streams=streams, drained_by="dut")
    assert (by_dut.offered(LOAD_OUT), by_dut.lost(LOAD_OUT)) == (SENT, 100)
    assert _found(LossRatio(), by_dut)["0-1"] == ("fail", 100 / (SENT + PROBES))
    on_a_wire = outcome(streams=streams, drained_by="wire")
    assert (on_a_wire.offered(LOAD_OUT), on_a_wire.lost(LOAD_OUT)) == (SENT - 100, 0)


def test_a_loss_that_fell_into_a_stall_is_invalid(says: Says) -> None:
    """5 ms at 100 kpps: 505 frames came in that time, of which the queue held 101."""
    intervals = [interval(0), interval(1, lost=400, stalls_ns=[5_000_000]), interval(2)]
    found = LossRatio().evaluate(outcome(lost=400, intervals=intervals))
    assert (found[0].subject, found[0].outcome) == ("0-1", "invalid")
    assert found[0].text == says("400", "1,010,000", "0")


def test_a_loss_too_large_for_the_stall_fails() -> None:
    lost = 404 + ALLOWED_OUT + 1
    intervals = [interval(0), interval(1, lost=lost, stalls_ns=[5_000_000]), interval(2)]
    assert _found(LossRatio(), outcome(lost=lost, intervals=intervals))["0-1"][0] == "fail"


def test_a_loss_elsewhere_fails_whatever_stalled() -> None:
    intervals = [interval(0, lost=50), interval(1, stalls_ns=[5_000_000]), interval(2), interval(3)]
    assert _found(LossRatio(), outcome(lost=50, intervals=intervals))["0-1"][0] == "fail"


def test_no_frame_offered_cannot_be_evaluated(says: Says) -> None:
    streams = [stream_counts(each, 0) for each in (LOAD_OUT, LOAD_BACK, PROBE)]
    found = LossRatio().evaluate(outcome(streams=streams))
    assert [each.outcome for each in found] == ["invalid", "invalid"]
    assert found[0].text == says("0-1", "0.002")


def test_the_loss_budget_is_of_the_whole_planned_trial() -> None:
    assert LossRatio().losses_allowed(PLAN) == [
        LossBudget(frozenset({LOAD_OUT, PROBE}), pytest.approx(20.2)),
        LossBudget(frozenset({LOAD_BACK}), pytest.approx(20)),
    ]


def test_a_group_with_a_stream_of_unknown_length_has_no_budget() -> None:
    """Nobody knows how many frames go back to back, so no loss of theirs ends a trial early."""
    fast = replace(PLAN.streams[LOAD_OUT], rate_pps=None, pacing=Pacing("back-to-back"))
    plan = replace(PLAN, streams=(fast, *PLAN.streams[1:]))
    assert [each.streams for each in LossRatio().losses_allowed(plan)] == [frozenset({LOAD_BACK})]


@pytest.mark.parametrize(
    ("quantile", "value_ns"), [("min", 1), ("p50", 50), ("p99", 99), ("p99.9", 100), ("max", 100)]
)
def test_latency_is_held_to_its_limit_at_its_quantile(quantile: str, value_ns: int) -> None:
    judged = _with(PROBE, latency=samples(*list(range(1, 101)) * 10))
    kept = _criterion(kind="latency", quantile=quantile, at_most=f"{value_ns}ns")
    assert _found(kept, judged) == {"probe/0-1": ("ok", value_ns)}
    if value_ns > 1:
        broken = _criterion(kind="latency", quantile=quantile, at_most=f"{value_ns - 1}ns")
        assert _found(broken, judged) == {"probe/0-1": ("fail", value_ns)}


def test_a_broken_latency_bound_is_reported(says: Says) -> None:
    (finding,) = _criterion(kind="latency", quantile="p99", at_most="90ns").evaluate(outcome())
    assert finding.text == says("probe/0-1", "p99", "latency", "120", "90")
    assert (finding.rule, finding.limit, finding.unit) == ("latency-p99", 90, "ns")


@pytest.mark.parametrize(
    ("quantile", "needed"), [("p50", 2), ("p99", 100), ("p99.9", 1000), ("p99.99", 10_000)]
)
def test_a_quantile_of_too_few_samples_is_invalid(quantile: str, needed: int, says: Says) -> None:
    bound = _criterion(kind="latency", quantile=quantile, at_most="90ns")
    enough = _with(PROBE, latency=samples(*[50] * needed))
    assert _found(bound, enough) == {"probe/0-1": ("ok", 50)}
    too_few = _with(PROBE, latency=samples(*[200] * (needed - 1)))
    (finding,) = bound.evaluate(too_few)
    assert (finding.outcome, finding.value) == ("invalid", None)
    assert finding.text == says("probe/0-1", f"{needed - 1:,}", str(quantile), f"{needed:,}", "90")


@pytest.mark.parametrize("quantile", ["min", "max"])
def test_one_sample_has_a_minimum_and_a_maximum(quantile: str) -> None:
    bound = _criterion(kind="latency", quantile=quantile, at_most="90ns")
    assert _found(bound, _with(PROBE, latency=samples(80))) == {"probe/0-1": ("ok", 80)}


def test_latency_of_load_streams_and_of_one_stream() -> None:
    judged = _with(LOAD_BACK, latency=samples(7))
    of_loads = _criterion(kind="latency", quantile="max", at_most="9ns", role="load")
    assert _found(of_loads, judged) == {"load/0-1": ("invalid", None), "load/1-0": ("ok", 7)}
    for name in ("load/1-0", "load"):
        of_one = of_loads.model_copy(update={"stream": name})
        assert _found(of_one, judged)["load/1-0"] == ("ok", 7)
    assert list(_found(of_loads.model_copy(update={"stream": "load/1-0"}), judged)) == ["load/1-0"]


def test_latency_without_samples_or_streams_cannot_be_evaluated(says: Says) -> None:
    bound = _criterion(kind="latency", quantile="p99", at_most="1ms")
    touched = _with(PROBE, latency=Histogram(), latency_across_stalls=samples(200, 210))
    (finding,) = bound.evaluate(touched)
    assert finding.outcome == "invalid"
    assert finding.text == says("2", "p99")
    (finding,) = bound.evaluate(_with(PROBE, latency=Histogram()))
    assert finding.outcome == "invalid"
    assert finding.text == says("latency")
    (finding,) = bound.model_copy(update={"stream": "absent"}).evaluate(outcome())
    assert finding.outcome == "invalid"
    assert finding.text == says("stream", "absent")


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("out-of-order", "out_of_order"),
        ("duplicate", "duplicate"),
        ("corrupt", "corrupt"),
        ("misdirected", "misdirected"),
    ],
)
def test_frame_faults_are_counted_per_stream(kind: str, count: str) -> None:
    judged = _with(LOAD_BACK, **{count: 3})
    assert _found(_criterion(kind=kind), judged) == {
        "load/0-1": ("ok", 0),
        "load/1-0": ("fail", 3),
        "probe/0-1": ("ok", 0),
    }
    assert _found(_criterion(kind=kind, at_most=3), judged)["load/1-0"] == ("ok", 3)


def test_a_broken_frame_count_is_reported(says: Says) -> None:
    finding = _criterion(kind="corrupt", at_most=2).evaluate(_with(LOAD_BACK, corrupt=3))[1]
    assert finding.text == says("load/1-0", "3", "corrupt", "18-byte", "1,000,003", "2")


def _corrupt(check: FrameCheck = "checksums", **counts: int) -> Finding:
    judged = _with(LOAD_BACK, **counts)
    judged = replace(judged, plan=replace(judged.plan, check=check))
    return _criterion(kind="corrupt").evaluate(judged)[1]


def test_what_corrupt_covers_is_said(says: Says) -> None:
    whole = _corrupt(checked=SENT - 10, header_checked=10)
    assert whole.outcome == "ok"
    assert whole.text == says(
        "load/1-0", "18-byte", "signature", "1,000,000", "999,990", "IPv4", "10"
    )
    by_signature = _corrupt("signature")
    assert by_signature.outcome == "ok"
    assert by_signature.text == says("18-byte", "signature", "1,000,000")


def test_frames_that_came_back_without_their_checksums_may_be_damaged(says: Says) -> None:
    some = _corrupt(checked=SENT - 7, unchecked=7)
    assert some.outcome == "invalid"
    assert some.text == says("7")
    assert _corrupt(checked=SENT - 8, unchecked=7, corrupt=1).outcome == "fail"
    # A DUT that puts all of them into a tunnel is no reason to distrust some.
    assert _corrupt(unchecked=SENT).outcome == "ok"


def test_faults_of_frames_that_never_came_cannot_be_counted() -> None:
    found = _found(_criterion(kind="out-of-order"), _with(LOAD_BACK, received=0))
    assert found == {
        "load/0-1": ("ok", 0),
        "load/1-0": ("invalid", None),
        "probe/0-1": ("ok", 0),
    }
    damaged = _with(LOAD_BACK, received=0, corrupt=SENT)
    assert _found(_criterion(kind="corrupt"), damaged)["load/1-0"] == ("fail", SENT)


def test_a_stream_that_had_no_time_to_send_has_no_fault() -> None:
    """A probe of 10 a second in a trial of 50 ms."""
    unsent = _with(PROBE, sent=0, received=0)
    assert _found(_criterion(kind="corrupt"), unsent)["probe/0-1"] == ("ok", 0)


def test_the_default_criteria() -> None:
    assert default_criteria() == (
        LossRatio(at_most=2e-5, per="direction"),
        FrameCount(kind="corrupt"),
        FrameCount(kind="misdirected"),
        FrameCount(kind="duplicate"),
        FrameCount(kind="out-of-order"),
    )


def test_what_the_dut_is_allowed_is_not_judged_by_default() -> None:
    def kinds(*allowed: AllowedFault) -> list[str]:
        return [each.kind for each in default_criteria(allowed)]

    assert kinds("duplicate") == ["loss-ratio", "corrupt", "misdirected", "out-of-order"]
    assert kinds("out-of-order", "duplicate") == ["loss-ratio", "corrupt", "misdirected"]


@pytest.mark.parametrize(
    "settings",
    [
        {"kind": "loss"},
        {"kind": "latency", "quantile": "p95", "at_most": "1ms"},
        {"kind": "latency", "quantile": "p99", "at_most": 1000},
        {"kind": "loss-ratio", "at_most": "200%"},
        {"kind": "corrupt", "at_most": -1},
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        _criterion(**settings)

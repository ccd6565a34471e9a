"""Pass, fail or invalid: who is judged first, and what is reported."""

from plimsoll.generator.histogram import Histogram
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.latency_bound import LatencyBound
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.judging.tester import TesterLimits as Limits
from plimsoll.trial.judging.verdict import Judgement, judge, judge_goals
from plimsoll.trial.outcome.outcome import Outcome
from tests.unit.trial.trial_builder import (
    DURATION_S,
    LOAD_BACK,
    LOAD_OUT,
    PROBE,
    PROBE_PPS,
    RATE_PPS,
    dut_counters,
    interval,
    outcome,
    port_counts,
    stream_counts,
    worker_counts,
)
from tests.worded.says import Says

SENT = RATE_PPS * DURATION_S
P99 = LatencyBound.model_validate({"quantile": "p99", "at_most": "90ns"})
CRITERIA = (LossRatio(), FrameCount(kind="corrupt"))


def _judge(judged: Outcome, *more: LatencyBound) -> Judgement:
    return judge(judged, [*CRITERIA, *more], Limits())


def test_a_clean_trial_passes_with_every_rule_listed() -> None:
    judgement = _judge(outcome())
    assert judgement.verdict == "pass"
    assert judgement.reasons == ()
    assert {each.outcome for each in judgement.findings} == {"ok"}
    assert {"offered-rate", "runtime", "stall", "loss-ratio", "corrupt"} <= {
        each.rule for each in judgement.findings
    }


def test_every_broken_criterion_is_a_reason() -> None:
    judgement = _judge(outcome(lost=5000), P99)
    assert judgement.verdict == "fail"
    assert [(each.rule, each.subject) for each in judgement.reasons] == [
        ("loss-ratio", "0-1"),
        ("latency-p99", "probe/0-1"),
    ]


def test_a_tester_at_fault_is_judged_before_the_dut() -> None:
    judgement = _judge(outcome(lost=5000, workers=(worker_counts(80_000_000),)))
    assert judgement.verdict == "invalid"
    assert [each.rule for each in judgement.reasons] == ["stall"]
    assert any(each.outcome == "fail" for each in judgement.findings)


def test_counters_that_disagree_are_invalid() -> None:
    end = dut_counters(rx_0=1, tx_1=1, rx_1=1, tx_0=1)
    judgement = _judge(outcome(dut=(dut_counters(), end)))
    assert judgement.verdict == "invalid"
    assert {each.rule for each in judgement.reasons} == {"dut-counters"}


def test_a_loss_during_a_stall_is_invalid() -> None:
    intervals = [interval(0, lost=100, stalls_ns=[3_000_000]), interval(1)]
    judgement = _judge(outcome(lost=100, intervals=intervals))
    assert judgement.verdict == "invalid"
    assert [each.rule for each in judgement.reasons] == ["loss-ratio"]


def test_what_cannot_be_evaluated_does_not_pass() -> None:
    streams = [
        stream_counts(LOAD_OUT, SENT),
        stream_counts(LOAD_BACK, SENT),
        stream_counts(PROBE, PROBE_PPS * DURATION_S, latency=Histogram()),
    ]
    judgement = _judge(outcome(streams=streams), P99)
    assert judgement.verdict == "invalid"
    assert [each.rule for each in judgement.reasons] == ["latency-p99"]


def test_a_dut_that_returns_nothing_fails_though_it_has_no_latency() -> None:
    streams = [
        stream_counts(LOAD_OUT, SENT, lost=SENT),
        stream_counts(LOAD_BACK, SENT, lost=SENT),
        stream_counts(PROBE, PROBE_PPS * DURATION_S, PROBE_PPS * DURATION_S, latency=Histogram()),
    ]
    assert _judge(outcome(streams=streams), P99).verdict == "fail"


def _stopped_after(seconds: int, lost: int = 0) -> Outcome:
    streams = [
        stream_counts(LOAD_OUT, RATE_PPS * seconds, lost),
        stream_counts(LOAD_BACK, RATE_PPS * seconds),
        stream_counts(PROBE, PROBE_PPS * seconds),
    ]
    return outcome(streams=streams, sending_s=float(seconds), ended_by="stop")


def test_a_trial_stopped_early_fails_or_is_invalid_but_never_passes(says: Says) -> None:
    assert _judge(_stopped_after(2, lost=500)).verdict == "fail"
    judgement = _judge(_stopped_after(2))
    assert judgement.verdict == "invalid"
    assert judgement.reasons[0].text == says("2", "10")
    assert _judge(_stopped_after(10)).verdict == "pass"


def test_a_link_that_went_down_is_invalid(says: Says) -> None:
    ports = (port_counts(0), port_counts(1, link_up=False))
    judgement = _judge(outcome(lost=SENT, ports=ports))
    assert judgement.verdict == "invalid"
    assert judgement.reasons[0].text == says("1")


def test_each_goal_has_its_own_verdict() -> None:
    goals = {"ndr": [LossRatio(at_most=0)], "pdr": [LossRatio(at_most=0.005)], "p99": [P99]}
    judgements = judge_goals(outcome(lost=1000), goals, Limits())
    assert {goal: each.verdict for goal, each in judgements.items()} == {
        "ndr": "fail",
        "pdr": "pass",
        "p99": "fail",
    }
    assert [each.rule for each in judgements["p99"].reasons] == ["latency-p99"]


def test_a_tester_at_fault_is_so_for_every_goal() -> None:
    goals = {"ndr": [LossRatio(at_most=0)], "pdr": [LossRatio(at_most=0.005)]}
    spoiled = outcome(lost=1000, workers=(worker_counts(80_000_000),))
    for judgement in judge_goals(spoiled, goals, Limits()).values():
        assert judgement.verdict == "invalid"
        assert [each.rule for each in judgement.reasons] == ["stall"]


def test_a_trial_stopped_for_one_goal_says_nothing_of_another() -> None:
    goals = {"ndr": [LossRatio(at_most=0)], "pdr": [LossRatio(at_most=0.005)]}
    judgements = judge_goals(_stopped_after(2, lost=500), goals, Limits())
    assert judgements["ndr"].verdict == "fail"
    assert judgements["pdr"].verdict == "invalid"
    assert [each.rule for each in judgements["pdr"].reasons] == ["runtime"]

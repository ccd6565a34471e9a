"""What a trial's details say of flows."""

from plimsoll.record.trials.flow_summary import FlowRecord, FlowSummary
from plimsoll.report.parts.trial_details import trial_details
from tests.unit.record.trial_parts import record
from tests.worded.says import Says


def lossy(flow: int) -> FlowRecord:
    return FlowRecord(
        flow=flow,
        name=f"dst_port {5000 + flow}",
        sent=2000,
        received=800,
        duplicate=0,
        lost=1200,
        latency_min_ns=1,
        latency_mean_ns=2.0,
        latency_max_ns=3,
    )


def said(summary: FlowSummary | None) -> tuple[str, ...]:
    trial = record(1)
    stream = trial.streams[0].model_copy(update={"name": "load/0-1", "flows": summary})
    (detail,) = trial_details([trial.model_copy(update={"streams": (stream,)})], {}, None)
    return detail.flows


def test_the_flows_that_lost_most_are_named(says: Says) -> None:
    worst = tuple(map(lossy, range(12)))
    summary = FlowSummary(flows=65536, lossy=12, unseen=0, worst=worst, slowest=None)
    (words,) = said(summary)
    assert words == says("load/0-1", "12", "65,536", "dst_port", "5000", "1,200", "2,000", "5001")
    assert words.endswith("dst_port 5009: 1,200 of 2,000; and 2 more.")


def test_flows_without_a_loss_are_a_sentence_and_no_flows_are_none(says: Says) -> None:
    summary = FlowSummary(flows=64, lossy=0, unseen=0, worst=(), slowest=None)
    assert said(summary)[0] == says("load/0-1", "64")
    assert said(None) == ()

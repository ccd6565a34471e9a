"""The flows that lost most in a trial, as metrics next to those of its intervals."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.record.metrics.engine_samples import direction_name
from plimsoll.record.samples.metric_type import MetricSample, MetricType
from plimsoll.record.trials.trial_record import TrialRecord

_LOST = MetricType("trafficgen", "flow-lost-frames", "count", "frames", "sum")


def flow_samples(record: TrialRecord) -> Iterator[MetricSample]:
    """Frames that each of the named flows lost; none of streams that are not counted by flow."""
    for stream in record.streams:
        for flow in stream.flows.worst if stream.flows else ():
            names = {
                "stream": stream.name,
                "direction": direction_name(stream.tx_port, stream.rx_port),
                "tx_port": str(stream.tx_port),
                "rx_port": str(stream.rx_port),
                "flow": str(flow.flow),
                "fields": flow.name,
            }
            yield MetricSample(_LOST, names, flow.lost)

"""What the experiment's neighbours did during a trial, as metrics."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.record.samples.metric_type import MetricSample, MetricType
from plimsoll.record.trials.trial_record import TrialRecord

_TYPES: Mapping[str, MetricType] = {
    "bogo-ops/s": MetricType("noise", "bogo-ops-sec", "throughput", "bogo-ops/s", "sum"),
    "B/s": MetricType("noise", "bytes-sec", "throughput", "B/s", "sum"),
}


def noise_samples(record: TrialRecord) -> list[MetricSample]:
    """The intensity of each neighbour that said what it did; names are its place and its name."""
    return [
        MetricSample(
            _TYPES[each.unit], {"neighbour": str(place), "name": each.name}, each.intensity
        )
        for place, each in enumerate(record.noise)
        if each.intensity is not None
    ]

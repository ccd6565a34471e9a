"""What was found of a whole trial, as metrics next to those of its intervals."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.record.metrics.interval_samples import path_names
from plimsoll.record.samples.metric_type import MetricSample, MetricType
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.traffic.plan import StreamPlan

# Of several trials, or directions: whether all of them passed.
_RESULT = MetricType("trafficgen", "trial-result", "pass/fail", "", "min")
_VALUES = {"pass": 1.0, "fail": 0.0}


def verdict_samples(plans: Sequence[StreamPlan], record: TrialRecord) -> list[MetricSample]:
    """The trial's verdict, 1 for pass and 0 for fail, under the names of each direction.

    None of a trial that was invalid, or that was not judged: that is neither.
    """
    value = _VALUES.get(record.verdict)
    if value is None:
        return []
    return [MetricSample(_RESULT, names, value) for names in path_names(plans).values()]

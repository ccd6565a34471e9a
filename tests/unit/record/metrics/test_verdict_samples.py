"""A trial's verdict as a metric."""

import pytest

from plimsoll.record.metrics.interval_samples import verdict_samples
from plimsoll.record.trials.trial_record import Verdict
from tests.unit.record.trial_parts import PLANS, record

PAIR = {"port_pair": "0:1"}


@pytest.mark.parametrize(("verdict", "value"), [("pass", 1.0), ("fail", 0.0)])
def test_a_verdict_is_reported_for_each_direction(verdict: Verdict, value: float) -> None:
    samples = verdict_samples(PLANS, record(verdict=verdict))
    assert [(each.names, each.value) for each in samples] == [
        ({**PAIR, "tx_port": "0", "rx_port": "1"}, value),
        ({**PAIR, "tx_port": "1", "rx_port": "0"}, value),
    ]
    (metric,) = {each.metric for each in samples}
    assert (metric.source, metric.type) == ("trafficgen", "trial-result")
    # Of several, one that failed is what counts.
    assert (metric.metric_class, metric.aggregation) == ("pass/fail", "min")


@pytest.mark.parametrize("verdict", ["invalid", "none"])
def test_what_was_not_judged_neither_passed_nor_failed(verdict: Verdict) -> None:
    assert verdict_samples(PLANS, record(verdict=verdict)) == []

"""Which metrics there are of hosts, and which observers tell of them."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.observe.agent.registry import OBSERVERS
from plimsoll.record.run.observed_host import ObservedHostRecord
from plimsoll.record.samples.metric_type import MetricType


def observed_types() -> Mapping[tuple[str, str], MetricType]:
    """All that observers may tell, by source and type."""
    return {(each.source, each.type): each for one in OBSERVERS for each in one.types}


def why_missing(host: ObservedHostRecord, source: str, metric_type: str) -> str | None:
    """Why a metric was not read on a host; None where it was."""
    key = (source, metric_type)
    tellers = [one for one in OBSERVERS if key in {(t.source, t.type) for t in one.types}]
    reasons = [host.missing[one.name()] for one in tellers if one.name() in host.missing]
    if tellers and len(reasons) == len(tellers):
        return "; ".join(reasons)
    return None if source in host.sources else "it is not listed in observe.sources"

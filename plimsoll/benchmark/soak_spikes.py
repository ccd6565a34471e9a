"""Latencies of a soak that stand out, with their times and their cause where it is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from heapq import nlargest
from statistics import median

from plimsoll.benchmark.soak_series import MAX, SoakSeries
from plimsoll.record.soak_result import LatencySpike, SoakSpikes
from plimsoll.record.spikes import Spike

# Of the usual worst latency of an interval. It varies by half or so in a steady queue, and
# a spike should be something that is worth looking up in a trace.
FACTOR = 5.0
_SHOWN = 20


def spikes_of(
    spikes: Sequence[Spike],
    series: Sequence[SoakSeries],
    trials: Collection[int],
    begin_unix_ms: float,
) -> SoakSpikes:
    """The spikes of these trials' streams against what is usual by `series`."""
    usual_ns = {
        each.of: median(stretch.median for stretch in each.stretches) * 1e3
        for each in series
        if each.type == MAX
    }
    found = [
        _spike(spike, begin_unix_ms)
        for spike in spikes
        if spike.trial in trials and _stands_out(spike, usual_ns)
    ]
    counts = Counter(spike.cause for spike in found)
    worst = [
        spike
        for cause in counts
        for spike in nlargest(_SHOWN, (s for s in found if s.cause == cause), key=_latency_ns)
    ]
    return SoakSpikes(
        factor=FACTOR,
        usual_ns=usual_ns,
        counts=dict(counts),
        worst=tuple(sorted(worst, key=lambda spike: spike.at_s)),
    )


def _stands_out(spike: Spike, usual_ns: Mapping[str, float]) -> bool:
    if spike.kind != "latency" or spike.stream not in usual_ns:
        return False
    return spike.length_ns > FACTOR * usual_ns[spike.stream]


def _spike(spike: Spike, begin_unix_ms: float) -> LatencySpike:
    return LatencySpike(
        trial=spike.trial,
        at_s=(spike.begin_ms - begin_unix_ms) / 1e3,
        stream=spike.stream or "",
        latency_ns=spike.length_ns,
        cause=spike.attribution,
    )


def _latency_ns(spike: LatencySpike) -> int:
    return spike.latency_ns

"""Latencies of a soak that stand out, with their times and their cause where it is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import nlargest
from statistics import median

from plimsoll.methods.soak.result import LatencySpike, SoakSegment, SoakSpikes
from plimsoll.methods.soak.segments import begins_of
from plimsoll.methods.soak.series import MAX, SoakSeries
from plimsoll.record.causes.spikes import Spike

# Of the usual worst latency of an interval. It varies by half or so in a steady queue, and
# a spike should be something that is worth looking up in a trace.
FACTOR = 5.0
_SHOWN = 20


def spikes_of(
    spikes: Sequence[Spike],
    series: Sequence[SoakSeries],
    segments: Sequence[SoakSegment],
) -> SoakSpikes:
    """The spikes in these trials against what is usual by `series`."""
    begins_s = begins_of(segments)
    # When the soak began by each trial's own clock.
    zeros_ms = {s.trial: s.begin_unix_ns / 1e6 - begins_s[s.trial] * 1e3 for s in segments}
    usual_ns = {
        each.of: median(stretch.median for stretch in each.stretches) * 1e3
        for each in series
        if each.type == MAX
    }
    found = [
        _spike(spike, zeros_ms[spike.trial])
        for spike in spikes
        if spike.trial in zeros_ms and _stands_out(spike, usual_ns)
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
    usual = usual_ns.get(spike.stream or "")
    return spike.kind == "latency" and usual is not None and spike.length_ns > FACTOR * usual


def _spike(spike: Spike, zero_ms: float) -> LatencySpike:
    return LatencySpike(
        trial=spike.trial,
        at_s=(spike.begin_ms - zero_ms) / 1e3,
        stream=spike.stream or "",
        latency_ns=spike.length_ns,
        cause=spike.attribution,
    )


def _latency_ns(spike: LatencySpike) -> int:
    return spike.latency_ns

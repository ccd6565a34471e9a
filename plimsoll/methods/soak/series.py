"""A soak's series out of its record, reduced to the number of points requested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.methods.soak.result import SoakSegment
from plimsoll.methods.soak.segments import begins_of
from plimsoll.record.metrics.metrics import query_metrics
from plimsoll.record.run.run_directory import RunDirectory, trial_period

RX, LOST = "rx-pps", "lost-rx-pps"
P50, P99, MAX = "p50-round-trip-usec", "p99-round-trip-usec", "max-round-trip-usec"
# Medians, least and greatest of each stretch of `width` ms; the drain's rows are left out.
_STATEMENT = """
SELECT type, coalesce(names['stream'], names['tx_port'] || ' → ' || names['rx_port']) AS of,
       (begin_ms - ?) // ? AS stretch, median(value), min(value), max(value), count(*)
FROM rows
WHERE list_contains(?, type) AND (begin_ms + end_ms) / 2 < ?
GROUP BY ALL ORDER BY type, of, stretch
"""


@dataclass(frozen=True, slots=True)
class SeriesStretch:
    """A stretch of a series in one trial: its middle in s since the soak's first frame."""

    trial: int
    at_s: float
    median: float
    least: float
    greatest: float
    values: int


@dataclass(frozen=True, slots=True)
class SoakSeries:
    """One metric `type` of one stream, or of one direction as "0 → 1", by time."""

    type: str
    of: str
    stretches: tuple[SeriesStretch, ...]


def soak_series(
    run: RunDirectory, segments: Sequence[SoakSegment], types: Sequence[str], stretches: int
) -> tuple[SoakSeries, ...]:
    """The series of these types, each in at most about so many stretches.

    Rates are in pps, latencies in µs. Raises RecordError.
    """
    if not segments:
        return ()
    begins_s = begins_of(segments)
    length_s = begins_s[segments[-1].trial] + segments[-1].sending_s
    # Whole seconds: intervals that a stretch cuts would make it seem unsteady.
    width_s = max(1, round(length_s / stretches))
    found: dict[tuple[str, str], list[SeriesStretch]] = {}
    for segment in segments:
        begin_ms = segment.begin_unix_ns / 1e6
        zero_ms = round(begin_ms - begins_s[segment.trial] * 1e3)
        # Where a segment ended that was killed is unknown: it has no drain.
        killed = segment.verdict == "none"
        end_ms = math.inf if killed else begin_ms + segment.sending_s * 1e3
        rows = query_metrics(
            run,
            _STATEMENT,
            (zero_ms, width_s * 1000, list(types), end_ms),
            periods=[trial_period(segment.trial)],
        )
        for kind, of, stretch, *values in rows:
            at_s = (stretch + 0.5) * width_s
            found.setdefault((kind, of), []).append(SeriesStretch(segment.trial, at_s, *values))
    return tuple(SoakSeries(kind, of, tuple(each)) for (kind, of), each in found.items())

"""All latency samples of a stream over one trial, with both ends where stalls leave them open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hdrh.histogram import HdrHistogram

from plimsoll.generator.histogram import empty_hdr
from plimsoll.record.metrics.histogram_log import StreamKind, stream_tag
from plimsoll.record.trials.stream_record import StreamRecord


@dataclass(frozen=True, slots=True)
class LatencyDistribution:
    """In ns. `low` and `high` are of all samples, by what the DUT took at least and at most.

    `histogram` is of those that no stall of the tester can have delayed: where these are all, it
    is the same object as both ends.
    """

    stream: StreamRecord
    histogram: HdrHistogram
    low: HdrHistogram
    high: HdrHistogram

    @classmethod
    def of(
        cls, stream: StreamRecord, merged: Mapping[str, HdrHistogram]
    ) -> LatencyDistribution | None:
        """Of a stream by what the log has of each tag; None without samples."""

        def tagged(kind: StreamKind) -> HdrHistogram | None:
            return merged.get(stream_tag(stream.name, stream.tx_port, stream.rx_port, kind))

        exact, delayed, less = tagged("latency"), tagged("across-stalls"), tagged("less-stalls")
        if delayed is None or not delayed.get_total_count():
            return None if exact is None else cls(stream, exact, exact, exact)
        low, high = _together(exact, less), _together(exact, delayed)
        # How low these may have been is not known.
        unknown = high.get_total_count() - low.get_total_count()
        if unknown > 0:
            low.record_value(0, unknown)
        return cls(stream, exact or empty_hdr(), low, high)

    @property
    def lines(self) -> Mapping[str, HdrHistogram]:
        """What a chart draws, by name: a line, or one for each end where they differ."""
        name = f"{self.stream.name} ({self.stream.role})"
        if self.low is self.high:
            return {name: self.histogram}
        return {f"{name}, at least": self.low, f"{name}, at most": self.high}


def of_ends(distributions: Sequence[LatencyDistribution]) -> str:
    """To go behind a caption: what two lines of a stream are, where one has two."""
    if all(each.low is each.high for each in distributions):
        return ""
    return (
        " Where stalls of the tester may have delayed samples of a stream, one line is the least "
        "that the DUT took and another the most."
    )


def _together(*parts: HdrHistogram | None) -> HdrHistogram:
    total = empty_hdr()
    for part in parts:
        if part is not None:
            total.add(part)
    return total

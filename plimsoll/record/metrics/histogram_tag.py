"""Which histograms of the log are behind a type of metric."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.record.metrics.histogram_log import gaps_tag, stream_tag


def tag_of(kind: str, names: Mapping[str, str]) -> str | None:
    """The tag of a series, such as p99-round-trip-usec of a stream; None where there is none."""
    of = kind.partition("-")[2]
    try:
        if of == "gap-usec":
            return gaps_tag(int(names["lcore"]))
        if of not in ("round-trip-usec", "tx-lateness-usec"):
            return None
        path = (names["stream"], int(names["tx_port"]), int(names["rx_port"]))
    except (KeyError, ValueError):
        return None
    return stream_tag(*path, "latency" if of == "round-trip-usec" else "lateness")

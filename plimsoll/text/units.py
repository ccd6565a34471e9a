"""Units as the search library reads and writes them, and what reports need on top."""

from __future__ import annotations

from plimsoll.search.text.units import (
    WRITTEN,
    DurationField,
    LatencyField,
    PpsField,
    Rate,
    RateField,
    RateUnit,
    RatioField,
    format_duration,
    format_ns,
    format_number,
    format_pps,
    format_ratio,
    in_units_of,
    parse_duration,
    parse_latency_ns,
    parse_rate,
    parse_ratio,
)

__all__ = [
    "WRITTEN",
    "DurationField",
    "LatencyField",
    "PpsField",
    "Rate",
    "RateField",
    "RateUnit",
    "RatioField",
    "format_duration",
    "format_ns",
    "format_ns_between",
    "format_number",
    "format_pps",
    "format_ratio",
    "in_units_of",
    "parse_duration",
    "parse_latency_ns",
    "parse_rate",
    "parse_ratio",
]


def format_ns_between(low_ns: float, high_ns: float) -> str:
    """For people: both ends of what is known to lie between them, "2.9 ms to 9 ms", or the one."""
    low, high = format_ns(low_ns), format_ns(high_ns)
    return high if low == high else f"{low} to {high}"

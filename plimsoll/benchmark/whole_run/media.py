"""What carries the frames, as reports of standard tests tell it."""

from __future__ import annotations

from plimsoll.benchmark.testbed.testbed import Testbed


def media_of(bed: Testbed) -> str:
    """The tester's ports and their line rate."""
    drivers = ", ".join(dict.fromkeys(port.driver for port in bed.generator.ports))
    if bed.line_rate_bps is None:
        return f"{drivers}, without a line rate"
    return f"{drivers} at {bed.line_rate_bps / 1e9:g} Gbps"

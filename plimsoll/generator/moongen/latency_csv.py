"""The CSV of MoonGen's histograms."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from plimsoll.generator.histogram import HIGHEST_NS
from plimsoll.generator.scripted.latency_file import LatencyFile

# A latency in ns and how often it was seen, by Lua's %s of two numbers (histogram:save of
# libmoon's lua/histogram.lua).
_LINE = re.compile(r"(\d{1,15}(?:\.\d{1,15})?),(\d{1,15})")
# As many latencies as differ; the timestamper keeps those below twice what it waits.
_MOST_BYTES = 64_000_000


def read_latencies(file: Path) -> Counter[int]:
    """How many there are of each latency, to 1 ns.

    Raises GeneratorDied where it is no file of `histogram:save`.
    """
    given = LatencyFile(
        file, "MoonGen's latencies", "use a MoonGen of 2021 or later, with its own libmoon"
    )
    *lines, rest = given.lines(_MOST_BYTES)
    if rest:
        raise given.unread(f"it ends in {rest[:50]!r}")
    samples: Counter[int] = Counter()
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None or float(found[1]) > HIGHEST_NS:
            raise given.unread(f"it has the line {line[:50]!r}")
        samples[round(float(found[1]))] += int(found[2])
    return samples

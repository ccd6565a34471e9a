"""The CSV of MoonGen's histograms."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from plimsoll.generator.histogram import HIGHEST_NS
from plimsoll.generator.interface import GeneratorDied

# A latency in ns and how often it was seen, by Lua's %s of two numbers (histogram:save of
# libmoon's lua/histogram.lua).
_LINE = re.compile(r"(\d{1,15}(?:\.\d{1,15})?),(\d{1,15})")
# As many latencies as differ; the timestamper keeps those below twice what it waits.
_MOST_BYTES = 64_000_000


def read_latencies(file: Path) -> Counter[int]:
    """How many there are of each latency, to 1 ns.

    Raises GeneratorDied where it is no file of `histogram:save`.
    """
    try:
        with file.open("rb") as opened:
            *lines, rest = opened.read(_MOST_BYTES + 1).decode("ascii").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise _unread(file, str(error)) from error
    if rest:
        raise _unread(file, f"it ends in {rest[:50]!r}")
    samples: Counter[int] = Counter()
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None or float(found[1]) > HIGHEST_NS:
            raise _unread(file, f"it has the line {line[:50]!r}")
        samples[round(float(found[1]))] += int(found[2])
    return samples


def _unread(file: Path, why: str) -> GeneratorDied:
    return GeneratorDied(
        f"MoonGen's latencies in {file.name} cannot be read: {why}",
        where="generator",
        remedy="use a MoonGen of 2021 or later, with its own libmoon",
    )

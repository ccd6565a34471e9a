"""The file of Pktgen's latency sampler."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from plimsoll.generator.histogram import HIGHEST_NS
from plimsoll.generator.scripted.latency_file import LatencyFile

_TITLE = "Latency"
_LONGEST_NUMBER = 20
_MOST_BYTES = 2_000_000


def read_samples(file: Path) -> Counter[int]:
    """How many there are of each sample, in ns.

    Raises GeneratorDied where it is not a file of Pktgen's sampler.

    It has a title, and then a sample a line (pktgen_stop_latency_sampler of its sources).
    """
    given = LatencyFile(
        file,
        "Pktgen's latency samples",
        "use a Pktgen of 24.07 or later, and CPUs whose TSCs agree",
    )
    title, *lines = given.lines(_MOST_BYTES)
    if title != _TITLE or lines[-1:] != [""]:
        raise given.unread("it does not begin and end as one")
    return Counter(_sample(line, given) for line in lines[:-1])


def _sample(line: str, given: LatencyFile) -> int:
    if not (line.isdigit() and len(line) <= _LONGEST_NUMBER):
        raise given.unread(f"it has the line {line[:50]!r}")
    # TSCs of two CPUs may be apart by some ticks: a negative latency is a huge number here.
    sample = int(line)
    if sample > HIGHEST_NS:
        raise given.unread(f"it has a latency of {sample} ns")
    return sample

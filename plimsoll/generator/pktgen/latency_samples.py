"""The file of Pktgen's latency sampler."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from plimsoll.generator.histogram import HIGHEST_NS
from plimsoll.generator.interface import GeneratorDied

_TITLE = "Latency"
_LONGEST_NUMBER = 20
_MOST_BYTES = 2_000_000


def read_samples(file: Path) -> Counter[int]:
    """How many there are of each sample, in ns.

    Raises GeneratorDied where it is not a file of Pktgen's sampler.

    It has a title, and then a sample a line (pktgen_stop_latency_sampler of its sources).
    """
    try:
        with file.open("rb") as opened:
            title, *lines = opened.read(_MOST_BYTES + 1).decode("ascii").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise _unread(file, str(error)) from error
    if title != _TITLE or lines[-1:] != [""]:
        raise _unread(file, "it does not begin and end as one")
    return Counter(_sample(line, file) for line in lines[:-1])


def _sample(line: str, file: Path) -> int:
    if not (line.isdigit() and len(line) <= _LONGEST_NUMBER):
        raise _unread(file, f"it has the line {line[:50]!r}")
    # TSCs of two CPUs may be apart by some ticks: a negative latency is a huge number here.
    sample = int(line)
    if sample > HIGHEST_NS:
        raise _unread(file, f"it has a latency of {sample} ns")
    return sample


def _unread(file: Path, why: str) -> GeneratorDied:
    return GeneratorDied(
        f"Pktgen's latency samples in {file.name} cannot be read: {why}",
        where="generator",
        remedy="use a Pktgen of 24.07 or later, and CPUs whose TSCs agree",
    )

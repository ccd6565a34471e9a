"""The versions of everything that had a part in a run."""

from __future__ import annotations

import platform

from plimsoll.generator.interface import GeneratorFacts
from plimsoll.version import VERSION


def versions(generator: GeneratorFacts | None) -> dict[str, str | None]:
    """By name; the engine's are null before it was started, and where another sends.

    A simulation's is Plimsoll's, as are its DUTs.
    """
    found: dict[str, str | None] = {
        "plimsoll": VERSION,
        "python": platform.python_version(),
        "engine": None,
        "dpdk": None,
    }
    if generator is not None:
        found |= {generator.name: generator.version, "dpdk": generator.dpdk}
    return found

"""The versions of everything that had a part in a run."""

from __future__ import annotations

import platform

from plimsoll.generator.interface import GeneratorFacts
from plimsoll.version import VERSION


def versions(generator: GeneratorFacts | None) -> dict[str, str | None]:
    """By name; the engine's are null before it was started, and where there is none.

    Only a simulation has one of its own: its DUTs are Plimsoll's.
    """
    simulation = {"simulation": VERSION} if generator and generator.simulated else {}
    return {
        **simulation,
        "plimsoll": VERSION,
        "python": platform.python_version(),
        "engine": generator.engine if generator else None,
        "dpdk": generator.dpdk if generator else None,
    }

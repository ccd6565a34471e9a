"""The versions of everything that had a part in a run."""

from __future__ import annotations

import platform

from plimsoll.generator.engine_messages import Hello
from plimsoll.version import VERSION


def versions(engine: Hello | None) -> dict[str, str | None]:
    """By name; the engine's are null before it was started."""
    return {
        "plimsoll": VERSION,
        "python": platform.python_version(),
        "engine": engine.version if engine else None,
        "dpdk": engine.dpdk if engine else None,
    }

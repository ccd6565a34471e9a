"""Where the kernel's trace file system is, and whether we may use it."""

from __future__ import annotations

import os
from pathlib import Path

from plimsoll.observe.kernel_trace.trace_unavailable import TraceUnavailable

_MOUNTS = Path("/proc/mounts")
# Where the kernel keeps an empty directory for it, and where debugfs mounts it by itself.
_USUAL = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))


def find_tracefs(
    mounts: Path = _MOUNTS, usual: tuple[Path, ...] = _USUAL
) -> Path | TraceUnavailable:
    """The directory where tracefs is mounted and instances may be made.

    We never mount it ourselves: others would come to rely on a mount that goes with a run.
    """
    place = next(iter(_mounted(mounts)), None) or _automounted(usual)
    if place is None:
        return TraceUnavailable(
            "tracefs is not mounted", "mount it: mount -t tracefs nodev /sys/kernel/tracing"
        )
    if not os.access(place / "instances", os.W_OK | os.X_OK):
        return TraceUnavailable(
            f"no permission to make a trace instance in {place}/instances",
            "run as root, or with the capabilities DAC_OVERRIDE and PERFMON or SYS_ADMIN",
        )
    return place


def _mounted(mounts: Path) -> list[Path]:
    """The directories where a tracefs is mounted, those at the usual places first."""
    try:
        lines = [line.split() for line in mounts.read_text(errors="replace").splitlines()]
    except OSError:
        return []
    found = [Path(words[1]) for words in lines if len(words) > 2 and words[2] == "tracefs"]
    return sorted(found, key=lambda path: path not in _USUAL)


def _automounted(usual: tuple[Path, ...]) -> Path | None:
    """debugfs mounts tracefs when its directory is first looked into."""
    for place in usual:
        try:
            if (place / "instances").is_dir():
                return place
        except OSError:
            continue
    return None

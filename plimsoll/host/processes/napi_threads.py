"""The kernel's threads that poll an interface for frames, where it is set to be polled by such."""

from __future__ import annotations

from pathlib import Path

_PROC = Path("/proc")


def napi_threads(interface: str, proc: Path = _PROC) -> tuple[int, ...]:
    """The threads of an interface whose name no other of the machine has, by number.

    The kernel calls them napi/<interface>-<number>, in whatever namespace the interface is.
    None are found within a PID namespace (a container), where the kernel's are not shown.
    """
    found = []
    for entry in proc.glob("[0-9]*"):
        try:
            name = (entry / "comm").read_text().strip()
        except OSError:
            continue
        if name.rpartition("-")[0] == f"napi/{interface}":
            found.append(int(entry.name))
    return tuple(sorted(found))

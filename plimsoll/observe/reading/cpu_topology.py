"""Where each CPU sits: package, die, core and thread, as the kernel tells it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plimsoll.host.cpus import parse_cpu_list
from plimsoll.observe.reading.host_files import HostFiles, read_text


def cpu_names(files: HostFiles, cpu: int) -> Mapping[str, str]:
    """The breakouts of a CPU: num, package, die, core, thread, as far as they are known."""
    topology = files.sys / "devices/system/cpu" / f"cpu{cpu}" / "topology"
    found = {
        "package": read_text(topology / "physical_package_id"),
        "die": read_text(topology / "die_id"),
        "core": read_text(topology / "core_id"),
        "thread": _thread(topology, cpu),
    }
    # A virtual machine may say -1 where there is no such thing.
    known = {name: value for name, value in found.items() if value and not value.startswith("-")}
    return {**known, "num": str(cpu)}


def _thread(topology: Path, cpu: int) -> str | None:
    """Its place among the threads of its core."""
    siblings = read_text(topology / "thread_siblings_list")
    return None if not siblings else str(parse_cpu_list(siblings).index(cpu))

"""What can be known to be wrong with an experiment's neighbours before any is started."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from plimsoll.errors import InputError, MachineError, PlimsollError
from plimsoll.host.cpus import cpu_mistakes
from plimsoll.neighbours.neighbour import NeighbourModel
from plimsoll.text.counted import size_text

CGROUP_ROOT = Path("/sys/fs/cgroup")
_MEMINFO = Path("/proc/meminfo")
_WITHOUT = "or leave the noise out: --set noise=[]"


def noise_mistakes(
    noise: Sequence[NeighbourModel], *, simulated: bool, meminfo: Path = _MEMINFO
) -> Iterator[PlimsollError]:
    """All that is wrong, by the neighbours' places in the experiment."""
    if noise and simulated:
        yield InputError(
            "a simulated lab has no machine that could be disturbed",
            where="noise",
            remedy=f"use a lab of another kind, {_WITHOUT}",
        )
        return
    for index, neighbour in enumerate(noise):
        yield from _mistakes(f"noise[{index}]", neighbour)
    total = sum(neighbour.memory_bytes for neighbour in noise)
    if total > (available := _available_bytes(meminfo)):
        yield MachineError(
            f"the working sets take {size_text(total)}, and {size_text(available)} are available",
            where="noise",
            remedy=f"state smaller ones, or fewer workers, {_WITHOUT}",
        )


def cgroup_folder(cgroup: str) -> Path:
    """Where the kernel shows it."""
    return CGROUP_ROOT / cgroup


def _mistakes(place: str, neighbour: NeighbourModel) -> Iterator[PlimsollError]:
    for number, cpu in enumerate(neighbour.cpus):
        # One by one: a CPU may well be a polling loop's, or another neighbour's.
        yield from cpu_mistakes([(f"{place}.cpus[{number}]", cpu)])
    if neighbour.cgroup is not None:
        yield from _cgroup_mistakes(f"{place}.cgroup", cgroup_folder(neighbour.cgroup))
    folder = neighbour.work_directory
    if folder is not None and not (folder.is_dir() and os.access(folder, os.W_OK)):
        yield MachineError(
            f"{folder} is not a directory that can be written",
            where=f"{place}.directory",
            remedy="name one that can, on the disk that is meant",
        )
    try:
        neighbour.find_program()
    except MachineError as error:
        error.where = place
        yield error


def _cgroup_mistakes(place: str, folder: Path) -> Iterator[PlimsollError]:
    members = folder / "cgroup.procs"
    if not members.is_file():
        yield MachineError(
            f"there is no cgroup {folder}",
            where=place,
            remedy=f"make it, or name one below {CGROUP_ROOT} that is there",
        )
    elif not os.access(members, os.W_OK):
        yield MachineError(
            f"this user may not put processes into {folder}",
            where=place,
            remedy="run as root, or name a cgroup that is delegated to this user",
        )


def _available_bytes(meminfo: Path) -> int:
    """Of the kernel's estimate of what can be had without swapping."""
    for line in meminfo.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise MachineError("says nothing of MemAvailable", where=str(meminfo))

"""Which CPUs there are, which we may use, and whether an experiment assigns them soundly."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from plimsoll.errors import InputError, MachineError

_ONLINE = Path("/sys/devices/system/cpu/online")
_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)
# The kernel's own upper bound (NR_CPUS on x86-64), so that "0-999999" cannot exhaust memory.
_MAX_CPUS = 8192


def online_cpus(online: Path = _ONLINE) -> frozenset[int]:
    """The CPUs that the kernel schedules on, by number."""
    return frozenset(parse_cpu_list(online.read_text().strip(), where=str(online)))


def allowed_cpus() -> frozenset[int]:
    """The CPUs that this process may run on: its affinity, which cpusets and taskset narrow."""
    return frozenset(os.sched_getaffinity(0))


def parse_cpu_list(text: str, where: str = "") -> tuple[int, ...]:
    """The CPUs of a list in the kernel's form, "2-5,8", ascending.

    Raises InputError, placed at `where`, on anything else and on a CPU named twice.
    """
    cpus = [cpu for part in text.split(",") for cpu in _parse_range(part.strip(), text, where)]
    if len(set(cpus)) != len(cpus):
        raise InputError(
            f"the CPU list {text!r} names a CPU twice", where=where, remedy="name each CPU once"
        )
    return tuple(sorted(cpus))


def check_cpus(
    assignments: Sequence[tuple[str, int]],
    *,
    online: Collection[int] | None = None,
    allowed: Collection[int] | None = None,
) -> None:
    """Refuse a CPU that is missing, forbidden or used twice.

    Each assignment is (place in the experiment, CPU), such as ("lab.cpu", 1). The sets
    of CPUs default to this machine's. Raises InputError naming the places, and MachineError
    where the machine's CPUs are not known.
    """
    for mistake in cpu_mistakes(assignments, online=online, allowed=allowed):
        raise mistake


def cpu_mistakes(
    assignments: Sequence[tuple[str, int]],
    *,
    online: Collection[int] | None = None,
    allowed: Collection[int] | None = None,
) -> Iterator[InputError]:
    """All that `check_cpus` would refuse, in the order of the assignments.

    Raises MachineError where the machine's CPUs are not known.
    """
    online = _cpus_of_machine() if online is None else online
    allowed = allowed_cpus() if allowed is None else allowed
    taken: dict[int, str] = {}
    for place, cpu in assignments:
        if (unusable := _unusable(place, cpu, online, allowed)) is not None:
            yield unusable
        if cpu in taken:
            yield InputError(
                f"CPU {cpu} is already used by {taken[cpu]}",
                where=place,
                remedy="give every polling loop a CPU of its own",
            )
        taken.setdefault(cpu, place)


def format_cpu_list(cpus: Collection[int]) -> str:
    """The shortest list in the kernel's form: {2, 3, 4, 8} is "2-4,8"."""
    runs: list[tuple[int, int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], cpu)
        else:
            runs.append((cpu, cpu))
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _cpus_of_machine() -> frozenset[int]:
    try:
        return online_cpus()
    except OSError as error:
        raise MachineError(
            f"which CPUs there are cannot be read: {error.strerror}",
            where=str(_ONLINE),
            remedy="mount it: mount -t sysfs sysfs /sys",
        ) from error


def _parse_range(part: str, text: str, where: str) -> range:
    match = _RANGE.fullmatch(part)
    first = int(match[1]) if match else -1
    last = int(match[2]) if match and match[2] else first
    if max(first, last) >= _MAX_CPUS:
        raise InputError(
            f"{text!r} names CPU {max(first, last)}, and Linux numbers at most {_MAX_CPUS}",
            where=where,
            remedy=f"name CPUs from 0 to {_MAX_CPUS - 1}",
        )
    if not 0 <= first <= last:
        raise InputError(
            f"{text!r} is not a list of CPUs",
            where=where,
            remedy="write numbers and ascending ranges, for example 2-5,8",
        )
    return range(first, last + 1)


def _unusable(
    place: str, cpu: int, online: Collection[int], allowed: Collection[int]
) -> InputError | None:
    if cpu not in online:
        return InputError(
            f"CPU {cpu} does not exist or is offline",
            where=place,
            remedy=f"choose from the CPUs of this machine: {format_cpu_list(online)}",
        )
    if cpu not in allowed:
        return InputError(
            f"CPU {cpu} exists, but this process may not run on it",
            where=place,
            remedy=f"choose from {format_cpu_list(allowed)}, or widen its affinity or cpuset",
        )
    return None

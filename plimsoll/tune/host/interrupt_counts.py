"""How often each CPU was interrupted since the boot, by kind."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.unread import CannotRead, Unread
from plimsoll.tune.host.whole_number import whole_number

INTERRUPTS = "/proc/interrupts"
SOFTIRQS = "/proc/softirqs"
UPTIME = "/proc/uptime"

# The architecture's own; every numbered one is a device's.
DEVICE = "device"
_CPU = re.compile(r"CPU(\d{1,4})")


def counted_cpus(view: HostView) -> frozenset[int]:
    """The CPUs that /proc/interrupts has a column for: those online. Raises CannotRead."""
    return frozenset(_columns(INTERRUPTS, view.need(INTERRUPTS)))


def interrupts_on(view: HostView, cpus: Collection[int]) -> Mapping[str, int]:
    """Interrupts of `cpus` by kind: "LOC", "RES", ... and "device". Raises CannotRead."""
    counts: dict[str, int] = {}
    for name, count in _counted(INTERRUPTS, view.need(INTERRUPTS), cpus):
        kind = DEVICE if name.isdigit() else name
        counts[kind] = counts.get(kind, 0) + count
    return counts


def softirqs_on(view: HostView, cpus: Collection[int]) -> Mapping[str, int]:
    """Softirqs of `cpus` by kind: "TIMER", "NET_RX", ... Raises CannotRead."""
    return dict(_counted(SOFTIRQS, view.need(SOFTIRQS), cpus))


def uptime_s(view: HostView) -> float:
    """How long ago the boot was. Raises CannotRead."""
    text = view.need(UPTIME)
    try:
        return float(text.split()[0])
    except (IndexError, ValueError):
        raise CannotRead(Unread(UPTIME, "unreadable", "holds no number")) from None


def _counted(where: str, text: str, cpus: Collection[int]) -> list[tuple[str, int]]:
    """Each line's name and its sum over `cpus`; lines that count no CPUs are left out."""
    columns = _columns(where, text)
    wanted = [place for place, cpu in enumerate(columns) if cpu in cpus]
    found: list[tuple[str, int]] = []
    for line in text.splitlines()[1:]:
        name, colon, rest = line.partition(":")
        fields = [whole_number(field) for field in rest.split()[: len(columns)]]
        # ERR and MIS are single numbers of the whole host.
        if colon and len(fields) == len(columns) and None not in fields:
            found.append((name.strip(), sum(fields[place] or 0 for place in wanted)))
    return found


def _columns(where: str, text: str) -> list[int]:
    columns = [int(number) for number in _CPU.findall(text.partition("\n")[0])]
    if not columns:
        raise CannotRead(Unread(where, "unreadable", "its first line names no CPUs"))
    return columns

"""How often each CPU was interrupted since the boot, by kind."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread
from plimsoll.tune.host.view.whole_number import whole_number

INTERRUPTS = "/proc/interrupts"
SOFTIRQS = "/proc/softirqs"
UPTIME = "/proc/uptime"
# Every numbered one that no CPU has for itself.
DEVICE = "device"
_CPU = re.compile(r"CPU(\d{1,4})")
# Chip, trigger and handlers stand apart by two spaces and more.
_COLUMN = re.compile(r"\s{2,}")
# Arm's and RISC-V's: timers, counters, what KVM has of both, IPIs, and Xen's event channels.
# x86 gives its own of the kind no numbers, but names such as LOC.
_NAME = re.compile(
    r"arch_timer|riscv-timer|arm-pmu|arm_spe_pmu|arm_trbe|kvm guest [vp]timer|vgic|IPI|events"
)
# Those that are a CPU's tick, by the name that /proc/interrupts has.
TICKS = frozenset({"LOC", "arch_timer", "riscv-timer"})


def counted_cpus(view: HostView) -> frozenset[int]:
    """The CPUs that /proc/interrupts has a column for: those online. Raises CannotRead."""
    return frozenset(_columns(INTERRUPTS, view.need(INTERRUPTS)))


def interrupts_on(view: HostView, cpus: Collection[int]) -> Mapping[str, int]:
    """Interrupts of `cpus` by kind: "LOC", "arch_timer", ... and "device". Raises CannotRead."""
    counts: dict[str, int] = {}
    for line in _counted(INTERRUPTS, view.need(INTERRUPTS), cpus):
        kind = _kind(line)
        counts[kind] = counts.get(kind, 0) + line.count
    return counts


def softirqs_on(view: HostView, cpus: Collection[int]) -> Mapping[str, int]:
    """Softirqs of `cpus` by kind: "TIMER", "NET_RX", ... Raises CannotRead."""
    return {line.name: line.count for line in _counted(SOFTIRQS, view.need(SOFTIRQS), cpus)}


def uptime_s(view: HostView) -> float:
    """How long ago the boot was. Raises CannotRead."""
    text = view.need(UPTIME)
    try:
        return float(text.split()[0])
    except (IndexError, ValueError):
        raise CannotRead(Unread(UPTIME, "unreadable", "holds no number")) from None


@dataclass(frozen=True, slots=True)
class _Line:
    """`count` is its sum over the CPUs selected, `users` the last column: the handlers."""

    name: str
    count: int
    users: str


def _kind(line: _Line) -> str:
    if not line.name.isdigit():
        return line.name
    return line.users if is_of_each_cpu(line.users) else DEVICE


def _counted(where: str, text: str, cpus: Collection[int]) -> list[_Line]:
    """The lines that count by CPU."""
    columns = _columns(where, text)
    expected = [place for place, cpu in enumerate(columns) if cpu in cpus]
    found: list[_Line] = []
    for line in text.splitlines()[1:]:
        name, colon, rest = line.partition(":")
        fields = [whole_number(field) for field in rest.split()[: len(columns)]]
        # ERR and MIS are single numbers of the whole host.
        if colon and len(fields) == len(columns) and None not in fields:
            count = sum(fields[place] or 0 for place in expected)
            found.append(_Line(name.strip(), count, _COLUMN.split(rest.strip())[-1]))
    return found


def _columns(where: str, text: str) -> list[int]:
    columns = [int(number) for number in _CPU.findall(text.partition("\n")[0])]
    if not columns:
        raise CannotRead(Unread(where, "unreadable", "its first line names no CPUs"))
    return columns


# Interrupts with a number that are not a device's: each CPU has its own of them.
def is_of_each_cpu(name: str) -> bool:
    """Whether a numbered interrupt with this handler's name is each CPU's own."""
    return _NAME.fullmatch(name) is not None

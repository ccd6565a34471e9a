"""Device interrupts: which CPUs may take them, which do, and who can change that."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread, whole_number

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


DEFAULT_AFFINITY = "/proc/irq/default_smp_affinity"
IRQ_READS = (
    "/proc/irq/[0-9]*/smp_affinity_list",
    "/proc/irq/[0-9]*/effective_affinity_list",
    "/sys/kernel/irq/[0-9]*/actions",
    "/sys/kernel/debug/irq/irqs/[0-9]*",
)
# What GENERIC_IRQ_DEBUGFS prints of an interrupt whose affinity is the kernel's own, and of
# one that each CPU has for itself.
_MANAGED_FLAGS = ("IRQD_AFFINITY_MANAGED", "IRQD_NO_BALANCING")
_OF_EACH_CPU_FLAG = "IRQD_PER_CPU"
# Queues of drivers that leave their spreading to the kernel (pci_alloc_irq_vectors with
# PCI_IRQ_AFFINITY, or virtio's affinity descriptor): nothing written to smp_affinity counts.
# Nor of x86's interrupt 0, which the chipset's timer keeps on the boot CPU.
_MANAGED_NAME = re.compile(
    r"timer|nvme\d+q[1-9]\d*|virtio\d+-req(uest)?\.\d+|megasas\S*msix\S*|(mega|mpt3)sas\d*-msix\d+"
    r"|smartpqi|hpsa\d+-msix\d+|lpfc:\d+|qla2xxx\S*qpair\S*"
)


@dataclass(frozen=True, slots=True)
class Irq:
    """`allowed` are the CPUs that may take it, `taking` those that do as the kernel chose.

    `managed`: its affinity is the kernel's own, and cannot be written.
    """

    number: int
    name: str
    allowed: frozenset[int]
    taking: frozenset[int]
    managed: bool


def read_irqs(view: HostView) -> Iterator[Irq]:
    """Every device interrupt that has a handler, by number. Raises CannotRead.

    Those that each CPU has for itself are not a device's, and are left out: their smp_affinity
    names all CPUs and means nothing.
    """
    names = view.listing("/proc/irq")
    if names is None:
        raise CannotRead(view.why_not("/proc/irq") or Unread("/proc/irq", "absent"))
    for number in sorted(int(name) for name in names if name.isascii() and name.isdigit()):
        name = view.find(f"/sys/kernel/irq/{number}/actions")
        if name and not _of_each_cpu(view, number, name):
            allowed = _cpus(view, f"/proc/irq/{number}/smp_affinity_list")
            taking = _cpus(view, f"/proc/irq/{number}/effective_affinity_list")
            managed = _managed(view, number, name)
            yield Irq(number, name, allowed, taking or allowed, managed)


def _cpus(view: HostView, path: str) -> frozenset[int]:
    """None of an interrupt that is gone, or on a kernel that does not tell."""
    text = view.find(path)
    if not text:
        return frozenset()
    try:
        return frozenset(parse_cpu_list(text))
    except InputError as error:
        raise CannotRead(Unread(path, "unreadable", error.message)) from None


def _managed(view: HostView, number: int, name: str) -> bool:
    """As the kernel's debugfs says, which only root reads; else by the name."""
    message = view.read(f"/sys/kernel/debug/irq/irqs/{number}")
    if message is not None:
        return any(flag in message for flag in _MANAGED_FLAGS)
    return _MANAGED_NAME.fullmatch(name) is not None


def _of_each_cpu(view: HostView, number: int, name: str) -> bool:
    message = view.read(f"/sys/kernel/debug/irq/irqs/{number}")
    if message is not None:
        return _OF_EACH_CPU_FLAG in message
    return is_of_each_cpu(name)

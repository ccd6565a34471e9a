"""Interrupts of each kind and CPU, from /proc/interrupts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from plimsoll.observe.procfs.per_cpu_table import PerCpuTable
from plimsoll.observe.reading.host_files import printable
from plimsoll.observe.reading.observer import ObservedHost, Observer
from plimsoll.observe.reading.readings import Readings
from plimsoll.record.samples.metric_type import MetricType

_INTERRUPTS = MetricType(
    "procstat", "interrupts-sec", "throughput", "1/s", "sum", counted=True, carried=True
)
# What stands behind the counts of a device's interrupt (the kernel's kernel/irq/proc.c):
#   IR-PCI-MSI 524288-edge      i40e-ens7f0-TxRx-0      chip, number there, trigger, users
#   ITS-MSI 134742016 Edge      nvme0q0                 the same on Arm
#   xen-dyn    -event     xenbus, xen-pcpu              a chip that does not number
_DEVICE = re.compile(
    r"(?P<chip>.+?)"
    r"(?:\s+\d+(?:-(?P<flow>\S+)|\s+(?P<level>Level|Edge))?|\s+-(?P<event>\S+))?"
    r"(?:\s{2,}(?P<users>.+))?"
)


class Interrupts(Observer):
    """Each line of /proc/interrupts by CPU: `irq` is its number, or its name such as LOC.

    `type` is the chip and trigger of a device's interrupt, and `desc` its users' names; of
    the kernel's own both are what the kernel calls it. Lines that are counted for the whole
    host (ERR, MIS) have no `cpu`. Pairs of line and CPU that have never counted since the
    host was started are left out (PerCpuTable says how).

    The kernel has the counters in memory (kernel/irq/proc.c): reading them interrupts no CPU.
    """

    source = "procstat"
    part = "interrupts"
    summary = "interrupts by kind and CPU, from /proc/interrupts"
    types = (_INTERRUPTS,)

    def __init__(self, host: ObservedHost, readings: Readings) -> None:
        self._table = PerCpuTable(host.files.proc / "interrupts", _INTERRUPTS, _names)

    def read(self, readings: Readings) -> None:
        """Tell how many there were since the last reading."""
        self._table.read(readings)


def _names(label: bytes, text: bytes) -> Mapping[str, str]:
    irq, said = printable(label), printable(text)
    if not irq.isdigit():
        return {"irq": irq, "type": said or irq, "desc": said or irq}
    found = _DEVICE.fullmatch(said)
    if found is None:
        return {"irq": irq}
    trigger = found["flow"] or found["level"] or found["event"]
    kind = f"{found['chip']} {trigger.lower()}" if trigger else found["chip"]
    users = {"desc": found["users"]} if found["users"] else {}
    return {"irq": irq, "type": kind, **users}


OBSERVER = Interrupts

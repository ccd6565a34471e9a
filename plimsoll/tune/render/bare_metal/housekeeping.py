"""What keeps the isolated CPUs of a host clear: interrupts, workqueues, page merging."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.expected.irq import keeps_irqs_off
from plimsoll.tune.host.cpus.cpu_sets import format_cpu_mask
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.bare_metal.unit import script_and_unit
from plimsoll.tune.render.files.rendered_file import RenderedFile

_OFFLINE = """
for cpu in {cpus}; do
    write 0 "$root/sys/devices/system/cpu/cpu$cpu/online"
done
"""
_WORKQUEUES = """
for mask in "$root"/sys/devices/virtual/workqueue/cpumask \\
            "$root"/sys/devices/virtual/workqueue/*/cpumask; do
    write {mask} "$mask"
done
"""
# Timers' and other interrupts of one CPU refuse to be moved.
_INTERRUPTS = """
write {mask} "$root/proc/irq/default_smp_affinity"
for irq in "$root"/proc/irq/[0-9]*; do
    write {cpus} "$irq/smp_affinity_list" 2>/dev/null
done
"""
# 2 also divides what was merged before, which 0 leaves merged.
_KSM = """
write {run} "$root/sys/kernel/mm/ksm/run"
"""
_HEAD = """\
#!/bin/sh
# An argument is a root other than /.
set -u
root=${1-}

# What the kernel refuses is reported, and does not stop the rest.
write() {
    [ ! -e "$2" ] || { echo "$1" > "$2"; } || :
}
"""


def render_housekeeping(intent: Intent) -> Iterator[RenderedFile]:
    """A script and the unit that runs it at each boot."""
    cpus = f"reserved CPUs ({intent.cpus.reserved.canonical})"
    moved = "device interrupts and unbound workqueues" if keeps_irqs_off(intent) else "workqueues"
    yield from script_and_unit(
        "plimsoll-housekeeping",
        _script(intent),
        does=f"Moves {moved} to the {cpus}, early in each boot.",
        ordering="After=sysinit.target\nBefore=basic.target",
    )


def _script(intent: Intent) -> str:
    reserved = intent.cpus.reserved
    mask = format_cpu_mask(reserved.cpus)
    parts = [_HEAD, _WORKQUEUES.format(mask=mask)]
    if intent.cpus.offlined:
        parts.insert(1, _OFFLINE.format(cpus=" ".join(map(str, intent.cpus.offlined))))
    if keeps_irqs_off(intent):
        parts.append(_INTERRUPTS.format(mask=mask, cpus=reserved.canonical))
    if intent.services.ksm is not None:
        parts.append(_KSM.format(run=1 if intent.services.ksm else 2))
    return "".join(parts)


def render_irqbalance(intent: Intent) -> Iterator[RenderedFile]:
    """Only where irqbalance runs and has CPUs to spare."""
    if not intent.services.irqbalance or not keeps_irqs_off(intent):
        return
    isolated = intent.cpus.isolated.canonical
    yield RenderedFile(
        "host/etc/systemd/system/irqbalance.service.d/50-plimsoll.conf",
        f"[Service]\nEnvironment=IRQBALANCE_BANNED_CPULIST={isolated}\n",
        does="Keeps irqbalance (1.8 or later) from moving interrupts back to the isolated CPUs: "
        "`systemctl daemon-reload && systemctl restart irqbalance`.",
        undo="Remove the file, then the same two commands.",
    )

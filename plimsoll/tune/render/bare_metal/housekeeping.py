"""What keeps the isolated CPUs of a host clear: interrupts, workqueues, page merging."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.tune.expected.irq import keeps_irqs_off
from plimsoll.tune.expected.kernel_argument import NodePages, node_pages
from plimsoll.tune.host.cpus.cpu_sets import format_cpu_mask
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.render.files.rendered_file import RenderedFile


def script_and_unit(name: str, script: str, *, does: str, ordering: str) -> Iterator[RenderedFile]:
    """`ordering` are the unit's lines on when; it does without the usual ones."""
    undo = f"`systemctl disable {name}`, then remove its script and its unit, and restart the host."
    yield RenderedFile(f"host/usr/local/sbin/{name}", script, does=does, undo=undo, mode=0o755)
    yield RenderedFile(
        f"host/etc/systemd/system/{name}.service",
        "[Unit]\n"
        f"Description={does.rstrip('.')}\n"
        "DefaultDependencies=no\n"
        f"{ordering}\n\n"
        "[Service]\nType=oneshot\nRemainAfterExit=yes\n"
        f"ExecStart=/usr/local/sbin/{name}\n\n"
        "[Install]\nWantedBy=basic.target\n",
        does=f"Runs that script: `systemctl enable --now {name}`.",
        undo=undo,
    )


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


_PAGES_HEAD = """\
#!/bin/sh
# An argument is a root other than /.
set -u
root=${1-}
status=0

# The kernel gives as many as it finds whole, and says no word of the rest.
take() {
    echo "$1" > "$root$2"
    got=$(cat "$root$2")
    [ "$got" -ge "$1" ] || { echo "$2: $got pages of $1" >&2; status=1; }
}

"""


def render_node_pages(intent: Intent) -> Iterator[RenderedFile]:
    """Only where pages name a node."""
    pages = node_pages(intent.hugepages)
    if not pages:
        return
    message = ", ".join(_described(each) for each in pages)
    yield from script_and_unit(
        "plimsoll-hugepages",
        _PAGES_HEAD
        + "".join(f"take {each.count} {each.sysfs}\n" for each in pages)
        + "exit $status\n",
        does=f"Sets hugepages aside early in each boot: {message}.",
        # Before anything has had the time to divide the memory.
        ordering="After=local-fs.target\nBefore=sysinit.target",
    )


def _described(pages: NodePages) -> str:
    return f"{pages.count} of {pages.page_kb} kB on node {pages.node}"

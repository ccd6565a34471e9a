"""The intent's services and kernel features that run beside the workload."""

from __future__ import annotations

from plimsoll.tune.intent.fields.section import Section, Switch


class Services(Section):
    """On, off, or not specified (left out): then neither rendered nor judged.

    `thp` off is transparent hugepages "never", `swap` off no swap in use,
    `numa_balancing` the kernel's automatic page migration, `fwupd` its refresh timer.
    """

    stalld: Switch = None
    chronyd: Switch = None
    tuned: Switch = None
    irqbalance: Switch = None
    fwupd: Switch = None
    ksm: Switch = None
    thp: Switch = None
    swap: Switch = None
    numa_balancing: Switch = None

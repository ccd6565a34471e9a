"""The intent's services and kernel features that run next to the workload."""

from __future__ import annotations

from plimsoll.tune.intent.fields.section import Section, Switch


class Services(Section):
    """On, off, or not specified (left out): then neither rendered nor judged."""

    stalld: Switch = None
    """The daemon that lends starved threads some time on CPUs that real-time threads hold."""
    chronyd: Switch = None
    """The daemon that steers the clock by NTP."""
    tuned: Switch = None
    """TuneD upon a host; upon OpenShift the operator runs it."""
    irqbalance: Switch = None
    """The daemon that moves device interrupts between CPUs."""
    fwupd: Switch = None
    """The timer that looks for new firmware (fwupd-refresh.timer)."""
    ksm: Switch = None
    """Kernel samepage merging, which scans memory for equal pages."""
    thp: Switch = None
    """Transparent hugepages: on is always, off is never."""
    swap: Switch = None
    """Swap space in use."""
    numa_balancing: Switch = None
    """The kernel's automatic migration of pages between NUMA nodes (kernel.numa_balancing)."""

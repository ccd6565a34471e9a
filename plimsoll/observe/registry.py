"""Every observer there is. A new one is a file beside this one and a member of the tuple."""

from __future__ import annotations

from plimsoll.observe.cgroup_cpu import CgroupCpu
from plimsoll.observe.cgroup_pressure import CgroupPressure
from plimsoll.observe.cpufreq import Cpufreq
from plimsoll.observe.cpuidle import Cpuidle
from plimsoll.observe.dpdk import Dpdk
from plimsoll.observe.mpstat import Mpstat
from plimsoll.observe.observer import Observer
from plimsoll.observe.procstat_interrupts import Interrupts
from plimsoll.observe.procstat_softirqs import Softirqs
from plimsoll.observe.procstat_softnet import Softnet
from plimsoll.observe.sar_mem_hugepages import Hugepages
from plimsoll.observe.sar_mem_paging import Paging
from plimsoll.observe.sar_mem_used import MemoryUsed
from plimsoll.observe.sar_net import SarNet
from plimsoll.observe.sar_scheduler import SarScheduler
from plimsoll.observe.sar_tasks import SarTasks
from plimsoll.observe.smi import Smi
from plimsoll.observe.thermal import Thermal

OBSERVERS: tuple[type[Observer], ...] = (
    Mpstat,
    Interrupts,
    Softirqs,
    Softnet,
    Paging,
    MemoryUsed,
    Hugepages,
    SarScheduler,
    SarTasks,
    SarNet,
    CgroupCpu,
    CgroupPressure,
    Cpufreq,
    Cpuidle,
    Thermal,
    Smi,
    # The last, since it may wait for others.
    Dpdk,
)

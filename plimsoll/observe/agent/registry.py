"""Every observer there is. A new one is a file in `observe/` and a member of the tuple."""

from __future__ import annotations

from plimsoll.observe.cgroups.cgroup_cpu import CgroupCpu
from plimsoll.observe.cgroups.cgroup_pressure import CgroupPressure
from plimsoll.observe.dpdk.dpdk import Dpdk
from plimsoll.observe.network.bridge import Bridge
from plimsoll.observe.network.flowtable import FlowtableObserver
from plimsoll.observe.network.qdisc import Qdisc
from plimsoll.observe.network.xdp import Xdp
from plimsoll.observe.openvswitch.openvswitch import OpenVswitch
from plimsoll.observe.procfs.mpstat import Mpstat
from plimsoll.observe.procfs.procstat_interrupts import Interrupts
from plimsoll.observe.procfs.procstat_softirqs import Softirqs
from plimsoll.observe.procfs.procstat_softnet import Softnet
from plimsoll.observe.procfs.sar_mem_paging import Paging
from plimsoll.observe.procfs.sar_mem_used import MemoryUsed
from plimsoll.observe.procfs.sar_net import SarNet
from plimsoll.observe.procfs.sar_scheduler import SarScheduler
from plimsoll.observe.procfs.sar_tasks import SarTasks
from plimsoll.observe.reading.observer import Observer
from plimsoll.observe.sysfs.cpufreq import Cpufreq
from plimsoll.observe.sysfs.cpuidle import Cpuidle
from plimsoll.observe.sysfs.resctrl import ResctrlCounters
from plimsoll.observe.sysfs.sar_mem_hugepages import SarMemHugepages
from plimsoll.observe.sysfs.smi import Smi
from plimsoll.observe.sysfs.thermal import Thermal

OBSERVERS: tuple[type[Observer], ...] = (
    Mpstat,
    Interrupts,
    Softirqs,
    Softnet,
    Paging,
    MemoryUsed,
    SarMemHugepages,
    SarScheduler,
    SarTasks,
    SarNet,
    Qdisc,
    Bridge,
    Xdp,
    FlowtableObserver,
    CgroupCpu,
    CgroupPressure,
    Cpufreq,
    Cpuidle,
    Thermal,
    Smi,
    ResctrlCounters,
    # The last, since they may wait for others.
    OpenVswitch,
    Dpdk,
)

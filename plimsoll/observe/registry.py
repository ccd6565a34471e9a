"""Every observer there is. A new one is a file beside this one and a member of the tuple."""

from __future__ import annotations

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
)

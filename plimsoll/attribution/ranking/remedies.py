"""What can be done about a cause: the check of the audit that covers it, and a setting."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll.attribution.incidents.incident import CauseKind
from plimsoll.attribution.incidents.loops import LoopOwner, is_dut_on_tester_cpu, is_noise
from plimsoll.record.causes.causes_record import Remedy


@dataclass(frozen=True, slots=True)
class _Rule:
    """A remedy for causes of these kinds whose name has this expression in it."""

    kinds: tuple[CauseKind, ...]
    name: re.Pattern[str]
    remedy: Remedy


def _rule(kinds: tuple[CauseKind, ...], name: str, text: str, *checks: int) -> _Rule:
    return _Rule(kinds, re.compile(name), Remedy(text=text, checks=checks))


_ANY = ""
_TASKS: tuple[CauseKind, ...] = ("task", "workqueue")
# The first that fits. The settings are those of the checks they name, and of
# Documentation/admin-guide/kernel-parameters.txt, per-cpu kthreads.rst and mm/damon.
_RULES = (
    _rule(
        _TASKS,
        r"^kdamond",
        "switch DAMON off: echo N into "
        "/sys/module/damon_reclaim/parameters/enabled or stop what started it",
    ),
    _rule(_TASKS, r"^(khugepaged|ksmd)", "switch transparent hugepages and page merging off", 22),
    _rule(
        _TASKS, r"^kcompactd", "set vm.compaction_proactiveness=0 and reserve hugepages at boot", 31
    ),
    _rule(_TASKS, r"^kswapd", "leave more memory free, and swap nothing out", 27),
    _rule(
        _TASKS,
        r"^(rcu|rcuo|rcuc|rcuog|rcub)",
        "kernel arguments rcu_nocbs= with the polled CPUs and rcu_nocb_poll",
        4,
    ),
    _rule(_TASKS, r"^(watchdog|watchdogd)", "kernel arguments nowatchdog, nosoftlockup", 7),
    _rule(_TASKS, r"^khungtaskd", "set kernel.hung_task_timeout_secs=600", 25),
    _rule(
        _TASKS,
        r"^migration/",
        "keep the load balancer away: kernel argument isolcpus= with the polled CPUs",
        1,
        2,
    ),
    _rule(_TASKS, r"^ksoftirqd/", "send interrupts and timers to housekeeping CPUs", 33, 26),
    _rule(
        _TASKS,
        r"^irq/",
        "send the interrupt to housekeeping CPUs: /proc/irq/<number>/smp_affinity_list",
        33,
    ),
    _rule(("workqueue",), r"vmstat", "set vm.stat_interval=10 or higher", 25),
    _rule(
        ("workqueue",),
        r"^kworker/u",
        "keep unbound work off the polled CPUs: /sys/devices/virtual/workqueue/cpumask",
        6,
    ),
    _rule(
        ("workqueue",),
        _ANY,
        "isolate the CPU, so that less work is queued on it: isolcpus=, "
        "nohz_full=, /sys/devices/virtual/workqueue/cpumask",
        1,
        3,
        6,
    ),
    _rule(("timer-tick",), _ANY, "kernel argument nohz_full= with the polled CPUs", 3),
    _rule(
        ("softirq",),
        r"RCU",
        "kernel arguments rcu_nocbs= and nohz_full= with the polled CPUs",
        4,
        3,
    ),
    _rule(
        ("softirq",),
        r"TIMER|HRTIMER",
        "keep timers on housekeeping CPUs: isolcpus=, nohz_full=, kernel.timer_migration=1",
        1,
        3,
        26,
    ),
    _rule(
        ("softirq",),
        r"SCHED",
        "take the polled CPUs out of load balancing: isolcpus=domain,…",
        1,
        2,
    ),
    _rule(
        ("softirq",),
        r"NET|BLOCK|TASKLET|IRQ_POLL",
        "send the device's interrupts to housekeeping CPUs",
        33,
        40,
    ),
    _rule(
        ("interrupt",), r"^local_timer", "keep processes that set timers off the polled CPUs", 1, 26
    ),
    _rule(("interrupt",), r"thermal", "cool the CPU, or lower its power limit", 15),
    _rule(
        ("interrupt",),
        _ANY,
        "send the interrupt to housekeeping CPUs: kernel argument "
        "irqaffinity=, /proc/irq/<number>/smp_affinity_list, irqbalance's banned CPUs",
        33,
        32,
    ),
    _rule(
        ("tlb-shootdown",),
        _ANY,
        "run nothing that shares the polling process's memory or its "
        "CPU, and switch NUMA balancing and page merging off",
        23,
        22,
    ),
    _rule(
        ("ipi",),
        _ANY,
        "isolate the CPU from the scheduler and from timers: isolcpus=, nohz_full=",
        1,
        3,
    ),
    _rule(
        ("throttling",),
        _ANY,
        "give the process whole CPUs and no quota: cpu.max = max, or "
        "kernel.sched_rt_runtime_us=-1 for a real-time thread",
        43,
        24,
    ),
    _rule(
        ("stopped",),
        _ANY,
        "stop the process with no debugger, profiler or supervisor while it carries traffic",
    ),
    _rule(("slept",), _ANY, "let the loop poll only: no system call that waits, memory locked"),
    _rule(
        ("major-fault", "memory-pressure"),
        _ANY,
        "lock the process's memory, leave more of it free, and swap nothing out",
        27,
        31,
    ),
    _rule(("frequency",), _ANY, "keep one frequency: governor performance", 12, 15),
    _rule(
        ("idle-exit",),
        _ANY,
        "forbid deep idle states: kernel argument processor.max_cstate=1, /dev/cpu_dma_latency",
        13,
        14,
    ),
    _rule(
        ("moved",),
        _ANY,
        "pin the loop to its CPU, and let nothing change that: no taskset, cpuset or irqbalance",
        1,
        5,
    ),
    _rule(("stopped",), r"freezer|tracer", "let nothing freeze or trace the loop's process"),
    _rule(("rcu",), _ANY, "kernel arguments rcu_nocbs= with the polled CPUs and rcu_nocb_poll", 4),
    _rule(("machine-check",), _ANY, "look into the log of the machine's firmware: rasdaemon, SEL"),
    _rule(
        ("hypervisor-steal", "stood-still"),
        _ANY,
        "pin the virtual CPUs on the host to CPUs of their own, and run nothing else there",
    ),
    _rule(
        ("hardware",),
        _ANY,
        "switch off in the firmware what raises SMIs: power capping, memory "
        "scrubbing, USB legacy support",
        16,
        18,
    ),
)
_OWN_REMEDY = Remedy(
    text="give Plimsoll a CPU on which nothing polls; with none to spare it shares one with the "
    "loop"
)
_NOISE_REMEDY = Remedy(
    text="none: the experiment has it there on purpose; --set noise=[] runs without"
)
_SHARED_REMEDY = Remedy(text="give the DUT CPUs of its own, and pin its loops to them")
_OTHER_TASK = Remedy(
    text="keep other processes off the polled CPUs: isolcpus=, or an exclusive cpuset",
    checks=(1, 5, 44),
)


def remedy_for(
    kind: str, name: str, owner: LoopOwner | None, *, own: bool = False
) -> Remedy | None:
    """The remedy for a cause, which may be Plimsoll's `own`; None where there is none to name."""
    if kind == "task" and is_dut_on_tester_cpu(name, owner):
        return _SHARED_REMEDY
    if own:
        return _OWN_REMEDY
    if kind == "task" and is_noise(name):
        return _NOISE_REMEDY
    for rule in _RULES:
        if kind in rule.kinds and rule.name.search(name):
            return rule.remedy
    return _OTHER_TASK if kind == "task" else None

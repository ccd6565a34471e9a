"""Virtual machines tuned well, not at all and badly, and what an audit must say of each.

Kernel arguments and what runs in the guest are here, and so are the verdicts, each worked out
by hand from them. tests/integration/test_tune_vm.py boots them; the captures next to this file
are what they then gave, for tests without QEMU.
"""

from __future__ import annotations

from plimsoll.tune.audit.finding import CheckVerdict
from tests.unit.tune.captures.pod_systems import POD_SYSTEMS
from tests.unit.tune.captures.tuned_system import TunedSystem

# One node, CPU 0 for the system and 1-3 for a dataplane: what tuned's realtime-virtual-guest and
# cpu-partitioning make of a guest.
ONE_NODE = """\
name: one-node
platform: vm
cpus: {reserved: "0", isolated: 1-3, smt: any, balance_isolated: off}
hugepages: {default_size: 2M, pages: [{size: 2M, count: 64}]}
kernel: {realtime: false}
hints: {realtime: on}
services: {ksm: off, thp: off, swap: off, numa_balancing: off}
scheduling: {timer_migration: 0, stat_interval_s: 10, hung_task_timeout_s: 600}
"""
# virtio_net lets its queues interrupt all CPUs, whatever irqaffinity= said. Not every
# interrupt can be moved, nor needs to be: those are on CPU 0.
SETTINGS = """\
echo 0 >/proc/sys/kernel/timer_migration
echo 10 >/proc/sys/vm/stat_interval
echo 600 >/proc/sys/kernel/hung_task_timeout_secs
for irq in /proc/irq/[0-9]*; do
    echo 0 >$irq/smp_affinity_list
done 2>/dev/null
"""
TUNED_ARGUMENTS = (
    "isolcpus=managed_irq,domain,1-3 nohz_full=1-3 rcu_nocbs=1-3 nohz=on skew_tick=1 "
    "nosoftlockup tsc=reliable irqaffinity=0 transparent_hugepage=never "
    "default_hugepagesz=2M hugepagesz=2M hugepages=64"
)
# What the arguments and settings above make of a guest, check by check.
TUNED_VERDICTS: dict[int, CheckVerdict] = {
    1: "ok",  # isolcpus= has the intent's CPUs, and both flags
    2: "ok",  # domain takes 1-3 out of the scheduler's domains
    3: "ok",
    4: "ok",
    5: "ok",  # without domain 1-3 the kernel starts init on 0 alone
    6: "ok",  # and gives unbound work the same CPU
    7: "ok",  # nosoftlockup; the guest has no performance counter for an NMI watchdog
    8: "ok",
    10: "ok",  # 0 and 1-3 are all CPUs, each a core
    11: "ok",
    # The TSC keeps the time because the arguments say so; QEMU's own processor does not
    # promise that it is constant (TCG has no invtsc).
    21: "warn",
    22: "ok",
    23: "ok",  # one node: nothing to balance
    25: "ok",
    26: "ok",
    27: "ok",
    28: "ok",
    31: "ok",
    32: "ok",  # irqaffinity=0
    33: "ok",  # and the loop for the interrupts that a driver spread again
}

SYSTEMS: tuple[TunedSystem, ...] = (
    TunedSystem(
        name="tuned",
        arguments=TUNED_ARGUMENTS,
        tune=SETTINGS,
        intent=ONE_NODE,
        verdicts=TUNED_VERDICTS,
        message={
            3: "no timer tick on CPUs 1-3",
            31: "64 hugepages of 2M",
            33: "no device interrupt goes to isolated CPUs",
        },
    ),
    # The kernel as it comes.
    TunedSystem(
        name="untuned",
        arguments="",
        tune="",
        intent=ONE_NODE,
        verdicts={
            1: "fail",
            2: "fail",
            3: "fail",
            4: "fail",
            5: "fail",
            6: "fail",
            7: "warn",  # the soft lockup detector is on for all CPUs
            8: "fail",  # nohz=on, skew_tick=1 and nosoftlockup are missing
            10: "ok",
            11: "ok",
            22: "fail",  # Debian makes transparent hugepages always
            23: "ok",
            25: "fail",  # 1 s and 120 s, the kernel's own
            26: "fail",  # 1
            27: "ok",
            28: "ok",
            31: "fail",
            32: "fail",
            33: "fail",
        },
        message={
            1: "the kernel's command line isolates no CPUs",
            5: "init may run on isolated CPUs 1-3",
            31: "0 hugepages of 2M, and 64 are expected",
        },
    ),
    # Two nodes with CPUs 0-1 and 2-3, and a card on the second: what went wrong is
    # - isolcpus= without managed_irq,
    # - nohz_full= and rcu_nocbs= that name CPU 1 and forget 3,
    # - all hugepages on node 0, the card's being 1,
    # - transparent hugepages left to the programs,
    # - automatic NUMA balancing left on, as kernels do on more than one node,
    # - interrupts, watchdogs and sysctls forgotten.
    TunedSystem(
        name="mistaken",
        arguments=(
            "isolcpus=domain,1,3 nohz_full=1 rcu_nocbs=1 nohz=on skew_tick=1 tsc=reliable "
            "transparent_hugepage=madvise default_hugepagesz=2M hugepagesz=2M hugepages=0:64"
        ),
        tune="",
        intent="""\
name: two-nodes
platform: vm
cpus: {reserved: "0,2", isolated: "1,3", smt: any, balance_isolated: off}
hugepages: {default_size: 2M, pages: [{size: 2M, count: 64}]}
kernel: {realtime: false}
hints: {realtime: on}
services: {ksm: off, thp: off, swap: off, numa_balancing: off}
scheduling: {timer_migration: 0, stat_interval_s: 10, hung_task_timeout_s: 600}
nics: [{name: wire, pf_names: [eth0]}]
""",
        machine=(
            *("-object", "memory-backend-ram,id=m0,size=320M"),
            *("-object", "memory-backend-ram,id=m1,size=320M"),
            *("-numa", "node,nodeid=0,cpus=0-1,memdev=m0"),
            *("-numa", "node,nodeid=1,cpus=2-3,memdev=m1"),
            *("-device", "pxb-pcie,id=far,bus=pcie.0,bus_nr=16,numa_node=1"),
            *("-device", "pcie-root-port,id=downstream,bus=far,chassis=1,slot=1"),
            *("-device", "virtio-net-pci,bus=downstream,romfile="),
        ),
        verdicts={
            1: "warn",
            2: "ok",  # domain,1,3 is right
            3: "fail",
            4: "fail",
            5: "ok",  # init starts on 0 and 2
            6: "ok",
            7: "warn",
            8: "fail",  # nosoftlockup is missing
            10: "ok",
            11: "ok",
            22: "warn",  # programs that ask for them are few
            23: "fail",
            25: "fail",
            26: "fail",
            27: "ok",
            31: "fail",
            32: "fail",
            33: "fail",
            35: "fail",
        },
        message={
            1: "its flags lack managed_irq",
            3: "the timer tick stays on for isolated CPU 3",
            4: "RCU callbacks run on isolated CPU 3 themselves",
            31: "no hugepages of 2M on node 1",
            35: "eth0 is on node 1, where no hugepages are",
        },
    ),
    # As tuned as the first; then a user gives the dataplane's group a CFS quota, which brings
    # the tick back, and moves the console's interrupt to CPU 2.
    TunedSystem(
        name="spoilt",
        arguments=TUNED_ARGUMENTS,
        tune=SETTINGS
        + """\
echo "+cpu +cpuset" >/sys/fs/cgroup/cgroup.subtree_control
mkdir /sys/fs/cgroup/dataplane
echo 2-3 >/sys/fs/cgroup/dataplane/cpuset.cpus
echo "50000 100000" >/sys/fs/cgroup/dataplane/cpu.max
echo 2 >/proc/irq/4/smp_affinity_list
# An interrupt moves when it next comes.
echo moved
""",
        intent=ONE_NODE,
        verdicts=TUNED_VERDICTS | {3: "fail", 33: "fail"},
        message={
            3: "/dataplane has tickless CPUs and a CFS quota",
            33: "1 device interrupt goes to isolated CPUs: 4 ttyS0",
        },
    ),
    # As OpenShift isolates: the scheduler goes on balancing, so that pods without exclusive CPUs
    # can use them, and affinities are narrowed afterwards.
    TunedSystem(
        name="balanced",
        arguments=TUNED_ARGUMENTS.replace("managed_irq,domain", "managed_irq"),
        tune=SETTINGS
        + """\
taskset -p 1 1
echo 1 >/sys/devices/virtual/workqueue/cpumask
""",
        intent=ONE_NODE.replace("balance_isolated: off", "balance_isolated: on"),
        verdicts=TUNED_VERDICTS,
        message={2: "balanc"},
    ),
    *POD_SYSTEMS,
)

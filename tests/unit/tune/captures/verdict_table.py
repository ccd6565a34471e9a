"""For each check a capture that it passes, one that it fails, and one where it does not apply.

Each cell was filled in by hand: the capture, and what of the audit's words shows that the
verdict has the reason it should have. `pinned`, `thwarted`, `one-cpu`, `tuned`, `untuned`,
`mistaken`, `spoilt` and `balanced` are virtual machines that really booted (systems.py);
`openshift-node`, `openshift-node-neglected` and `arm-board` are composed by hand (composed/),
for what no virtual machine here has. Two more judge the capture of `untuned` otherwise:
`unspecified` against an intent that says next to nothing, and `undeclared` without any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# A capture, and a part of what the audit says of it.
Cell: TypeAlias = tuple[str, str]

GOOD, BAD, BOARD = "openshift-node", "openshift-node-neglected", "arm-board"
UNSPECIFIED, UNDECLARED = "unspecified", "undeclared"

_ABSENT = "no CPU that the intent isolates is online"
_NO_INTENT = "no intent is given, and the kernel's command line isolates no CPUs"
_NOBODY = "the intent names no expected_processes, and no guaranteed pod runs"


@dataclass(frozen=True)
class Row:
    """`fail` is a warning where `never_fails` says why the check by design only warns."""

    number: int
    ok: Cell
    fail: Cell
    not_applicable: Cell
    never_fails: str = ""


TABLE: tuple[Row, ...] = (
    Row(
        1,
        ok=("tuned", "isolates CPUs 1-3; flags domain, managed_irq"),
        fail=("untuned", "the kernel's command line isolates no CPUs"),
        not_applicable=("one-cpu", _ABSENT),
    ),
    Row(
        2,
        ok=("tuned", "the scheduler leaves the isolated CPUs alone"),
        fail=("untuned", "the scheduler balances isolated CPUs 1-3"),
        not_applicable=("one-cpu", _ABSENT),
    ),
    Row(
        3,
        ok=("tuned", "no timer tick on CPUs 1-3"),
        fail=("spoilt", "/dataplane has tickless CPUs and a CFS quota"),
        not_applicable=("one-cpu", _ABSENT),
    ),
    Row(
        4,
        ok=("tuned", "the RCU callbacks of CPUs 1-3 run in threads"),
        fail=("mistaken", "RCU callbacks run on isolated CPU 3 themselves"),
        not_applicable=("one-cpu", _ABSENT),
    ),
    Row(
        5,
        ok=("tuned", "init keeps to CPUs 0"),
        fail=("untuned", "init may run on isolated CPUs 1-3"),
        not_applicable=("one-cpu", _ABSENT),
    ),
    Row(
        6,
        ok=("mistaken", "unbound work keeps to CPUs 0,2"),
        fail=("untuned", "unbound work may run on isolated CPUs 1-3"),
        not_applicable=("one-cpu", _ABSENT),
    ),
    Row(
        7,
        ok=("tuned", "no watchdog runs"),
        # QEMU emulates no performance counter for an NMI watchdog.
        fail=(BAD, "the NMI watchdog is on"),
        not_applicable=("one-cpu", _ABSENT),
    ),
    Row(
        8,
        ok=("tuned", "all that the intent implies are there"),
        fail=("mistaken", "nosoftlockup is missing"),
        not_applicable=(UNSPECIFIED, "the intent implies no further kernel arguments"),
    ),
    Row(
        9,
        ok=("pinned", "the IOMMU has"),
        fail=("thwarted", "there are no IOMMU groups"),
        not_applicable=("tuned", "no device is to be driven through vfio-pci"),
    ),
    Row(
        10,
        ok=("pinned", "the intent's CPUs are this host's"),
        fail=("thwarted", "CPU 1 is online and neither reserved nor isolated"),
        # Every intent has CPUs, and every host.
        not_applicable=(UNDECLARED, _NO_INTENT),
    ),
    Row(
        11,
        ok=("tuned", "the kernel is not a real-time one"),
        fail=("thwarted", "the kernel is not a real-time one"),
        # Every intent has a kernel of one flavour or the other.
        not_applicable=(UNDECLARED, _NO_INTENT),
    ),
    Row(
        12,
        ok=(GOOD, "isolated CPUs run at the highest frequency"),
        fail=(BAD, "the governor of isolated CPUs 2-15 is powersave"),
        not_applicable=("pinned", "the kernel sets no frequencies here"),
    ),
    Row(
        13,
        ok=("pinned", "the kernel manages no idle states"),
        fail=(BAD, "isolated CPUs 2-15 may enter C1E, C6, with up to 170 us to wake"),
        not_applicable=("tuned", "the intent allows deep idle states"),
    ),
    Row(
        14,
        ok=("pinned", "a limit"),
        fail=("thwarted", "one pod alone asks for 1"),
        not_applicable=("tuned", "no pod of the intent has the annotation"),
    ),
    Row(
        15,
        ok=(GOOD, "turbo off"),
        fail=(BAD, "turbo is on"),
        not_applicable=("pinned", "the kernel has no switch for it here"),
    ),
    Row(
        16,
        ok=(GOOD, "SMIs can be counted"),
        fail=(BAD, "a run cannot count SMIs, because the module msr is not loaded"),
        not_applicable=("tuned", "a guest cannot see the SMIs of its host"),
        never_fails="a host whose SMIs cannot be counted may have none",
    ),
    Row(
        17,
        ok=("pinned", "the timer is not installed"),
        fail=(BAD, "the timer runs"),
        not_applicable=("tuned", "the intent does not turn it off"),
    ),
    Row(
        18,
        ok=(GOOD, "the power profile is max-performance"),
        fail=(BAD, "C-states is on (ProcCStates Enabled, ProcC1E Enabled)"),
        not_applicable=("pinned", "no BMC was read"),
    ),
    Row(
        19,
        ok=(GOOD, "mc7 has memory in all 2 channels"),
        fail=("thwarted", "node 1 has CPUs and no memory"),
        not_applicable=("tuned", "a guest sees the nodes"),
    ),
    Row(
        20,
        ok=(GOOD, "microcode 0xd0003e7"),
        fail=(BAD, "CPUs run different microcode: 0xb000280, 0xd0003e7"),
        not_applicable=(BOARD, "the kernel tells of no vulnerabilities"),
    ),
    Row(
        21,
        # No TSC that QEMU emulates says that it is constant.
        ok=(GOOD, "the TSC keeps the time, and is constant and nonstop"),
        fail=("thwarted", "the clocksource is hpet"),
        not_applicable=(BOARD, "this processor has another counter"),
    ),
    Row(
        22,
        ok=("tuned", "transparent hugepages: never"),
        fail=("untuned", "transparent hugepages are made for all programs"),
        not_applicable=(UNSPECIFIED, "the intent does not say whether THP is to be on"),
    ),
    Row(
        23,
        ok=("pinned", "kernel.numa_balancing is 0"),
        fail=("mistaken", "kernel.numa_balancing is 1, not 0"),
        not_applicable=(UNSPECIFIED, "the intent does not say what kernel.numa_balancing is to be"),
    ),
    Row(
        24,
        ok=("pinned", "kernel.sched_rt_runtime_us is -1"),
        fail=("thwarted", "is stopped for 50 ms of each period"),
        not_applicable=("tuned", "the intent does not say what kernel.sched_rt_runtime_us"),
    ),
    Row(
        25,
        ok=("tuned", "vm.stat_interval is 10; kernel.hung_task_timeout_secs is 600"),
        fail=("untuned", "vm.stat_interval is 1, not 10"),
        not_applicable=(UNSPECIFIED, "the intent does not say what vm.stat_interval is to be"),
    ),
    Row(
        26,
        ok=("tuned", "kernel.timer_migration is 0"),
        fail=("untuned", "kernel.timer_migration is 1, not 0"),
        not_applicable=(
            UNSPECIFIED,
            "the intent does not say what kernel.timer_migration is to be",
        ),
    ),
    Row(
        27,
        ok=("tuned", "no swap is in use"),
        fail=("thwarted", "memory may be swapped out to /dev/ram0"),
        not_applicable=(UNSPECIFIED, "the intent does not ask for swap to be off"),
    ),
    Row(
        28,
        ok=("pinned", "no thread of real-time priority"),
        fail=("thwarted", "is not at SCHED_FIFO 2"),
        not_applicable=("one-cpu", _ABSENT),
    ),
    Row(
        29,
        ok=("pinned", "stalld is on; chronyd is off"),
        fail=("thwarted", "chronyd runs"),
        not_applicable=("tuned", "the intent does not say whether stalld and chronyd"),
    ),
    Row(
        30,
        ok=("pinned", "the profile plimsoll-pinned is active"),
        fail=("thwarted", "TuneD's profile is virtual-guest, not plimsoll-thwarted"),
        not_applicable=("tuned", "the intent does not ask for TuneD"),
    ),
    Row(
        31,
        ok=("pinned", "32 of 32 free on node 1"),
        fail=("mistaken", "no hugepages of 2M on node 1"),
        not_applicable=(UNSPECIFIED, "the intent asks for no hugepages"),
    ),
    Row(
        32,
        ok=("tuned", "new interrupts go to CPU 0"),
        fail=("untuned", "new interrupts may go to isolated CPUs 1-3"),
        not_applicable=("one-cpu", _ABSENT),
    ),
    Row(
        33,
        ok=("tuned", "no device interrupt goes to isolated CPUs"),
        fail=("spoilt", "1 device interrupt goes to isolated CPUs: 4 ttyS0"),
        not_applicable=("one-cpu", _ABSENT),
    ),
    Row(
        34,
        # A guest that is up for twenty seconds has its boot in these counters.
        ok=(GOOD, "1.03 interrupts a second since the boot on each isolated CPU"),
        fail=("untuned", "interrupts a second since the boot on each isolated CPU: LOC"),
        not_applicable=("one-cpu", _ABSENT),
        never_fails="counters since the boot include the time before the tuning",
    ),
    Row(
        35,
        ok=("pinned", "0000:11:00.0 and CPU 3 are on node 1"),
        fail=("mistaken", "eth0 is on node 1, where no hugepages are"),
        not_applicable=(BOARD, "fm1-mac9 is not a PCI function"),
    ),
    Row(
        36,
        ok=(GOOD, "ens7f0: 16 GT/s x8 of 16 GT/s x8"),
        fail=(BAD, "ens7f0: the link came up as 16 GT/s x4 of 16 GT/s x8"),
        not_applicable=("mistaken", "a guest's PCIe link, here of eth0"),
    ),
    Row(
        37,
        ok=(GOOD, "the link of ens7f0 never sleeps"),
        fail=(BAD, "the link of ens7f0 may sleep: l1_aspm"),
        not_applicable=("mistaken", "a guest's PCIe link, here of eth0"),
    ),
    Row(
        38,
        ok=(GOOD, "pause frames of ens7f0 are off; ens7f0 reads 512 bytes at once"),
        fail=(BAD, "ens7f0 obeys or sends pause frames"),
        not_applicable=("pinned", "0000:11:00.0 is not the kernel's"),
    ),
    Row(
        39,
        ok=("pinned", "0000:11:00.0 is bound to vfio-pci"),
        fail=("thwarted", "0000:11:00.0 is bound to virtio-pci"),
        not_applicable=("tuned", "the intent names no nics"),
    ),
    Row(
        40,
        ok=("pinned", "eth0 has 1 queue"),
        fail=("thwarted", "eth1 has 4 queues"),
        not_applicable=("tuned", "the intent does not ask for user_level_networking"),
    ),
    Row(
        41,
        ok=("pinned", "has CPU 3 to itself"),
        fail=("thwarted", "is in a burstable pod"),
        not_applicable=("tuned", _NOBODY),
    ),
    Row(
        42,
        ok=("pinned", "the scheduler leaves CPU 3 alone; new interrupts spare CPU 3"),
        fail=("thwarted", "still has a CPU quota"),
        not_applicable=("tuned", "no pod of the intent turns quota or balancing off"),
    ),
    Row(
        43,
        ok=("pinned", "no quota is on dpdk-testpmd"),
        fail=("thwarted", "a quota stopped dpdk-testpmd"),
        not_applicable=("tuned", _NOBODY),
    ),
    Row(
        44,
        ok=("pinned", "the kubelet gave the pods CPUs of their own"),
        fail=("thwarted", "the CPU manager gave dpdk-testpmd"),
        not_applicable=("tuned", _NOBODY),
    ),
    Row(
        45,
        ok=(GOOD, "static pod dataplane/testpmd has no exec probe"),
        fail=("thwarted", "static pod dataplane/testpmd: testpmd.livenessProbe"),
        not_applicable=("tuned", "there are no static pods in /etc/kubernetes/manifests"),
    ),
    Row(
        46,
        ok=(GOOD, "the CPU manager's policy is static"),
        fail=(BAD, "cpuManagerPolicy is not set, not static"),
        not_applicable=("tuned", "the intent is of a platform without a kubelet"),
    ),
    Row(
        47,
        ok=(GOOD, "kept from running for up to 11 us"),
        fail=(BAD, "kept from running for up to 2.14 ms"),
        not_applicable=("one-cpu", "this host has one CPU"),
    ),
)

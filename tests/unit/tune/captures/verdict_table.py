"""For each check a capture that it passes, one that it fails, and one where it does not apply.

Each cell was filled in by hand: the capture, and what is in the audit's reason whatever its
words are; those stand in tests/wording. `pinned`, `thwarted`, `one-cpu`, `tuned`, `untuned`,
`mistaken`, `spoilt` and `balanced` are virtual machines that really booted (systems.py);
`openshift-node`, `openshift-node-neglected` and `arm-board` are composed by hand (composed/),
for what no virtual machine here has. Two more judge the capture of `untuned` otherwise:
`unspecified` against an intent that says next to nothing, and `undeclared` without any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

# A capture, and facts in what the audit says of it.
Cell: TypeAlias = tuple[str, tuple[str, ...]]

GOOD, BAD, BOARD = "openshift-node", "openshift-node-neglected", "arm-board"
UNSPECIFIED, UNDECLARED = "unspecified", "undeclared"


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
        ok=("tuned", ("1-3", "managed_irq")),
        fail=("untuned", ()),
        not_applicable=("one-cpu", ()),
    ),
    Row(
        2,
        ok=("tuned", ()),
        fail=("untuned", ("1-3",)),
        not_applicable=("one-cpu", ()),
    ),
    Row(
        3,
        ok=("tuned", ("1-3",)),
        fail=("spoilt", ("/dataplane",)),
        not_applicable=("one-cpu", ()),
    ),
    Row(
        4,
        ok=("tuned", ("1-3",)),
        fail=("mistaken", ("3",)),
        not_applicable=("one-cpu", ()),
    ),
    Row(
        5,
        ok=("tuned", ("0",)),
        fail=("untuned", ("1-3",)),
        not_applicable=("one-cpu", ()),
    ),
    Row(
        6,
        ok=("mistaken", ("0,2",)),
        fail=("untuned", ("1-3",)),
        not_applicable=("one-cpu", ()),
    ),
    Row(
        7,
        ok=("tuned", ()),
        # QEMU emulates no performance counter for an NMI watchdog.
        fail=(BAD, ()),
        not_applicable=("one-cpu", ()),
    ),
    Row(
        8,
        ok=("tuned", ()),
        fail=("mistaken", ()),
        not_applicable=(UNSPECIFIED, ()),
    ),
    Row(
        9,
        ok=("pinned", ()),
        fail=("thwarted", ()),
        not_applicable=("tuned", ()),
    ),
    Row(
        10,
        ok=("pinned", ()),
        fail=("thwarted", ("1",)),
        # Every intent has CPUs, and every host.
        not_applicable=(UNDECLARED, ()),
    ),
    Row(
        11,
        ok=("tuned", ()),
        fail=("thwarted", ()),
        # Every intent has a kernel of one flavour or the other.
        not_applicable=(UNDECLARED, ()),
    ),
    Row(
        12,
        ok=(GOOD, ()),
        fail=(BAD, ("2-15",)),
        not_applicable=("pinned", ()),
    ),
    Row(
        13,
        ok=("pinned", ()),
        fail=(BAD, ("2-15", "C1E", "C6", "170")),
        not_applicable=("tuned", ()),
    ),
    Row(
        14,
        ok=("pinned", ()),
        fail=("thwarted", ("1",)),
        not_applicable=("tuned", ()),
    ),
    Row(
        15,
        ok=(GOOD, ()),
        fail=(BAD, ()),
        not_applicable=("pinned", ()),
    ),
    Row(
        16,
        ok=(GOOD, ()),
        fail=(BAD, ()),
        not_applicable=("tuned", ()),
        never_fails="a host whose SMIs cannot be counted may have none",
    ),
    Row(
        17,
        ok=("pinned", ()),
        fail=(BAD, ()),
        not_applicable=("tuned", ()),
    ),
    Row(
        18,
        ok=(GOOD, ()),
        fail=(BAD, ("ProcCStates", "ProcC1E")),
        not_applicable=("pinned", ()),
    ),
    Row(
        19,
        ok=(GOOD, ("mc7", "2")),
        fail=("thwarted", ("1",)),
        not_applicable=("tuned", ()),
    ),
    Row(
        20,
        ok=(GOOD, ("0xd0003e7",)),
        fail=(BAD, ("0xb000280", "0xd0003e7")),
        not_applicable=(BOARD, ()),
    ),
    Row(
        21,
        # No TSC that QEMU emulates says that it is constant.
        ok=(GOOD, ()),
        fail=("thwarted", ()),
        not_applicable=(BOARD, ()),
    ),
    Row(
        22,
        ok=("tuned", ()),
        fail=("untuned", ()),
        not_applicable=(UNSPECIFIED, ()),
    ),
    Row(
        23,
        ok=("pinned", ("kernel.numa_balancing", "0")),
        fail=("mistaken", ("kernel.numa_balancing", "1", "0")),
        not_applicable=(UNSPECIFIED, ("kernel.numa_balancing",)),
    ),
    Row(
        24,
        ok=("pinned", ("kernel.sched_rt_runtime_us", "-1")),
        fail=("thwarted", ("50",)),
        not_applicable=("tuned", ("kernel.sched_rt_runtime_us",)),
    ),
    Row(
        25,
        ok=("tuned", ("vm.stat_interval", "10", "kernel.hung_task_timeout_secs", "600")),
        fail=("untuned", ("vm.stat_interval", "1", "10")),
        not_applicable=(UNSPECIFIED, ("vm.stat_interval",)),
    ),
    Row(
        26,
        ok=("tuned", ("kernel.timer_migration", "0")),
        fail=("untuned", ("kernel.timer_migration", "1", "0")),
        not_applicable=(
            UNSPECIFIED,
            ("kernel.timer_migration",),
        ),
    ),
    Row(
        27,
        ok=("tuned", ()),
        fail=("thwarted", ("/dev/ram0",)),
        not_applicable=(UNSPECIFIED, ()),
    ),
    Row(
        28,
        ok=("pinned", ()),
        fail=("thwarted", ("SCHED_FIFO", "2")),
        not_applicable=("one-cpu", ()),
    ),
    Row(
        29,
        ok=("pinned", ()),
        fail=("thwarted", ()),
        not_applicable=("tuned", ()),
    ),
    Row(
        30,
        ok=("pinned", ()),
        fail=("thwarted", ("TuneD",)),
        not_applicable=("tuned", ("TuneD",)),
    ),
    Row(
        31,
        ok=("pinned", ("32", "1")),
        fail=("mistaken", ("2M", "1")),
        not_applicable=(UNSPECIFIED, ()),
    ),
    Row(
        32,
        ok=("tuned", ("0",)),
        fail=("untuned", ("1-3",)),
        not_applicable=("one-cpu", ()),
    ),
    Row(
        33,
        ok=("tuned", ()),
        fail=("spoilt", ("1", "4", "ttyS0")),
        not_applicable=("one-cpu", ()),
    ),
    Row(
        34,
        # A guest that is up for twenty seconds has its boot in these counters.
        ok=(GOOD, ("1.03",)),
        fail=("untuned", ()),
        not_applicable=("one-cpu", ()),
        never_fails="counters since the boot include the time before the tuning",
    ),
    Row(
        35,
        ok=("pinned", ("0000:11:00.0", "3", "1")),
        fail=("mistaken", ("eth0", "1")),
        not_applicable=(BOARD, ("fm1-mac9",)),
    ),
    Row(
        36,
        ok=(GOOD, ("ens7f0", "16", "GT/s", "x8")),
        fail=(BAD, ("ens7f0", "16", "GT/s", "x4", "x8")),
        not_applicable=("mistaken", ("eth0",)),
    ),
    Row(
        37,
        ok=(GOOD, ("ens7f0",)),
        fail=(BAD, ("ens7f0", "l1_aspm")),
        not_applicable=("mistaken", ("eth0",)),
    ),
    Row(
        38,
        ok=(GOOD, ("ens7f0", "512")),
        fail=(BAD, ("ens7f0",)),
        not_applicable=("pinned", ("0000:11:00.0",)),
    ),
    Row(
        39,
        ok=("pinned", ("0000:11:00.0",)),
        fail=("thwarted", ("0000:11:00.0",)),
        not_applicable=("tuned", ()),
    ),
    Row(
        40,
        ok=("pinned", ("eth0", "1")),
        fail=("thwarted", ("eth1", "4")),
        not_applicable=("tuned", ("user_level_networking",)),
    ),
    Row(
        41,
        ok=("pinned", ("3",)),
        fail=("thwarted", ()),
        not_applicable=("tuned", ()),
    ),
    Row(
        42,
        ok=("pinned", ("3",)),
        fail=("thwarted", ()),
        not_applicable=("tuned", ()),
    ),
    Row(
        43,
        ok=("pinned", ()),
        fail=("thwarted", ()),
        not_applicable=("tuned", ()),
    ),
    Row(
        44,
        ok=("pinned", ()),
        fail=("thwarted", ()),
        not_applicable=("tuned", ()),
    ),
    Row(
        45,
        ok=(GOOD, ("dataplane/testpmd",)),
        fail=("thwarted", ("dataplane/testpmd", "testpmd.livenessProbe")),
        not_applicable=("tuned", ("/etc/kubernetes/manifests",)),
    ),
    Row(
        46,
        ok=(GOOD, ()),
        fail=(BAD, ("cpuManagerPolicy",)),
        not_applicable=("tuned", ()),
    ),
    Row(
        47,
        ok=(GOOD, ("11",)),
        fail=(BAD, ("2.14",)),
        not_applicable=("one-cpu", ()),
    ),
)

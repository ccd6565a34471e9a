"""Virtual machines with a card behind a bridge, a pod and services; and one of a single CPU.

No guest has a kubelet, a TuneD or DPDK: a script makes the control groups that a kubelet
would, writes the files that it would, and processes that only wait have the names of theirs.
What the kernel makes of all that is the kernel's own: quotas and throttling, scheduling
domains, swap, IOMMU groups, nodes without memory.
"""

from __future__ import annotations

from tests.unit.tune.captures.tuned_system import TunedSystem

# The kubelet's names: systemd has "_" for the "-" of a pod's uid in a slice's name.
UID = "8f1a2b3c-4d5e-4f60-8a7b-9c0d1e2f3a4b"
# A program that is there and does nothing. What it reads from gives it nothing, and no
# process is started to wait, for that would be one more.
WAITS = """\
#!/bin/busybox sh
read nothing <>/never
"""
# The same after a loop that polls for a while.
POLLS_THEN_WAITS = """\
#!/bin/busybox sh
while [ ! -e /enough ]; do :; done
read nothing <>/never
"""

# Two nodes with CPUs 0-1 and 2-3; a card of the second one behind a PCIe bridge, which is
# 0000:11:00.0 because the second root's buses begin at 16.
FAR_CARD = (
    *("-device", "pxb-pcie,id=far,bus=pcie.0,bus_nr=16,numa_node=1"),
    *("-device", "pcie-root-port,id=downstream,bus=far,chassis=1,slot=1"),
)
CARD = "0000:11:00.0"


def _pod(slices: str, cpus: str, cpu_max: str) -> str:
    """Shell: the control groups of a pod as the kubelet makes them, dpdk-testpmd within.

    `slices` are the directories below kubepods.slice, the pod's own last.
    """
    return f"""\
mkfifo /never
echo "+cpu +cpuset" >/sys/fs/cgroup/cgroup.subtree_control
group=/sys/fs/cgroup/kubepods.slice
mkdir $group
for slice in {slices} crio-0f1e2d3c4b5a.scope; do
    echo "+cpu +cpuset" >$group/cgroup.subtree_control
    group=$group/$slice
    mkdir $group
done
echo {cpus} >$group/cpuset.cpus
echo "{cpu_max}" >$group/cpu.max
(echo 0 >$group/cgroup.procs; exec /dpdk-testpmd) &
"""


def _static_pod(probe: str) -> str:
    """A manifest with a password, which must not get into a capture."""
    return f"""\
apiVersion: v1
kind: Pod
metadata: {{name: testpmd, namespace: dataplane}}
spec:
  containers:
    - name: testpmd
      image: registry.example.org/dpdk:24.11
      env: [{{name: LICENCE_PASSWORD, value: hunter2}}]
      resources:
        limits: {{cpu: 1, memory: 64Mi}}
        requests: {{cpu: 1, memory: 64Mi}}
      livenessProbe: {{{probe}}}
"""


PINNED = TunedSystem(
    name="pinned",
    # As tuned as a guest can be: card, pod, hugepages and CPU 3 on node 1.
    arguments=(
        "isolcpus=managed_irq,domain,1,3 nohz_full=1,3 rcu_nocbs=1,3 nohz=on skew_tick=1 "
        "nosoftlockup nmi_watchdog=0 irqaffinity=0,2 transparent_hugepage=never "
        "numa_balancing=disable default_hugepagesz=2M hugepagesz=2M hugepages=0:16,1:32 "
        "intel_iommu=on iommu=pt"
    ),
    machine=(
        *("-object", "memory-backend-ram,id=m0,size=320M"),
        *("-object", "memory-backend-ram,id=m1,size=320M"),
        *("-numa", "node,nodeid=0,cpus=0-1,memdev=m0"),
        *("-numa", "node,nodeid=1,cpus=2-3,memdev=m1"),
        *("-device", "intel-iommu,intremap=off"),
        *FAR_CARD,
        *("-device", "virtio-net-pci,bus=downstream,romfile=,iommu_platform=on,disable-legacy=on"),
        *("-device", "virtio-net-pci,bus=pcie.0,romfile=,iommu_platform=on,disable-legacy=on"),
    ),
    modules=(
        "irqbypass",
        "vfio",
        "vfio_virqfd",
        "vfio_iommu_type1",
        "vfio-pci-core",
        "vfio-pci",
    ),
    files={
        "/dpdk-testpmd": WAITS,
        "/stalld": WAITS,
        "/tuned": WAITS,
        "/etc/tuned/active_profile": "plimsoll-pinned\n",
        "/etc/kubernetes/manifests/testpmd.yaml": _static_pod("httpGet: {port: 8080}"),
        "/var/lib/kubelet/cpu_manager_state": (
            f'{{"policyName":"static","defaultCpuSet":"0-2",'
            f'"entries":{{"{UID}":{{"testpmd":"3"}}}},"checksum":1}}'
        ),
    },
    tune=_pod(f"kubepods-pod{UID.replace('-', '_')}.slice", "3", "max")
    + f"""\
/stalld &
/tuned &
echo n/a >/sys/devices/system/cpu/cpu3/power/pm_qos_resume_latency_us
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
echo 0 >/proc/sys/kernel/timer_migration
echo 10 >/proc/sys/vm/stat_interval
echo 600 >/proc/sys/kernel/hung_task_timeout_secs
echo vfio-pci >/sys/bus/pci/devices/{CARD}/driver_override
echo {CARD} >/sys/bus/pci/devices/{CARD}/driver/unbind
echo {CARD} >/sys/bus/pci/drivers_probe
for irq in /proc/irq/[0-9]*; do
    echo 0,2 >$irq/smp_affinity_list
done 2>/dev/null
""",
    intent=f"""\
name: pinned
platform: vm
cpus: {{reserved: "0,2", isolated: "1,3", smt: any, balance_isolated: off}}
hugepages: {{default_size: 2M, pages: [{{size: 2M, count: 32, node: 1}}]}}
kernel: {{realtime: false}}
hints: {{realtime: on}}
user_level_networking: on
services:
  {{stalld: on, chronyd: off, tuned: on, fwupd: off,
   ksm: off, thp: off, swap: off, numa_balancing: off}}
scheduling:
  {{rt_runtime_us: -1, timer_migration: 0, stat_interval_s: 10, hung_task_timeout_s: 600}}
bios: {{turbo: off, c_states: off, power_profile: max-performance}}
nics: [{{name: wire, pci: ["{CARD}"], numa_node: 1, driver: vfio-pci}}]
pods:
  - name: testpmd
    namespace: dataplane
    cpus: 1
    memory: 64Mi
    effects: {{cpu_quota: off, cpu_load_balancing: off, irq_load_balancing: off}}
    annotations: {{cpu-c-states.crio.io: disable}}
expected_processes: [dpdk-testpmd]
""",
    verdicts={
        1: "ok",
        2: "ok",
        3: "ok",
        4: "ok",
        5: "ok",
        6: "ok",
        7: "ok",
        8: "ok",
        9: "ok",  # intel-iommu makes groups, and iommu=pt is there
        10: "ok",
        11: "ok",
        12: "not-applicable",  # QEMU has no frequencies to set
        13: "ok",  # nor idle states
        14: "ok",  # "n/a" is CPU 3's own limit, that of one CPU of one pod
        15: "not-applicable",
        16: "not-applicable",
        17: "ok",  # not installed
        18: "not-applicable",  # no BMC was queried
        19: "not-applicable",
        20: "ok",
        # 21: under load the kernel finds the TSC to drift from the clock next to it, or not.
        22: "ok",
        23: "ok",
        24: "ok",
        25: "ok",
        26: "ok",
        27: "ok",
        28: "ok",
        29: "ok",
        30: "ok",
        31: "ok",
        32: "ok",
        33: "ok",
        35: "ok",
        # Of a guest's link its hypervisor's host tells more.
        36: "not-applicable",
        37: "not-applicable",
        38: "not-applicable",  # and the port is not the kernel's
        39: "ok",
        40: "ok",  # the other card has one queue
        41: "ok",
        42: "ok",
        43: "ok",
        44: "ok",
        45: "ok",
        46: "not-applicable",  # the platform is no OpenShift
        47: "unknown",  # not measured
    },
    message={
        9: "the IOMMU has",
        14: "a limit",
        31: "32 hugepages of 2M on node 1",
        35: f"{CARD} and CPU 3 are on node 1",
        36: f"a guest's PCIe link, here of {CARD}",
        39: f"{CARD} is bound to vfio-pci",
        40: "eth0 has 1 queue",
        41: "has CPU 3 to itself",
        42: "the scheduler leaves CPU 3 alone",
        45: "static pod dataplane/testpmd has no exec probe",
    },
)

# The same machine before anybody tuned it, and worse:
# - all memory on node 0, and none where the card is;
# - the pod burstable, with half a CPU, on CPUs that are not isolated;
# - the wrong TuneD profile, chronyd and no stalld, swap;
# - a slow clock, no IOMMU, the card with the kernel's driver, the other card with a queue for
#   each CPU.
THWARTED = TunedSystem(
    name="thwarted",
    arguments="clocksource=hpet",
    machine=(
        *("-object", "memory-backend-ram,id=m0,size=640M"),
        *("-numa", "node,nodeid=0,cpus=0-1,memdev=m0"),
        *("-numa", "node,nodeid=1,cpus=2-3"),
        *FAR_CARD,
        *("-device", "virtio-net-pci,bus=downstream,romfile="),
        *("-device", "vmxnet3,bus=pcie.0,romfile="),
    ),
    modules=("brd", "vmxnet3"),
    files={
        "/dpdk-testpmd": POLLS_THEN_WAITS,
        "/chronyd": WAITS,
        "/tuned": WAITS,
        "/etc/tuned/active_profile": "virtual-guest\n",
        "/etc/kubernetes/manifests/testpmd.yaml": _static_pod("exec: {command: [/healthy]}"),
        "/var/lib/kubelet/cpu_manager_state": (
            '{"policyName":"none","defaultCpuSet":"","checksum":1}'
        ),
    },
    tune=_pod(
        f"kubepods-burstable.slice kubepods-burstable-pod{UID.replace('-', '_')}.slice",
        "2-3",
        "50000 100000",
    )
    + """\
/chronyd &
/tuned &
mkswap /dev/ram0
swapon /dev/ram0
until grep -q "nr_throttled [1-9]" $group/cpu.stat; do usleep 100000; done
touch /enough
""",
    intent=f"""\
name: thwarted
platform: vm
cpus: {{reserved: "0", isolated: 2-3, smt: any, balance_isolated: off}}
hugepages: {{default_size: 2M, pages: [{{size: 2M, count: 32, node: 1}}]}}
kernel: {{realtime: true}}
hints: {{realtime: on}}
user_level_networking: on
services:
  {{stalld: on, chronyd: off, tuned: on, ksm: off, thp: off, swap: off, numa_balancing: off}}
scheduling:
  {{rt_runtime_us: -1, timer_migration: 0, stat_interval_s: 10, hung_task_timeout_s: 600,
   fifo_priority: 2}}
nics: [{{name: wire, pci: ["{CARD}"], driver: vfio-pci}}]
pods:
  - name: testpmd
    namespace: dataplane
    cpus: 1
    memory: 64Mi
    effects: {{cpu_quota: off, cpu_load_balancing: off, irq_load_balancing: off}}
    annotations: {{cpu-c-states.crio.io: disable}}
expected_processes: [dpdk-testpmd]
""",
    verdicts={
        1: "fail",
        2: "fail",
        3: "fail",
        4: "fail",
        5: "fail",
        6: "fail",
        7: "warn",  # there is no counter for an NMI watchdog; the other one runs
        8: "fail",
        9: "fail",
        10: "fail",  # CPU 1 belongs to no pod
        11: "fail",
        14: "fail",
        19: "fail",
        21: "fail",
        22: "fail",
        23: "fail",
        24: "fail",
        25: "fail",
        26: "fail",
        27: "fail",
        28: "fail",
        29: "fail",
        30: "fail",
        31: "fail",
        32: "fail",
        33: "fail",
        34: "warn",
        35: "fail",
        39: "fail",
        40: "fail",
        41: "fail",
        42: "fail",
        43: "fail",
        44: "fail",
        45: "fail",
        46: "not-applicable",
        47: "unknown",
    },
    message={
        9: "there are no IOMMU groups",
        10: "CPU 1 is online and neither reserved nor isolated",
        11: "the kernel is not a real-time one",
        14: "one pod alone asks for 1",
        19: "node 1 has CPUs and no memory",
        21: "the clocksource is hpet",
        24: "is stopped for 50 ms of each period",
        27: "/dev/ram0",
        28: "is not at SCHED_FIFO 2",
        29: "chronyd runs",
        30: "TuneD's profile is virtual-guest, not plimsoll-thwarted",
        35: f"{CARD} is on node 1, where no hugepages are",
        39: f"{CARD} is bound to virtio-pci",
        40: "eth1 has 4 queues",
        41: "is in a burstable pod",
        42: "still has a CPU quota",
        43: "a quota stopped dpdk-testpmd",
        44: "the CPU manager gave dpdk-testpmd",
        45: "static pod dataplane/testpmd: testpmd.livenessProbe",
    },
)

_ABSENT = "no CPU that the intent isolates is online"
# A guest whose hypervisor gave it one CPU instead of four: none of what the intent says of
# isolated CPUs can be, and only the intent's own fault shows.
ONE_CPU = TunedSystem(
    name="one-cpu",
    arguments="",
    machine=("-smp", "1", "-device", "virtio-net-pci,romfile="),
    tune="",
    intent="""\
name: one-cpu
platform: vm
cpus: {reserved: "0", isolated: 1-3, smt: any, balance_isolated: off}
kernel: {realtime: false}
hints: {realtime: on}
bios: {turbo: off, c_states: off, power_profile: max-performance}
pods:
  - name: testpmd
    cpus: 1
    memory: 64Mi
    annotations: {cpu-c-states.crio.io: disable}
""",
    verdicts={
        **dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 28, 32, 33, 34), "not-applicable"),
        8: "fail",
        10: "fail",
        47: "not-applicable",
    },
    message={
        **dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 28, 32, 33, 34), _ABSENT),
        10: "CPUs 1-3 are isolated but not online",
        47: "one CPU",
    },
)

POD_SYSTEMS = (PINNED, THWARTED, ONE_CPU)

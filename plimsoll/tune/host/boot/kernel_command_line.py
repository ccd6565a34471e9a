"""The kernel's command line: its arguments by name, and the CPU lists in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from plimsoll.tune.host.view.host_view import HostView

_WORD = re.compile(r'(?:[^\s"]|"[^"]*"?)+')
_SINGLE = re.compile(r"\d{1,6}|N", re.ASCII)
_RANGE = re.compile(r"(?:(?i:(all))|(\d{1,6}|N)-(\d{1,6}|N))(?::(\d{1,6})/(\d{1,6}))?", re.ASCII)
_BETWEEN = re.compile(r"[,\s]+", re.ASCII)
_LETTER = re.compile(r"[A-Za-z]", re.ASCII)
_FLAG = re.compile(r"[A-Za-z_]+", re.ASCII)
_FLAGS = frozenset({"domain", "managed_irq", "nohz"})
_NAME = re.compile(r"[A-Za-z][\w.]{0,63}", re.ASCII)
_MAX_CPUS = 8192
# kernel/sched/isolation.c, housekeeping_setup: later ones with other CPUs are ignored.
_FIRST_COUNTS = frozenset({"nohz_full"})
PATH = "/proc/cmdline"
# What a capture has in place of a value, or of a word that is not a known argument.
HIDDEN = "<hidden>"
_CPUS = """
    cpu0_hotplug isolcpus irqaffinity kthread_cpus maxcpus nohz nohz_full nosmp nosmt nr_cpus
    possible_cpus smt systemd.cpu_affinity tuned.non_isolcpus workqueue.cpu_intensive_thresh_us
    workqueue.default_affinity_scope workqueue.power_efficient workqueue.unbound_cpus
"""
_TIME = """
    clocksource highres hpet lapic_timer_c2_ok lapictimerfreq no_timer_check notsc skew_tick
    tick_broadcast tsc tsc_early_khz threadirqs timer_migration
"""
_RCU = """
    rcu_nocb_poll rcu_nocbs rcu_normal rcu_normal_after_boot rcupdate.rcu_cpu_stall_suppress
    rcupdate.rcu_cpu_stall_timeout rcupdate.rcu_expedited rcupdate.rcu_normal
    rcupdate.rcu_normal_after_boot rcutree.blimit rcutree.enable_rcu_lazy
    rcutree.jiffies_till_first_fqs rcutree.kthread_prio rcutree.nocb_nobypass_lim_per_jiffy
    rcutree.nohz_full_patience_delay rcutree.qhimark rcutree.use_softirq
"""
_WATCHDOGS = """
    audit audit_backlog_limit hung_task_panic mce nmi_watchdog nosoftlockup nowatchdog
    softlockup_all_cpu_backtrace softlockup_panic watchdog_thresh
"""
_POWER = """
    amd_pstate amd_prefcore cpufreq.default_governor cpufreq.off cpuidle.governor cpuidle.off
    cpuidle_haltpoll.force idle intel_idle.max_cstate intel_idle.preferred_cstates
    intel_idle.states_off intel_idle.use_acpi intel_pstate intel_pstate.no_turbo
    processor.ignore_ppc processor.max_cstate processor.nocst
"""
_MEMORY = """
    default_hugepagesz hugepage_alloc_threads hugepages hugepagesz hugetlb_cma hugetlb_free_vmemmap
    init_on_alloc init_on_free kernelcore ksm mem movablecore numa numa_balancing page_alloc.shuffle
    psi slab_nomerge swapaccount transparent_hugepage vmalloc
"""
_DEVICES = """
    acpi amd_iommu amd_iommu_dump apic disable_ipv6 intel_iommu intremap iommu iommu.forcedac
    iommu.passthrough iommu.strict ipv6.disable mlx5_core.probe_vf nvme.poll_queues
    nvme_core.default_ps_max_latency_us pci pcie_acs_override pcie_aspm pcie_aspm.policy
    pcie_port_pm pcie_ports swiotlb usbcore.autosuspend vfio.enable_unsafe_noiommu_mode
    vfio_iommu_type1.allow_unsafe_interrupts vfio_pci.disable_idle_d3 vfio_pci.enable_sriov
    vfio_pci.ids virtio_net.napi_tx
"""
_SCHEDULER = """
    autogroup cfs_bandwidth cgroup_disable cgroup_no_v1 kvm.halt_poll_ns noautogroup preempt
    relax_domain_level sched_verbose schedstats systemd.legacy_systemd_cgroup_controller
    systemd.unified_cgroup_hierarchy
"""
_MITIGATIONS = """
    gather_data_sampling indirect_target_selection kpti kvm_intel.vmentry_l1d_flush l1d_flush l1tf
    mds mitigations mmio_stale_data nospec_store_bypass_disable nospectre_bhb nospectre_v1
    nospectre_v2 nopti pti reg_file_data_sampling retbleed spec_rstack_overflow
    spec_store_bypass_disable spectre_bhi spectre_v2 spectre_v2_user srbds tsa tsx
    tsx_async_abort vmscape
"""
# Standing alone they say nothing of anybody, and are on every command line.
_COMMON = "console crashkernel debug fips nokaslr quiet ro rw selinux splash"
KNOWN_ARGUMENTS = frozenset(
    " ".join(
        (
            _CPUS,
            _TIME,
            _RCU,
            _WATCHDOGS,
            _POWER,
            _MEMORY,
            _DEVICES,
            _SCHEDULER,
            _MITIGATIONS,
            _COMMON,
        )
    ).split()
)


@dataclass(frozen=True, slots=True)
class KernelCommandLine:
    """`words` are (name, value) in order; value None where there is no "=".

    Names have "_" for "-", which the kernel takes for the same. What follows "--" is for
    the first process and left out.
    """

    words: tuple[tuple[str, str | None], ...]

    @classmethod
    def parse(cls, text: str) -> KernelCommandLine:
        """Split as the kernel does: at blanks, except inside double quotes."""
        words: list[tuple[str, str | None]] = []
        for word in _WORD.findall(text):
            if word == "--":
                break
            name, equals, value = word.replace('"', "").partition("=")
            words.append((name.replace("-", "_"), value if equals else None))
        return cls(tuple(words))

    def __contains__(self, name: str) -> bool:
        return any(each == name.replace("-", "_") for each, _ in self.words)

    def values(self, name: str) -> tuple[str, ...]:
        """Every value given to `name`, in order; "" where it stands alone."""
        expected = name.replace("-", "_")
        return tuple(value or "" for each, value in self.words if each == expected)

    def last(self, name: str) -> str | None:
        """The last value, which is the one that counts for most arguments; None without."""
        return (self.values(name) or (None,))[-1]

    def counting(self, name: str) -> str | None:
        """The value that the kernel uses: of nohz_full, as of isolcpus, the first one."""
        values = self.values(name) or (None,)
        return values[0 if name in _FIRST_COUNTS else -1]

    def hides(self, name: str) -> bool:
        """Whether a capture left out what the line may say of the argument."""
        expected = name.replace("-", "_")
        if expected in KNOWN_ARGUMENTS:
            return False
        given = [value for each, value in self.words if each == expected]
        return HIDDEN in given if given else (HIDDEN, None) in self.words

    def shown(self, name: str) -> str:
        """The argument as it counts, for people: "nohz_full=2-5", or "no nohz_full"."""
        value = self.counting(name)
        if value is None:
            return f"no {name}"
        return f"{name}={value}" if value else name


@dataclass(frozen=True, slots=True)
class Isolcpus:
    """isolcpus= taken apart; without flags the kernel means `domain`."""

    flags: frozenset[str]
    cpus: frozenset[int]


def parse_isolcpus(value: str, online: Iterable[int]) -> Isolcpus:
    """Flags, then CPUs: "managed_irq,domain,2-5". Raises ValueError where it is neither.

    What begins with a letter is a flag, "all" and "N" too; the kernel skips those that it does
    not know.
    """
    flags: set[str] = set()
    rest = value
    while _LETTER.match(rest):
        flag, comma, rest = rest.partition(",")
        if not _FLAG.fullmatch(flag):
            raise ValueError(f"{flag!r} is neither a flag nor a list of CPUs")
        if not comma:
            raise ValueError(f"{flag!r} is a flag there, and no list of CPUs follows")
        flags |= {flag} & _FLAGS
    return Isolcpus(frozenset(flags or {"domain"}), parse_kernel_cpu_list(rest, online))


@dataclass(frozen=True, slots=True)
class GivenIsolcpus:
    """All isolcpus= of a command line: those in force, and the values that the kernel ignores."""

    in_force: tuple[Isolcpus, ...]
    ignored: tuple[str, ...]

    @property
    def cpus(self) -> frozenset[int]:
        """The CPUs of any."""
        return frozenset(cpu for each in self.in_force for cpu in each.cpus)


def given_isolcpus(line: KernelCommandLine, online: Iterable[int]) -> GivenIsolcpus:
    """What the kernel makes of isolcpus= that is given once or several times.

    The first that sets a flag counts: a later one with that flag and other CPUs is ignored
    whole, and one with further flags adds these (Linux 5.18 and later, housekeeping_setup in
    kernel/sched/isolation.c; before, any later one with other CPUs is ignored). nohz_full= sets
    the flag nohz.
    """
    cpus_of: dict[str, frozenset[int]] = {}
    in_force: list[Isolcpus] = []
    ignored: list[str] = []
    for name, value in line.words:
        if name not in ("isolcpus", "nohz_full"):
            continue
        given = _isolation(name, value or "", online)
        if given and all(cpus_of.get(flag, given.cpus) == given.cpus for flag in given.flags):
            cpus_of |= dict.fromkeys(given.flags, given.cpus)
            if name == "isolcpus":
                in_force.append(given)
        elif name == "isolcpus":
            ignored.append(value or "")
    return GivenIsolcpus(tuple(in_force), tuple(ignored))


def _isolation(name: str, value: str, online: Iterable[int]) -> Isolcpus | None:
    """Either argument; None where the kernel cannot read it."""
    try:
        if name == "isolcpus":
            return parse_isolcpus(value, online)
        return Isolcpus(frozenset({"nohz"}), parse_kernel_cpu_list(value, online))
    except ValueError:
        return None


def parse_kernel_cpu_list(text: str, online: Iterable[int]) -> frozenset[int]:
    """A list as kernel arguments take it, which is more than files print.

    "all" is every CPU and N the last one of `online`; "0-31:2/8" takes the first two of
    each eight (kernel-parameters.txt, "cpu lists"). Commas and blanks may stand before, between
    and after. Raises ValueError for anything else.
    """
    last = max(online, default=0)
    parts = [part for part in _BETWEEN.split(text) if part]
    if not parts:
        raise ValueError(f"{text!r} is not a list of CPUs")
    return frozenset[int]().union(*(_parse_part(part, last, text) for part in parts))


def _parse_part(part: str, last: int, text: str) -> set[int]:
    def number(digits: str) -> int:
        return last if digits == "N" else int(digits)

    if _SINGLE.fullmatch(part):
        part = f"{part}-{part}"
    match = _RANGE.fullmatch(part)
    if match is None:
        raise ValueError(f"{text!r} is not a list of CPUs")
    first, end = (0, last) if match[1] else (number(match[2]), number(match[3]))
    used, group = (int(match[4]), int(match[5])) if match[4] else (1, 1)
    if not first <= end < _MAX_CPUS or not 0 < used <= group:
        raise ValueError(f"{text!r} is not a list of CPUs")
    return {cpu for cpu in range(first, end + 1) if (cpu - first) % group < used}


def read_command_line(view: HostView) -> KernelCommandLine:
    """The command line that the host's kernel was booted with. Raises CannotRead."""
    return KernelCommandLine.parse(view.need(PATH))


def without_unknown_values(text: str) -> str:
    """The command line with HIDDEN for values of arguments that are not known.

    Their names stay where they look like names; what follows "--" is for the first process and
    goes altogether.
    """
    return " ".join(_shown(*word) for word in KernelCommandLine.parse(text).words)


def _shown(name: str, value: str | None) -> str:
    if name in KNOWN_ARGUMENTS:
        word = name if value is None else f"{name}={value}"
        return f'"{word}"' if len(word.split()) > 1 else word
    # A word without a value may be the rest of a password that was not quoted.
    return f"{name}={HIDDEN}" if value and _NAME.fullmatch(name) else HIDDEN

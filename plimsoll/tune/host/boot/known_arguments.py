"""Kernel arguments whose values a capture keeps: what tunes or tells a kernel, and no more.

Anybody may write anything onto the command line, passwords and signed addresses among it, so
that what a value may hold decides, not what its name sounds like. Names as in Linux,
Documentation/admin-guide/kernel-parameters.txt, with "_" for "-", which the kernel takes for
the same; dotted ones are modules', and tuned's and systemd's own.
"""

from __future__ import annotations

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

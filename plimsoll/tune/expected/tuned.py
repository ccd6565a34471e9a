"""What TuneD does on the node: the active profile, its sysctls and its services.

For OpenShift the values of openshift/cluster-node-tuning-operator, releases 4.16 to 5.1
(assets/performanceprofile/tuned), and what its parents in redhat-performance/tuned at commit
35eed3ca add; for other platforms what we render ourselves. Settings of parents that have
nothing to do with isolated CPUs, such as OpenShift's sizes of neighbour tables, are left out.
"""

from __future__ import annotations

from plimsoll.tune.expected.operator_arguments import realtime_hint
from plimsoll.tune.expected.tuned_names import operator_profile, rendered_profile
from plimsoll.tune.intent.intent import Intent

_OPERATOR_SYSCTLS = {
    "net.ipv4.tcp_fastopen": "3",
    "vm.dirty_background_ratio": "3",
    "vm.dirty_ratio": "10",
    "vm.swappiness": "10",
}
# The operator's profile has these only with the real-time hint, its parents always.
_PARENTS_SYSCTLS = {
    "kernel.hung_task_timeout_secs": "600",
    "kernel.nmi_watchdog": "0",
    "vm.stat_interval": "10",
}
# By systemd's names; fwupd's timer starts what its service does.
_UNITS = {
    "stalld": "stalld",
    "chronyd": "chronyd",
    "irqbalance": "irqbalance",
    "fwupd": "fwupd-refresh.timer",
}


def expected_profile(intent: Intent) -> str | None:
    """The active profile; None where TuneD is not to run."""
    if intent.platform == "openshift":
        return rendered_profile(intent) if has_patch(intent) else operator_profile(intent)
    return rendered_profile(intent) if intent.services.tuned else None


def has_patch(intent: Intent) -> bool:
    """Whether the intent asks for more than the operator's own profile does."""
    requested = intent_sysctls(intent) or intent_units(intent) or intent.kernel.tuned_bootloader
    given = intent.tuned.model_fields_set or intent.services.thp is not None
    return bool(requested) or bool(given)


def intent_sysctls(intent: Intent) -> dict[str, str]:
    """The settings that the intent itself names."""
    scheduling = intent.scheduling
    numa_balancing = intent.services.numa_balancing
    named = {
        "kernel.sched_rt_runtime_us": scheduling.rt_runtime_us,
        "kernel.timer_migration": scheduling.timer_migration,
        "vm.stat_interval": scheduling.stat_interval_s,
        "kernel.hung_task_timeout_secs": scheduling.hung_task_timeout_s,
        "kernel.numa_balancing": None if numa_balancing is None else int(numa_balancing),
    }
    given = {name: str(value) for name, value in named.items() if value is not None}
    return given | dict(scheduling.sysctls)


def intent_units(intent: Intent) -> dict[str, bool]:
    """systemd's units that the intent itself switches on or off."""
    switches = {unit: getattr(intent.services, name) for name, unit in _UNITS.items()}
    return {unit: switch for unit, switch in switches.items() if switch is not None}


def expected_sysctls(intent: Intent) -> dict[str, str]:
    """What TuneD sets, by name, in every release alike; the intent's own win."""
    if intent.platform != "openshift":
        return intent_sysctls(intent)
    settings = _OPERATOR_SYSCTLS | _PARENTS_SYSCTLS
    if realtime_hint(intent):
        settings["kernel.sched_rt_runtime_us"] = "-1"
    if intent.kernel.realtime:
        # In other kernels 4.20 and 4.21 leave it at the 0 of network-latency.
        settings["kernel.timer_migration"] = "1"
    else:
        # From network-latency; the real-time kernel does not have it.
        settings["kernel.numa_balancing"] = "0"
    return dict(sorted((settings | intent_sysctls(intent)).items()))


def expected_units(intent: Intent) -> dict[str, bool]:
    """systemd's units that are on (true) or off; the intent's own win.

    The operator turns fwupd's timer off in releases from 4.23 and 5.0 on.
    """
    if intent.platform != "openshift":
        return intent_units(intent)
    operators = {"fwupd-refresh.timer": False, "stalld": realtime_hint(intent)}
    return operators | intent_units(intent)

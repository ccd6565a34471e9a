"""44: whether the workload's CPUs are its own."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import NONE_PRESENT, ONLINE, present_isolated
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    tell,
    unknown,
    warn,
    worst_of,
)
from plimsoll.tune.audit.workload import (
    WORKLOAD_READS,
    WorkloadProcess,
    find_workload,
    no_workload,
)
from plimsoll.tune.host.boot.kubelet import CPU_MANAGER_STATE, read_cpu_manager
from plimsoll.tune.host.cpus.cpu_sets import name_cpus
from plimsoll.tune.host.cpus.threads import Thread, allowed_cpus, read_processes
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_WHERE = "/proc/*/status"
_MAX_NAMED = 5


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    workload = find_workload(view, intent)
    if not workload:
        return not_applicable(no_workload(intent))
    if not present_isolated(view, intent):
        return not_applicable(NONE_PRESENT)
    cpus = frozenset(cpu for each in workload for cpu in each.polling_cpus)
    if not cpus:
        names = ", ".join(each.name for each in workload)
        return fail(
            f"no thread of {names} is pinned to isolated CPUs",
            expected=f"polling threads on {name_cpus(intent.cpus.isolated.cpus, 'isolated')}",
            steps=[advice("pin them: DPDK's -l or --lcores, taskset, or a static CPU manager")],
        )
    return worst_of(
        (tell(lambda: _strangers(view, workload, cpus)), tell(lambda: _assigned(view, workload)))
    )


def _strangers(
    view: HostView, workload: Sequence[WorkloadProcess], cpus: frozenset[int]
) -> CheckJudgement:
    """Processes that may run on the same CPUs; the scheduler puts them there when it likes."""
    own = {each.process.pid for each in workload}
    others: list[Thread] = []
    for process in read_processes(view):
        if not process.kernel and process.pid not in own and allowed_cpus(view, process) & cpus:
            others.append(process)
    expected = f"nothing but the workload on {name_cpus(cpus)}"
    if not others:
        read = Reading(_WHERE, f"no other process may run on {name_cpus(cpus)}")
        return ok(f"{name_cpus(cpus)} are the workload's alone", read, expected=expected)
    names = [f"{each.comm} ({each.pid})" for each in others[:_MAX_NAMED]]
    more = f" and {len(others) - _MAX_NAMED} more" if len(others) > _MAX_NAMED else ""
    message = f"{', '.join(names)}{more}"
    return warn(
        f"others may run on {name_cpus(cpus)}, of the workload: {message}",
        Reading(_WHERE, message),
        expected=expected,
        steps=[advice("boot with isolcpus= or systemd.cpu_affinity=, or give them a cpuset")],
    )


def _assigned(view: HostView, workload: Sequence[WorkloadProcess]) -> CheckJudgement:
    """What the kubelet's CPU manager gave to the pods; nothing to say of a plain host."""
    pods = [each for each in workload if each.pod is not None]
    if not pods:
        return not_applicable("the workload runs in no pod of Kubernetes")
    manager = read_cpu_manager(view)
    expected = "exclusive CPUs by the kubelet's static CPU manager"
    if manager is None:
        return unknown(f"there is no {CPU_MANAGER_STATE}", expected=expected)
    read = Reading(
        CPU_MANAGER_STATE, f"{manager.policy}, shared {format_cpu_list(manager.shared) or 'none'}"
    )
    lacking = [each.name for each in pods if each.pod and each.pod.uid not in manager.exclusive]
    if manager.policy != "static" or lacking:
        return fail(
            f"the CPU manager gave {', '.join(lacking)} no CPUs of its own"
            if lacking
            else f"the CPU manager's policy is {manager.policy}",
            read,
            expected=expected,
            steps=[advice("use cpuManagerPolicy: static, and whole CPUs in a guaranteed pod")],
        )
    return ok("the kubelet gave the pods CPUs of their own", read, expected=expected)


CHECK = Check(
    number=44,
    name="exclusive-cpus",
    group="pod",
    title="The workload's CPUs are its own",
    reads=(ONLINE, *WORKLOAD_READS, CPU_MANAGER_STATE),
    why=(
        "A CPU that another process may use is used one day: a cron job, a shell, a container "
        "without a CPU set of its own. While it runs, the polling loop waits for a time slice, "
        "which is milliseconds."
    ),
    fix=(
        "Pin the workload; keep all else off its CPUs with isolcpus= or systemd.cpu_affinity=, "
        "or on Kubernetes with cpuManagerPolicy: static and a guaranteed pod of whole CPUs."
    ),
    sources=(
        "Kubernetes, Control CPU Management Policies on the Node",
        "DPDK, Getting Started Guide for Linux: Using Linux Core Isolation to Reduce Context "
        "Switches",
    ),
    rule=_judge,
)

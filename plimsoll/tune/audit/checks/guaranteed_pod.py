"""41: whether the workload's pods are guaranteed, with whole cores of their own."""

from __future__ import annotations

from functools import partial

from plimsoll.errors import MachineError
from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.check import TOPOLOGY, Check
from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, fail, ok, unknown, warn
from plimsoll.tune.audit.workload import WORKLOAD_READS, WorkloadProcess, judge_pods
from plimsoll.tune.fit.topology import read_topology
from plimsoll.tune.host.cpus.cgroups import CPUSET_READS, cpuset_of
from plimsoll.tune.host.cpus.cpu_sets import name_cpus
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_EXPECTED = "a guaranteed pod with whole CPUs, by whole cores"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    return judge_pods(view, intent, partial(_one, view, intent))


def _one(view: HostView, intent: Intent, each: WorkloadProcess) -> CheckJudgement:
    group = Reading(f"/proc/{each.process.pid}/cgroup", each.pod.qos if each.pod else "no pod")
    if each.pod is None or each.pod.qos != "guaranteed":
        return fail(
            f"{each.name} is in a {each.pod.qos if each.pod else 'strange'} pod",
            group,
            expected=_EXPECTED,
            steps=[advice("give its containers limits equal to their requests, CPU and memory")],
        )
    where, cpus = cpuset_of(view, each.process.pid)
    read = (group, Reading(where, format_cpu_list(cpus)))
    if shared := cpus & intent.cpus.reserved.cpus:
        return fail(
            f"{each.name} may run on {name_cpus(shared, 'reserved')}: it has no CPUs of its own",
            *read,
            expected=_EXPECTED,
            steps=[advice("ask for a whole number of CPUs, and use cpuManagerPolicy: static")],
        )
    try:
        siblings = read_topology(view.read).siblings
    except MachineError as error:
        return unknown(f"{error.where}: {error.message}", *read, expected=_EXPECTED)
    split = [cpu for cpu in sorted(cpus) if not siblings.get(cpu, frozenset()) <= cpus]
    if split:
        return warn(
            f"{each.name} has half of the cores of {name_cpus(split)}: the other half is "
            "another container's",
            *read,
            expected=_EXPECTED,
            steps=[advice("ask for an even number of CPUs, with full-pcpus-only")],
        )
    return ok(f"{each.name} has {name_cpus(cpus)} to itself", *read, expected=_EXPECTED)


CHECK = Check(
    number=41,
    name="guaranteed-pod",
    group="pod",
    title="The workload's pods are guaranteed, with whole cores",
    reads=(*TOPOLOGY, *WORKLOAD_READS, *CPUSET_READS),
    why=(
        "Only a guaranteed pod that asks for a whole number of CPUs gets CPUs of its own; any "
        "other shares those that are left with every container of the node. With SMT an odd "
        "number leaves the other thread of a core to a stranger."
    ),
    fix="Set limits equal to requests, CPU whole and even; use cpuManagerPolicy: static.",
    sources=(
        "Kubernetes, Control CPU Management Policies on the Node: static policy, full-pcpus-only",
        "Kubernetes, Pod Quality of Service Classes",
        "Article: DPDK latency in OpenShift - Part II, Pod Resources",
    ),
    rule=_judge,
)

"""43: whether a quota takes the CPU from the workload."""

from __future__ import annotations

from functools import partial

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import CheckJudgement, Reading, Step, advice, fail, ok, warn, write
from plimsoll.tune.audit.workload import WORKLOAD_READS, WorkloadProcess, judge_workload
from plimsoll.tune.host.cpus.cgroups import QUOTA_READS, Quota, quotas_of
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_EXPECTED = "no CPU quota on the workload or above it, and no period throttled"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    return judge_workload(view, intent, partial(_one, view))


def _one(view: HostView, each: WorkloadProcess) -> CheckJudgement:
    quotas = tuple(quotas_of(view, each.process.pid))
    read = tuple(Reading(quota.path, _described(quota)) for quota in quotas)
    throttled = [quota for quota in quotas if quota.throttled]
    limits = [quota for quota in quotas if quota.limits]
    if throttled and limits:
        return fail(
            f"a quota stopped {each.name} in {max(q.throttled or 0 for q in throttled)} periods",
            *read,
            expected=_EXPECTED,
            steps=[_lift(each, quota) for quota in limits],
        )
    if limits:
        return fail(
            f"{each.name} is under a CPU quota, which a polling loop uses up",
            *read,
            expected=_EXPECTED,
            steps=[_lift(each, quota) for quota in limits],
        )
    if throttled:
        message = f"no quota now, but one stopped {each.name} earlier"
        return warn(message, *read, expected=_EXPECTED)
    return ok(f"no quota is on {each.name}", *read, expected=_EXPECTED)


def _described(quota: Quota) -> str:
    count = "" if quota.throttled is None else f", nr_throttled {quota.throttled}"
    return f"{quota.value}{count}"


def _lift(each: WorkloadProcess, quota: Quota) -> Step:
    if each.pod is not None:
        return advice('give the pod cpu-quota.crio.io: "disable" and its runtimeClassName')
    none = "max" if quota.path.endswith("cpu.max") else "-1"
    # A service of the host's own, of whichever platform.
    return write(quota.path, none, openshift=None)


CHECK = Check(
    number=43,
    name="cpu-quota",
    group="pod",
    title="No CPU quota stops the workload",
    reads=(*WORKLOAD_READS, *QUOTA_READS),
    why=(
        "Kubernetes turns a CPU limit into a quota of the completely fair scheduler. A polling "
        "loop uses all its time, and whatever the accounting adds up too much is taken from it: "
        "it stands still for the rest of the period, up to 100 ms. A quota also keeps a CPU's "
        "tick on, whatever nohz_full says."
    ),
    fix=(
        'Annotate the pod with cpu-quota.crio.io: "disable" under its runtime class; on a host '
        "take CPUQuota= out of the service or slice."
    ),
    sources=(
        "Linux, Documentation/scheduler/sched-bwc.rst",
        "Linux, Documentation/admin-guide/cgroup-v2.rst: cpu.max, cpu.stat",
        "Article: DPDK latency in OpenShift - Part II, Pod annotations",
    ),
    rule=_judge,
)

"""42: whether what a pod's annotations ask for has really come about."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    tell,
    unknown,
    worst_of,
)
from plimsoll.tune.audit.workload import WORKLOAD_READS, WorkloadProcess, judge_pods
from plimsoll.tune.host.cpus.cgroups import QUOTA_READS, quotas_of
from plimsoll.tune.host.cpus.cpu_sets import name_cpus, read_cpu_mask
from plimsoll.tune.host.cpus.irqs import DEFAULT_AFFINITY
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.pod import Pod

_Effect = Literal["cpu_quota", "cpu_load_balancing", "irq_load_balancing"]
_SCHEDSTAT = "/proc/schedstat"
_DOMAINS = "/sys/kernel/debug/sched/domains"
_CPU_LINE = re.compile(r"cpu(\d{1,4}) ")
_HOOK = "use the performance profile's runtimeClassName: without it the annotation does nothing"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    if not any(pod.effects.annotations for pod in intent.pods):
        return not_applicable("no pod of the intent turns quota or balancing off")
    return judge_pods(view, intent, partial(_one, view, intent.pods))


def _one(view: HostView, pods: Sequence[Pod], each: WorkloadProcess) -> CheckJudgement:
    """Which of the intent's pods it is of, only the cluster knows; the host knows its class."""
    may_be = [pod for pod in pods if each.pod and pod.qos == each.pod.qos] or pods
    return worst_of(_effect(view, may_be, effect, judge, each) for effect, judge in _EFFECTS)


def _effect(
    view: HostView,
    pods: Sequence[Pod],
    effect: _Effect,
    judge: Callable[[HostView, WorkloadProcess], CheckJudgement],
    each: WorkloadProcess,
) -> CheckJudgement:
    """A fault where all of `pods` request it; where only some do, it is unknown."""
    asking = [pod.name for pod in pods if getattr(pod.effects, effect) is False]
    if not asking:
        return not_applicable(f"no pod that {each.name} may be of turns {effect} off")
    found = tell(partial(judge, view, each))
    if found.verdict != "fail" or len(asking) == len(pods):
        return found
    return unknown(
        f"{found.text}: of the intent's pods not all turn {effect} off, but {', '.join(asking)}, "
        "and whose process it is only the cluster knows",
        *found.read,
        expected=found.expected,
    )


def _quota(view: HostView, each: WorkloadProcess) -> CheckJudgement:
    expected = f"no CPU quota on {each.name}"
    limits = [quota for quota in quotas_of(view, each.process.pid) if quota.limits]
    if not limits:
        return ok(f"{each.name} has no CPU quota", expected=expected)
    return fail(
        f"{each.name} still has a CPU quota",
        *(Reading(quota.path, quota.value) for quota in limits),
        expected=expected,
        steps=[advice(_HOOK)],
    )


def _balancing(view: HostView, each: WorkloadProcess) -> CheckJudgement:
    """A CPU without a scheduling domain is one between which nothing is balanced."""
    cpus = each.polling_cpus
    expected = f"no load balancing on {name_cpus(cpus)}"
    if not cpus:
        return unknown(f"{each.name} has no thread pinned to isolated CPUs", expected=expected)
    where, balanced = _balanced(view)
    read = Reading(where, f"domains on {name_cpus(balanced)}" if balanced else "no domains")
    if found := cpus & balanced:
        return fail(
            f"the scheduler still balances {name_cpus(found)} of {each.name}",
            read,
            expected=expected,
            steps=[advice(_HOOK)],
        )
    return ok(f"the scheduler leaves {name_cpus(cpus)} alone", read, expected=expected)


def _balanced(view: HostView) -> tuple[str, frozenset[int]]:
    """The CPUs that have a scheduling domain. Raises CannotRead."""
    text = view.find(_SCHEDSTAT)
    if text is None:
        # Only kernels with SCHEDSTATS have it; debugfs is root's.
        names = view.find_names(_DOMAINS)
        numbers = [name for name in names if name.startswith("cpu") and name[3:].isdecimal()]
        busy = [name for name in numbers if view.find_names(f"{_DOMAINS}/{name}")]
        if not numbers:
            view.need(_SCHEDSTAT)
        return _DOMAINS, frozenset(int(name[3:]) for name in busy)
    found: set[int] = set()
    cpu: int | None = None
    for line in text.splitlines():
        if named := _CPU_LINE.match(line):
            cpu = int(named[1])
        elif line.startswith("domain") and cpu is not None:
            found.add(cpu)
    return _SCHEDSTAT, frozenset(found)


def _interrupts(view: HostView, each: WorkloadProcess) -> CheckJudgement:
    cpus = each.polling_cpus
    expected = f"new interrupts go elsewhere than {name_cpus(cpus)}"
    if not cpus:
        return unknown(f"{each.name} has no thread pinned to isolated CPUs", expected=expected)
    default = read_cpu_mask(view, DEFAULT_AFFINITY)
    read = Reading(DEFAULT_AFFINITY, format_cpu_list(default))
    if found := cpus & default:
        return fail(
            f"new interrupts may still go to {name_cpus(found)} of {each.name}",
            read,
            expected=expected,
            steps=[advice(_HOOK)],
        )
    return ok(f"new interrupts spare {name_cpus(cpus)}", read, expected=expected)


_EFFECTS: tuple[tuple[_Effect, Callable[[HostView, WorkloadProcess], CheckJudgement]], ...] = (
    ("cpu_quota", _quota),
    ("cpu_load_balancing", _balancing),
    ("irq_load_balancing", _interrupts),
)

CHECK = Check(
    number=42,
    name="pod-effects",
    group="pod",
    title="What the pods' annotations ask for is so",
    reads=(*WORKLOAD_READS, *QUOTA_READS, _SCHEDSTAT, DEFAULT_AFFINITY),
    lists=(_DOMAINS, f"{_DOMAINS}/cpu[0-9]*"),
    why=(
        "cpu-quota.crio.io, cpu-load-balancing.crio.io and irq-load-balancing.crio.io are "
        "carried out by a hook of CRI-O's high-performance runtime. Without its runtimeClassName "
        "they are ignored, and where the hook fails it fails silently: only the effect tells."
    ),
    fix=(
        'Give the pod runtimeClassName: performance-<name> and the annotations with "disable"; '
        "see CRI-O's log where the effect does not come."
    ),
    sources=(
        "CRI-O, internal/runtimehandlerhooks: high-performance hooks",
        "OpenShift, Low latency tuning: Disabling CPU CFS quota, Disabling CPU load balancing",
        "Linux, Documentation/scheduler/sched-stats.rst",
    ),
    rule=_judge,
)

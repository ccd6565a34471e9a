"""6: where the kernel's unbound work runs."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import NONE_PRESENT, ONLINE, present_isolated
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    fail,
    not_applicable,
    ok,
    worst_of,
    write,
)
from plimsoll.tune.audit.setting import node_tuned
from plimsoll.tune.host.cpus.cpu_sets import format_cpu_mask, name_cpus, read_cpu_mask
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_UNBOUND = "/sys/devices/virtual/workqueue/cpumask"
_WRITEBACK = "/sys/devices/virtual/workqueue/writeback/cpumask"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    if not present_isolated(view, intent):
        return not_applicable(NONE_PRESENT)
    unbound = read_cpu_mask(view, _UNBOUND)
    parts = [_part(intent, "unbound work", _UNBOUND, view.need(_UNBOUND), unbound)]
    if (text := view.find(_WRITEBACK)) is not None:
        # A queue's own mask counts within the general one, unless nothing would be left.
        effective = read_cpu_mask(view, _WRITEBACK) & unbound or unbound
        parts.append(_part(intent, "writing dirty pages back", _WRITEBACK, text, effective))
    return worst_of(parts)


def _part(intent: Intent, what: str, path: str, text: str, cpus: frozenset[int]) -> CheckJudgement:
    read, expected = Reading(path, text), f"CPUs of {intent.cpus.reserved.canonical} alone"
    if on_isolated := cpus & intent.cpus.isolated.cpus:
        return fail(
            f"{what} may run on {name_cpus(on_isolated, 'isolated')}",
            read,
            expected=expected,
            steps=[_narrow(intent, path)],
        )
    return ok(f"{what} keeps to {name_cpus(cpus)}", read, expected=expected)


def _narrow(intent: Intent, path: str) -> Step:
    mask = format_cpu_mask(intent.cpus.reserved.cpus)
    return write(path, mask, openshift=node_tuned(f"{path} to the reserved CPUs"))


CHECK = Check(
    number=6,
    name="workqueues",
    group="boot",
    title="Unbound kernel work keeps to housekeeping CPUs",
    reads=(ONLINE, _UNBOUND, _WRITEBACK),
    why=(
        "Drivers and file systems hand work to queues that are bound to no CPU. Their mask is "
        "all CPUs unless it is narrowed (nohz_full and isolcpus=domain do at boot), and "
        "a worker that wakes on a polling CPU takes it for as long as the work lasts."
    ),
    fix=(
        "Write the mask of the reserved CPUs to both files; TuneD's cpu-partitioning and the "
        "Node Tuning Operator do."
    ),
    sources=(
        "Linux, Documentation/core-api/workqueue.rst: Affinity Scopes, cpumask",
        "tuned, profile cpu-partitioning: [sysfs]",
    ),
    rule=_judge,
)

"""The processes that the isolated CPUs are for, as far as they run now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from plimsoll.tune.audit.finding import CheckJudgement, not_applicable, tell, worst_of
from plimsoll.tune.host.cpus.cgroups import CGROUP_READS, PodOfGroup, group_of
from plimsoll.tune.host.cpus.threads import (
    LONGEST_COMM,
    THREAD_READS,
    Thread,
    allowed_cpus,
    read_processes,
    read_threads,
)
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead
from plimsoll.tune.intent.intent import Intent

WORKLOAD_READS = (*THREAD_READS, *CGROUP_READS)
# The pod's own first process, which holds its namespaces and sleeps.
_SANDBOX = "pause"


@dataclass(frozen=True, slots=True)
class WorkloadProcess:
    """`polling_cpus` are those of threads that may run on nothing but isolated CPUs.

    `pod` is None for a process of the host.
    """

    process: Thread
    threads: tuple[Thread, ...]
    polling_cpus: frozenset[int]
    pod: PodOfGroup | None

    @property
    def name(self) -> str:
        """As a reader finds it again."""
        return f"{self.process.comm} ({self.process.pid})"


def find_workload(view: HostView, intent: Intent) -> tuple[WorkloadProcess, ...]:
    """The expected processes; where none is named, those of guaranteed pods.

    Raises CannotRead.
    """
    processes = [each for each in read_processes(view) if not each.kernel]
    if names := {name[:LONGEST_COMM] for name in intent.expected_processes}:
        chosen = [each for each in processes if each.comm in names]
        return tuple(_described(view, intent, each) for each in chosen)
    described = (
        _described(view, intent, each)
        for each in processes
        if each.comm != _SANDBOX and _in_guaranteed_pod(view, each)
    )
    return tuple(described)


def judge_workload(
    view: HostView, intent: Intent, judge: Callable[[WorkloadProcess], CheckJudgement]
) -> CheckJudgement:
    """The worst of what `judge` says of each process; not applicable where none runs."""
    found = find_workload(view, intent)
    if not found:
        return not_applicable(no_workload(intent))
    return worst_of(tell(partial(judge, each)) for each in found)


def judge_pods(
    view: HostView, intent: Intent, judge: Callable[[WorkloadProcess], CheckJudgement]
) -> CheckJudgement:
    """The same of those that run in pods; not applicable where none does."""
    found = find_workload(view, intent)
    if not found:
        return not_applicable(no_workload(intent))
    in_pods = [each for each in found if each.pod]
    if not in_pods:
        names = ", ".join(dict.fromkeys(each.process.comm for each in found))
        return not_applicable(f"{names} runs in no pod of Kubernetes")
    return worst_of(tell(partial(judge, each)) for each in in_pods)


def no_workload(intent: Intent) -> str:
    """Why there is no workload to judge."""
    if intent.expected_processes:
        return f"no process of {', '.join(intent.expected_processes)} runs now"
    return "the intent names no expected_processes, and no guaranteed pod runs"


def _in_guaranteed_pod(view: HostView, process: Thread) -> bool:
    try:
        pod = group_of(view, process.pid, "cpuset").pod
    except CannotRead as error:
        if error.unread.cause == "not-captured":
            raise
        return False
    return pod is not None and pod.qos == "guaranteed"


def _described(view: HostView, intent: Intent, process: Thread) -> WorkloadProcess:
    threads = read_threads(view, process.pid)
    isolated = intent.cpus.isolated.cpus
    polling: set[int] = set()
    for thread in threads:
        allowed = allowed_cpus(view, thread)
        if allowed and allowed <= isolated:
            polling |= allowed
    pod = group_of(view, process.pid, "cpuset").pod
    return WorkloadProcess(process, threads, frozenset(polling), pod)

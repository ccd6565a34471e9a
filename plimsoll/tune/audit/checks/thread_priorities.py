"""28: who runs before whom on the isolated CPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from plimsoll.text.counted import counted
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import NONE_PRESENT, ONLINE, present_isolated
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    command,
    fail,
    not_applicable,
    ok,
    warn,
    worst_of,
)
from plimsoll.tune.audit.setting import workload_pod
from plimsoll.tune.host.cpus.cpu_sets import name_cpus
from plimsoll.tune.host.cpus.threads import (
    LONGEST_COMM,
    THREAD_READS,
    Thread,
    allowed_cpus,
    read_processes,
    read_threads,
)
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_STAT = "/proc/*/stat"
# The kernel's threads of one CPU each that must not starve: softirqs, RCU's callbacks, and
# the timers that the real-time kernel has of its own (ktimersoftd before Linux 5).
_OWN = re.compile(r"(ksoftirqd|rcuc|ktimers|ktimersoftd)/(\d{1,4})")
# The Node Tuning Operator's priority of all three, as rcutree.kthread_prio=11.
_OPERATORS = 11
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class _Seen:
    """`kernel` by CPU; `pollers` are threads of fixed priority on isolated CPUs alone.

    SCHED_DEADLINE is none: its budget ends in each period. `others` are the expected
    processes' threads there of ordinary priority.
    """

    kernel: dict[int, tuple[Thread, ...]]
    pollers: tuple[tuple[Thread, frozenset[int]], ...]
    others: tuple[tuple[Thread, frozenset[int]], ...]


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    if not present_isolated(view, intent):
        return not_applicable(NONE_PRESENT)
    seen = _look(view, intent)
    return worst_of((_kernel(intent, seen), *_pollers(intent, seen), *_lacking(intent, seen)))


def _look(view: HostView, intent: Intent) -> _Seen:
    kernel: dict[int, tuple[Thread, ...]] = {}
    pinned: list[tuple[Thread, frozenset[int], bool]] = []
    pollers = {name[:LONGEST_COMM] for name in intent.expected_processes}
    for process in read_processes(view):
        if process.kernel:
            if (own := _OWN.fullmatch(process.comm)) and int(own[2]) in intent.cpus.isolated:
                kernel[int(own[2])] = (*kernel.get(int(own[2]), ()), process)
            continue
        is_poller = process.comm in pollers
        for thread in read_threads(view, process.pid):
            cpus = allowed_cpus(view, thread) if _fixed(thread) or is_poller else frozenset()
            if cpus and cpus <= intent.cpus.isolated.cpus:
                pinned.append((thread, cpus, is_poller))
    return _Seen(
        kernel,
        tuple((thread, cpus) for thread, cpus, _ in pinned if _fixed(thread)),
        tuple(
            (thread, cpus)
            for thread, cpus, is_poller in pinned
            if is_poller and not thread.realtime
        ),
    )


def _kernel(intent: Intent, seen: _Seen) -> CheckJudgement:
    """On OpenShift the profile gives all three kinds a priority; elsewhere nothing does."""
    threads = [thread for each in seen.kernel.values() for thread in each]
    message = Reading(_STAT, _summary(threads) or "no ksoftirqd, rcuc or ktimers on isolated CPUs")
    if intent.platform != "openshift":
        return ok("no thread of real-time priority runs before the kernel's own", message)
    expected = f"ksoftirqd, rcuc and ktimers of isolated CPUs at SCHED_FIFO {_OPERATORS}"
    low = [each for each in threads if each.policy != "fifo" or each.priority != _OPERATORS]
    if not low:
        return ok("the kernel's threads have the profile's priority", message, expected=expected)
    names = ", ".join(each.comm for each in low[:_MAX_NAMED])
    return warn(
        f"{counted(len(low), 'thread')} of the kernel without the profile's priority: {names}",
        message,
        expected=expected,
        steps=[advice("see whether TuneD runs and its scheduler plugin is on (check 30)")],
    )


def _pollers(intent: Intent, seen: _Seen) -> Iterator[CheckJudgement]:
    for thread, cpus in seen.pollers:
        name = f"{thread.comm} ({thread.tid})"
        read = Reading(f"/proc/{thread.pid}/task/{thread.tid}/stat", _scheduled(thread))
        starved = sorted(
            {
                each.comm
                for cpu in cpus
                for each in seen.kernel.get(cpu, ())
                if _before(thread, each)
            }
        )
        requested = intent.scheduling.fifo_priority
        as_requested = thread.policy == "fifo" and thread.priority == requested
        expected = "SCHED_OTHER" if requested is None else f"SCHED_FIFO {requested}"
        step = _schedule(thread, requested)
        if starved:
            yield warn(
                f"{name} polls at {_scheduled(thread)} before {', '.join(starved[:_MAX_NAMED])}, "
                "which wait for as long as it does",
                read,
                expected=f"{expected}, and the kernel's own threads before it",
                steps=[_raise(seen.kernel, cpus, thread), *([] if as_requested else [step])],
            )
        elif as_requested:
            yield ok(f"{name} is at {_scheduled(thread)}, as requested", read, expected=expected)
        else:
            yield warn(
                f"{name} is at {_scheduled(thread)} on {name_cpus(cpus, 'isolated')}: if it polls, "
                "nothing else runs there",
                read,
                expected=expected,
                steps=[step],
            )


def _lacking(intent: Intent, seen: _Seen) -> Iterator[CheckJudgement]:
    """Those that the intent wants at SCHED_FIFO, on CPUs where no thread of theirs is.

    Next to a poller that has it, as DPDK's own helpers are, an ordinary one only waits.
    """
    requested = intent.scheduling.fifo_priority
    served = {
        (thread.pid, cpu)
        for thread, cpus in seen.pollers
        for cpu in cpus
        if thread.policy == "fifo" and thread.priority == requested
    }
    for thread, cpus in seen.others if requested is not None else ():
        if any((thread.pid, cpu) in served for cpu in cpus):
            continue
        yield fail(
            f"{thread.comm} ({thread.tid}) is not at SCHED_FIFO {requested}",
            Reading(f"/proc/{thread.pid}/task/{thread.tid}/stat", _scheduled(thread)),
            expected=f"SCHED_FIFO {requested}",
            steps=[_schedule(thread, requested)],
        )


def _before(poller: Thread, kernel: Thread) -> bool:
    """Whether the kernel's thread never runs while the poller does.

    At equal priority SCHED_FIFO lets the running thread go on, and SCHED_RR takes turns: sched(7).
    """
    if kernel.policy == "deadline":
        return False
    if poller.policy == "fifo":
        return kernel.priority <= poller.priority
    return kernel.priority < poller.priority


def _fixed(thread: Thread) -> bool:
    return thread.policy in ("fifo", "rr")


def _raise(kernel: dict[int, tuple[Thread, ...]], cpus: Iterable[int], poller: Thread) -> Step:
    tids = [each.tid for cpu in cpus for each in kernel.get(cpu, ()) if _before(poller, each)]
    return advice(
        f"raise them above {poller.priority}: chrt -f -p {min(poller.priority + 1, 99)} for "
        f"{', '.join(map(str, sorted(tids)[:_MAX_NAMED]))}"
    )


def _schedule(thread: Thread, requested: int | None) -> Step:
    """It lasts as long as the thread; whatever starts the thread has to do the same."""
    if requested is None:
        openshift = workload_pod(f"start {thread.comm} without chrt")
        return command("chrt", "-o", "-p", "0", str(thread.tid), openshift=openshift)
    return command(
        "chrt",
        "-f",
        "-p",
        str(requested),
        str(thread.tid),
        openshift=workload_pod(f"start {thread.comm} under chrt -f {requested}"),
        takes=f"while {thread.comm} polls, nothing of a lower priority runs on its CPUs: threads "
        "that are pinned there starve",
    )


def _scheduled(thread: Thread) -> str:
    policy = f"SCHED_{thread.policy.upper()}"
    return f"{policy} {thread.priority}" if thread.policy in ("fifo", "rr") else policy


def _summary(threads: Iterable[Thread]) -> str:
    """Each kind with its priorities: "ksoftirqd SCHED_OTHER"."""
    kinds = {f"{each.comm.partition('/')[0]} {_scheduled(each)}": None for each in threads}
    return ", ".join(sorted(kinds))


CHECK = Check(
    number=28,
    name="thread-priorities",
    group="kernel",
    title="No polling thread starves the kernel's own",
    reads=(ONLINE, *THREAD_READS),
    why=(
        "A loop that never sleeps at SCHED_FIFO keeps everything of a lower priority off its "
        "CPU for good: ksoftirqd and rcuc among it, so that callbacks of RCU pile up, memory is "
        "not freed, and the kernel reports stalls. On isolated CPUs an ordinary priority is "
        "enough, because nothing else wants to run there."
    ),
    fix=(
        "Run polling loops at SCHED_OTHER; where they must be at SCHED_FIFO, keep their priority "
        "below that of ksoftirqd, rcuc and ktimers (rcutree.kthread_prio at boot), and run stalld."
    ),
    sources=(
        "sched(7)",
        "Linux, Documentation/RCU/stallwarn.rst",
        "cluster-node-tuning-operator, openshift-node-performance: [scheduler] group.ksoftirqd",
        "Article: DPDK latency in OpenShift - Part II, Scheduling priority",
    ),
    rule=_judge,
)

"""3: CPUs without a timer tick."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from plimsoll.errors import InputError
from plimsoll.host.cpus import format_cpu_list, parse_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import (
    NONE_PRESENT,
    ONLINE,
    READS,
    add_at_boot,
    expected_argument,
    expected_cpus,
)
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    warn,
    worst_of,
    write,
)
from plimsoll.tune.host.cpus.cpu_sets import name_cpus, read_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.rooted_files import walk
from plimsoll.tune.intent.intent import Intent

_TICKLESS = "/sys/devices/system/cpu/nohz_full"
_CGROUPS = "/sys/fs/cgroup"
_MAX_NAMED = 3
_BY_POD = 'give the pod cpu-quota.crio.io: "disable" and its runtimeClassName'


@dataclass(frozen=True, slots=True)
class _Tree:
    """Where control groups lie, and the files of quotas and CPUs; `none` lifts a quota."""

    quota_root: str
    quota: str
    cpuset_root: str
    cpuset: str
    none: str


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    argument = expected_argument(view, intent, "nohz_full")
    if argument is None:
        return not_applicable("the intent asks for no tickless CPUs (hints.realtime)")
    online = read_cpu_list(view, ONLINE)
    expected = expected_cpus(argument, online)
    if not expected:
        return not_applicable(NONE_PRESENT)
    if view.find(_TICKLESS) is None:
        return fail(
            "the kernel cannot stop the tick: it is built without CONFIG_NO_HZ_FULL",
            Reading(_TICKLESS, "absent"),
            expected=argument.text,
            steps=[
                advice(f"boot a kernel built with CONFIG_NO_HZ_FULL=y, with {argument.text}"),
            ],
        )
    found = read_cpu_list(view, _TICKLESS)
    cpus = _judge_cpus(intent, found, expected, argument.text)
    return worst_of((cpus, *_quotas(view, found)))


def _judge_cpus(
    intent: Intent, found: frozenset[int], expected: frozenset[int], requested: str
) -> CheckJudgement:
    read = Reading(_TICKLESS, format_cpu_list(found) or "none")
    if missing := expected - found:
        text = f"the timer tick stays on for {name_cpus(missing, 'isolated')}"
        return fail(text, read, expected=requested, steps=[add_at_boot(intent, requested)])
    if more := found & intent.cpus.reserved.cpus:
        return warn(
            f"no timer tick on {name_cpus(more, 'reserved')}: system calls and interrupts there "
            "take longer",
            read,
            expected=requested,
            steps=[add_at_boot(intent, requested)],
        )
    return ok(f"no timer tick on {name_cpus(found)}", read, expected=requested)


def _quotas(view: HostView, tickless: frozenset[int]) -> Iterator[CheckJudgement]:
    """Groups under a quota, one of theirs with none but tickless CPUs: it keeps the tick."""
    tree = _tree(view)
    limited = (
        (path, text)
        for path in walk(view, tree.quota_root, tree.quota)
        if (text := view.find(path) or "max").split()[:1] not in (["max"], ["-1"])
        and _reaches(view, tree, posixpath.dirname(path).removeprefix(tree.quota_root), tickless)
    )
    for path, text in islice(limited, _MAX_NAMED):
        group = posixpath.dirname(path).removeprefix(tree.quota_root)
        yield fail(
            f"{group} has tickless CPUs and a CFS quota, for which the tick stays on",
            Reading(path, text),
            expected="no CFS quota on tickless CPUs",
            steps=[write(path, tree.none, openshift=_BY_POD)],
        )


def _tree(view: HostView) -> _Tree:
    """Version 1 mounts each controller by itself, often as "cpu,cpuacct" with links to it."""
    names = sorted(view.listing(_CGROUPS) or (), key=len, reverse=True)
    cpu = next((name for name in names if "cpu" in name.split(",")), None)
    cpuset = next((name for name in names if "cpuset" in name.split(",")), None)
    if cpu is None or cpuset is None:
        return _Tree(_CGROUPS, "cpu.max", _CGROUPS, "cpuset.cpus.effective", "max")
    return _Tree(
        f"{_CGROUPS}/{cpu}", "cpu.cfs_quota_us", f"{_CGROUPS}/{cpuset}", "cpuset.cpus", "-1"
    )


def _reaches(view: HostView, tree: _Tree, group: str, cpus: frozenset[int]) -> bool:
    """Whether the group, or one below, which its quota bounds too, has but some of `cpus`."""
    paths = walk(view, f"{tree.cpuset_root}{group}", tree.cpuset)
    return any(_is_within(view, path, cpus) for path in paths)


def _is_within(view: HostView, path: str, cpus: frozenset[int]) -> bool:
    text = view.find(path)
    try:
        return bool(text) and cpus.issuperset(parse_cpu_list(text or ""))
    except InputError:
        return False


CHECK = Check(
    number=3,
    name="nohz-full",
    group="boot",
    title="Isolated CPUs are tickless, and nothing on them has a CFS quota",
    reads=(
        *READS,
        ONLINE,
        _TICKLESS,
        f"{_CGROUPS}/**/cpu.max",
        f"{_CGROUPS}/**/cpuset.cpus.effective",
        f"{_CGROUPS}/**/cpu.cfs_quota_us",
        f"{_CGROUPS}/**/cpuset.cpus",
    ),
    why=(
        "The tick takes some microseconds, 100 to 1000 times a second. On a tickless CPU with a "
        "single runnable task it stops, unless that task's group, or one above it, has a CFS "
        "quota: kernels since 6.6 then keep the tick to account for it, and all end the group's "
        "time in mid-burst."
    ),
    fix=(
        "Boot with nohz_full=LIST, which offloads the RCU callbacks of its CPUs too (check 4); let "
        "pods opt out of quotas (annotation cpu-quota.crio.io: disable, with the performance "
        "runtime class), or set limits to whole CPUs with the kubelet's cpuCFSQuota off."
    ),
    sources=(
        "Linux, Documentation/timers/no_hz.rst",
        "Linux, kernel/sched/core.c: sched_can_stop_tick, cfs_task_bw_constrained",
        "CRI-O, annotation cpu-quota.crio.io",
    ),
    rule=_judge,
)

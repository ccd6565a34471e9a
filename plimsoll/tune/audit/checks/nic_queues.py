"""40: how many queues the kernel's drivers have where DPDK's workloads need the CPUs."""

from __future__ import annotations

from collections.abc import Iterator

from plimsoll.text.counted import counted
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    command,
    fail,
    not_applicable,
    ok,
    worst_of,
)
from plimsoll.tune.audit.setting import performance_profile
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_NET = "/sys/class/net"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    if not intent.user_level_networking:
        return not_applicable("the intent does not ask for user_level_networking")
    most = len(intent.cpus.reserved)
    found = {name: queues for name in _cards(view) if (queues := _queues(view, name))}
    if not found:
        return not_applicable("the kernel drives no card here")
    return worst_of(_one(name, queues, most) for name, queues in found.items())


def _one(name: str, queues: int, most: int) -> CheckJudgement:
    read = Reading(f"{_NET}/{name}/queues", counted(queues, "queue"))
    expected = f"{name} with at most {counted(most, 'queue')}, one for each reserved CPU"
    if queues <= most:
        return ok(f"{name} has {counted(queues, 'queue')}", read, expected=expected)
    reserved = "1 CPU is" if most == 1 else f"{most} CPUs are"
    return fail(
        f"{name} has {counted(queues, 'queue')}, and {reserved} reserved: the others interrupt "
        "isolated CPUs",
        read,
        expected=expected,
        steps=[
            command(
                "ethtool",
                "-L",
                name,
                "combined",
                str(most),
                openshift=performance_profile("net.userLevelNetworking: true"),
                takes=f"{name} is down for a moment, and sessions through it stall",
            )
        ],
    )


def _cards(view: HostView) -> Iterator[str]:
    """Interfaces of hardware, VFs and what is built upon others left out, as TuneD does."""
    for name in view.find_names(_NET):
        path = view.link(f"{_NET}/{name}") or ""
        if "/virtual/" in path or view.link(f"{_NET}/{name}/device/physfn"):
            continue
        if view.link(f"{_NET}/{name}/device"):
            yield name


def _queues(view: HostView, name: str) -> int:
    names = view.find_names(f"{_NET}/{name}/queues")
    return sum(1 for each in names if each.startswith("rx-"))


CHECK = Check(
    number=40,
    name="nic-queues",
    group="nic",
    title="The kernel's cards have a queue for each reserved CPU, and no more",
    reads=(),
    links=(f"{_NET}/*", f"{_NET}/*/device", f"{_NET}/*/device/physfn"),
    lists=(_NET, f"{_NET}/*/queues"),
    why=(
        "Drivers make a queue, with an interrupt of its own, for every CPU. Under "
        "userLevelNetworking the Node Tuning Operator cuts them down to the reserved CPUs, so "
        "that the host's own traffic interrupts no other."
    ),
    fix="Set net.userLevelNetworking in the PerformanceProfile, or ethtool -L IF combined N.",
    sources=(
        "OpenShift, Low latency tuning: Reducing NIC queues using the Node Tuning Operator",
        "cluster-node-tuning-operator, components/tuned/tuned.go: channels=combined",
        "Article: DPDK latency in OpenShift - Part II, PerformanceProfile",
    ),
    rule=_judge,
)

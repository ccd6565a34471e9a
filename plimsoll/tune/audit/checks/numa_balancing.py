"""23: whether the kernel moves pages between NUMA nodes by itself."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import CheckJudgement
from plimsoll.tune.audit.setting import judge_setting, setting_path
from plimsoll.tune.audit.without_intent import as_no_dataplane_wants_it
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_NAME = "kernel.numa_balancing"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    return judge_setting(
        view,
        intent,
        _NAME,
        harm="pages are unmapped from time to time to see who touches them, and each touch faults",
        without="this kernel does not balance memory between nodes",
    )


CHECK = Check(
    number=23,
    name="numa-balancing",
    group="kernel",
    title="Automatic NUMA balancing is off",
    reads=(setting_path(_NAME),),
    why=(
        "Automatic balancing takes pages out of a program's mapping to learn which node uses "
        "them. The next touch is a page fault, and each round a TLB flush on every CPU of the "
        "program. A pinned dataplane has its memory where it belongs."
    ),
    fix="Set kernel.numa_balancing=0, by sysctl or at boot with numa_balancing=disable.",
    sources=(
        "Linux, Documentation/admin-guide/sysctl/kernel.rst: numa_balancing",
        "TuneD, profile network-latency: kernel.numa_balancing=0",
    ),
    rule=_judge,
    without_intent=as_no_dataplane_wants_it(_judge),
)

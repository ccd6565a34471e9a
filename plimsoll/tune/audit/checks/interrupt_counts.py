"""34: how often isolated CPUs were interrupted, by kind."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import NONE_PRESENT
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    not_applicable,
    ok,
    warn,
)
from plimsoll.tune.host.cpus.cpu_sets import name_cpus
from plimsoll.tune.host.cpus.irqs import (
    DEVICE,
    INTERRUPTS,
    SOFTIRQS,
    UPTIME,
    counted_cpus,
    interrupts_on,
    softirqs_on,
    uptime_s,
)
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

# The residual tick of a tickless CPU is one a second; what a boot leaves behind on each CPU,
# spread over a day, is far below. Ours: ten times the former.
_MAX_A_SECOND = 10.0
_MAX_NAMED = 4


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    """Since the boot, the time before the tuning included: it warns, and never fails."""
    isolated = intent.cpus.isolated.cpus & counted_cpus(view)
    if not isolated:
        return not_applicable(NONE_PRESENT)
    counts = interrupts_on(view, isolated)
    softirqs = softirqs_on(view, isolated)
    seconds = max(uptime_s(view), 1.0)
    rate = sum(counts.values()) / seconds / len(isolated)
    message = f"{rate:.3g} interrupts a second since the boot on each isolated CPU"
    read = (
        Reading(INTERRUPTS, _rates(counts, seconds, len(isolated))),
        Reading(SOFTIRQS, _rates(softirqs, seconds, len(isolated))),
        Reading(UPTIME, f"{seconds:.0f} s"),
    )
    expected = f"{name_cpus(isolated, 'isolated')}: next to no interrupts, of devices none"
    device = counts.get(DEVICE, 0)
    if rate <= _MAX_A_SECOND and not device:
        return ok(f"{message}, none of them a device's", *read, expected=expected)
    return warn(
        f"{message}: {_rates(counts, seconds, len(isolated))}",
        *read,
        expected=expected,
        steps=[advice("see in a run's report what came while frames were sent")],
    )


def _rates(counts: Mapping[str, int], seconds: float, cpus: int) -> str:
    """The largest kinds: "LOC 100/s, device 3/s"."""
    largest = sorted(counts.items(), key=lambda each: -each[1])[:_MAX_NAMED]
    named = [f"{name} {count / seconds / cpus:.3g}/s" for name, count in largest if count]
    return ", ".join(named) or "none"


CHECK = Check(
    number=34,
    name="interrupt-counts",
    group="memory",
    title="Isolated CPUs are hardly interrupted",
    reads=(INTERRUPTS, SOFTIRQS, UPTIME),
    why=(
        "All settings above serve to keep these counters still: local timer interrupts (LOC), "
        "rescheduling and function call IPIs (RES, CAL), TLB shootdowns (TLB) and devices'. What "
        "they rose by during a run is stronger than any setting; here it is since the boot."
    ),
    fix=(
        "Go by the largest kind: LOC is nohz_full (check 3), RES and CAL tasks and work (5, 6), "
        "TLB what changes mappings (22, 23), devices their affinity (33)."
    ),
    sources=(
        "proc_interrupts(5), proc_softirqs(5)",
        "Linux, Documentation/admin-guide/kernel-per-CPU-kthreads.rst",
    ),
    rule=_judge,
)

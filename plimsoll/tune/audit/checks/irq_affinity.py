"""33: whether device interrupts go to isolated CPUs."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import NONE_PRESENT, ONLINE, present_isolated
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    fail,
    not_applicable,
    ok,
    unknown,
    warn,
    worst_of,
    write,
)
from plimsoll.tune.audit.setting import performance_profile, workload_pod
from plimsoll.tune.audit.workload import WORKLOAD_READS, find_workload
from plimsoll.tune.expected.irq import keeps_irqs_off
from plimsoll.tune.host.cpus.cpu_sets import name_cpus
from plimsoll.tune.host.cpus.irqs import IRQ_READS, Irq, read_irqs
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_WHERE = "/proc/irq/*"
_HANDLERS = "/sys/kernel/irq"
_MAX_NAMED = 4


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    present = present_isolated(view, intent)
    if not present:
        return not_applicable(NONE_PRESENT)
    cpus = _protected(view, intent, present)
    if not cpus:
        return not_applicable(
            "interrupts are balanced over all CPUs but those of pods that ask, and none runs"
        )
    irqs = tuple(read_irqs(view))
    if not irqs:
        return unknown(f"nothing below {_HANDLERS} tells of an interrupt with a handler")
    taken = [irq for irq in irqs if irq.taking & cpus]
    # A managed one may be allowed anywhere: with isolcpus=managed_irq it still stays away.
    open_to = [
        irq for irq in irqs if irq.allowed & cpus and not irq.taking & cpus and not irq.managed
    ]
    count = Reading(_WHERE, f"{len(irqs)} with a handler, {len(taken)} on {name_cpus(cpus)}")
    expected = f"no device interrupt on {name_cpus(cpus, 'isolated')}"
    if not taken and not open_to:
        return ok("no device interrupt goes to isolated CPUs", count, expected=expected)
    return worst_of(
        (
            *_judge_movable(intent, [irq for irq in taken if not irq.managed], count, expected),
            *_judge_managed([irq for irq in taken if irq.managed], count, expected),
            *_judge_open(intent, open_to, count, expected),
        )
    )


def _protected(view: HostView, intent: Intent, present: frozenset[int]) -> frozenset[int]:
    """All isolated CPUs, or those of the pods that run where each asks for itself."""
    if keeps_irqs_off(intent):
        return present
    if not any(pod.effects.irq_load_balancing is False for pod in intent.pods):
        return frozenset()
    return frozenset(cpu for each in find_workload(view, intent) for cpu in each.polling_cpus)


def _judge_movable(
    intent: Intent, irqs: Sequence[Irq], count: Reading, expected: str
) -> tuple[CheckJudgement, ...]:
    if not irqs:
        return ()
    return (
        fail(
            f"{_many(irqs)} to isolated CPUs: {_names(irqs)}",
            count,
            *_readings(irqs),
            expected=expected,
            steps=_keep_off(intent, irqs),
        ),
    )


def _judge_managed(
    irqs: Sequence[Irq], count: Reading, expected: str
) -> tuple[CheckJudgement, ...]:
    if not irqs:
        return ()
    return (
        warn(
            f"{_many(irqs)} to isolated CPUs where the kernel alone decides: {_names(irqs)}",
            count,
            *_readings(irqs),
            expected=expected,
            steps=[advice("boot with isolcpus=managed_irq, or give the device fewer queues")],
        ),
    )


def _judge_open(
    intent: Intent, irqs: Sequence[Irq], count: Reading, expected: str
) -> tuple[CheckJudgement, ...]:
    if not irqs:
        return ()
    numbers = ", ".join(str(irq.number) for irq in irqs[:_MAX_NAMED])
    more = f" and {len(irqs) - _MAX_NAMED} more" if len(irqs) > _MAX_NAMED else ""
    return (
        warn(
            f"{_many(irqs)} elsewhere now, and may go to isolated CPUs: {numbers}{more}",
            count,
            *_readings(irqs),
            expected=expected,
            steps=_keep_off(intent, irqs),
        ),
    )


def _keep_off(intent: Intent, irqs: Sequence[Irq]) -> list[Step]:
    to = intent.cpus.reserved.canonical
    openshift = (
        performance_profile("globallyDisableIrqLoadBalancing: true")
        if keeps_irqs_off(intent)
        else workload_pod('have irq-load-balancing.crio.io: "disable" and its runtimeClassName')
    )
    return [
        write(f"/proc/irq/{irq.number}/smp_affinity_list", to, openshift=openshift) for irq in irqs
    ]


def _many(irqs: Sequence[Irq]) -> str:
    return "1 device interrupt goes" if len(irqs) == 1 else f"{len(irqs)} device interrupts go"


def _names(irqs: Sequence[Irq]) -> str:
    named = ", ".join(f"{irq.number} {irq.name}" for irq in irqs[:_MAX_NAMED])
    return f"{named} and {len(irqs) - _MAX_NAMED} more" if len(irqs) > _MAX_NAMED else named


def _readings(irqs: Sequence[Irq]) -> tuple[Reading, ...]:
    return tuple(
        Reading(
            f"/proc/irq/{irq.number}",
            f"smp_affinity {format_cpu_list(irq.allowed)}, effective "
            f"{format_cpu_list(irq.taking)}, {irq.name}",
        )
        for irq in irqs[:_MAX_NAMED]
    )


CHECK = Check(
    number=33,
    name="irq-affinity",
    group="memory",
    title="No device interrupt goes to an isolated CPU",
    reads=(ONLINE, *IRQ_READS, *WORKLOAD_READS),
    why=(
        "An interrupt takes a polling CPU away for microseconds, and the softirq behind it for "
        "longer. smp_affinity is what may be, effective_affinity what is: of several CPUs the "
        "kernel picks one. Queues of some storage drivers are spread by the kernel itself and "
        "cannot be moved by hand."
    ),
    fix=(
        "Write the reserved CPUs to each smp_affinity_list; for queues that the kernel manages "
        "boot with isolcpus=managed_irq."
    ),
    sources=(
        "Linux, Documentation/core-api/irq/irq-affinity.rst",
        "Linux, Documentation/admin-guide/kernel-parameters.txt: isolcpus=managed_irq",
        "DPDK, Getting Started Guide for Linux: Using Linux Core Isolation to Reduce Context "
        "Switches",
    ),
    rule=_judge,
)

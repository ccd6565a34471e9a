"""2: the CPUs that the scheduler really does not balance."""

from __future__ import annotations

from plimsoll.errors import InputError
from plimsoll.host.cpus import format_cpu_list, parse_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import (
    NONE_PRESENT,
    ONLINE,
    add_at_boot,
    present_isolated,
)
from plimsoll.tune.audit.finding import CheckJudgement, Reading, fail, not_applicable, ok, warn
from plimsoll.tune.host.cpus.cpu_sets import name_cpus, read_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread
from plimsoll.tune.intent.intent import Intent

_BOOT = "/sys/devices/system/cpu/isolated"
_CPUSETS = "/sys/fs/cgroup/cpuset.cpus.isolated"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    boot, cpusets = read_cpu_list(view, _BOOT), _in_cpusets(view)
    read = [Reading(_BOOT, format_cpu_list(boot) or "empty")]
    if cpusets:
        read.append(Reading(_CPUSETS, format_cpu_list(cpusets)))
    present = present_isolated(view, intent)
    if not present:
        return not_applicable(NONE_PRESENT)
    if intent.cpus.balance_isolated is False:
        return _judge_unbalanced(intent, present, boot | cpusets, read)
    return _judge_balanced(intent, boot, read)


def _judge_unbalanced(
    intent: Intent, present: frozenset[int], found: frozenset[int], read: list[Reading]
) -> CheckJudgement:
    isolated = intent.cpus.isolated
    expected = f"{isolated.canonical}, because balance_isolated is off"
    if missing := present - found:
        return fail(
            f"the scheduler balances {name_cpus(missing, 'isolated')}",
            *read,
            expected=expected,
            steps=[add_at_boot(intent, f"isolcpus=domain,managed_irq,{isolated.canonical}")],
        )
    if kept := found & intent.cpus.reserved.cpus:
        return fail(
            f"the scheduler does not balance {name_cpus(kept, 'reserved')}: "
            "what starts on one stays there",
            *read,
            expected=expected,
            steps=[add_at_boot(intent, f"isolcpus=domain,managed_irq,{isolated.canonical}")],
        )
    return ok("the scheduler leaves the isolated CPUs alone", *read, expected=expected)


def _judge_balanced(intent: Intent, boot: frozenset[int], read: list[Reading]) -> CheckJudgement:
    expected = "empty, because isolated CPUs are to be balanced"
    if not boot:
        return ok("the scheduler balances all CPUs, as the intent says", *read, expected=expected)
    if intent.cpus.balance_isolated is None and intent.platform != "openshift":
        return ok(
            f"the scheduler leaves {name_cpus(boot)} alone; the intent allows both",
            *read,
        )
    return warn(
        f"the scheduler does not balance {name_cpus(boot)}: threads of a pod that "
        "start on one of them all stay there",
        *read,
        expected=expected,
        steps=[add_at_boot(intent, f"isolcpus=managed_irq,{intent.cpus.isolated.canonical}")],
    )


def _in_cpusets(view: HostView) -> frozenset[int]:
    """Isolated partitions of cgroup v2, which do the same without a boot."""
    text = view.find(_CPUSETS)
    try:
        return frozenset(parse_cpu_list(text)) if text else frozenset()
    except InputError as error:
        raise CannotRead(Unread(_CPUSETS, "unreadable", error.message)) from None


CHECK = Check(
    number=2,
    name="isolated-cpus",
    group="boot",
    title="The scheduler balances exactly the CPUs that the intent says",
    reads=(ONLINE, _BOOT, _CPUSETS),
    why=(
        "What the kernel made of isolcpus. Where threads are pinned by hand, a balanced CPU "
        "gets visitors, and the balancer itself runs on it. Where Kubernetes places pods, an "
        "unbalanced CPU keeps all threads of a pod that started there: the file is empty by "
        "design on OpenShift."
    ),
    fix=(
        "Set cpus.balance_isolated as the platform needs it, and boot with or without the flag "
        "domain of isolcpus; or make an isolated partition of cgroup v2's cpusets."
    ),
    sources=(
        "Linux, Documentation/admin-guide/cputopology.rst: isolated",
        "Linux, Documentation/admin-guide/cgroup-v2.rst: cpuset.cpus.isolated",
        "CRI-O, annotation cpu-load-balancing.crio.io",
    ),
    rule=_judge,
)

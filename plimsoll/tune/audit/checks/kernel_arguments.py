"""8: the kernel arguments that no other check sees the effect of."""

from __future__ import annotations

from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import READS, add_at_boot, expected_on_host
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    fail,
    not_applicable,
    ok,
    unknown,
    worst_of,
)
from plimsoll.tune.expected.kernel_argument import KernelArgument
from plimsoll.tune.host.boot.kernel_command_line import (
    PATH,
    KernelCommandLine,
    read_command_line,
)
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

# Their effects are judged where they can be seen, by the check with the number given.
_JUDGED_ELSEWHERE = frozenset(
    {
        "isolcpus",  # 1
        "nohz_full",  # 3
        "rcu_nocbs",  # 4
        "systemd.cpu_affinity",  # 5
        "tuned.non_isolcpus",  # 5 and 6: what TuneD makes of it
        "nmi_watchdog",  # 7
        "iommu",  # 9
        "intel_iommu",  # 9
        "nosmt",  # 10
        "transparent_hugepage",  # 22
        "numa_balancing",  # 23
        "default_hugepagesz",  # 31
        "hugepagesz",  # 31
        "hugepages",  # 31
        "irqaffinity",  # 32
    }
)


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    line = read_command_line(view)
    expected = [
        each for each in expected_on_host(view, intent) if each.name not in _JUDGED_ELSEWHERE
    ]
    if not expected:
        return not_applicable("the intent implies no further kernel arguments")
    read = Reading(PATH, ", ".join(line.shown(each.name) for each in expected))
    hidden = [each for each in expected if line.hides(each.name)]
    shown = _shown(intent, line, [each for each in expected if each not in hidden], read)
    if not hidden:
        return shown
    names = ", ".join(each.name for each in hidden)
    left_out = unknown(f"captures leave out what the line says of {names}", read)
    return worst_of((shown, left_out))


def _shown(
    intent: Intent, line: KernelCommandLine, expected: list[KernelArgument], read: Reading
) -> CheckJudgement:
    amiss = {each: text for each in expected if (text := _amiss(line, each))}
    if not amiss:
        message = " ".join(each.text for each in expected)
        return ok("all that the intent implies are there", read, expected=message)
    return fail(
        "; ".join(amiss.values()),
        read,
        expected=" ".join(each.text for each in amiss),
        # Of several values that may be right the first is the usual one.
        steps=[add_at_boot(intent, *(each.text.partition("|")[0] for each in amiss))],
    )


def _amiss(line: KernelCommandLine, expected: KernelArgument) -> str:
    """What is wrong with it; empty where nothing is."""
    found = line.counting(expected.name)
    if found is None:
        return f"{expected.name} is missing"
    if any(_same(found, value or "") for value in expected.values):
        return ""
    return f"{expected.name} is {found or 'without a value'}"


def _same(found: str, expected: str) -> bool:
    cpus = _cpus(expected)
    return found == expected or (cpus is not None and cpus == _cpus(found))


def _cpus(text: str) -> tuple[int, ...] | None:
    """The CPUs of a list, of which "0,1" and "0-1" are two ways to write the same."""
    try:
        return parse_cpu_list(text)
    except InputError:
        return None


CHECK = Check(
    number=8,
    name="kernel-arguments",
    group="boot",
    title="The remaining kernel arguments are there",
    reads=READS,
    why=(
        "Some arguments leave no trace that could be read back: nosoftlockup and skew_tick=1 "
        "keep timers of all CPUs from firing together or at all, tsc=reliable stops the "
        "watchdog that interrupts CPUs to compare clocks, idle=poll and max_cstate bound the "
        "wake-up, mce=off stops the polling for corrected errors. A profile that was changed "
        "and not yet rolled out shows here."
    ),
    fix=(
        "Boot with the arguments named; on OpenShift they are the performance profile's, and "
        "a node that lacks them has not been updated (oc get mcp)."
    ),
    sources=(
        "Linux, Documentation/admin-guide/kernel-parameters.txt",
        "cluster-node-tuning-operator, its rendered tuned profile",
        "Article: Build deterministic OpenShift dataplane performance with TRex",
    ),
    rule=_judge,
)

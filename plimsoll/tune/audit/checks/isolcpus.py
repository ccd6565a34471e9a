"""1: the CPUs that the kernel is to leave alone from boot on."""

from __future__ import annotations

from dataclasses import replace

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import (
    NONE_PRESENT,
    ONLINE,
    READS,
    add_at_boot,
    expected_argument,
    intent_unread,
)
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    fail,
    not_applicable,
    ok,
    warn,
    worst_of,
)
from plimsoll.tune.expected.kernel_argument import KernelArgument
from plimsoll.tune.host.boot.kernel_command_line import (
    PATH,
    Isolcpus,
    KernelCommandLine,
    given_isolcpus,
    parse_isolcpus,
    read_command_line,
)
from plimsoll.tune.host.cpus.cpu_sets import name_cpus, read_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    argument = expected_argument(view, intent, "isolcpus")
    if argument is None:
        return not_applicable("the intent implies no isolcpus")
    line, online = read_command_line(view), read_cpu_list(view, ONLINE)
    values = line.values("isolcpus")
    read = Reading(PATH, " ".join(f"isolcpus={each}" for each in values) or "no isolcpus")
    expected = _requested(argument, online)
    if not expected.cpus & online:
        return not_applicable(NONE_PRESENT)
    if not any(values):
        return _missing(intent, argument.text, read, expected)
    judged = _judge_given(line, online, expected, read)
    if judged.verdict == "ok":
        return ok(judged.text, read, expected=argument.text)
    again = (add_at_boot(intent, argument.text),)
    return CheckJudgement(judged.verdict, judged.text, (read,), argument.text, again)


def _judge_given(
    line: KernelCommandLine, online: frozenset[int], expected: Isolcpus, read: Reading
) -> CheckJudgement:
    values = line.values("isolcpus")
    if len(values) == 1:
        try:
            parse_isolcpus(values[0], online)
        except ValueError as error:
            return fail(f"the kernel ignores it: {error}", read)
    given = given_isolcpus(line, online)
    if not given.in_force:
        return fail(_why_none(line, online), read)
    flags = frozenset[str]().union(*(each.flags for each in given.in_force))
    parts = [_judge_cpus(each, expected, read) for each in given.in_force]
    parts.append(_judge_flags(Isolcpus(flags, given.cpus), expected, read))
    judged = worst_of(parts)
    if not given.ignored or judged.verdict == "ok":
        return judged
    ignored = " ".join(f"isolcpus={each}" for each in given.ignored)
    return replace(judged, text=f"{judged.text}; the kernel ignores {ignored}")


def _why_none(line: KernelCommandLine, online: frozenset[int]) -> str:
    alone = KernelCommandLine(tuple(word for word in line.words if word[0] == "isolcpus"))
    if not given_isolcpus(alone, online).in_force:
        return "the kernel can read none of them, and isolates no CPU"
    return (
        f"the kernel ignores it and isolates no CPU, for {line.shown('nohz_full')} comes before "
        "it and its flag nohz has other CPUs"
    )


def _requested(argument: KernelArgument, online: frozenset[int]) -> Isolcpus:
    try:
        return parse_isolcpus(argument.values[0] or "", online)
    except ValueError as error:
        raise intent_unread(argument, error) from None


def _missing(intent: Intent, expected: str, read: Reading, requested: Isolcpus) -> CheckJudgement:
    """Without the flag `domain` it keeps managed interrupts away and nothing else."""
    steps = [add_at_boot(intent, expected)]
    text = "the kernel's command line isolates no CPUs"
    if "domain" in requested.flags or intent.platform == "openshift":
        return fail(text, read, expected=expected, steps=steps)
    return warn(text, read, expected=expected, steps=steps)


def _judge_cpus(found: Isolcpus, expected: Isolcpus, read: Reading) -> CheckJudgement:
    if left := expected.cpus - found.cpus:
        return fail(f"it leaves out {name_cpus(left, 'isolated')}", read)
    if more := found.cpus - expected.cpus:
        return fail(f"it names {name_cpus(more)}, which the intent does not isolate", read)
    return ok(f"isolates {name_cpus(found.cpus)}", read)


def _judge_flags(found: Isolcpus, expected: Isolcpus, read: Reading) -> CheckJudgement:
    if missing := sorted(expected.flags - found.flags):
        text = f"its flags lack {', '.join(missing)}"
        return fail(text, read) if "domain" in missing else warn(text, read)
    if "domain" in found.flags - expected.flags:
        return warn("its flag domain keeps the scheduler from balancing isolated CPUs", read)
    return ok(f"flags {', '.join(sorted(found.flags))}", read)


CHECK = Check(
    number=1,
    name="isolcpus",
    group="boot",
    title="isolcpus names the isolated CPUs, with the right flags",
    reads=(*READS, ONLINE),
    why=(
        "managed_irq keeps the interrupts that drivers place themselves (NVMe, some NICs) off "
        "the isolated CPUs as far as it can, and domain takes the CPUs out of the scheduler's "
        "balancing. Without flags the kernel means domain alone. Of several the first counts for "
        "its flags, and a later one with one of them and other CPUs is ignored; nohz_full is one "
        "with the flag nohz. A list that the kernel cannot read is ignored without more than a "
        "line in its log."
    ),
    fix=(
        "Boot with isolcpus=managed_irq,LIST, or isolcpus=domain,managed_irq,LIST where threads "
        "are pinned by hand (cpus.balance_isolated: off). OpenShift keeps balancing, and its "
        "runtime takes the CPUs of single pods out of it."
    ),
    sources=(
        "Linux, Documentation/admin-guide/kernel-parameters.txt: isolcpus",
        "cluster-node-tuning-operator, its rendered tuned profile: isolcpus=managed_irq",
        "DPDK, Getting Started Guide for Linux: Using Linux Core Isolation",
    ),
    rule=_judge,
)

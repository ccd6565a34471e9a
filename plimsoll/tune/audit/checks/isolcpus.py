"""1: the CPUs that the kernel is told at boot to leave alone."""

from __future__ import annotations

from plimsoll.tune.audit.boot_arguments import add_at_boot
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    Judgement,
    Reading,
    fail,
    not_applicable,
    ok,
    warn,
    worst_of,
)
from plimsoll.tune.audit.present_cpus import NONE_PRESENT, ONLINE
from plimsoll.tune.audit.wanted_argument import READS, intent_unread, wanted_argument
from plimsoll.tune.expected.kernel_argument import KernelArgument
from plimsoll.tune.host.boot.kernel_command_line import (
    PATH,
    Isolcpus,
    parse_isolcpus,
    read_command_line,
)
from plimsoll.tune.host.cpus.cpu_sets import name_cpus, read_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent


def _judge(view: HostView, intent: Intent) -> Judgement:
    argument = wanted_argument(view, intent, "isolcpus")
    if argument is None:
        return not_applicable("the intent implies no isolcpus")
    line, online = read_command_line(view), read_cpu_list(view, ONLINE)
    read = Reading(PATH, line.told("isolcpus"))
    given = line.last("isolcpus")
    wanted = _asked(argument, online)
    if not wanted.cpus & online:
        return not_applicable(NONE_PRESENT)
    if not given:
        return _missing(intent, argument.text, read, wanted)
    try:
        found = parse_isolcpus(given, online)
    except ValueError as error:
        return fail(
            f"the kernel ignores it: {error}",
            read,
            wanted=argument.text,
            steps=[add_at_boot(intent, argument.text)],
        )
    judged = worst_of((_judge_cpus(found, wanted, read), _judge_flags(found, wanted, read)))
    if judged.verdict == "ok":
        return ok(judged.text, read, wanted=argument.text)
    again = (add_at_boot(intent, argument.text),)
    return Judgement(judged.verdict, judged.text, (read,), argument.text, again)


def _asked(argument: KernelArgument, online: frozenset[int]) -> Isolcpus:
    try:
        return parse_isolcpus(argument.values[0] or "", online)
    except ValueError as error:
        raise intent_unread(argument, error) from None


def _missing(intent: Intent, wanted: str, read: Reading, asked: Isolcpus) -> Judgement:
    """Without the flag `domain` it keeps managed interrupts away and nothing else."""
    steps = [add_at_boot(intent, wanted)]
    text = "the kernel's command line isolates no CPUs"
    if "domain" in asked.flags or intent.platform == "openshift":
        return fail(text, read, wanted=wanted, steps=steps)
    return warn(text, read, wanted=wanted, steps=steps)


def _judge_cpus(found: Isolcpus, wanted: Isolcpus, read: Reading) -> Judgement:
    if left := wanted.cpus - found.cpus:
        return fail(f"it leaves out {name_cpus(left, 'isolated')}", read)
    if more := found.cpus - wanted.cpus:
        return fail(f"it names {name_cpus(more)}, which the intent does not isolate", read)
    return ok(f"isolates {name_cpus(found.cpus)}", read)


def _judge_flags(found: Isolcpus, wanted: Isolcpus, read: Reading) -> Judgement:
    if missing := sorted(wanted.flags - found.flags):
        text = f"its flags lack {', '.join(missing)}"
        return fail(text, read) if "domain" in missing else warn(text, read)
    if "domain" in found.flags - wanted.flags:
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
        "balancing. Without flags the kernel means domain alone. A list that the kernel cannot "
        "read is ignored without more than a line in its log."
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

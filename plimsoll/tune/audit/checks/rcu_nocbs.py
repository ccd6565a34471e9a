"""4: where the callbacks of RCU run."""

from __future__ import annotations

import re

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
    Step,
    advice,
    fail,
    not_applicable,
    ok,
)
from plimsoll.tune.expected.kernel_argument import KernelArgument
from plimsoll.tune.host.boot.kernel_command_line import (
    PATH,
    parse_kernel_cpu_list,
    read_command_line,
)
from plimsoll.tune.host.cpus.cpu_sets import name_cpus, read_cpu_list
from plimsoll.tune.host.cpus.threads import PROCESS_READS, read_processes
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead
from plimsoll.tune.intent.intent import Intent

_TICKLESS = "/sys/devices/system/cpu/nohz_full"
_PROCESSES = "/proc/*/stat"
# "rcuop/3" and "rcuos/3" run CPU 3's callbacks, "rcuog/0" waits for grace periods.
_THREAD = re.compile(r"rcuo[bgps]/\d{1,4}")


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    argument = expected_argument(view, intent, "rcu_nocbs")
    if argument is None:
        return not_applicable("the intent asks for no offloaded RCU callbacks (hints.realtime)")
    line, online = read_command_line(view), read_cpu_list(view, ONLINE)
    expected = expected_cpus(argument, online)
    if not expected:
        return not_applicable(NONE_PRESENT)
    given = line.last("rcu_nocbs")
    tickless = view.find(_TICKLESS)
    read = Reading(PATH, line.shown("rcu_nocbs")), Reading(_TICKLESS, _described(tickless))
    steps = [_step(view, intent, argument, tickless)]
    try:
        # On its own it offloads no CPU: it only lets CPUs be offloaded later on.
        named = parse_kernel_cpu_list(given, online) if given else frozenset()
    except ValueError as error:
        message = f"the kernel cannot read its rcu_nocbs, and offloads all CPUs or none: {error}"
        return fail(message, *read, expected=argument.text, steps=steps)
    if tickless:
        named |= read_cpu_list(view, _TICKLESS)
    if missing := expected - named:
        message = f"RCU callbacks run on {name_cpus(missing, 'isolated')} themselves"
        return fail(message, *read, expected=argument.text, steps=steps)
    if tickless is None and not _has_offloading(view):
        return _cannot(argument, read)
    message = f"the RCU callbacks of {name_cpus(expected)} run in threads"
    return ok(message, *read, expected=argument.text)


def _step(view: HostView, intent: Intent, argument: KernelArgument, tickless: str | None) -> Step:
    """A kernel that check 3 finds unable is seldom able here: it takes the same other one."""
    if tickless is not None:
        return add_at_boot(intent, argument.text)
    try:
        able = _has_offloading(view)
    except CannotRead:
        able = False
    return add_at_boot(intent, argument.text) if able else _another_kernel(argument)


def _another_kernel(argument: KernelArgument) -> Step:
    return advice(f"boot a kernel built with CONFIG_NO_HZ_FULL=y (check 3), with {argument.text}")


def _described(tickless: str | None) -> str:
    """As check 3 does: without the file the kernel has no tickless CPUs to imply any."""
    return "absent" if tickless is None else tickless or "none"


def _has_offloading(view: HostView) -> bool:
    """CONFIG_NO_HZ_FULL, which makes the file of tickless CPUs, selects CONFIG_RCU_NOCB_CPU.

    Without the former only the threads tell whether the latter is there, not for which CPUs:
    newer kernels make them for all. Raises CannotRead.
    """
    return any(each.kernel and _THREAD.fullmatch(each.comm) for each in read_processes(view))


def _cannot(argument: KernelArgument, read: tuple[Reading, ...]) -> CheckJudgement:
    return fail(
        "the kernel cannot offload RCU callbacks: it is built without CONFIG_RCU_NOCB_CPU",
        *read,
        Reading(_PROCESSES, "no rcuop, rcuos or rcuog"),
        expected=argument.text,
        steps=[_another_kernel(argument)],
    )


CHECK = Check(
    number=4,
    name="rcu-nocbs",
    group="boot",
    title="RCU callbacks of isolated CPUs run in threads",
    reads=(*READS, ONLINE, _TICKLESS, *PROCESS_READS),
    why=(
        "What the kernel frees after a grace period is freed in a softirq of the CPU that "
        "requested it, many callbacks at a time. Offloaded, a thread does it, which can run on "
        "another CPU. Tickless CPUs (check 3) are offloaded without being named."
    ),
    fix=(
        "Boot with rcu_nocbs=LIST. Where the kernel knows nohz_full (check 3), that implies it for "
        "its CPUs; one built without either can do neither."
    ),
    sources=(
        "Linux, Documentation/admin-guide/kernel-parameters.txt: rcu_nocbs, nohz_full",
        "cluster-node-tuning-operator, its rendered tuned profile: rcu_nocbs",
    ),
    rule=_judge,
)

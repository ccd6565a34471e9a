"""4: where the callbacks of RCU run."""

from __future__ import annotations

from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.boot_arguments import add_at_boot
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import Judgement, Reading, fail, not_applicable, ok
from plimsoll.tune.audit.present_cpus import NONE_PRESENT, ONLINE
from plimsoll.tune.audit.wanted_argument import READS, wanted_argument, wanted_cpus
from plimsoll.tune.host.cpu_sets import name_cpus, read_cpu_list
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.kernel_command_line import (
    PATH,
    parse_kernel_cpu_list,
    read_command_line,
)
from plimsoll.tune.intent.intent import Intent

_TICKLESS = "/sys/devices/system/cpu/nohz_full"


def _judge(view: HostView, intent: Intent) -> Judgement:
    argument = wanted_argument(view, intent, "rcu_nocbs")
    if argument is None:
        return not_applicable("the intent does not ask for it (hints.realtime)")
    line, online = read_command_line(view), read_cpu_list(view, ONLINE)
    tickless = read_cpu_list(view, _TICKLESS) if view.find(_TICKLESS) else frozenset()
    read = (
        Reading(PATH, line.told("rcu_nocbs")),
        Reading(_TICKLESS, format_cpu_list(tickless) or "none"),
    )
    wanted = wanted_cpus(argument, online)
    if not wanted:
        return not_applicable(NONE_PRESENT)
    given = line.last("rcu_nocbs")
    try:
        # Standing alone it offloads nobody: it only lets CPUs be offloaded later on.
        named = parse_kernel_cpu_list(given, online) if given else frozenset()
    except ValueError as error:
        return fail(
            f"the kernel ignores it: {error}",
            *read,
            wanted=argument.text,
            steps=[add_at_boot(intent, argument.text)],
        )
    if missing := wanted - named - tickless:
        return fail(
            f"RCU callbacks run on {name_cpus(missing, 'isolated')} themselves",
            *read,
            wanted=argument.text,
            steps=[add_at_boot(intent, argument.text)],
        )
    return ok(
        f"the RCU callbacks of {name_cpus(wanted)} run in threads",
        *read,
        wanted=argument.text,
    )


CHECK = Check(
    number=4,
    name="rcu-nocbs",
    group="boot",
    title="RCU callbacks of isolated CPUs run in threads",
    reads=(*READS, ONLINE, _TICKLESS),
    why=(
        "What the kernel frees after a grace period is freed in a softirq of the CPU that asked, "
        "many callbacks at a time. Offloaded, a thread does it, which can run on "
        "another CPU. Tickless CPUs are offloaded without being named."
    ),
    fix="Boot with rcu_nocbs=LIST (nohz_full implies it for its CPUs).",
    sources=(
        "Linux, Documentation/admin-guide/kernel-parameters.txt: rcu_nocbs, nohz_full",
        "cluster-node-tuning-operator, its rendered tuned profile: rcu_nocbs",
    ),
    rule=_judge,
)

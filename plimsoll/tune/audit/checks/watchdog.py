"""7: the watchdogs that look into every CPU from time to time."""

from __future__ import annotations

from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import (
    NONE_PRESENT,
    ONLINE,
    READS,
    expected_argument,
    present_isolated,
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
from plimsoll.tune.audit.setting import set_it
from plimsoll.tune.expected.tuned import expected_sysctls
from plimsoll.tune.host.cpus.cpu_sets import name_cpus, read_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_NMI = "/proc/sys/kernel/nmi_watchdog"
_SOFT = "/proc/sys/kernel/soft_watchdog"
_CPUS = "/proc/sys/kernel/watchdog_cpumask"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    present = present_isolated(view, intent)
    if not present:
        return not_applicable(NONE_PRESENT)
    return worst_of((_nmi(view, intent, present), _watched(view, intent, present)))


def _nmi(view: HostView, intent: Intent, isolated: frozenset[int]) -> CheckJudgement:
    if not _off_is_requested(view, intent):
        return not_applicable("the intent does not turn the NMI watchdog off")
    value = view.find(_NMI)
    expected = "nmi_watchdog 0"
    if value in (None, "0"):
        read = Reading(_NMI, "absent" if value is None else value)
        return ok("the NMI watchdog is off", read, expected=expected)
    steps = [set_it(intent, "kernel.nmi_watchdog", "0")]
    cpus = read_cpu_list(view, _CPUS)
    found = Reading(_NMI, value or "empty"), Reading(_CPUS, format_cpu_list(cpus))
    if watched := cpus & isolated:
        return fail(
            f"the NMI watchdog is on: a performance counter interrupts "
            f"{name_cpus(watched, 'isolated')} for it",
            *found,
            expected=expected,
            steps=steps,
        )
    message = "the NMI watchdog is on, though it leaves the isolated CPUs alone"
    return warn(message, *found, expected=expected, steps=steps)


def _off_is_requested(view: HostView, intent: Intent) -> bool:
    argument = expected_argument(view, intent, "nmi_watchdog")
    by_sysctl = expected_sysctls(intent).get("kernel.nmi_watchdog")
    return by_sysctl == "0" or (argument is not None and argument.values == ("0",))


def _watched(view: HostView, intent: Intent, isolated: frozenset[int]) -> CheckJudgement:
    """Both detectors look into the CPUs of one mask, by a timer, a thread or a counter."""
    detectors = {"the NMI watchdog": _NMI, "the soft lockup detector": _SOFT}
    found = {name: view.find(path) for name, path in detectors.items()}
    expected = "no watchdog on isolated CPUs"
    running = [name for name, value in found.items() if value not in (None, "0")]
    read = tuple(
        Reading(path, "absent" if found[name] is None else found[name] or "empty")
        for name, path in detectors.items()
    )
    if not running:
        return ok("no watchdog runs", *read, expected=expected)
    cpus = read_cpu_list(view, _CPUS)
    read = (*read, Reading(_CPUS, format_cpu_list(cpus)))
    message = " and ".join(running)
    if watched := cpus & isolated:
        return warn(
            f"{name_cpus(watched, 'isolated')}: watched by {message}",
            *read,
            expected=expected,
            steps=[set_it(intent, "kernel.watchdog_cpumask", intent.cpus.reserved.canonical)],
        )
    return ok(f"{message}: on housekeeping CPUs alone", *read, expected=expected)


CHECK = Check(
    number=7,
    name="watchdog",
    group="boot",
    title="Watchdogs leave isolated CPUs alone",
    reads=(*READS, ONLINE, _NMI, _SOFT, _CPUS),
    why=(
        "The NMI watchdog interrupts each CPU through a performance counter, and the soft "
        "lockup detector by a timer and a thread of the highest priority. A polling core "
        "looks like a lockup to both, and each look takes time from it."
    ),
    fix=(
        "Boot with nmi_watchdog=0 (the Node Tuning Operator does), or set the sysctls "
        "kernel.nmi_watchdog=0 and kernel.watchdog_cpumask to the reserved CPUs."
    ),
    sources=(
        "Linux, Documentation/admin-guide/lockup-watchdogs.rst",
        "Linux, Documentation/admin-guide/sysctl/kernel.rst: nmi_watchdog, watchdog_cpumask",
        "cluster-node-tuning-operator, its rendered tuned profile: nmi_watchdog=0",
    ),
    rule=_judge,
)

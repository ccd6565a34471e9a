"""7: the watchdogs that look into every CPU from time to time."""

from __future__ import annotations

from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import Judgement, Reading, Step, command, fail, ok, warn, worst_of
from plimsoll.tune.host.cpu_sets import read_cpu_list
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_NMI = "/proc/sys/kernel/nmi_watchdog"
_SOFT = "/proc/sys/kernel/soft_watchdog"
_CPUS = "/proc/sys/kernel/watchdog_cpumask"


def _nmi(view: HostView) -> Judgement:
    value = view.find(_NMI)
    wanted = "nmi_watchdog 0"
    if value is None:
        return ok("the kernel has no NMI watchdog", Reading(_NMI, "absent"), wanted=wanted)
    if value == "0":
        return ok("the NMI watchdog is off", Reading(_NMI, value), wanted=wanted)
    return fail(
        "the NMI watchdog is on: it takes a performance counter and interrupts every CPU",
        Reading(_NMI, value),
        wanted=wanted,
        steps=[command("sysctl", "-w", "kernel.nmi_watchdog=0")],
    )


def _soft(view: HostView, intent: Intent) -> Judgement:
    """The soft lockup detector wakes its CPUs by a timer, and by a stopper thread."""
    on = view.find(_SOFT)
    wanted = "no watchdog on isolated CPUs"
    if on is None or on == "0":
        found = Reading(_SOFT, "absent" if on is None else on)
        return ok("the soft lockup detector is off", found, wanted=wanted)
    cpus = read_cpu_list(view, _CPUS)
    read = (Reading(_SOFT, on), Reading(_CPUS, format_cpu_list(cpus)))
    if watched := cpus & intent.cpus.isolated.cpus:
        return warn(
            f"the soft lockup detector wakes isolated CPUs {format_cpu_list(watched)}",
            *read,
            wanted=wanted,
            steps=[_narrow(intent)],
        )
    return ok("the soft lockup detector watches housekeeping CPUs alone", *read, wanted=wanted)


def _narrow(intent: Intent) -> Step:
    return command("sysctl", "-w", f"kernel.watchdog_cpumask={intent.cpus.reserved.canonical}")


def _judge(view: HostView, intent: Intent) -> Judgement:
    return worst_of((_nmi(view), _soft(view, intent)))


CHECK = Check(
    number=7,
    name="watchdog",
    group="boot",
    title="Watchdogs leave isolated CPUs alone",
    reads=(_NMI, _SOFT, _CPUS),
    why=(
        "The NMI watchdog interrupts each CPU through a performance counter, and the soft "
        "lockup detector by a timer and a thread of the highest priority. A polling core "
        "looks like a lockup to both, and each look costs microseconds."
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

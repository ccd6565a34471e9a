"""32: where new interrupts go, and where irqbalance would move them."""

from __future__ import annotations

from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import NONE_PRESENT, ONLINE, present_isolated
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    command,
    fail,
    not_applicable,
    ok,
    tell,
    unknown,
    warn,
    worst_of,
    write,
)
from plimsoll.tune.audit.setting import performance_profile, tuned_patch
from plimsoll.tune.expected.irq import expected_irqs, keeps_irqs_off
from plimsoll.tune.host.boot.kernel_command_line import HIDDEN
from plimsoll.tune.host.cpus.cpu_sets import (
    format_cpu_mask,
    name_cpus,
    read_cpu_list,
    read_cpu_mask,
)
from plimsoll.tune.host.cpus.irqbalance_configuration import (
    IRQBALANCE_DROP_INS,
    IRQBALANCE_FILES,
    Ban,
    effective_ban,
)
from plimsoll.tune.host.cpus.irqs import DEFAULT_AFFINITY
from plimsoll.tune.host.cpus.threads import PROCESS_READS, read_processes
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread
from plimsoll.tune.intent.intent import Intent

_ISOLATED = "/sys/devices/system/cpu/isolated"
_NOHZ_FULL = "/sys/devices/system/cpu/nohz_full"
_PROCESSES = "/proc/*/stat"
_OFF_BY_PROFILE = "globallyDisableIrqLoadBalancing: true"
_EXAMPLE = "IRQBALANCE_BANNED_CPULIST"
_ENVIRONMENT = "irqbalance's environment"
_UNREADABLE = {
    "IRQBALANCE_BANNED_CPUS": (
        "which irqbalance cannot read: a mask is of hexadecimal digits without 0x"
    ),
    _EXAMPLE: "which irqbalance cannot read: a list is of numbers and ranges without blanks",
}
_EMPTY = "which only irqbalance up to 1.9.5 takes for no setting"


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    present = present_isolated(view, intent)
    if not present and intent.services.irqbalance is None:
        return not_applicable(NONE_PRESENT)
    parts = [tell(lambda: _irqbalance(view, intent, present))]
    if present and expected_irqs(intent).default_smp_affinity is not None:
        parts.insert(0, tell(lambda: _default(view, intent, present)))
    return worst_of(parts)


def _default(view: HostView, intent: Intent, present: frozenset[int]) -> CheckJudgement:
    cpus = read_cpu_mask(view, DEFAULT_AFFINITY)
    reserved = intent.cpus.reserved
    expected = f"new interrupts go to {name_cpus(reserved.cpus, 'reserved')}"
    read = Reading(DEFAULT_AFFINITY, format_cpu_list(cpus))
    if isolated := cpus & present:
        return fail(
            f"new interrupts may go to {name_cpus(isolated, 'isolated')}",
            read,
            expected=expected,
            steps=[
                write(
                    DEFAULT_AFFINITY,
                    format_cpu_mask(reserved.cpus),
                    openshift=performance_profile(_OFF_BY_PROFILE),
                )
            ],
        )
    return ok(f"new interrupts go to {name_cpus(cpus)}", read, expected=expected)


def _irqbalance(view: HostView, intent: Intent, present: frozenset[int]) -> CheckJudgement:
    running = any(each.comm == "irqbalance" for each in read_processes(view))
    read = Reading(_PROCESSES, "irqbalance runs" if running else "no irqbalance")
    setting = intent.services.irqbalance
    if not running:
        if setting:
            steps = [_switch("enable", "start,enable")]
            return fail("irqbalance does not run", read, expected="irqbalance on", steps=steps)
        return ok("no irqbalance moves interrupts", read)
    if setting is False:
        steps = [_switch("disable", "stop,disable")]
        return fail("irqbalance runs", read, expected="irqbalance off", steps=steps)
    return _banned(view, intent, present, read) if present else not_applicable(NONE_PRESENT)


def _switch(action: str, by_tuned: str) -> Step:
    return command(
        "systemctl",
        action,
        "--now",
        "irqbalance",
        openshift=tuned_patch("service", f"service.irqbalance={by_tuned}"),
        lasts="for-good",
    )


def _banned(
    view: HostView, intent: Intent, present: frozenset[int], running: Reading
) -> CheckJudgement:
    """Without a setting irqbalance itself spares isolated and tickless CPUs."""
    path, message, banned = _configured(view, present)
    if banned is None:
        return unknown(f"{path} bans {message!r}, which is not a set of CPUs", running)
    read = (running, Reading(path, message))
    if not keeps_irqs_off(intent):
        return _left_to_pods(present, banned, read)
    expected = f"irqbalance spares {name_cpus(present, 'isolated')}"
    if open_to := present - banned:
        return fail(
            f"irqbalance may move interrupts to {name_cpus(open_to, 'isolated')}",
            *read,
            expected=expected,
            steps=_ban(intent),
        )
    return ok(f"irqbalance spares {name_cpus(banned)}", *read, expected=expected)


def _left_to_pods(
    present: frozenset[int], banned: frozenset[int], read: tuple[Reading, ...]
) -> CheckJudgement:
    """Where each pod asks for itself, what CRI-O bans is that pod's, and comes and goes."""
    if banned >= present:
        return warn(
            "irqbalance spares all isolated CPUs, so that the reserved ones take all interrupts",
            *read,
            expected="irqbalance spares the CPUs of pods that ask, and no others",
        )
    message = f"irqbalance spares {name_cpus(banned)}" if banned else "irqbalance spares no CPU"
    return ok(message, *read)


def _configured(view: HostView, present: frozenset[int]) -> tuple[str, str, frozenset[int] | None]:
    """(where, what it says, the CPUs that irqbalance makes of it; None where that is hidden)."""
    ban = _read_ban(view)
    if ban is None:
        spared = _spared_by_itself(view)
        message = f"nothing banned, so isolated and tickless CPUs: {format_cpu_list(spared)}"
        return IRQBALANCE_FILES[0], message if spared else f"{message}none", spared
    if ban.value == HIDDEN:
        return ban.path, ban.text, None
    if not ban.value and (present <= _spared_by_itself(view) or present <= ban.cpus):
        raise CannotRead(Unread(ban.path, "unreadable", f"{ban.text}, {_EMPTY}"))
    return ban.path, ban.text if ban.readable else f"{ban.text}, {_UNREADABLE[ban.name]}", ban.cpus


def _read_ban(view: HostView) -> Ban | None:
    names = [name for name in view.find_names(IRQBALANCE_DROP_INS) if name.endswith(".conf")]
    drop_ins = [f"{IRQBALANCE_DROP_INS}/{name}" for name in sorted(names)]
    files = {path: view.find(path) or "" for path in reversed(IRQBALANCE_FILES)}
    try:
        return effective_ban(files, [(path, view.find(path) or "") for path in drop_ins])
    except ValueError as error:
        raise CannotRead(Unread(_ENVIRONMENT, "unreadable", str(error))) from None


def _spared_by_itself(view: HostView) -> frozenset[int]:
    cpus = read_cpu_list(view, _ISOLATED)
    return cpus | read_cpu_list(view, _NOHZ_FULL) if view.find(_NOHZ_FULL) else cpus


def _ban(intent: Intent) -> list[Step]:
    line = f"{_EXAMPLE}={intent.cpus.isolated.canonical}"
    openshift = performance_profile(_OFF_BY_PROFILE)
    return [
        advice(f"write {line} into {' or '.join(IRQBALANCE_FILES)}", openshift=openshift),
        command("systemctl", "restart", "irqbalance", openshift=openshift, lasts="for-good"),
    ]


CHECK = Check(
    number=32,
    name="irq-balancing",
    group="memory",
    title="Interrupts to come stay on reserved CPUs",
    reads=(
        ONLINE,
        DEFAULT_AFFINITY,
        *IRQBALANCE_FILES,
        f"{IRQBALANCE_DROP_INS}/*.conf",
        _ISOLATED,
        _NOHZ_FULL,
        *PROCESS_READS,
    ),
    why=(
        "An interrupt that a driver asks for later, such as one of a VF that a pod takes, gets "
        "the default affinity. irqbalance moves interrupts about every ten seconds, to any CPU "
        "that it is not configured to spare; it reads its configuration when it starts."
    ),
    fix=(
        "Boot with irqaffinity= the reserved CPUs, or write the mask to "
        "/proc/irq/default_smp_affinity; ban the isolated CPUs in irqbalance's configuration."
    ),
    sources=(
        "Linux, Documentation/core-api/irq/irq-affinity.rst",
        "irqbalance(1): IRQBALANCE_BANNED_CPUS, IRQBALANCE_BANNED_CPULIST",
        "systemd.exec(5): Environment=, EnvironmentFile=, UnsetEnvironment=",
        "cluster-node-tuning-operator: globallyDisableIrqLoadBalancing, "
        "clear-irqbalance-banned-cpus.sh",
    ),
    rule=_judge,
)

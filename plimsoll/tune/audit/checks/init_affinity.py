"""5: the CPUs on which the first process, and so whatever it starts, may run."""

from __future__ import annotations

import re

from plimsoll.errors import InputError
from plimsoll.host.cpus import parse_cpu_list
from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.expected_argument import (
    NONE_PRESENT,
    ONLINE,
    add_at_boot,
    present_isolated,
)
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    fail,
    not_applicable,
    ok,
    unknown,
)
from plimsoll.tune.host.cpus.cpu_sets import name_cpus
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_STATUS = "/proc/1/status"
_ALLOWED = re.compile(r"^Cpus_allowed_list:\s*(\S+)", re.MULTILINE)
_SYSTEMD = "systemd"
_NAME = re.compile(r"^Name:\s*(.*)", re.MULTILINE)


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    status = view.need(_STATUS)
    found, name = _ALLOWED.search(status), _NAME.search(status)
    message = name[1].strip() if name else "the first process"
    expected = f"CPUs of {intent.cpus.reserved.canonical} alone"
    if found is None:
        return unknown(f"{_STATUS} has no Cpus_allowed_list", expected=expected)
    read = Reading(_STATUS, f"{message}, Cpus_allowed_list {found[1]}")
    try:
        cpus = frozenset(parse_cpu_list(found[1]))
    except InputError as error:
        return unknown(f"{_STATUS}: {error.message}", read, expected=expected)
    present = present_isolated(view, intent)
    if not present:
        return not_applicable(NONE_PRESENT)
    if on_isolated := cpus & present:
        return fail(
            f"{message} may run on {name_cpus(on_isolated, 'isolated')}, "
            "and so may all that it starts",
            read,
            expected=expected,
            steps=[_keep_to_reserved(intent, message)],
        )
    return ok(f"{message} keeps to CPUs {found[1]}", read, expected=expected)


def _keep_to_reserved(intent: Intent, first: str) -> Step:
    if first == _SYSTEMD:
        reserved = ",".join(str(cpu) for cpu in intent.cpus.reserved)
        return add_at_boot(intent, f"systemd.cpu_affinity={reserved}")
    # The kernel keeps its first process off what isolcpus takes out of scheduling domains.
    return advice(
        f"{first} is not systemd, and knows no systemd.cpu_affinity: boot with isolcpus=domain "
        "(check 1), or have it start its services with taskset; in a container audit the host"
    )


CHECK = Check(
    number=5,
    name="init-affinity",
    group="boot",
    title="The system's processes start on housekeeping CPUs",
    reads=(ONLINE, _STATUS),
    why=(
        "Each process inherits the CPUs of the one that starts it. Where the first one may use "
        "isolated CPUs, every service, shell and cron job may. In a container the first "
        "process is the container's own: audit the host."
    ),
    fix=(
        "Boot with systemd.cpu_affinity=RESERVED, or set CPUAffinity= in "
        "/etc/systemd/system.conf. isolcpus with domain does the same for all that does not ask, "
        "and where the first process is not systemd."
    ),
    sources=(
        "systemd-system.conf(5): CPUAffinity=",
        "cluster-node-tuning-operator, its rendered tuned profile: systemd.cpu_affinity",
    ),
    rule=_judge,
)

"""27: whether memory can be swapped out."""

from __future__ import annotations

import re

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    command,
    fail,
    not_applicable,
    ok,
)
from plimsoll.tune.audit.setting import machine_config
from plimsoll.tune.audit.without_intent import as_no_dataplane_wants_it
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import whole_number
from plimsoll.tune.intent.intent import Intent

_SWAPS = "/proc/swaps"
_MEMINFO = "/proc/meminfo"
_AVAILABLE = re.compile(r"^MemAvailable:\s+(\d{1,12}) kB$", re.ASCII | re.MULTILINE)
_COLUMNS = 5
_OBJECT = machine_config("mask the node's swap units: the kubelet wants no swap (failSwapOn)")


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    """Left out, it is the kubelet that does not start with swap on (failSwapOn)."""
    expected_on = intent.services.swap
    if expected_on or (expected_on is None and intent.platform != "openshift"):
        return not_applicable("the intent does not ask for swap to be off")
    text = view.find(_SWAPS)
    if text is None:
        return ok("the kernel cannot swap", Reading(_SWAPS, "absent"), expected="no swap")
    areas = [fields for line in text.splitlines()[1:] if len(fields := line.split()) >= _COLUMNS]
    if not areas:
        return ok("no swap is in use", Reading(_SWAPS, "none"), expected="no swap")
    message = ", ".join(f"{fields[0]} ({fields[3]} of {fields[2]} KiB used)" for fields in areas)
    return fail(
        f"memory may be swapped out to {message}",
        Reading(_SWAPS, message),
        expected="no swap",
        steps=[_turn_off(view, sum(whole_number(fields[3]) or 0 for fields in areas))],
    )


def _turn_off(view: HostView, used_kib: int) -> Step:
    """What is swapped out comes back into memory; for what is lacking the kernel kills."""
    found = _AVAILABLE.search(view.read(_MEMINFO) or "")
    free_kib = int(found[1]) if found else None
    back = f"{used_kib} KiB come back into memory"
    if free_kib is not None and used_kib >= free_kib:
        return advice(
            f"stop something first, then run swapoff -a: {back}, of which {free_kib} KiB are "
            "available, and for what is lacking the kernel kills processes",
            openshift=_OBJECT,
        )
    known = "how much is available is unknown" if free_kib is None else f"{free_kib} KiB are free"
    return command("swapoff", "-a", openshift=_OBJECT, takes=f"{back}, and {known}")


CHECK = Check(
    number=27,
    name="swap",
    group="kernel",
    title="Memory is never swapped out",
    reads=(_SWAPS, _MEMINFO),
    why=(
        "A page that comes back from a disk keeps its thread for milliseconds. Hugepages are "
        "never swapped, but the program's code, stacks and tables are ordinary memory."
    ),
    fix=(
        "Run swapoff -a where memory has room for what is swapped out, and take swap out of "
        "/etc/fstab and of systemd's swap units."
    ),
    sources=(
        "proc_swaps(5), proc_meminfo(5): MemAvailable",
        "swapoff(8)",
        "Kubernetes, Swap memory management: failSwapOn",
    ),
    rule=_judge,
    without_intent=as_no_dataplane_wants_it(_judge),
)

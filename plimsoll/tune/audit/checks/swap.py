"""27: whether memory can be swapped out."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    Judgement,
    Reading,
    command,
    fail,
    not_applicable,
    ok,
)
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.intent.intent import Intent

_SWAPS = "/proc/swaps"
_COLUMNS = 5


def _judge(view: HostView, intent: Intent) -> Judgement:
    """Left out, it is the kubelet that does not start beside swap (failSwapOn)."""
    wanted_on = intent.services.swap
    if wanted_on or (wanted_on is None and intent.platform != "openshift"):
        return not_applicable("the intent does not ask for swap to be off")
    text = view.find(_SWAPS)
    if text is None:
        return ok("the kernel cannot swap", Reading(_SWAPS, "absent"), wanted="no swap")
    areas = [fields for line in text.splitlines()[1:] if len(fields := line.split()) >= _COLUMNS]
    if not areas:
        return ok("no swap is in use", Reading(_SWAPS, "none"), wanted="no swap")
    told = ", ".join(f"{fields[0]} ({fields[3]} of {fields[2]} KiB used)" for fields in areas)
    return fail(
        f"memory may be swapped out to {told}",
        Reading(_SWAPS, told),
        wanted="no swap",
        steps=[command("swapoff", "-a")],
    )


CHECK = Check(
    number=27,
    name="swap",
    group="kernel",
    title="Memory is never swapped out",
    reads=(_SWAPS,),
    why=(
        "A page that comes back from a disk keeps its thread for milliseconds. Hugepages are "
        "never swapped, but the program's code, stacks and tables are ordinary memory."
    ),
    fix="Run swapoff -a, and take swap out of /etc/fstab and of systemd's swap units.",
    sources=(
        "proc_swaps(5)",
        "Kubernetes, Swap memory management: failSwapOn",
    ),
    rule=_judge,
)

"""What a host seems to be tuned for, without an intent: read from its kernel's command line."""

from __future__ import annotations

from plimsoll.host.cpus import format_cpu_list
from plimsoll.tune.audit.present_cpus import ONLINE
from plimsoll.tune.host.boot.kernel_command_line import (
    PATH,
    KernelCommandLine,
    given_isolcpus,
    parse_isolcpus,
    parse_kernel_cpu_list,
)
from plimsoll.tune.host.boot.virtual_machine import is_virtual_machine
from plimsoll.tune.host.cpus.cpu_sets import read_cpu_list
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead
from plimsoll.tune.intent.intent import Intent


def assume_intent(view: HostView) -> tuple[Intent | None, str]:
    """(intent, where it comes from), or (None, why there is none).

    CPUs that isolcpus or nohz_full name are isolated, all others reserved; tickless ones
    speak for the hint `realtime`. Everything else is left out of the intent, so that
    those settings are not judged.
    """
    try:
        return _from_command_line(view)
    except CannotRead as error:
        return None, f"no intent is given, and {error.unread}"
    except ValueError as error:
        return None, f"no intent is given, and on the kernel's command line {error}"


def _from_command_line(view: HostView) -> tuple[Intent | None, str]:
    line = KernelCommandLine.parse(view.need(PATH))
    online = read_cpu_list(view, ONLINE)
    given = line.counting("nohz_full")
    tickless = parse_kernel_cpu_list(given, online) if given else frozenset()
    written = line.values("isolcpus")
    isolcpus = given_isolcpus(line, online).in_force
    if any(written) and not isolcpus:
        # Says what of it the kernel cannot read.
        parse_isolcpus(written[-1], online)
    isolated = tickless.union(*(each.cpus for each in isolcpus)) & online
    reserved = online - isolated
    if not isolated or not reserved:
        which = "all CPUs" if isolated else "no CPUs"
        return None, f"no intent is given, and the kernel's command line isolates {which}"
    intent = Intent.model_validate(
        {
            "name": "assumed",
            "platform": "vm" if _virtual(view) else "bare-metal",
            "cpus": {
                "reserved": format_cpu_list(reserved),
                "isolated": format_cpu_list(isolated),
                "balance_isolated": all("domain" not in each.flags for each in isolcpus),
            },
            "hints": {"realtime": True} if tickless else {},
        }
    )
    return intent, (
        f"no intent is given; assumed from the kernel's command line: CPUs "
        f"{format_cpu_list(isolated)} isolated, {format_cpu_list(reserved)} reserved"
    )


def _virtual(view: HostView) -> bool:
    try:
        return is_virtual_machine(view)
    except CannotRead:
        return False

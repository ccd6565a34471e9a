"""The kernel arguments that an intent implies, for the host at hand."""

from __future__ import annotations

import shlex
from typing import get_args

from plimsoll.tune.audit.finding import Step
from plimsoll.tune.audit.setting import performance_profile
from plimsoll.tune.expected.kernel_argument import KernelArgument, Vendor
from plimsoll.tune.expected.node import expected_arguments, expected_node
from plimsoll.tune.host.boot.kernel_command_line import (
    PATH,
    parse_kernel_cpu_list,
    read_command_line,
)
from plimsoll.tune.host.boot.operating_system import CPUINFO
from plimsoll.tune.host.cpus.cpu_sets import read_cpu_list
from plimsoll.tune.host.cpus.processor import processor_vendor
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread
from plimsoll.tune.intent.intent import Intent

# What the functions here and reading the command line take.
READS = (PATH, CPUINFO)


def expected_on_host(view: HostView, intent: Intent) -> tuple[KernelArgument, ...]:
    """Those that count, in order. Raises CannotRead where the processor is not known.

    Of those that only some releases of the operator put there, the ones that this host has.
    """
    line = read_command_line(view)
    expected = expected_node(intent, processor_vendor(view)).effective_arguments
    return tuple(each for each in expected if each.required or line.last(each.name) is not None)


def expected_argument(view: HostView, intent: Intent, name: str) -> KernelArgument | None:
    """The one of that name; None where the intent implies none. Raises CannotRead."""
    found = (each for each in expected_on_host(view, intent) if each.name == name)
    return next(found, None)


def expected_cpus(argument: KernelArgument, online: frozenset[int]) -> frozenset[int]:
    """The online CPUs that an argument of the intent names. Raises CannotRead where none can
    be read from it, for the intent's own kernel.arguments may be anything.
    """
    try:
        return parse_kernel_cpu_list(argument.values[0] or "", online) & online
    except ValueError as error:
        raise intent_unread(argument, error) from None


def intent_unread(argument: KernelArgument, error: ValueError) -> CannotRead:
    """What to raise for an argument of the intent that has no effect."""
    return CannotRead(Unread(f"the intent's {argument.text}", "unreadable", str(error)))


# How a kernel argument gets onto the command line, and who has it there on OpenShift.
def add_at_boot(intent: Intent, *arguments: str) -> Step:
    """The step that adds `arguments` from the next boot on.

    It is grubby's, which RHEL and its kin have; plimsoll.tune.audit.finding fits it to others.
    """
    text = shlex.join(["grubby", "--update-kernel=ALL", f"--args={' '.join(arguments)}"])
    return Step(text, "command", _rendered(intent, arguments), "for-good", boot_arguments=arguments)


def _rendered(intent: Intent, arguments: tuple[str, ...]) -> str:
    """What the operator makes of the profile, or what the profile has to name in addition."""
    made = {
        word
        for vendor in get_args(Vendor)
        for each in expected_arguments(intent, vendor)
        for word in each.words
    }
    words = " ".join(arguments)
    if made.issuperset(arguments):
        return performance_profile(f"the operator boot with {words}")
    return performance_profile(f"additionalKernelArgs {words} (kernel.arguments of the intent)")


ONLINE = "/sys/devices/system/cpu/online"
NONE_PRESENT = "no CPU that the intent isolates is online"


def present_isolated(view: HostView, intent: Intent) -> frozenset[int]:
    """Isolated CPUs that are online; nothing can be said of others. Raises CannotRead."""
    return intent.cpus.isolated.cpus & read_cpu_list(view, ONLINE)

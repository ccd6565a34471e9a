"""Whether a host is a virtual machine, whose firmware and power are the hypervisor's."""

from __future__ import annotations

import re

from plimsoll.tune.host.view.host_view import HostView

CPUINFO = "/proc/cpuinfo"
_FLAGS = re.compile(r"^flags\s*:(.*)$", re.MULTILINE)


def is_virtual_machine(view: HostView) -> bool:
    """Whether the CPUs report a hypervisor (CPUID leaf 1, ECX bit 31; the flag "hypervisor").

    Only x86 says so: others count as machines. Raises CannotRead.
    """
    flags = _FLAGS.search(view.need(CPUINFO))
    return flags is not None and "hypervisor" in flags[1].split()

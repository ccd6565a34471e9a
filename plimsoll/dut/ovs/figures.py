"""What Open vSwitch's userspace datapath says of its caches (`dpif-netdev/pmd-stats-show`)."""

from __future__ import annotations

import re

from plimsoll.dut.ovs.instance import OvsInstance

# "emc hits: 12", by which cache a packet's rule was found, and what went to the slow path.
_FIGURE = re.compile(r"^\s+([a-z][a-z /]*[a-z]):\s+(\d+)(?: \(.*\))?$")
_THREAD = re.compile(r"^(\S.*):$")


def datapath_figures(switch: OvsInstance) -> dict[str, dict[str, int]]:
    """Counts by thread since the switch started: hits of EMC, SMC and megaflows, upcalls.

    Raises MachineError where the switch does not answer.
    """
    return read_figures(switch.ask("dpif-netdev/pmd-stats-show"))


def read_figures(text: str) -> dict[str, dict[str, int]]:
    """What `pmd-stats-show` prints, of every thread that it names; averages are left out."""
    found: dict[str, dict[str, int]] = {}
    figures: dict[str, int] = {}
    for line in text.splitlines():
        if thread := _THREAD.match(line):
            figures = found.setdefault(thread[1], {})
        elif (figure := _FIGURE.match(line)) and not figure[1].startswith("avg "):
            figures[figure[1]] = int(figure[2])
    return found

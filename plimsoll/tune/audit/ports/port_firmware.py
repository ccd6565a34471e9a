"""The driver and firmware of a port, recorded with what was judged."""

from __future__ import annotations

import re

from plimsoll.tune.audit.finding import CheckJudgement, Reading, ok
from plimsoll.tune.audit.ports.nic_ports import NicPort
from plimsoll.tune.host.view.host_view import HostView

FIRMWARE_COMMAND = "ethtool -i <interface>"
_FIRMWARE = re.compile(r"^(driver|version|firmware-version):\s*(.*)$", re.MULTILINE)


def record_firmware(view: HostView, port: NicPort) -> CheckJudgement:
    """Recorded, not judged: which version is right depends on the card and on DPDK."""
    if port.interface is None:
        return ok(f"{port.name}: the kernel has no interface of it")
    command = FIRMWARE_COMMAND.replace("<interface>", port.interface)
    output = view.command(command)
    if output is None:
        return ok(f"{port.name}: ethtool does not run here")
    message = ", ".join(
        f"{name} {value}" for name, value in _FIRMWARE.findall(output.text) if value
    )
    return ok(f"{port.name}: {message}", Reading(command, message))

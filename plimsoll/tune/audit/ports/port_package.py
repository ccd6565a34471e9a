"""Whether a port's card has the DDP package that it needs."""

from __future__ import annotations

import re

from plimsoll.tune.audit.finding import CheckJudgement, Reading, advice, ok, warn
from plimsoll.tune.audit.ports.nic_ports import NicPort, driver_of
from plimsoll.tune.host.view.host_view import HostView

DEVLINK = "devlink dev info"
# What Intel's E810 driver reports of the package that it loaded, or that it found none.
_DDP = re.compile(r"^[ \t]*fw\.app\.name[ \t]+(\S.*)$", re.MULTILINE)


def judge_package(view: HostView, port: NicPort) -> CheckJudgement:
    """Intel's E810 without a DDP package runs in safe mode: one queue, no offload."""
    if port.address is None or driver_of(view, port.address) != "ice":
        return ok(f"{port.name} needs no DDP package")
    output = view.need_command(DEVLINK)
    name = _DDP.search(_of_device(output.text, port.address))
    wish = "a DDP package"
    if name is not None:
        read = Reading(DEVLINK, f"{port.address}: {name[1].strip()}")
        return ok(f"{port.name} has the DDP package {name[1].strip()}", read, expected=wish)
    return warn(
        f"{port.name} reports no DDP package: without one it runs in safe mode",
        Reading(DEVLINK, f"{port.address}: no fw.app.name"),
        expected=wish,
        steps=[advice("install ice.pkg under /lib/firmware/intel/ice/ddp, and reload the driver")],
    )


def _of_device(text: str, address: str) -> str:
    """devlink's answer about one function."""
    blocks = re.split(r"^(?=pci/)", text, flags=re.MULTILINE)
    return next((block for block in blocks if block.startswith(f"pci/{address}:")), "")

"""39: whether ports and VFs have the driver and the settings that the intent asks for."""

from __future__ import annotations

import re
from functools import partial

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    ok,
    tell,
    unknown,
    warn,
    worst_of,
)
from plimsoll.tune.audit.ports.nic_ports import (
    PORT_LINKS,
    PORT_LISTS,
    PORT_READS,
    AbsentPort,
    NicPort,
    driver_of,
    judge_ports,
)
from plimsoll.tune.audit.ports.port_settings import (
    MTU_READS,
    VF_COMMAND,
    VF_LINKS,
    VF_READS,
    judge_mtu,
    judge_own_driver,
    judge_vfs,
)
from plimsoll.tune.host.ports.uplinks import UPLINK_LINKS, UPLINK_READS
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent

FIRMWARE_COMMAND = "ethtool -i <interface>"
_FIRMWARE = re.compile(r"^(driver|version|firmware-version):\s*(.*)$", re.MULTILINE)
DEVLINK = "devlink dev info"
# What Intel's E810 driver reports of the package that it loaded, or that it found none.
_DDP = re.compile(r"^[ \t]*fw\.app\.name[ \t]+(\S.*)$", re.MULTILINE)


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    return judge_ports(view, intent, partial(_port, view), _absent)


def _absent(port: AbsentPort) -> CheckJudgement:
    expected = f"the port {port.name} of nic {port.nic.name}"
    if port.unnamed:
        message = f"there is no interface {port.name}, as of a port that vfio-pci has"
        return unknown(f"{message}: name it by its address (nics.pci)", expected=expected)
    return fail(
        f"there is no port {port.name}",
        expected=expected,
        steps=[advice(f"see ip link and lspci for what {port.nic.name} is called here")],
    )


def _port(view: HostView, port: NicPort) -> CheckJudgement:
    own = judge_vfs if port.nic.num_vfs else judge_own_driver
    parts = (record_firmware, judge_mtu, judge_package, own)
    return worst_of(tell(partial(part, view, port)) for part in parts)


CHECK = Check(
    number=39,
    name="nic-driver",
    group="nic",
    title="Ports and VFs are there, with the intent's driver and settings",
    reads=(*PORT_READS, *UPLINK_READS, *MTU_READS, *VF_READS),
    links=(*PORT_LINKS, *UPLINK_LINKS, *VF_LINKS),
    lists=PORT_LISTS,
    commands=(FIRMWARE_COMMAND, VF_COMMAND, DEVLINK),
    why=(
        "A port or VF bound to the wrong driver is not there for DPDK. A VF that is not trusted "
        "may not take another MAC address or see all multicast; one under the spoof check loses "
        "what it forwards for others; a small MTU drops the large frames of a profile. All look "
        "like a dataplane that loses frames."
    ),
    fix=(
        "Let the SriovNetworkNodePolicy and the SriovNetwork set driver, MTU, trust and spoofChk; "
        "on a host use dpdk-devbind.py and ip link. The port of the default route, and of your own "
        "session, is the kernel's: take another."
    ),
    sources=(
        "ip-link(8): vf NUM, trust, spoofchk",
        "Linux, Documentation/networking/devlink/ice.rst: fw.app.name",
        "sriov-network-operator: SriovNetworkNodePolicy, SriovNetwork",
    ),
    rule=_judge,
)


# The driver and firmware of a port, recorded with what was judged.
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


# Whether a port's card has the DDP package that it needs.
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

"""38: whether pause frames are off, and how much the card reads at once."""

from __future__ import annotations

import re
from functools import partial

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
    tell,
    unknown,
    warn,
    worst_of,
)
from plimsoll.tune.audit.ports.nic_ports import (
    PORT_LINK_READS,
    PORT_LINKS,
    PORT_LISTS,
    PORT_READS,
    NicPort,
    guests_link,
    judge_ports,
)
from plimsoll.tune.audit.setting import port_policy
from plimsoll.tune.audit.without_intent import as_no_dataplane_wants_it
from plimsoll.tune.host.boot.operating_system import is_virtual_machine
from plimsoll.tune.host.ports.pcie_link import LSPCI, capabilities_of, read_link
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.nic import MELLANOX

# What is set, and, where both ends negotiate, what came of it.
_PAUSE = re.compile(r"^(RX|TX):\s*(on|off)\s*$", re.MULTILINE)
_NEGOTIATED = re.compile(r"^(RX|TX) negotiated:\s*(on|off)\s*$", re.MULTILINE)
# The kernel's own default, and what DPDK's guide to mlx5 asks for on some machines.
_USUAL, _MLX5S = 512, 1024


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    return judge_ports(view, intent, partial(_port, view))


def _port(view: HostView, port: NicPort) -> CheckJudgement:
    return worst_of((tell(partial(_pause, view, port)), tell(partial(_read_request, view, port))))


def _pause(view: HostView, port: NicPort) -> CheckJudgement:
    if port.interface is None:
        return not_applicable(f"{port.name} is not the kernel's: DPDK sets its flow control")
    command = f"ethtool -a {port.interface}"
    output = view.need_command(command)
    found = dict(_PAUSE.findall(output.text))
    expected = f"pause frames of {port.interface} off"
    if not found:
        # "netlink error: Operation not supported": the driver has none.
        said = output.text.splitlines()[0] if output.text else "nothing"
        if "not supported" in output.text:
            message = f"{port.interface} has no flow control"
            return ok(message, Reading(command, said), expected=expected)
        return unknown(f"{command} says {said}", expected=expected)
    read = Reading(command, ", ".join(f"{name} {state}" for name, state in found.items()))
    if "on" not in found.values():
        return ok(f"pause frames of {port.interface} are off", read, expected=expected)
    steps = [_turn_off(port.interface)]
    negotiated = dict(_NEGOTIATED.findall(output.text))
    if negotiated and "on" not in negotiated.values():
        message = f"{port.interface} offers pause frames, which its peer now declines"
        return warn(message, read, expected=expected, steps=steps)
    return fail(
        f"{port.interface} obeys or sends pause frames: a full receiver stops its sender, and "
        "loss turns into latency",
        read,
        expected=expected,
        steps=steps,
    )


def _turn_off(interface: str) -> Step:
    return command(
        "ethtool",
        "-A",
        interface,
        "rx",
        "off",
        "tx",
        "off",
        openshift=port_policy(f"ethtool.pause off for {interface}"),
        takes=f"{interface} is down for a moment, to negotiate anew with its peer",
    )


def _read_request(view: HostView, port: NicPort) -> CheckJudgement:
    if port.address is None:
        return not_applicable(f"{port.name} is not a PCI function")
    if is_virtual_machine(view):
        return not_applicable(guests_link(port))
    if read_link(view, port.address) is None:
        return not_applicable(f"{port.name} has no PCIe link of its own that shows")
    output = view.need_command(LSPCI)
    found = capabilities_of(output.text, port.address)
    if found is None or found.max_read_request is None:
        return unknown(f"lspci shows the read requests of {port.name} to root alone")
    size = found.max_read_request
    least = _MLX5S if view.find(f"{port.pci}/vendor") == f"0x{MELLANOX}" else _USUAL
    expected = f"read requests of {least} bytes at least"
    read = Reading(LSPCI, f"{port.address}: MaxReadReq {size} bytes")
    if size >= least:
        return ok(f"{port.name} reads {size} bytes at once", read, expected=expected)
    return warn(
        f"{port.name} reads {size} bytes at once: more requests for the same frames",
        read,
        expected=expected,
        steps=[advice("raise the PCIe maximum read request in the firmware, or with setpci")],
    )


CHECK = Check(
    number=38,
    name="flow-control",
    group="nic",
    title="Pause frames are off, and read requests large",
    reads=(*PORT_READS, *PORT_LINK_READS),
    links=PORT_LINKS,
    lists=PORT_LISTS,
    commands=("ethtool -a <interface>", LSPCI),
    why=(
        "With pause frames a receiver that cannot keep up stops its sender instead of dropping: "
        "a tester then measures neither the load it intended nor the loss there would be, and "
        "one slow port holds up others. Small read requests cost the bus more for the same frames."
    ),
    fix="Run ethtool -A IF rx off tx off on each port, and on the switch or peer as well.",
    sources=(
        "DPDK, NVIDIA MLX5 Ethernet Driver: Quick Start Guide, Performance tuning",
        "RFC 2544, section 7: the device under test's configuration",
        "Linux, Documentation/networking/ethtool-netlink.rst: PAUSE_GET",
    ),
    rule=_judge,
    without_intent=as_no_dataplane_wants_it(_judge),
)

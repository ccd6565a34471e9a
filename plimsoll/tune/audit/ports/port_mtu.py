"""Whether a port takes frames as large as the intent has them."""

from __future__ import annotations

from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    command,
    fail,
    not_applicable,
    ok,
)
from plimsoll.tune.audit.openshift_object import sriov_policy
from plimsoll.tune.audit.ports.nic_ports import NicPort
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.whole_number import whole_number

_NET = "/sys/class/net"
MTU_READS = (f"{_NET}/*/mtu",)


def judge_mtu(view: HostView, port: NicPort) -> CheckJudgement:
    """Not applicable where the intent leaves it open. Raises CannotRead."""
    expected = port.nic.mtu
    if expected is None:
        return not_applicable(f"the intent names no MTU for {port.name}")
    if port.interface is None:
        return not_applicable(f"{port.name} is not the kernel's: DPDK sets its MTU")
    path = f"{_NET}/{port.interface}/mtu"
    found = view.need(path)
    read = Reading(path, found)
    wish = f"{port.interface} with an MTU of {expected}"
    if (whole_number(found) or 0) >= expected:
        return ok(f"{port.interface} has an MTU of {found}", read, expected=wish)
    return fail(
        f"{port.interface} has an MTU of {found}, not {expected}",
        read,
        expected=wish,
        steps=[_set_mtu(port.interface, expected)],
    )


def _set_mtu(interface: str, expected: int) -> Step:
    return command(
        "ip",
        "link",
        "set",
        "dev",
        interface,
        "mtu",
        str(expected),
        openshift=sriov_policy(f"mtu: {expected}"),
        takes=f"some drivers take {interface} down for a moment",
    )

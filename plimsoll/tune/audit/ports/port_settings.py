"""Whether a port has what the intent asks for: its driver, its MTU, its VFs and theirs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from plimsoll.text.counted import counted
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
    worst_of,
    write,
)
from plimsoll.tune.audit.ports.nic_ports import NicPort, driver_of
from plimsoll.tune.audit.setting import machine_config, sriov_network, sriov_policy
from plimsoll.tune.host.ports.uplinks import uplink_functions, uplink_vfs
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread, whole_number

_PCI = "/sys/bus/pci/devices"
_VFIO = "vfio-pci"
# Drivers that hand a function to user space, so that the kernel has no interface of it; those
# of VFIO with a maker's own part (mlx5_vfio_pci) serve DPDK as vfio-pci does.
_VFIO_VARIANT = re.compile(r"\w+_vfio_pci")
_UIO = ("uio_pci_generic", "igb_uio")


def judge_own_driver(view: HostView, port: NicPort) -> CheckJudgement:
    """Of a port that is used itself. Raises CannotRead."""
    if port.address is None:
        return ok(f"{port.name} is not a PCI function, and the kernel's own")
    return judge_driver(view, port, port.address, port.name)


def judge_driver(view: HostView, port: NicPort, address: str, name: str) -> CheckJudgement:
    """Of the function `address`, called `name`: the port's own, or a VF's. Raises CannotRead."""
    found = driver_of(view, address)
    read = Reading(f"{_PCI}/{address}/driver", found or "none")
    wish = f"{name} bound to {'vfio-pci' if port.nic.driver == _VFIO else 'a driver of the kernel'}"
    if found is not None and _serves(found, port.nic.driver):
        return ok(f"{name} is bound to {found}", read, expected=wish)
    return fail(
        f"{name} is bound to {found or 'no driver'}",
        read,
        expected=wish,
        steps=[_bind(view, port, address, found)],
    )


def _bind(view: HostView, port: NicPort, address: str, found: str | None) -> Step:
    """It is called by its address, so that a port of two names is bound once."""
    # Its VFs go with the driver that made them.
    if reason := uplink_functions(view).get(address) or uplink_vfs(view, address):
        # Of OpenShift's operators no less than of a command.
        return advice(f"leave {address} to the kernel: {reason}; name another port in the intent")
    driver = port.nic.driver
    by_policy = sriov_policy(f"deviceType: {driver}")
    openshift = by_policy if port.nic.num_vfs else machine_config(f"bind {address} to {driver}")
    if driver != _VFIO:
        return advice(f"bind {address} to {driver}", openshift=openshift)
    return command(
        "dpdk-devbind.py",
        "--bind=vfio-pci",
        address,
        openshift=openshift,
        takes=f"{address} goes from {found} and from its users there" if found else "",
    )


def _serves(found: str, expected: str) -> bool:
    by_vfio = found == _VFIO or _VFIO_VARIANT.fullmatch(found) is not None
    return by_vfio if expected == _VFIO else not by_vfio and found not in _UIO


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


VF_READS = (f"{_PCI}/*/sriov_numvfs",)
VF_LINKS = (f"{_PCI}/*/virtfn[0-9]*",)
VF_COMMAND = "ip -details -json link show dev <interface>"
# SriovNetwork's own spelling.
_FIELDS = {"spoofchk": "spoofChk"}


def judge_vfs(view: HostView, port: NicPort) -> CheckJudgement:
    """Their number, drivers and settings. Raises CannotRead."""
    if port.address is None:
        return fail(f"{port.name} is not a PCI function, and has no VFs")
    expected = port.nic.num_vfs or 0
    path = f"{port.pci}/sriov_numvfs"
    text = view.find(path)
    read = Reading(path, text or "absent")
    wish = f"{counted(expected, 'VF')} on {port.name}"
    found = whole_number(text) or 0
    if found < expected:
        return fail(
            f"{port.name} has {counted(found, 'VF') if found else 'no VFs'}, not {expected}",
            read,
            expected=wish,
            steps=list(_make_vfs(view, port, path, found, expected)) if text else [],
        )
    drivers = (_vf_driver(view, port, number) for number in port.nic.vfs)
    settings = tell(partial(judge_vf_settings, view, port))
    there = ok(f"{port.name} has {counted(found, 'VF')}", read, expected=wish)
    return worst_of((there, *drivers, settings))


def _make_vfs(
    view: HostView, port: NicPort, path: str, found: int, expected: int
) -> Iterator[Step]:
    """Their number can only be changed by way of none: Linux, PCI/pci-iov-howto.rst."""
    if found and (used := uplink_vfs(view, port.address or "")):
        yield advice(f"leave the VFs of {port.name} as they are: {used}; name another port")
        return
    # As the kernel calls it, so that a port of two names in the intent is changed once.
    name = port.interface or port.address
    openshift = sriov_policy(f"numVfs: {expected}")
    if found:
        yield write(
            path,
            "0",
            openshift=openshift,
            takes=f"{name} loses the {counted(found, 'VF')} that it has, and so do pods, "
            "guests and programs that use them now: stop those first",
        )
    yield write(path, str(expected), openshift=openshift, takes=f"some drivers reset {name} for it")


def _vf_driver(view: HostView, port: NicPort, number: int) -> CheckJudgement:
    link = view.link(f"{port.pci}/virtfn{number}")
    if link is None:
        return unknown(f"VF {number} of {port.name} does not show")
    address = link.rpartition("/")[2]
    return tell(partial(judge_driver, view, port, address, f"VF {number} of {port.name}"))


# Whether a port's VFs have the trust, spoof check and VLAN that the intent asks for.
def judge_vf_settings(view: HostView, port: NicPort) -> CheckJudgement:
    """Trust, spoof check and VLAN, which only the port's own driver knows. Raises CannotRead."""
    if all(each is None for each in (port.nic.trust, port.nic.spoofchk, port.nic.vlan)):
        return ok("the intent leaves trust, spoof check and VLAN open")
    if port.interface is None:
        return unknown(f"{port.name} is not the kernel's: who set its VFs up does not show")
    command = VF_COMMAND.replace("<interface>", port.interface)
    by_number = _vf_info(command, view.need_command(command).text)
    return worst_of(
        judged
        for number in port.nic.vfs
        for judged in _vf_setting(port, command, number, by_number.get(number))
    )


def _vf_setting(
    port: NicPort, command: str, number: int, found: Mapping[str, Any] | None
) -> Iterator[CheckJudgement]:
    name = f"VF {number} of {port.interface}"
    if found is None:
        yield unknown(f"{command} does not show {name}")
        return
    for field, expected in (("trust", port.nic.trust), ("spoofchk", port.nic.spoofchk)):
        if expected is None:
            continue
        word = "on" if expected else "off"
        read = Reading(command, f"{name}: {field} {found.get(field)!r}")
        if field not in found:
            # Drivers without the setting, and switchdev mode, leave it out.
            yield unknown(f"{command} does not show {field} of {name}", read)
        elif found[field] is expected:
            yield ok(f"{name}: {field} {word}", read, expected=f"{name}: {field} {word}")
        else:
            yield fail(
                f"{name}: {field} is not {word}",
                read,
                expected=f"{name}: {field} {word}",
                steps=[_set_vf(port, number, field, word)],
            )
    if port.nic.vlan is not None:
        yield _vlan(port, command, number, _vlan_of(found))


def _vlan(port: NicPort, command: str, number: int, found: int) -> CheckJudgement:
    name, expected = f"VF {number} of {port.interface}", port.nic.vlan
    read = Reading(command, f"{name}: VLAN {found}")
    if found == expected:
        return ok(f"{name}: VLAN {found}", read, expected=f"{name}: VLAN {expected}")
    message = f"{name} has VLAN {found}, not {expected}"
    steps = [_set_vf(port, number, "vlan", str(expected))]
    return fail(message, read, expected=f"{name}: VLAN {expected}", steps=steps)


def _set_vf(port: NicPort, number: int, field: str, value: str) -> Step:
    return command(
        "ip",
        "link",
        "set",
        "dev",
        port.interface or "",
        "vf",
        str(number),
        field,
        value,
        openshift=sriov_network(f"{_FIELDS.get(field, field)}: {value}"),
    )


def _vf_info(command: str, text: str) -> dict[int, Mapping[str, Any]]:
    """By VF, what `ip` prints of it. Raises CannotRead for any other output."""
    try:
        interfaces = json.loads(text)
        entries = interfaces[0].get("vfinfo_list", [])
        return {int(entry["vf"]): entry for entry in entries}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise CannotRead(Unread(command, "unreadable", "no answer of ip's")) from None


def _vlan_of(entry: Mapping[str, Any]) -> int:
    """0 is none; ip lists them since it knows of more than one."""
    listed = entry.get("vlan_list") or [{"vlan": entry.get("vlan", 0)}]
    try:
        return int(listed[0].get("vlan", 0))
    except (TypeError, ValueError, AttributeError, LookupError):
        return 0

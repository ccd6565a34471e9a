"""39: whether ports and VFs have the driver and the settings that the intent asks for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    Judgement,
    Reading,
    Step,
    advice,
    command,
    fail,
    ok,
    tell,
    unknown,
    warn,
    worst_of,
    write,
)
from plimsoll.tune.audit.nic_ports import (
    PORT_LINKS,
    PORT_LISTS,
    PORT_READS,
    AbsentPort,
    NicPort,
    driver_of,
    judge_ports,
)
from plimsoll.tune.audit.openshift_object import machine_config, sriov_network, sriov_policy
from plimsoll.tune.counted import counted
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.unread import CannotRead, Unread
from plimsoll.tune.host.whole_number import whole_number
from plimsoll.tune.intent.intent import Intent

_NET, _PCI = "/sys/class/net", "/sys/bus/pci/devices"
_DEVLINK = "devlink dev info"
_VFIO = "vfio-pci"
# Drivers that hand a function to user space, so that the kernel has no interface of it; those
# of VFIO with a maker's own part (mlx5_vfio_pci) serve DPDK as vfio-pci does.
_VFIO_VARIANT = re.compile(r"\w+_vfio_pci")
# SriovNetwork's own spelling.
_FIELDS = {"spoofchk": "spoofChk"}
_UIO = ("uio_pci_generic", "igb_uio")
# What Intel's E810 driver reports of the package that it loaded, or that it found none.
_DDP = re.compile(r"^[ \t]*fw\.app\.name[ \t]+(\S.*)$", re.MULTILINE)
_FIRMWARE = re.compile(r"^(driver|version|firmware-version):\s*(.*)$", re.MULTILINE)


def _judge(view: HostView, intent: Intent) -> Judgement:
    return judge_ports(view, intent, partial(_port, view), _absent)


def _absent(port: AbsentPort) -> Judgement:
    wanted = f"the port {port.name} of nic {port.nic.name}"
    if port.unnamed:
        told = f"there is no interface {port.name}, as of a port that vfio-pci has"
        return unknown(f"{told}: name it by its address (nics.pci)", wanted=wanted)
    return fail(
        f"there is no port {port.name}",
        wanted=wanted,
        steps=[advice(f"see ip link and lspci for what {port.nic.name} is called here")],
    )


def _port(view: HostView, port: NicPort) -> Judgement:
    parts = [partial(_mtu, view, port), partial(_package, view, port)]
    parts.append(partial(_vfs if port.nic.num_vfs else _own_driver, view, port))
    return worst_of(tell(part) for part in parts)


def _mtu(view: HostView, port: NicPort) -> Judgement:
    wanted, firmware = port.nic.mtu, _firmware(view, port)
    if port.interface is None:
        return ok(f"{port.name}: {firmware}")
    driver = Reading(f"ethtool -i {port.interface}", firmware)
    if wanted is None:
        return ok(f"{port.name}: {firmware}", driver)
    path = f"{_NET}/{port.interface}/mtu"
    found = view.need(path)
    read = Reading(path, found)
    wish = f"{port.interface} with an MTU of {wanted}"
    if (whole_number(found) or 0) >= wanted:
        return ok(f"{port.interface} has an MTU of {found}", read, driver, wanted=wish)
    return fail(
        f"{port.interface} has an MTU of {found}, not {wanted}",
        read,
        driver,
        wanted=wish,
        steps=[_set_mtu(port.interface, wanted)],
    )


def _set_mtu(interface: str, wanted: int) -> Step:
    return command(
        "ip",
        "link",
        "set",
        "dev",
        interface,
        "mtu",
        str(wanted),
        openshift=sriov_policy(f"mtu: {wanted}"),
        takes=f"some drivers take {interface} down for a moment",
    )


def _own_driver(view: HostView, port: NicPort) -> Judgement:
    """Of a port that is used itself."""
    if port.address is None:
        return ok(f"{port.name} is no PCI function, and the kernel's own")
    return _bound(view, port, port.address, port.name)


def _bound(view: HostView, port: NicPort, address: str, name: str) -> Judgement:
    found = driver_of(view, address)
    read = Reading(f"{_PCI}/{address}/driver", found or "none")
    wish = f"{name} bound to {'vfio-pci' if port.nic.driver == _VFIO else 'a driver of the kernel'}"
    if found is not None and _serves(found, port.nic.driver):
        return ok(f"{name} is bound to {found}", read, wanted=wish)
    return fail(
        f"{name} is bound to {found or 'no driver'}",
        read,
        wanted=wish,
        steps=[_bind(port, address, name, found)],
    )


def _bind(port: NicPort, address: str, name: str, found: str | None) -> Step:
    driver = port.nic.driver
    by_policy = sriov_policy(f"deviceType: {driver}")
    openshift = by_policy if port.nic.num_vfs else machine_config(f"bind {name} to {driver}")
    if driver != _VFIO:
        return advice(f"bind {name} to {driver}", openshift=openshift)
    return command(
        "dpdk-devbind.py",
        "--bind=vfio-pci",
        address,
        openshift=openshift,
        takes=f"{name} goes from {found} and from whoever uses it there" if found else "",
    )


def _serves(found: str, wanted: str) -> bool:
    by_vfio = found == _VFIO or _VFIO_VARIANT.fullmatch(found) is not None
    return by_vfio if wanted == _VFIO else not by_vfio and found not in _UIO


def _vfs(view: HostView, port: NicPort) -> Judgement:
    if port.address is None:
        return fail(f"{port.name} is no PCI function, and has no VFs")
    wanted = port.nic.num_vfs or 0
    path = f"{port.pci}/sriov_numvfs"
    text = view.find(path)
    read = Reading(path, text or "absent")
    wish = f"{counted(wanted, 'VF')} on {port.name}"
    found = whole_number(text) or 0
    if found < wanted:
        return fail(
            f"{port.name} has {counted(found, 'VF') if found else 'no VFs'}, not {wanted}",
            read,
            wanted=wish,
            steps=list(_make_vfs(port, path, found, wanted)) if text else [],
        )
    drivers = (_vf_driver(view, port, number) for number in port.nic.vfs)
    settings = tell(partial(_vf_settings, view, port))
    there = ok(f"{port.name} has {counted(found, 'VF')}", read, wanted=wish)
    return worst_of((there, *drivers, settings))


def _make_vfs(port: NicPort, path: str, found: int, wanted: int) -> Iterator[Step]:
    """Their number can only be changed by way of none: Linux, PCI/pci-iov-howto.rst."""
    openshift = sriov_policy(f"numVfs: {wanted}")
    if found:
        yield write(
            path,
            "0",
            openshift=openshift,
            takes=f"{port.name} loses the {counted(found, 'VF')} that it has, and so do pods, "
            "guests and programs that use them now: stop those first",
        )
    yield write(
        path, str(wanted), openshift=openshift, takes=f"some drivers reset {port.name} for it"
    )


def _vf_driver(view: HostView, port: NicPort, number: int) -> Judgement:
    link = view.link(f"{port.pci}/virtfn{number}")
    if link is None:
        return unknown(f"VF {number} of {port.name} does not show")
    address = link.rpartition("/")[2]
    return tell(partial(_bound, view, port, address, f"VF {number} of {port.name}"))


def _vf_settings(view: HostView, port: NicPort) -> Judgement:
    """Trust, spoof check and VLAN, which only the port's own driver knows."""
    if all(each is None for each in (port.nic.trust, port.nic.spoofchk, port.nic.vlan)):
        return ok("the intent leaves trust, spoof check and VLAN open")
    if port.interface is None:
        return unknown(f"{port.name} is not the kernel's: who set its VFs up does not show")
    asked = f"ip -details -json link show dev {port.interface}"
    by_number = _vf_info(asked, view.need_command(asked).text)
    return worst_of(
        judged
        for number in port.nic.vfs
        for judged in _vf_setting(port, asked, number, by_number.get(number))
    )


def _vf_setting(
    port: NicPort, asked: str, number: int, found: Mapping[str, Any] | None
) -> Iterator[Judgement]:
    name = f"VF {number} of {port.interface}"
    if found is None:
        yield unknown(f"{asked} does not show {name}")
        return
    for field, wanted in (("trust", port.nic.trust), ("spoofchk", port.nic.spoofchk)):
        if wanted is None:
            continue
        word = "on" if wanted else "off"
        read = Reading(asked, f"{name}: {field} {found.get(field)!r}")
        if field not in found:
            # Drivers without the setting, and switchdev mode, leave it out.
            yield unknown(f"{asked} does not show {field} of {name}", read)
        elif found[field] is wanted:
            yield ok(f"{name}: {field} {word}", read, wanted=f"{name}: {field} {word}")
        else:
            yield fail(
                f"{name}: {field} is not {word}",
                read,
                wanted=f"{name}: {field} {word}",
                steps=[_set_vf(port, number, field, word)],
            )
    if port.nic.vlan is not None:
        yield _vlan(port, asked, number, _vlan_of(found))


def _vlan(port: NicPort, asked: str, number: int, found: int) -> Judgement:
    name, wanted = f"VF {number} of {port.interface}", port.nic.vlan
    read = Reading(asked, f"{name}: VLAN {found}")
    if found == wanted:
        return ok(f"{name}: VLAN {found}", read, wanted=f"{name}: VLAN {wanted}")
    told = f"{name} has VLAN {found}, not {wanted}"
    steps = [_set_vf(port, number, "vlan", str(wanted))]
    return fail(told, read, wanted=f"{name}: VLAN {wanted}", steps=steps)


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


def _vf_info(asked: str, text: str) -> dict[int, Mapping[str, Any]]:
    """By VF, what `ip` prints of it. Raises CannotRead for what is no such answer."""
    try:
        interfaces = json.loads(text)
        entries = interfaces[0].get("vfinfo_list", [])
        return {int(entry["vf"]): entry for entry in entries}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise CannotRead(Unread(asked, "unreadable", "no answer of ip's")) from None


def _vlan_of(entry: Mapping[str, Any]) -> int:
    """0 is none; ip lists them since it knows of more than one."""
    listed = entry.get("vlan_list") or [{"vlan": entry.get("vlan", 0)}]
    try:
        return int(listed[0].get("vlan", 0))
    except (TypeError, ValueError, AttributeError, LookupError):
        return 0


def _firmware(view: HostView, port: NicPort) -> str:
    """Recorded, not judged: which version is right depends on the card and on DPDK."""
    if port.interface is None:
        return "the kernel has no interface of it"
    output = view.command(f"ethtool -i {port.interface}")
    if output is None:
        return "ethtool does not run here"
    return ", ".join(f"{name} {value}" for name, value in _FIRMWARE.findall(output.text) if value)


def _package(view: HostView, port: NicPort) -> Judgement:
    """Intel's E810 without a DDP package runs in safe mode: one queue, no offload."""
    if port.address is None or driver_of(view, port.address) != "ice":
        return ok(f"{port.name} needs no DDP package")
    output = view.need_command(_DEVLINK)
    name = _DDP.search(_of_device(output.text, port.address))
    wish = "a DDP package"
    if name is not None:
        read = Reading(_DEVLINK, f"{port.address}: {name[1].strip()}")
        return ok(f"{port.name} has the DDP package {name[1].strip()}", read, wanted=wish)
    return warn(
        f"{port.name} reports no DDP package: without one it runs in safe mode",
        Reading(_DEVLINK, f"{port.address}: no fw.app.name"),
        wanted=wish,
        steps=[advice("install ice.pkg under /lib/firmware/intel/ice/ddp, and reload the driver")],
    )


def _of_device(text: str, address: str) -> str:
    """devlink's answer about one function."""
    blocks = re.split(r"^(?=pci/)", text, flags=re.MULTILINE)
    return next((block for block in blocks if block.startswith(f"pci/{address}:")), "")


CHECK = Check(
    number=39,
    name="nic-driver",
    group="nic",
    title="Ports and VFs are there, with the intent's driver and settings",
    reads=(*PORT_READS, f"{_NET}/*/mtu", f"{_PCI}/*/sriov_numvfs"),
    links=(*PORT_LINKS, f"{_PCI}/*/virtfn[0-9]*"),
    lists=PORT_LISTS,
    commands=(
        "ethtool -i <interface>",
        "ip -details -json link show dev <interface>",
        _DEVLINK,
    ),
    why=(
        "A port or VF bound to the wrong driver is not there for DPDK. A VF that is not trusted "
        "may not take another MAC address or see all multicast; one under the spoof check loses "
        "what it forwards for others; a small MTU drops the large frames of a profile. All look "
        "like a dataplane that loses frames."
    ),
    fix=(
        "Let the SriovNetworkNodePolicy and the SriovNetwork set driver, MTU, trust and spoofChk; "
        "on a host use dpdk-devbind.py and ip link."
    ),
    sources=(
        "ip-link(8): vf NUM, trust, spoofchk",
        "Linux, Documentation/networking/devlink/ice.rst: fw.app.name",
        "sriov-network-operator: SriovNetworkNodePolicy, SriovNetwork",
    ),
    rule=_judge,
)

"""Whether a port has the VFs that the intent asks for, and these their driver."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from plimsoll.text.counted import counted
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    Step,
    advice,
    fail,
    ok,
    tell,
    unknown,
    worst_of,
    write,
)
from plimsoll.tune.audit.openshift_object import sriov_policy
from plimsoll.tune.audit.ports.nic_ports import NicPort
from plimsoll.tune.audit.ports.port_driver import judge_driver
from plimsoll.tune.audit.ports.port_vf_settings import judge_vf_settings
from plimsoll.tune.host.ports.uplinks import uplink_vfs
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.whole_number import whole_number

_PCI = "/sys/bus/pci/devices"
VF_READS = (f"{_PCI}/*/sriov_numvfs",)
VF_LINKS = (f"{_PCI}/*/virtfn[0-9]*",)


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

"""Whether a port or VF is bound to the driver that the intent asks for."""

from __future__ import annotations

import re

from plimsoll.tune.audit.finding import CheckJudgement, Reading, Step, advice, command, fail, ok
from plimsoll.tune.audit.openshift_object import machine_config, sriov_policy
from plimsoll.tune.audit.ports.nic_ports import NicPort, driver_of
from plimsoll.tune.host.ports.uplinks import uplink_functions, uplink_vfs
from plimsoll.tune.host.view.host_view import HostView

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

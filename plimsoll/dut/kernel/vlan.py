"""VLAN interfaces upon the DUT's ends of the cables: frames are tagged on both."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from plimsoll.dut.kernel.settings import WiredSettings
from plimsoll.dut.kernel.wiring import DUT_PORTS
from plimsoll.dut.lab import LineRate
from plimsoll.dut.needs import LabNeeds, check_option
from plimsoll.errors import MachineError
from plimsoll.host.kernel_options import KernelOption
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.namespaces.within import run_within
from plimsoll.host.ports.ethtool import turn_off_vlan_insertion

VLAN_OPTION = KernelOption("VLAN_8021Q", "8021q", "VLAN interfaces")
VlanId = Annotated[int, Field(ge=1, le=4094)]


class VlanSettings(WiredSettings):
    """A DUT whose ports may be VLAN interfaces of the number `vlan`."""

    vlan: VlanId | None = None

    @classmethod
    def needs(cls) -> LabNeeds:
        """The same as any cable, and VLAN interfaces for `vlan`."""
        return replace(super().needs(), for_settings=(("vlan", VLAN_OPTION),))

    def check_machine(self) -> LineRate:
        """The same as any cable, and whether the kernel has VLAN interfaces if it is to have."""
        if self.vlan is not None:
            check_option(VLAN_OPTION, "lab.vlan")
        return super().check_machine()


def forwarding_ports(vlan: int | None) -> tuple[str, ...]:
    """The interfaces between which the DUT forwards: the cables' ends, or VLANs upon them."""
    return DUT_PORTS if vlan is None else tuple(f"{port}.{vlan}" for port in DUT_PORTS)


def add_vlan(namespace: NetworkNamespace, vlan: int, *, in_memory: bool) -> None:
    """Make the VLAN interfaces, with the addresses that the cables' ends have by now, and up.

    `in_memory` they are veths' ends. A veth would hand its peer the tag apart from the frame, and
    AF_XDP there would lose it: so tags are written into the frames. Raises MachineError.
    """
    if in_memory:
        run_within(namespace.path, _write_tags)
    named = tuple(zip(DUT_PORTS, forwarding_ports(vlan), strict=True))
    namespace.batch(
        *(f"link add link {port} name {name} type vlan id {vlan}" for port, name in named),
        *(f"link set {name} up" for _, name in named),
    )


def _write_tags() -> None:
    refused = [port for port in DUT_PORTS if not turn_off_vlan_insertion(port)]
    if refused:
        raise MachineError(
            f"{', '.join(refused)} will not write VLAN tags into frames",
            where="lab.vlan",
            remedy="use a newer kernel, or leave vlan out",
        )

"""The intent's network cards: which ports, divided into what, driven by whom."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from plimsoll.text.counted import counted
from plimsoll.text.mistakes import brief, mistake
from plimsoll.tune.intent.fields.section import Listed, ObjectName, Section, Switch, Text, Word

MELLANOX = "15b3"
RESOURCE_PREFIX = "openshift.io"

# A domain has more than four digits behind Intel's VMD.
_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]")
_HEX_ID = re.compile(r"[0-9a-f]{4}")
# The SR-IOV operator's own expression, and the 63 characters of a resource's name.
_RESOURCE = re.compile(r"[a-zA-Z0-9_]{1,63}", re.ASCII)
_VF_RANGE = re.compile(r"(\d{1,3})-(\d{1,3})", re.ASCII)
# The kernel's IFNAMSIZ, without the closing zero.
_INTERFACE = re.compile(r"[^\s/:#]{1,15}")


def _check_pci(address: str) -> str:
    if not _PCI.fullmatch(address):
        raise mistake(
            f"{brief(address)} is not a PCI address", "write it as lspci -D does: 0000:87:00.0"
        )
    return address


def _check_hex_id(found: str) -> str:
    if not _HEX_ID.fullmatch(found):
        raise mistake(
            f"{brief(found)} is not a PCI id", 'write four lower case hexadecimal digits: "8086"'
        )
    return found


def _check_resource(name: str) -> str:
    if not _RESOURCE.fullmatch(name):
        raise mistake(
            f"{brief(name)} cannot name a resource",
            f"use letters, digits and _, without the {RESOURCE_PREFIX}/ before it",
        )
    return name


def is_interface_name(name: str) -> bool:
    """Whether an intent can name an interface so; the kernel allows a little more."""
    fits = _INTERFACE.fullmatch(name) is not None
    return fits and name.isprintable() and name not in (".", "..")


def _check_interface(name: str) -> str:
    if not is_interface_name(name):
        raise mistake(f"{brief(name)} cannot name an interface", "write it as ip link shows it")
    return name


def _check_vf_range(text: str) -> str:
    match = _VF_RANGE.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise mistake(f"{brief(text)} is not a range of VFs", "write first-last, for example 0-3")
    return text


PciAddress: TypeAlias = Annotated[str, AfterValidator(_check_pci)]
HexId: TypeAlias = Annotated[str, AfterValidator(_check_hex_id)]
ResourceName: TypeAlias = Annotated[str, AfterValidator(_check_resource)]
InterfaceName: TypeAlias = Annotated[str, AfterValidator(_check_interface)]
VfRange: TypeAlias = Annotated[str, AfterValidator(_check_vf_range)]


class Nic(Section):
    """One use of one or more physical ports (PFs): one SriovNetworkNodePolicy.

    The ports are named by `pf_names` or by `pci` address, or by `vendor` and `device_id`.
    """

    name: ObjectName
    """What `networks` call it; the SriovNetworkNodePolicy's name."""
    pf_names: Listed[InterfaceName] = ()
    """The ports (PFs) by their interfaces' names."""
    pci: Listed[PciAddress] = ()
    """The ports by PCI address, in quotes: "0000:87:00.0"."""
    vendor: HexId | None = None
    """PCI vendor, four hexadecimal digits. With neither `pf_names` nor `pci`, every port of the
    kind is meant, the node's own uplink too."""
    device_id: HexId | None = None
    """PCI device, four hexadecimal digits."""
    num_vfs: Annotated[int, Field(ge=1, le=256)] | None = None
    """Into how many VFs each port is divided; left out, the port itself is used."""
    vf_range: VfRange | None = None
    """The VFs of each port that this entry takes, first and last counted from 0 (0-3); left out,
    all."""
    driver: Literal["vfio-pci", "netdevice"] = "netdevice"
    """What the workload's function is bound to: vfio-pci, or (netdevice) the kernel's driver."""
    rdma: bool = False
    """Whether the function has an RDMA device. DPDK reaches mlx5 cards (vendor 15b3) by it."""
    # From RFC 791's least to what the field in the kernel holds.
    mtu: Annotated[int, Field(ge=68, le=65535)] | None = None
    """The port's MTU, in bytes; left out, it is not touched."""
    vlan: Annotated[int, Field(ge=0, le=4094)] | None = None
    """VLAN that each VF is put into, 0 for none."""
    trust: Switch = None
    """On: a VF may change its MAC address and receive frames for others (promiscuous mode)."""
    spoofchk: Switch = None
    """On: frames with another source address than the VF's are dropped."""
    resource_name: ResourceName | None = None
    """What pods ask for to get a VF, without the openshift.io/ before it."""
    priority: Annotated[int, Field(ge=0, le=99)] | None = None
    """Of several policies for one VF the lowest wins; left out, it is the operator's 99."""
    exclude_topology: bool | None = None
    """Whether the card's NUMA node is kept from the scheduler and the topology manager."""
    link_type: Literal["eth", "ib"] | None = None
    """Ethernet (eth) or InfiniBand (ib), of cards that can be either."""
    vhost_net: bool | None = None
    """Whether pods get /dev/vhost-net with the VF."""
    node_selector: Annotated[Mapping[Word, Text], Field(min_length=1)] | None = None
    """Labels of the nodes of the pool that have the port; left out, all."""
    numa_node: Annotated[int, Field(ge=0, le=1023)] | None = None
    """The NUMA node that the card is expected on."""
    link_speed_gbps: Annotated[int, Field(ge=1, le=1600)] | None = None
    """The port's speed in Gbps, which the card's PCIe link must carry."""

    @property
    def by_kind(self) -> bool:
        """Whether it names a kind of card alone, and so every port of that kind that a host has."""
        return not (self.pf_names or self.pci)

    @property
    def ports(self) -> tuple[str, ...]:
        """Its ports, each by one name: by interface where it gives both that and the address."""
        return self.pf_names or self.pci

    @property
    def kind(self) -> str:
        """Vendor and device as lspci writes them, 8086:158b; "any" for what is left out."""
        return f"{self.vendor or 'any'}:{self.device_id or 'any'}"

    @property
    def resource(self) -> str | None:
        """The whole name of the resource that pods ask for: openshift.io/intelnic_east."""
        return f"{RESOURCE_PREFIX}/{self.resource_name}" if self.resource_name else None

    @property
    def vfs(self) -> range:
        """The numbers of the VFs it takes of each port; empty where the port itself is used."""
        if self.num_vfs is None:
            return range(0)
        match = _VF_RANGE.fullmatch(self.vf_range or f"0-{self.num_vfs - 1}")
        return range(int(match[1]), int(match[2]) + 1) if match else range(0)

    @model_validator(mode="after")
    def _check_named(self) -> Self:
        if not (self.pf_names or self.pci or self.vendor):
            # A device's id alone is not unique, and PerformanceProfile refuses it.
            raise mistake(
                "names no port",
                "add pf_names, pci, or vendor with device_id",
                "pf_names",
            )
        return self

    @model_validator(mode="after")
    def _check_named_both_ways(self) -> Self:
        """The SR-IOV operator takes the ports that fit both lists."""
        if self.pf_names and self.pci and len(self.pf_names) != len(self.pci):
            raise mistake(
                f"has {counted(len(self.pci), 'address')} for "
                f"{counted(len(self.pf_names), 'interface')} of pf_names, and a policy takes the "
                "ports that fit both",
                "give each port's address, or pf_names alone",
                "pci",
            )
        return self

    @model_validator(mode="after")
    def _check_vf_range_fits(self) -> Self:
        if self.vf_range and self.num_vfs is None:
            raise mistake("takes VFs of a port without any", "add num_vfs", "vf_range")
        if self.num_vfs is not None and self.vfs.stop > self.num_vfs:
            raise mistake(
                f"VF {self.vfs.stop - 1} does not exist: {self.num_vfs} are numbered from 0",
                f"end it at {self.num_vfs - 1} at most",
                "vf_range",
            )
        return self

    @model_validator(mode="after")
    def _check_driver(self) -> Self:
        """What the SR-IOV operator's webhook and the mlx5 driver ask for."""
        if self.vendor == MELLANOX and self.driver == "vfio-pci":
            raise mistake(
                "DPDK drives mlx5 cards (vendor 15b3) alongside the kernel, never through vfio-pci",
                "use driver: netdevice and rdma: true",
                "driver",
            )
        if self.vendor == MELLANOX and self.num_vfs and not self.rdma:
            raise mistake(
                "DPDK reaches the VFs of mlx5 cards (vendor 15b3) through RDMA",
                "use rdma: true",
                "rdma",
            )
        if self.driver == "vfio-pci" and self.rdma:
            raise mistake(
                "a function bound to vfio-pci has no RDMA device",
                "use driver: netdevice, or rdma: false",
                "rdma",
            )
        return self


def check_shared_ports(nics: tuple[Nic, ...]) -> None:
    """Refuse uses of one port that overlap or disagree; raises a mistake below `nics`."""
    users: dict[str, list[Nic]] = {}
    for place, later in enumerate(nics):
        for port in dict.fromkeys((*later.pf_names, *later.pci)):
            for earlier in users.setdefault(port, []):
                _check_pair(earlier, later, port, place)
            users[port].append(later)


def _vf_count(nic: Nic) -> str:
    return counted(nic.num_vfs, "VF") if nic.num_vfs else "no VFs"


def _check_pair(earlier: Nic, later: Nic, port: str, place: int) -> None:
    if earlier.num_vfs != later.num_vfs:
        raise mistake(
            f"{port} has {_vf_count(earlier)} by {earlier.name}",
            "give both the same num_vfs",
            "nics",
            place,
            "num_vfs",
        )
    both = set(earlier.vfs) & set(later.vfs)
    if both or earlier.num_vfs is None:
        taken = f"VF {min(both)} of {port}" if both else port
        raise mistake(
            f"{taken} is taken by {earlier.name} already",
            "give each a vf_range of its own" if both else "name each port once",
            "nics",
            place,
            *(("vf_range",) if later.vf_range else ()),
        )


class NetDevice(Section):
    """By its interface's name, in which `*` and a leading `!` have TuneD's meaning; or by kind."""

    interface: Word | None = None
    """The interface's name, in which `*` and a leading `!` have TuneD's meaning."""
    vendor: HexId | None = None
    """PCI vendor, four hexadecimal digits; instead of the interface."""
    device_id: HexId | None = None
    """PCI device, four hexadecimal digits; it needs `vendor`."""

    @model_validator(mode="after")
    def _check_named(self) -> Self:
        """The Node Tuning Operator's own rule: a device's id needs its vendor's."""
        if not (self.interface or self.vendor):
            raise mistake("names no device", "add interface, or vendor with device_id")
        return self

"""The intent's attachments: the networks that pods join in addition to the cluster's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from plimsoll.text.mistakes import mistake
from plimsoll.tune.intent.fields.cpu_list import IpAddressText, IpRange
from plimsoll.tune.intent.fields.section import ObjectName, Section, Word
from plimsoll.tune.intent.nic import InterfaceName

# To 1.6 Tbit/s.
_Rate: TypeAlias = Annotated[int, Field(ge=0, le=1_600_000)]


class Ipam(Section):
    """How the attachment gets its addresses: from `range`, or with dhcp from elsewhere."""

    type: Literal["host-local", "static", "whereabouts", "dhcp"]
    """The IPAM plugin that gives addresses; static is one address for all, dhcp a server of the
    network."""
    range: IpRange | None = None
    """The network that addresses are taken from, with its prefix length; with static the address
    itself. dhcp has none."""
    gateway: IpAddressText | None = None
    """The IP address of the route by default; left out, there is none."""

    @model_validator(mode="after")
    def _check_range(self) -> Self:
        if (self.range is None) != (self.type == "dhcp"):
            raise mistake(
                f"{self.type} {'needs one' if self.range is None else 'has none'}",
                "add for example range: 192.0.2.0/24"
                if self.range is None
                else "leave it out, or use another type",
                "range",
            )
        return self


class _Attachment(Section):
    name: ObjectName
    """The attachment's name, by which pods join it."""
    namespace: ObjectName | None = None
    """Where the object is; left out, the namespace of the first pod that joins it."""
    ipam: Ipam | None = None
    """How the interface gets its addresses; left out, it has none."""


class SriovAttachment(_Attachment):
    """VFs of one of the intent's nics."""

    kind: Literal["sriov"]
    """sriov: a VF of a network card."""
    nic: ObjectName
    """The entry of `nics` whose VFs it gives, with that entry's vlan, trust and spoofchk."""
    capabilities: Annotated[Mapping[Word, bool], Field(min_length=1)] | None = None
    """What a pod may ask for at runtime, of the plugins that read it: mac, ips."""
    link_state: Literal["auto", "enable", "disable"] | None = None
    """What link the VF shows: the port's own (auto), or always up (enable) or down (disable)."""
    min_tx_rate_mbps: _Rate | None = None
    """The rate that the VF may send at least, in Mbps; 0 means no guarantee."""
    max_tx_rate_mbps: _Rate | None = None
    """The rate that the VF may send at most, in Mbps; 0 means unlimited."""
    vlan_qos: Annotated[int, Field(ge=0, le=7)] | None = None
    """Priority of the VF's VLAN tag (802.1p)."""

    @model_validator(mode="after")
    def _check_rates(self) -> Self:
        least, most = self.min_tx_rate_mbps, self.max_tx_rate_mbps
        if least and most and least > most:
            raise mistake(
                f"{least} is above max_tx_rate_mbps, {most}", "lower it", "min_tx_rate_mbps"
            )
        return self


class MacvlanAttachment(_Attachment):
    """An interface of its own MAC address on the node's `master`."""

    kind: Literal["macvlan"]
    """macvlan: an interface of its own MAC address upon another."""
    master: InterfaceName
    """The node's interface that it is upon."""
    mode: Literal["bridge", "private", "vepa", "passthru"] = "bridge"
    """Which of the interfaces upon `master` reach each other, as the kernel's macvlan defines
    it."""
    mtu: Annotated[int, Field(ge=68, le=65535)] | None = None
    """The interface's MTU, in bytes; left out, that of `master`."""


class BridgeAttachment(_Attachment):
    """A veth pair to the node's bridge `master`."""

    kind: Literal["bridge"]
    """bridge: a veth pair to a bridge of the node."""
    master: InterfaceName
    """The node's bridge."""
    vlan: Annotated[int, Field(ge=0, le=4094)] | None = None
    """VLAN of the bridge's port that the pod is on, 0 for none."""
    mtu: Annotated[int, Field(ge=68, le=65535)] | None = None
    """The interface's MTU, in bytes; left out, the plugin's."""


Network: TypeAlias = Annotated[
    SriovAttachment | MacvlanAttachment | BridgeAttachment, Field(discriminator="kind")
]

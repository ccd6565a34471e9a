"""The intent's attachments: the networks that pods join beside the cluster's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from plimsoll.text.mistakes import mistake
from plimsoll.tune.intent.fields.address import IpAddress, IpRange
from plimsoll.tune.intent.fields.section import ObjectName, Section, Word
from plimsoll.tune.intent.nic import InterfaceName

# To 1.6 Tbit/s.
_Rate: TypeAlias = Annotated[int, Field(ge=0, le=1_600_000)]


class Ipam(Section):
    """How the attachment gets its addresses: from `range`, or with dhcp from elsewhere.

    With static, `range` is the one address with its prefix length.
    """

    type: Literal["host-local", "static", "whereabouts", "dhcp"]
    range: IpRange | None = None
    gateway: IpAddress | None = None

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
    # None is the namespace of the pods.
    namespace: ObjectName | None = None
    ipam: Ipam | None = None


class SriovAttachment(_Attachment):
    """VFs of one of the intent's nics, whose vlan, trust and spoofchk it has.

    `capabilities` are what a pod may ask for at runtime, of the plugins that read it: mac, ips.
    `link_state` is what the VF shows, whatever the port's link is. Rates are in Mbit/s, 0 for
    no limit; `vlan_qos` is 802.1p's priority.
    """

    kind: Literal["sriov"]
    nic: ObjectName
    capabilities: Annotated[Mapping[Word, bool], Field(min_length=1)] | None = None
    link_state: Literal["auto", "enable", "disable"] | None = None
    min_tx_rate_mbps: _Rate | None = None
    max_tx_rate_mbps: _Rate | None = None
    vlan_qos: Annotated[int, Field(ge=0, le=7)] | None = None

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
    master: InterfaceName
    mode: Literal["bridge", "private", "vepa", "passthru"] = "bridge"
    mtu: Annotated[int, Field(ge=68, le=65535)] | None = None


class BridgeAttachment(_Attachment):
    """A veth pair to the node's bridge `master`."""

    kind: Literal["bridge"]
    master: InterfaceName
    vlan: Annotated[int, Field(ge=0, le=4094)] | None = None
    mtu: Annotated[int, Field(ge=68, le=65535)] | None = None


Network: TypeAlias = Annotated[
    SriovAttachment | MacvlanAttachment | BridgeAttachment, Field(discriminator="kind")
]

"""The intent's attachments: the networks that pods join beside the cluster's own."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from plimsoll.tune.intent.nic import InterfaceName
from plimsoll.tune.intent.section import ObjectName, Section, Text


class Ipam(Section):
    """How the attachment gets its addresses; `range` in CIDR notation where the type has one."""

    type: Literal["host-local", "static", "whereabouts", "dhcp"]
    range: Text | None = None
    gateway: Text | None = None


class _Attachment(Section):
    name: ObjectName
    # None is the namespace of the pods.
    namespace: ObjectName | None = None
    ipam: Ipam | None = None


class SriovAttachment(_Attachment):
    """VFs of one of the intent's nics, whose vlan, trust and spoofchk it has."""

    kind: Literal["sriov"]
    nic: ObjectName


class MacvlanAttachment(_Attachment):
    """An interface of its own MAC address on the node's `master`."""

    kind: Literal["macvlan"]
    master: InterfaceName
    mode: Literal["bridge", "private", "vepa", "passthru"] = "bridge"
    mtu: Annotated[int, Field(ge=68, le=65535)] | None = None


class BridgeAttachment(_Attachment):
    """A veth pair to the node's `bridge`."""

    kind: Literal["bridge"]
    bridge: InterfaceName
    vlan: Annotated[int, Field(ge=0, le=4094)] | None = None
    mtu: Annotated[int, Field(ge=68, le=65535)] | None = None


Network: TypeAlias = Annotated[
    SriovAttachment | MacvlanAttachment | BridgeAttachment, Field(discriminator="kind")
]

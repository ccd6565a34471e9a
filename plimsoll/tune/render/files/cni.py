"""Configurations of CNI plugins: what an attachment does to a pod's interface."""

from __future__ import annotations

import ipaddress
import json
from typing import Any

from plimsoll.tune.intent.network import BridgeAttachment, Ipam, MacvlanAttachment, SriovAttachment
from plimsoll.tune.intent.nic import Nic

# The article's; Multus and the plugins of every OpenShift 4 speak it.
_VERSION = "0.3.1"


def sriov_config(nic: Nic, network: SriovAttachment) -> str:
    """The SR-IOV plugin's, in the order of the first article's attachment."""
    return _json(
        "sriov",
        resourceName=nic.resource,
        deviceType=nic.driver,
        vlan=nic.vlan,
        vlanQoS=network.vlan_qos,
        trust=switch_word(nic.trust),
        spoofchk=switch_word(nic.spoofchk),
        link_state=network.link_state,
        min_tx_rate=network.min_tx_rate_mbps,
        max_tx_rate=network.max_tx_rate_mbps,
        capabilities=None if network.capabilities is None else dict(network.capabilities),
        ipam=_ipam(network.ipam),
    )


def macvlan_config(network: MacvlanAttachment) -> str:
    """The macvlan plugin's."""
    return _json(
        "macvlan",
        master=network.master,
        mode=network.mode,
        mtu=network.mtu,
        ipam=_ipam(network.ipam),
    )


def bridge_config(network: BridgeAttachment) -> str:
    """The bridge plugin's."""
    return _json(
        "bridge",
        bridge=network.master,
        vlan=network.vlan,
        mtu=network.mtu,
        ipam=_ipam(network.ipam),
    )


def ipam_json(ipam: Ipam | None) -> str | None:
    """The addresses' part by itself; None where a pod gets none."""
    found = _ipam(ipam)
    return None if found is None else json.dumps(found)


def switch_word(switch: bool | None) -> str | None:
    """The plugin's word for a switch; None leaves it as the card has it."""
    return None if switch is None else "on" if switch else "off"


def _json(kind: str, **fields: Any) -> str:
    given = {name: value for name, value in fields.items() if value is not None}
    return json.dumps({"cniVersion": _VERSION, "type": kind, **given}, indent=2) + "\n"


def _ipam(ipam: Ipam | None) -> dict[str, Any] | None:
    if ipam is None:
        return None
    gateway = {"gateway": ipam.gateway} if ipam.gateway else {}
    if ipam.range is None:
        return {"type": ipam.type}
    if ipam.type == "static":
        return {"type": "static", "addresses": [{"address": ipam.range, **gateway}]}
    if ipam.type == "host-local":
        # host-local refuses a subnet with a host in it.
        subnet = ipaddress.ip_interface(ipam.range).network
        return {"type": "host-local", "subnet": str(subnet), **gateway}
    return {"type": ipam.type, "range": ipam.range, **gateway}

"""Whom the configured addresses would send to, as the configuration alone says."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from plimsoll.remote.otg.flows.device import Interface, neighbour_mac
from plimsoll.remote.otg.model.published import Content


def neighbours(
    interfaces: Iterable[Interface], version: int, names: Collection[str]
) -> list[Content]:
    """The gateway of each address of that IP version, with its MAC where that is written down."""
    known = list(interfaces)
    found: list[Content] = []
    for interface in known:
        if names and interface.name not in names:
            continue
        for address in interface.addresses:
            if address.version == version:
                mac = neighbour_mac(address, known)
                entry = {"ethernet_name": interface.name, f"ipv{version}_address": address.gateway}
                found.append(entry | ({"link_layer_address": mac} if mac else {}))
    return found

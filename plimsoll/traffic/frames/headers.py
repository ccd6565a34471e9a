"""The headers that all plain streams have."""

from __future__ import annotations

from plimsoll.traffic.frames.addresses import Endpoint
from plimsoll.traffic.frames.layers import Layer, layer

TTL = 64


def ethernet(source: str, destination: str) -> Layer:
    """An Ethernet header between MAC addresses."""
    return layer("Ether", src=source, dst=destination)


def network(source: Endpoint, destination: Endpoint) -> Layer:
    """An IPv4 or IPv6 header."""
    ends = {"src": str(source.ip), "dst": str(destination.ip)}
    if source.ip.version == 6:
        return layer("IPv6", **ends, hlim=TTL)
    return layer("IP", **ends, id=0, flags="DF", ttl=TTL)

"""Interfaces of the kernel's, of ports that DPDK would open by AF_PACKET or AF_XDP."""

from __future__ import annotations

import re

from plimsoll.errors import InputError

_INTERFACE = re.compile(r"net_af_(?:packet|xdp)\d*,(?:.*,)?iface=([^,]+)")


def interface_of(devargs: str) -> str:
    """The name of a port's interface. Raises InputError where it has none."""
    found = _INTERFACE.match(devargs)
    if found is None:
        raise InputError(
            f"{devargs} is no interface of the kernel's",
            where="generator.kind",
            remedy="use a lab behind interfaces (docs/duts.md), or another generator",
        )
    return found[1]

"""MAC addresses, IP addresses and ports as profiles hold them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Annotated

from pydantic import BeforeValidator, Field, StrictInt

from plimsoll.text.mistakes import mistake

MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", re.IGNORECASE)

IpAddress = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One end of a stream; `port` means nothing to protocols without ports."""

    mac: str
    ip: IpAddress
    port: int


def _mac(given: object) -> object:
    if not isinstance(given, str) or not MAC.fullmatch(given):
        raise mistake(f"{given!r} is not a MAC address", "write aa:bb:cc:dd:ee:ff")
    return given.lower()


def _ip(given: object) -> object:
    try:
        address = ip_address(str(given))
    except ValueError:
        raise mistake(f"{given!r} is not an IP address", "write 198.18.0.1 or 2001:2::1") from None
    if "%" in str(address):
        raise mistake(f"{given!r} names an interface", "write the address alone")
    return address


MacField = Annotated[str, BeforeValidator(_mac)]
IpField = Annotated[IpAddress, BeforeValidator(_ip)]
PortField = Annotated[StrictInt, Field(ge=0, le=65535)]

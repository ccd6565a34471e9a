"""IP addresses and ranges of them, as an intent writes them."""

from __future__ import annotations

import ipaddress
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

from plimsoll.text.mistakes import brief, mistake


def _check_address(text: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise mistake(
            f"{brief(text)} is not an IP address", "write for example 192.0.2.1"
        ) from None
    return text


def _check_range(text: str) -> str:
    try:
        # An attachment's range may name a host in it: 192.0.2.10/24.
        ipaddress.ip_interface(text)
    except ValueError:
        raise mistake(
            f"{brief(text)} is not a range of IP addresses", "write for example 192.0.2.0/24"
        ) from None
    if "/" not in text:
        raise mistake(f"{brief(text)} has no prefix length", "write for example 192.0.2.0/24")
    return text


# Kept as written.
IpAddressText: TypeAlias = Annotated[str, AfterValidator(_check_address)]
IpRange: TypeAlias = Annotated[str, AfterValidator(_check_range)]

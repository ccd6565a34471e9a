"""Addresses of PCI functions, as the kernel writes them and as DPDK takes them."""

from __future__ import annotations

import re

# A domain has more than four digits behind Intel's VMD.
_FULL = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
# What DPDK takes for one; its domain may be left out.
_GIVEN = re.compile(r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", re.IGNORECASE)


def is_pci_address(name: str) -> bool:
    """Whether `name` is one in full: 0000:87:00.0."""
    return _FULL.fullmatch(name) is not None


def pci_address(given: str) -> str | None:
    """A PCI address as the kernel writes it; None for what is none."""
    if (address := _GIVEN.fullmatch(given)) is None:
        return None
    return f"{int(address[1] or '0', 16):04x}:{address[2]}".lower()

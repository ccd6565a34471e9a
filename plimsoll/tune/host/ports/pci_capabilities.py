"""What lspci tells of PCIe functions that sysfs does not; only root sees it."""

from __future__ import annotations

import re
from dataclasses import dataclass

LSPCI = "lspci -D -vv"

_READ_REQUEST = re.compile(r"MaxReadReq (\d+) bytes")
_LINK_CONTROL = re.compile(r"LnkCtl:\s*ASPM ([^;]+);")


@dataclass(frozen=True, slots=True)
class PciCapabilities:
    """None where lspci could not read it. `aspm` is "Disabled", "L1 Enabled" and the like."""

    max_read_request: int | None
    aspm: str | None


def capabilities_of(text: str, address: str) -> PciCapabilities | None:
    """Of the function `address`, from the text of `lspci -D -vv`; None where it is not in it."""
    for block in text.split("\n\n"):
        if block.lstrip().startswith(f"{address} "):
            request, control = _READ_REQUEST.search(block), _LINK_CONTROL.search(block)
            return PciCapabilities(
                int(request[1]) if request else None, control[1].strip() if control else None
            )
    return None

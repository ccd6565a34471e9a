"""The PCIe link of a function: how fast and how wide it is, and could be."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plimsoll.host.ports.netdevs import is_pci_address
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import whole_number

_PCI = "/sys/bus/pci/devices"
LINK_READS = tuple(
    f"{_PCI}/*/{which}_link_{what}" for which in ("current", "max") for what in ("speed", "width")
)
_SPEED = re.compile(r"(\d+(?:\.\d+)?) GT/s")
# PCI Express Base Specification: 8b/10b up to 5 GT/s, 128b/130b up to 32, FLITs of 256 bytes
# with 242 of them for packets (6.0) above.
_LINE_CODES = ((5.0, 8 / 10), (32.0, 128 / 130), (float("inf"), 242 / 256))
LSPCI = "lspci -D -vv"
_READ_REQUEST = re.compile(r"MaxReadReq (\d+) bytes")
_LINK_CONTROL = re.compile(r"LnkCtl:\s*ASPM ([^;]+);")


@dataclass(frozen=True, slots=True)
class PcieLink:
    """Speeds in GT/s, widths in lanes, and where they were read."""

    speed: float
    width: int
    most_speed: float
    most_width: int
    path: str

    @property
    def gbps(self) -> float:
        """What it carries after the line code, in Gbps each way."""
        code = next(code for speed, code in _LINE_CODES if self.speed <= speed)
        return self.speed * self.width * code

    def __str__(self) -> str:
        return f"{self.speed:g} GT/s x{self.width} of {self.most_speed:g} GT/s x{self.most_width}"


def read_link(view: HostView, address: str) -> PcieLink | None:
    """The link of a function; None where it has none, as in guests. Raises CannotRead."""
    folder = f"{_PCI}/{address}"
    speed = _speed(view.find(f"{folder}/current_link_speed"))
    most_speed = _speed(view.find(f"{folder}/max_link_speed"))
    width = _width(view.find(f"{folder}/current_link_width"))
    most_width = _width(view.find(f"{folder}/max_link_width"))
    if not (speed and most_speed and width and most_width):
        return None
    return PcieLink(speed, width, most_speed, most_width, folder)


def _speed(text: str | None) -> float:
    """0 for what the kernel calls Unknown."""
    found = _SPEED.match(text or "")
    return float(found[1]) if found else 0.0


def _width(text: str | None) -> int:
    """0 where no lane is in use, or 255 where the register holds nonsense."""
    lanes = whole_number(text) or 0
    return lanes if 0 <= lanes < 64 else 0


# The PCI functions that a path of sysfs leads through.
def functions_on(path: str) -> tuple[str, ...]:
    """The addresses on the way, the root port's first; the last is the device's own.

    None where it is not a PCI function, as a bridge or a tunnel. A virtio interface lies one
    directory below its function, a scalable function of mlx5 likewise.
    """
    return tuple(name for name in path.split("/") if is_pci_address(name))


# What lspci tells of PCIe functions that sysfs does not; only root sees it.
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

"""The machine's PCI network functions, as sysfs shows them (Documentation/ABI, sysfs-bus-pci)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from plimsoll.host.ports.netdevs import SYS

# The class code's first byte for network controllers (PCI Code and ID Assignment, 1.4).
_NETWORK_CLASS = 0x02


@dataclass(frozen=True, slots=True)
class PciFunction:
    """One function: `id` is vendor and device in hexadecimal, `driver` the kernel's, if any."""

    address: str
    id: str
    driver: str | None
    numa_node: int | None
    iommu_group: int | None


def pci_functions(sys: Path = SYS) -> tuple[PciFunction, ...]:
    """Every PCI function of class network, by address."""
    paths = sorted((sys / "bus/pci/devices").glob("*"))
    return tuple(_read(path) for path in paths if _class(path) >> 16 == _NETWORK_CLASS)


def pci_function(address: str, sys: Path = SYS) -> PciFunction | None:
    """The PCI function of any class at that address; None where there is none."""
    path = sys / "bus/pci/devices" / address
    return _read(path) if path.is_dir() else None


def _class(path: Path) -> int:
    try:
        return int((path / "class").read_text(), 16)
    except (OSError, ValueError):
        return 0


def _read(path: Path) -> PciFunction:
    group, driver = path / "iommu_group", path / "driver"
    numa_node = int(_word(path / "numa_node", "-1"))
    return PciFunction(
        address=path.name,
        id=f"{_word(path / 'vendor')[2:]}:{_word(path / 'device')[2:]}",
        driver=driver.resolve().name if driver.is_symlink() else None,
        numa_node=numa_node if numa_node >= 0 else None,
        iommu_group=int(group.resolve().name) if group.is_symlink() else None,
    )


def _word(path: Path, absent: str = "0x?") -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return absent

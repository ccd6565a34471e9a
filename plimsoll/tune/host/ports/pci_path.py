"""The PCI functions that a path of sysfs leads through."""

from __future__ import annotations

from plimsoll.host.ports.pci_address import is_pci_address


def functions_on(path: str) -> tuple[str, ...]:
    """The addresses on the way, the root port's first; the last is the device's own.

    None where it is not a PCI function, as a bridge or a tunnel. A virtio interface lies one
    directory below its function, a scalable function of mlx5 likewise.
    """
    return tuple(name for name in path.split("/") if is_pci_address(name))

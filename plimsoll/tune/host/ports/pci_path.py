"""The PCI functions that a path of sysfs leads through."""

from __future__ import annotations

import re

# A domain has more than four digits behind Intel's VMD.
_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


def is_pci_address(name: str) -> bool:
    """Whether `name` is one in full: 0000:87:00.0."""
    return _ADDRESS.fullmatch(name) is not None


def functions_on(path: str) -> tuple[str, ...]:
    """The addresses on the way, the root port's first; the last is the device's own.

    None where it is not a PCI function, as a bridge or a tunnel. A virtio interface lies one
    directory below its function, a scalable function of mlx5 likewise.
    """
    return tuple(name for name in path.split("/") if is_pci_address(name))

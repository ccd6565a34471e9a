"""A card for captures: Documentation/ABI/testing/sysfs-bus-pci, sysfs-class-net."""

from typing import Any

ADDRESS = "0000:87:00.0"
SLOT = "0000:80:02.0"
PCI = f"/sys/bus/pci/devices/{ADDRESS}"
NET = "/sys/class/net/ens7f0"
NIC: dict[str, Any] = {"name": "east", "pf_names": ["ens7f0"]}

FILES = {
    f"{PCI}/vendor": "0x8086\n",
    f"{PCI}/device": "0x158b\n",
    f"{PCI}/numa_node": "1\n",
}
LINKS = {
    NET: f"../../devices/pci0000:80/{SLOT}/{ADDRESS}/net/ens7f0",
    PCI: f"../../../devices/pci0000:80/{SLOT}/{ADDRESS}",
    f"{PCI}/driver": "../../../../bus/pci/drivers/i40e",
}
LISTED = {f"{PCI}/net": ("ens7f0",)}
# A guest's interface, whose parent is no PCI Express function.
VIRTIO_LINKS = {NET: "../../devices/platform/virtio2/net/ens7f0"}


def link(address: str, now: tuple[str, str], most: tuple[str, str]) -> dict[str, str]:
    """The link of a function: (speed in GT/s, lanes) as it came up, and at most."""
    folder = f"/sys/bus/pci/devices/{address}"
    return {
        f"{folder}/current_link_speed": f"{now[0]} GT/s PCIe\n",
        f"{folder}/current_link_width": f"{now[1]}\n",
        f"{folder}/max_link_speed": f"{most[0]} GT/s PCIe\n",
        f"{folder}/max_link_width": f"{most[1]}\n",
    }


# An XXV710 in a slot of its own kind.
FULL_LINK = link(ADDRESS, ("8.0", "8"), ("8.0", "8"))

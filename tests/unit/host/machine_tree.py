"""A /sys and a /proc/net of a made-up machine, file by file as a kernel would show them."""

import os
from pathlib import Path


class MachineTree:
    """Made under a folder; `sys` and `proc_net` are its roots."""

    def __init__(self, folder: Path) -> None:
        self.sys = folder / "sys"
        self.proc_net = folder / "proc-net"
        for path in (self.sys / "class/net", self.sys / "bus/pci/devices", self.proc_net):
            path.mkdir(parents=True)
        self.write(self.proc_net / "route", "Iface\tDestination\n")

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    def link(self, path: Path, target: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        target.mkdir(parents=True, exist_ok=True)
        self._point(path, target)

    def _point(self, path: Path, target: Path) -> None:
        """Relative, as sysfs has them: a root may be mounted anywhere."""
        path.symlink_to(os.path.relpath(target.resolve(), path.parent.resolve()))

    def card(
        self,
        address: str,
        driver: str | None,
        kind: str = "0x020000",
        numa: int = 0,
        group: int = 7,
    ) -> Path:
        """A PCI function."""
        path = self.sys / "devices/pci0000:00" / address
        self.write(path / "class", kind)
        self.write(path / "vendor", "0x8086")
        self.write(path / "device", "0x1592")
        self.write(path / "numa_node", str(numa))
        self.link(path / "iommu_group", self.sys / f"kernel/iommu_groups/{group}")
        if driver:
            self.link(path / "driver", self.sys / "bus/pci/drivers" / driver)
        self._point(self.sys / "bus/pci/devices" / address, path)
        return path

    def interface(self, name: str, parent: Path | None = None, **files: str) -> Path:
        """An interface, upon a PCI function or a device of one, else virtual."""
        path = (parent / "net" if parent else self.sys / "devices/virtual/net") / name
        usual = {
            "type": "1",
            "flags": "0x1003",
            "carrier": "1",
            "mtu": "1500",
            "speed": "25000",
            "address": "02:00:00:00:00:01",
            "uevent": f"INTERFACE={name}",
            "queues/rx-0/rps_cpus": "0",
            "queues/tx-0/xps_cpus": "0",
        }
        for file, text in (usual | files).items():
            self.write(path / file, text)
        if parent:
            self._point(path / "device", parent)
        self._point(self.sys / "class/net" / name, path)
        return path

    def on_top(self, upper: str, lower: str) -> None:
        """`upper` is built upon `lower`, as a bridge upon its port."""
        path = (self.sys / "class/net" / lower).resolve() / f"upper_{upper}"
        self._point(path, self.sys / "class/net" / upper)

    def route(self, *lines: str) -> None:
        """IPv4 routes in the kernel's form."""
        self.write(self.proc_net / "route", "\n".join(["Iface\tDestination", *lines]))

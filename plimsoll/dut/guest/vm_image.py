"""What a virtual machine boots that bridges its two ports: a kernel, and all else in memory."""

from __future__ import annotations

import gzip
import lzma
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.dut.guest.initramfs import initramfs
from plimsoll.dut.needs import NeededProgram
from plimsoll.errors import InputError, MachineError

BUSYBOX = NeededProgram("busybox", "busybox-static (Debian, Ubuntu)")
_REMEDY = "make vm-kernel in a checkout of Plimsoll unpacks one of Debian's into build/vm-kernel"
# In the order of their need of each other; a kernel may have some built in.
_MODULES = (
    *("virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci"),
    *("failover", "net_failover", "virtio_net", "llc", "stp", "bridge"),
)
# Without IPv6 no interface sends frames of its own. Counts are those of Linux, by request: a line
# is answered by itself, and the frames in and out of eth0 and eth1.
_INIT = b"""#!/bin/busybox sh
busybox mkdir -p /proc /sys /dev
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
for module in $(busybox cat /modules/order); do
    busybox insmod "/modules/$module" || echo "insmod $module failed"
done
busybox brctl addbr br0
echo 0 >/sys/class/net/br0/bridge/multicast_snooping
for port in eth0 eth1; do
    busybox ip link set "$port" mtu "$MTU" promisc on
    busybox brctl addif br0 "$port"
    busybox ip link set "$port" up
done
busybox ip link set br0 mtu "$MTU" up
echo "plimsoll: the bridge is up"
cd /sys/class/net
busybox stty -F /dev/ttyS1 raw -echo
while read -r request; do
    echo "$request" $(busybox cat eth0/statistics/rx_packets eth0/statistics/tx_packets \\
        eth1/statistics/rx_packets eth1/statistics/tx_packets)
done </dev/ttyS1 >/dev/ttyS1
"""


@dataclass(frozen=True, slots=True)
class VmImage:
    """A folder with `vmlinuz` and the kernel's `modules/*.ko` or `*.ko.xz`."""

    folder: Path

    @property
    def kernel(self) -> Path:
        """What is booted."""
        return self.folder / "vmlinuz"

    def check(self) -> None:
        """Whether all of it is there. Raises InputError and MachineError."""
        if platform.machine() != "x86_64":
            raise MachineError(
                f"a guest of x86-64 on {platform.machine()}",
                where="lab.guest",
                remedy="use guest: testpmd",
            )
        if not self.kernel.is_file():
            raise InputError(f"there is no {self.kernel}", where="lab.guest_image", remedy=_REMEDY)
        busybox = BUSYBOX.find()
        if b"/ld-linux" in Path(busybox).read_bytes():
            raise MachineError(
                f"{busybox} needs libraries, which the guest has not",
                where="lab.guest",
                remedy=f"install the package {BUSYBOX.package}",
            )

    def initramfs(self) -> bytes:
        """The guest's first and only file system. Raises InputError."""
        modules = self._modules()
        names = [name for name in _MODULES if name in modules]
        return gzip.compress(
            initramfs(
                {
                    "init": _INIT,
                    "bin/busybox": Path(BUSYBOX.find()).read_bytes(),
                    **{f"modules/{name}.ko": modules[name] for name in names},
                    "modules/order": "".join(f"{name}.ko\n" for name in names).encode(),
                }
            ),
            1,
        )

    def _modules(self) -> Mapping[str, bytes]:
        folder = self.folder / "modules"
        try:
            plain = {path.stem: path.read_bytes() for path in folder.glob("*.ko")}
            packed = {
                path.name.removesuffix(".ko.xz"): lzma.decompress(path.read_bytes())
                for path in folder.glob("*.ko.xz")
            }
        except (OSError, lzma.LZMAError) as error:
            raise InputError(
                f"its modules cannot be read: {error}", where="lab.guest_image", remedy=_REMEDY
            ) from error
        return plain | packed

"""What a virtual machine boots whose two ports forward: a kernel, and all else in memory."""

from __future__ import annotations

import gzip
import lzma
import platform
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from plimsoll.dut.needs import NeededProgram
from plimsoll.errors import InputError, MachineError

BUSYBOX = NeededProgram("busybox", "busybox-static (Debian, Ubuntu)")
_REMEDY = "make vm-kernel in a checkout of Plimsoll unpacks one of Debian's into build/vm-kernel"
# In the order of their need of each other; a kernel may have some built in.
_BRIDGE_MODULES = (
    *("virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci"),
    *("failover", "net_failover", "virtio_net", "llc", "stp", "bridge"),
)
_TESTPMD_MODULES = ("uio", "uio_pci_generic")
_TESTPMD_REMEDY = "make vm-testpmd in a checkout of Plimsoll collects it into build/vm-kernel"
_EXECUTABLE = stat.S_IFREG | 0o755
_DIRECTORY = stat.S_IFDIR | 0o755
_LAST = "TRAILER!!!"
_BEGIN = """#!/bin/busybox sh
busybox mkdir -p /proc /sys /dev /run /var
busybox ln -s /run /var/run
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
for module in $(busybox cat /modules/order); do
    busybox insmod "/modules/$module" || echo "insmod $module failed"
done
"""
# Without IPv6 no interface sends frames of its own.
_BRIDGE = """
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
counts() {
    busybox cat eth0/statistics/rx_packets eth0/statistics/tx_packets \\
        eth1/statistics/rx_packets eth1/statistics/tx_packets
}
"""
# By uio_pci_generic: there is no IOMMU, and Debian's kernel has no vfio without one. One of the
# two threads waits for commands, the other polls; both on the machine's one CPU.
_TESTPMD = """
cards=
for card in /sys/bus/pci/devices/*; do
    [ "$(busybox cat "$card/class")" = 0x020000 ] || continue
    echo uio_pci_generic >"$card/driver_override"
    echo "${card##*/}" >/sys/bus/pci/drivers_probe
    cards="$cards -a ${card##*/}"
done
# DPDK loads nothing from below a folder that all may write to.
busybox chmod 755 /
mbuf_bytes=$((MTU + 256))
[ "$mbuf_bytes" -ge 2176 ] || mbuf_bytes=2176
busybox mkfifo /commands
exec 3<>/commands
stdbuf -oL dpdk-testpmd --lcores 0@0,1@0 --in-memory --no-telemetry -d /drivers $cards -- \\
    --interactive --auto-start --forward-mode="$FORWARDING" --nb-cores=1 \\
    --total-num-mbufs=8192 --mbuf-size="$mbuf_bytes" --max-pkt-len=$((MTU + 18)) \\
    </commands >>/said 2>&1 &
testpmd=$!
check_testpmd() {
    kill -0 "$testpmd" && return
    busybox cat /said >/dev/ttyS0
    echo "plimsoll: testpmd has ended" >/dev/ttyS0
    exit 1
}
until busybox grep -q "testpmd>" /said; do
    check_testpmd
    busybox usleep 20000
done
busybox cat /said
echo "plimsoll: testpmd forwards"
said_counts() {
    busybox awk 'BEGIN { n = 0 } /RX-packets:/ { rx[n] = $2 } /TX-packets:/ { tx[n++] = $2 }
        END { if (n == 2) print rx[0], tx[0], rx[1], tx[1] }' /said
}
counts() {
    counted=
    : >/said
    echo "show port stats all" >&3
    until [ "$counted" ]; do
        check_testpmd
        busybox usleep 20000
        counted=$(said_counts)
    done
    echo "$counted"
}
"""
_END = """busybox stty -F /dev/ttyS1 raw -echo
while read -r request; do
    counted=$(counts) || exit 1
    echo "$request" $counted
done </dev/ttyS1 >/dev/ttyS1
"""
BRIDGE_INIT = (_BEGIN + _BRIDGE + _END).encode()
TESTPMD_INIT = (_BEGIN + _TESTPMD + _END).encode()


@dataclass(frozen=True, slots=True)
class VmImage:
    """A folder with `vmlinuz` and the kernel's `modules/*.ko` or `*.ko.xz`.

    With testpmd also `testpmd`, the files that it needs by their paths.
    """

    folder: Path
    with_testpmd: bool = False

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
        if self.with_testpmd and not self._testpmd.is_dir():
            raise InputError(
                f"there is no {self._testpmd}, so testpmd cannot forward in it",
                where="lab.guest_image",
                remedy=f"{_TESTPMD_REMEDY}; or leave guest_forwarding out, and Linux bridges",
            )
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
        needed = _TESTPMD_MODULES if self.with_testpmd else _BRIDGE_MODULES
        names = [name for name in needed if name in modules]
        return gzip.compress(
            initramfs(
                {
                    "init": TESTPMD_INIT if self.with_testpmd else BRIDGE_INIT,
                    "bin/busybox": Path(BUSYBOX.find()).read_bytes(),
                    **{f"modules/{name}.ko": modules[name] for name in names},
                    "modules/order": "".join(f"{name}.ko\n" for name in names).encode(),
                    **(self._testpmd_files() if self.with_testpmd else {}),
                }
            ),
            1,
        )

    @property
    def _testpmd(self) -> Path:
        return self.folder / "testpmd"

    def _testpmd_files(self) -> dict[str, bytes]:
        try:
            return {
                str(path.relative_to(self._testpmd)): path.read_bytes()
                for path in sorted(self._testpmd.rglob("*"))
                if path.is_file()
            }
        except OSError as error:
            raise InputError(
                f"its testpmd cannot be read: {error}",
                where="lab.guest_image",
                remedy=_TESTPMD_REMEDY,
            ) from error

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


# An initramfs: what a kernel unpacks into memory as its first file system.
#
# The format is "newc" of cpio: Linux, Documentation/driver-api/early-userspace/
# buffer-format.rst.
def initramfs(files: Mapping[str, bytes]) -> bytes:
    """An archive of `files` by path without its first slash; all of them may be executed."""
    folders = {
        str(folder): b"" for name in files for folder in PurePosixPath(name).parents if folder.name
    }
    members = [(name, _DIRECTORY, b"") for name in sorted(folders)]
    members += [(name, _EXECUTABLE, content) for name, content in files.items()]
    members.append((_LAST, 0, b""))
    return b"".join(
        _member(number, name, mode, content)
        for number, (name, mode, content) in enumerate(members, start=1)
    )


def _member(number: int, name: str, mode: int, content: bytes) -> bytes:
    named = name.encode() + b"\0"
    # Inode, mode, user, group, links, time, size, two devices of two numbers, name, no checksum.
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(named), 0)
    header = b"070701" + b"".join(f"{field:08X}".encode() for field in fields)
    return _padded(header + named) + _padded(content)


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 4)

"""What a virtual machine boots whose two ports forward: a kernel, and all else in memory."""

from __future__ import annotations

import gzip
import lzma
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll.dut.guest.initramfs import initramfs
from plimsoll.dut.guest.vm_init import BRIDGE_INIT, TESTPMD_INIT
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

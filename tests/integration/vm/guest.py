"""A guest of QEMU, without virtualisation by hardware: boots, is captured, and is gone.

Its kernel is Debian's for clouds, as it comes; its user space one static busybox. It has no
network, no disk that outlives it and no Python: it sends files as they are, and they become a
capture out here.
"""

from __future__ import annotations

import gzip
import io
import platform
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from plimsoll.tune.audit.wanted_files import wanted_files
from plimsoll.tune.host.capture import Capture
from plimsoll.tune.host.captured_host import CapturedHost
from plimsoll.tune.host.collect import Wanted, collect
from plimsoll.tune.host.commands import commands_of
from plimsoll.tune.host.path_pattern import parents
from plimsoll.tune.host.unread import Unread
from tests.integration.vm.initramfs import initramfs
from tests.unit.tune.captures.systems import TunedSystem

ROOT = Path(__file__).parents[3]
# Where `make vm-kernel` unpacks the package.
UNPACKED = ROOT / "build" / "vm-kernel"
QEMU = "qemu-system-x86_64"
# The static one; /bin/busybox of other packages needs libraries that the guest has not.
BUSYBOX = Path("/bin/busybox")
# In the order of their need of each other: devices with interrupts of their own.
MODULES = (
    "drivers/virtio/virtio_ring.ko",
    "drivers/virtio/virtio.ko",
    "drivers/virtio/virtio_pci_legacy_dev.ko",
    "drivers/virtio/virtio_pci_modern_dev.ko",
    "drivers/virtio/virtio_pci.ko",
    "net/core/failover.ko",
    "drivers/net/net_failover.ko",
    "drivers/net/virtio_net.ko",
)
# Nobody waits for ever; a boot takes some 20 s of a 3 GHz core.
LONGEST_BOOT_S = 600.0
ALWAYS = "console=ttyS0 quiet loglevel=3 panic=-1"


@dataclass(frozen=True)
class GuestKernel:
    """The kernel's image, and its modules by file name."""

    image: Path
    modules: tuple[Path, ...]


class CannotBoot(Exception):
    """What is missing here, in words for a skipped test."""


def find_kernel() -> GuestKernel:
    """The kernel that `make vm-kernel` unpacked. Raises CannotBoot."""
    if platform.machine() != "x86_64":
        raise CannotBoot("the guests are of x86-64")
    if shutil.which(QEMU) is None:
        raise CannotBoot(f"there is no {QEMU} (package qemu-system-x86)")
    if not _is_static(BUSYBOX):
        raise CannotBoot("there is no static busybox (package busybox-static)")
    images = sorted(UNPACKED.glob("boot/vmlinuz-*"))
    if not images:
        raise CannotBoot("there is no kernel for guests (make vm-kernel)")
    folder = UNPACKED / "lib" / "modules" / images[-1].name.removeprefix("vmlinuz-") / "kernel"
    return GuestKernel(images[-1], tuple(folder / name for name in MODULES))


def boot(kernel: GuestKernel, system: TunedSystem, folder: Path) -> Capture:
    """Boot the guest, and what it gave of itself. Files of the boot are left in `folder`."""
    (folder / "initramfs").write_bytes(_initramfs(kernel, system))
    sent = folder / "sent.tar.gz"
    console = folder / "console"
    command = [
        QEMU,
        *("-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max"),
        *("-smp", "4", "-m", "640", "-nodefaults", "-no-user-config", "-no-reboot"),
        *("-display", "none", "-serial", f"file:{console}", "-serial", f"file:{sent}"),
        *(system.machine or ("-device", "virtio-net-pci,romfile=")),
        *("-kernel", str(kernel.image), "-initrd", str(folder / "initramfs")),
        *("-append", f"{ALWAYS} {system.arguments}"),
    ]
    done = subprocess.run(command, capture_output=True, timeout=LONGEST_BOOT_S, check=False)
    if done.returncode or not sent.exists() or not sent.stat().st_size:
        said = console.read_text(errors="replace") if console.exists() else ""
        raise AssertionError(f"{done.stderr.decode(errors='replace')}\n{said[-4000:]}")
    return _capture(sent.read_bytes())


def _is_static(program: Path) -> bool:
    """No ELF interpreter's path is in it."""
    return program.is_file() and b"/ld-linux" not in program.read_bytes()


def _initramfs(kernel: GuestKernel, system: TunedSystem) -> bytes:
    files = {
        "init": (Path(__file__).parent / "init.sh").read_bytes(),
        "bin/busybox": BUSYBOX.read_bytes(),
        "tune.sh": system.tune.encode(),
        "wanted": _wanted_lines(wanted_files()).encode(),
        "modules/order": "\n".join(module.name for module in kernel.modules).encode(),
        **{f"modules/{module.name}": module.read_bytes() for module in kernel.modules},
    }
    return gzip.compress(initramfs(files), 1)


def _wanted_lines(wanted: Wanted) -> str:
    """One pattern a line: what it is for, and for `A/**/B` the two sides of the stars."""
    paths = [*wanted.files, *wanted.links, *wanted.lists]
    wild = dict.fromkeys(each for path in paths for each in parents(path) if "**" not in each)
    lines = [("file", "/proc/sys/kernel/hostname"), ("file", "/proc/sys/kernel/osrelease")]
    lines += [("file", path) for path in wanted.files]
    lines += [("link", path) for path in wanted.links]
    lines += [("names", path) for path in (*wanted.lists, *wild)]
    return "".join(f"{kind}\t{path.replace('/**/', chr(9))}\n" for kind, path in lines)


def _capture(sent: bytes) -> Capture:
    """What the guest sent, collected as `plimsoll tune capture` collects of a live host."""
    with tarfile.open(fileobj=io.BytesIO(sent), mode="r:gz") as archive:
        members = {
            member.name.removeprefix("./"): file.read().decode(errors="replace")
            for member in archive
            if member.isreg() and (file := archive.extractfile(member)) is not None
        }
    wanted = wanted_files()
    listed: dict[str, list[str]] = {path: [] for path in members["directories"].splitlines()}
    for path, name in _pairs(members.get("names", "")):
        listed[path].append(name)
    # The guest has busybox and nothing else.
    commands = [command for form in wanted.commands for command in commands_of(form)]
    host = CapturedHost(
        files={
            name.removeprefix("files"): text
            for name, text in members.items()
            if name.startswith("files/")
        },
        links=dict(_pairs(members.get("links", ""))),
        listed={path: tuple(names) for path, names in listed.items()},
        unread=[
            *(Unread(path, "unreadable") for path in members.get("unread", "").splitlines()),
            *(Unread(each, "absent", f"{each.split()[0]} is not installed") for each in commands),
        ],
    )
    return collect(host, wanted, datetime.now(UTC))


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(path, said) for path, _, said in (line.partition("\t") for line in text.splitlines())]

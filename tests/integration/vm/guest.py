"""A guest of QEMU, without virtualisation by hardware: boots, is captured, and is gone.

Its kernel is Debian's for clouds, as it comes; its user space one static busybox. It has no
network, no disk that outlives it and no Python: it sends files as they are, and they become a
capture out here.
"""

from __future__ import annotations

import gzip
import io
import lzma
import platform
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from plimsoll.cli.tune.capture import needed_files
from plimsoll.dut.guest.vm_image import initramfs
from plimsoll.tune.host.capture.capture import Capture, CapturedHost
from plimsoll.tune.host.capture.capture_privacy import parents
from plimsoll.tune.host.capture.collect import NeededFiles, collect
from plimsoll.tune.host.view.commands import commands_of
from plimsoll.tune.host.view.unread import Unread
from tests.unit.tune.captures.tuned_system import TunedSystem

ROOT = Path(__file__).parents[3]
# Where `make vm-kernel` unpacks the package.
UNPACKED = ROOT / "build" / "vm-kernel"
QEMU = "qemu-system-x86_64"
# A card with interrupts of its own; in the order of their need of each other.
MODULES = (
    "virtio_ring",
    "virtio",
    "virtio_pci_legacy_dev",
    "virtio_pci_modern_dev",
    "virtio_pci",
    "failover",
    "net_failover",
    "virtio_net",
)
# Nobody waits for ever; a boot takes some 20 s of a 3 GHz core.
LONGEST_BOOT_S = 600.0
ALWAYS = "console=ttyS0 quiet loglevel=3 panic=-1"


@dataclass(frozen=True)
class GuestParts:
    """What guests are made of: a kernel's image, its modules by name, a static busybox."""

    kernel: Path
    modules: dict[str, bytes]
    busybox: Path


class CannotBoot(Exception):
    """What is missing here, in words for a skipped test."""


def find_parts() -> GuestParts:
    """Of packages, and of what `make vm-kernel` unpacked. Raises CannotBoot."""
    if platform.machine() != "x86_64":
        raise CannotBoot("the guests are of x86-64")
    if shutil.which(QEMU) is None:
        raise CannotBoot(f"there is no {QEMU} (package qemu-system-x86)")
    busybox = shutil.which("busybox")
    if busybox is None or b"/ld-linux" in Path(busybox).read_bytes():
        # An ELF interpreter would need libraries, which the guest has not.
        raise CannotBoot("there is no static busybox (package busybox-static)")
    kernel = UNPACKED / "vmlinuz"
    if not kernel.exists():
        raise CannotBoot("there is no kernel for guests (make vm-kernel)")
    return GuestParts(kernel, _modules(UNPACKED / "modules"), Path(busybox))


def _modules(folder: Path) -> dict[str, bytes]:
    """All that were unpacked."""
    plain = {path.stem: path.read_bytes() for path in folder.glob("*.ko")}
    packed = {
        path.name.removesuffix(".ko.xz"): lzma.decompress(path.read_bytes())
        for path in folder.glob("*.ko.xz")
    }
    return plain | packed


def boot(parts: GuestParts, system: TunedSystem, folder: Path) -> Capture:
    """Boot the guest, and what it gave of itself. Files of the boot are left in `folder`.

    Raises CannotBoot where a module of the system's is missing.
    """
    (folder / "initramfs").write_bytes(_initramfs(parts, system))
    sent = folder / "sent.tar.gz"
    console = folder / "console"
    command = [
        QEMU,
        *("-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max"),
        *("-smp", "4", "-m", "640", "-nodefaults", "-no-user-config", "-no-reboot"),
        *("-display", "none", "-serial", f"file:{console}", "-serial", f"file:{sent}"),
        *(system.machine or ("-device", "virtio-net-pci,romfile=")),
        *("-kernel", str(parts.kernel), "-initrd", str(folder / "initramfs")),
        *("-append", f"{ALWAYS} {system.arguments}"),
    ]
    done = subprocess.run(command, capture_output=True, timeout=LONGEST_BOOT_S, check=False)
    if done.returncode or not sent.exists() or not sent.stat().st_size:
        said = console.read_text(errors="replace") if console.exists() else ""
        raise AssertionError(f"{done.stderr.decode(errors='replace')}\n{said[-4000:]}")
    return _capture(sent.read_bytes())


def _initramfs(parts: GuestParts, system: TunedSystem) -> bytes:
    files = {
        "init": (Path(__file__).parent / "init.sh").read_bytes(),
        "bin/busybox": parts.busybox.read_bytes(),
        "tune.sh": system.tune.encode(),
        "needed": _needed_lines(needed_files()).encode(),
        **{path.lstrip("/"): text.encode() for path, text in system.files.items()},
        **_loaded(parts, system),
    }
    return gzip.compress(initramfs(files), 1)


def _loaded(parts: GuestParts, system: TunedSystem) -> dict[str, bytes]:
    """The modules of all guests, of which a kernel may have some built in, and the system's."""
    if missing := [name for name in system.modules if name not in parts.modules]:
        raise CannotBoot(f"{', '.join(missing)} was not unpacked (make vm-kernel)")
    names = [name for name in (*MODULES, *system.modules) if name in parts.modules]
    files = {f"modules/{name}.ko": parts.modules[name] for name in names}
    return {**files, "modules/order": "".join(f"{name}.ko\n" for name in names).encode()}


def _needed_lines(needed: NeededFiles) -> str:
    """One pattern a line: what it is for, and for `A/**/B` the two sides of the stars."""
    paths = [*needed.files, *needed.links, *needed.lists]
    wild = dict.fromkeys(each for path in paths for each in parents(path) if "**" not in each)
    lines = [("file", "/proc/sys/kernel/hostname"), ("file", "/proc/sys/kernel/osrelease")]
    lines += [("file", path) for path in needed.files]
    lines += [("link", path) for path in needed.links]
    lines += [("names", path) for path in (*needed.lists, *wild)]
    return "".join(f"{kind}\t{path.replace('/**/', chr(9))}\n" for kind, path in lines)


def _capture(sent: bytes) -> Capture:
    """What the guest sent, collected as `plimsoll tune capture` collects of a live host."""
    with tarfile.open(fileobj=io.BytesIO(sent), mode="r:gz") as archive:
        members = {
            member.name.removeprefix("./"): file.read().decode(errors="replace")
            for member in archive
            if member.isreg() and (file := archive.extractfile(member)) is not None
        }
    needed = needed_files()
    listed: dict[str, list[str]] = {path: [] for path in members["directories"].splitlines()}
    for path, name in _pairs(members.get("names", "")):
        listed[path].append(name)
    # The guest has busybox and nothing else.
    ports = tuple(listed.get("/sys/class/net", ()))
    commands = [command for form in needed.commands for command in commands_of(form, ports)]
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
    return collect(host, needed, datetime.now(UTC))


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(path, said) for path, _, said in (line.partition("\t") for line in text.splitlines())]

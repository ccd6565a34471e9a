"""PCI functions in a sysfs of files, and the kernel's part when scripts write to them."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

# Shell scripts write with `echo`, and to which file its own standard output tells.
_KERNEL = """
echo() {
    command echo "$@" || return
    written=$(readlink "/proc/$$/fd/1")
    pci=$root/sys/bus/pci
    case $written in
        "$root"/sys/*) command echo "${written#"$root"/sys/} $1" >> "$root/log" ;;
    esac
    case $written in
        */unbind)
            interface=$(ls "$pci/devices/$1/net" 2>/dev/null || :)
            rm -rf "$pci/devices/$1/driver" "$pci/devices/$1/net" \
                ${interface:+"$root/sys/class/net/$interface"}
            ;;
        */drivers_probe)
            expected=$pci/drivers/$(cat "$pci/devices/$1/driver_override")
            [ ! -d "$expected" ] || ln -s "$expected" "$pci/devices/$1/driver"
            ;;
    esac
}
"""


class PciStandIn:
    """A root with `sys` below it; `log` has what was written to which file, and `ip`'s words."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.devices = root / "sys/bus/pci/devices"
        self._drivers = root / "sys/bus/pci/drivers"
        self.driver("vfio-pci")
        ip = root / "bin/ip"
        ip.parent.mkdir()
        ip.write_text(f'#!/bin/sh\necho "ip $*" >> {shlex.quote(str(root / "log"))}\n')
        ip.chmod(0o755)

    def driver(self, name: str) -> Path:
        """A driver that is loaded."""
        (self._drivers / name).mkdir(parents=True, exist_ok=True)
        return self._drivers / name

    def function(self, address: str, driver: str, interface: str | None = None) -> Path:
        """A PCI function with its driver, and the interface that the driver makes."""
        folder = self.devices / address
        folder.mkdir(parents=True)
        (folder / "driver").symlink_to(self.driver(driver))
        if interface is not None:
            self.interface(interface, folder)
        return folder

    def interface(self, name: str, folder: Path) -> None:
        """An interface of the device in `folder`."""
        (folder / "net" / name).mkdir(parents=True)
        (self.root / "sys/class/net" / name).mkdir(parents=True)
        (self.root / "sys/class/net" / name / "device").symlink_to(folder)

    def driver_of(self, address: str) -> str:
        """The driver that a function has now."""
        return (self.devices / address / "driver").readlink().name

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run it with this root and kernel."""
        head, line, body = script.partition("root=${1-}\n")
        assert line
        place = self.root / "script"
        place.write_text(head + line + _KERNEL + body)
        path = f"{self.root / 'bin'}:{os.defpath}"
        return subprocess.run(
            ["sh", place, self.root],
            check=False,
            capture_output=True,
            text=True,
            cwd=self.root,
            env={"PATH": path, "LC_ALL": "C"},
        )

    def log(self) -> list[str]:
        """What was done to the host since the last call, in order."""
        place = self.root / "log"
        lines = place.read_text().splitlines() if place.exists() else []
        place.unlink(missing_ok=True)
        return lines

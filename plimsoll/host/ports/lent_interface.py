"""An interface of the machine's that a lab's namespace borrows, and gives back as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from plimsoll.host.namespaces.ip_command import ip_batch, ip_objects
from plimsoll.host.namespaces.network_namespace import NetworkNamespace
from plimsoll.host.ports.ethtool import Channels, channels_of, set_channels

_NETDEVS = Path("/sys/class/net")
_INTERRUPTS = Path("/proc/irq")
# What labs set of an interface by sysfs, which stays with one that moves.
_SETTINGS = ("threaded", "queues/rx-*/rps_cpus")


@dataclass(frozen=True, slots=True)
class LentInterface:
    """How it was before: its `name`, MAC, MTU, and whether it was up; `lent_as` is its name inside.

    `settings` are files of sysfs below the interface's, and those of its interrupts' CPUs, each
    with its content; `channels` its queues, where the driver tells. Addresses and routes of its own
    it must have none, as they would be lost.
    """

    name: str
    lent_as: str
    mac: str
    mtu: int
    up: bool
    settings: tuple[tuple[str, str], ...] = ()
    channels: Channels | None = None

    @classmethod
    def of(cls, name: str, lent_as: str) -> LentInterface:
        """The interface of this process's namespace as it is now. Raises MachineError."""
        (link,) = ip_objects("link", "show", "dev", name)
        flags = link["flags"]
        return cls(
            name=name,
            lent_as=lent_as,
            mac=str(link["address"]),
            mtu=int(str(link["mtu"])),
            up=isinstance(flags, list) and "UP" in flags,
            settings=tuple(_settings(_NETDEVS / name)),
            channels=channels_of(name),
        )

    def move_to_namespace(self, namespace: NetworkNamespace, mtu: int, cpu: int) -> None:
        """Move it into a namespace, up, with that MTU, and with one queue that interrupts `cpu`.

        Where its driver will have neither it keeps its own. Raises MachineError.
        """
        device = (_NETDEVS / self.name / "device").resolve()
        ip_batch((f"link set {self.name} down",))
        if self.channels is not None and self.channels != (one := _one_queue(self.channels)):
            set_channels(self.name, one)
        ip_batch((f"link set {self.name} netns {namespace.name} name {self.lent_as}",))
        namespace.batch(f"link set {self.lent_as} mtu {mtu}", f"link set {self.lent_as} up")
        for file in _interrupts(device):
            # The kernel keeps those that it manages itself.
            with suppress(OSError):
                file.write_text(str(cpu))

    def restore(self, namespace: NetworkNamespace) -> bool:
        """Bring it back as it was, without what was put upon it; False where it never went.

        One that was pulled out of the machine is no error. Raises MachineError.
        """
        links = namespace.objects("link", "show") if namespace.path.exists() else []
        lent = any(link["ifname"] == self.lent_as for link in links)
        if lent:
            upon = (str(link["ifname"]) for link in links if link.get("link") == self.lent_as)
            namespace.batch(
                *(f"link delete {name}" for name in upon),
                f"link set {self.lent_as} down",
                # In generic mode, and in native: a program stays with an interface that moves.
                f"link set {self.lent_as} xdpgeneric off",
                f"link set {self.lent_as} xdp off",
                f"link set {self.lent_as} address {self.mac}",
                f"link set {self.lent_as} mtu {self.mtu}",
                f"link set {self.lent_as} netns {os.getpid()} name {self.name}",
            )
        here = _NETDEVS / self.name
        if here.exists():
            if self.channels is not None and channels_of(self.name) != self.channels:
                set_channels(self.name, self.channels)
            found = dict(_settings(here))
            for file, content in self.settings:
                # Of a card that was never up, some drivers show more queues than it has.
                if found.get(file, content) != content:
                    with suppress(OSError):
                        (here / file).write_text(content)
            if self.up:
                ip_batch((f"link set {self.name} up",))
        return lent


def _one_queue(channels: Channels) -> Channels:
    return Channels(0, 0, 1) if channels.combined else Channels(1, 1, 0)


def _settings(interface: Path) -> Iterator[tuple[str, str]]:
    files = [file for pattern in _SETTINGS for file in sorted(interface.glob(pattern))]
    for file in (*files, *_interrupts((interface / "device").resolve())):
        with suppress(OSError):
            inside = file.is_relative_to(interface)
            yield str(file.relative_to(interface) if inside else file), file.read_text().strip()


def _interrupts(device: Path) -> list[Path]:
    """Where the CPUs of a device's interrupts are set; virtio's are its PCI function's."""
    function = device.parent if device.name.startswith("virtio") else device
    listed = sorted(function.glob("msi_irqs/*"))
    return [_INTERRUPTS / each.name / "smp_affinity_list" for each in listed]

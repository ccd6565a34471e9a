"""The kernel's network interfaces, as sysfs shows them (Documentation/ABI, sysfs-class-net)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

# A domain has more than four digits behind Intel's VMD.
_FULL = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
# What DPDK takes for one; its domain may be left out.
_GIVEN = re.compile(r"(?:([0-9a-f]{1,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", re.IGNORECASE)


def is_pci_address(name: str) -> bool:
    """Whether `name` is one in full: 0000:87:00.0."""
    return _FULL.fullmatch(name) is not None


def pci_address(given: str) -> str | None:
    """A PCI address as the kernel writes it; None if it is not one."""
    if (address := _GIVEN.fullmatch(given)) is None:
        return None
    return f"{int(address[1] or '0', 16):04x}:{address[2]}".lower()


SYS = Path("/sys")
_ETHERNET = "1"  # ARPHRD_ETHER of linux/if_arp.h
_IFF_UP = 0x1


@dataclass(frozen=True, slots=True)
class Netdev:
    """One Ethernet interface.

    `kind` is "pci" for a card, the driver's own word for others (veth, bridge, tun, …)
    as far as sysfs tells, else "virtual". `carrier` is None while the interface is down,
    `speed_mbps` where the kernel knows none; `masters` are the interfaces built upon it.
    """

    name: str
    kind: str
    driver: str | None
    pci_address: str | None
    numa_node: int | None
    mac: str
    mtu: int
    up: bool
    carrier: bool | None
    speed_mbps: int | None
    rx_queues: int
    tx_queues: int
    masters: tuple[str, ...]


def netdevs(sys: Path = SYS) -> tuple[Netdev, ...]:
    """Every Ethernet interface of this network namespace but the loopback, by name.

    One that vanishes while it is read is left out.
    """
    found = (read_netdev(path.name, sys) for path in sorted((sys / "class/net").glob("*")))
    return tuple(netdev for netdev in found if netdev is not None)


def read_netdev(name: str, sys: Path = SYS) -> Netdev | None:
    """The interface of that name; None where there is none, or it does not speak Ethernet."""
    path = sys / "class/net" / name
    if _text(path / "type") != _ETHERNET:
        return None
    pci_address = _pci_address(path)
    numa_node = _number(path / "device/numa_node")
    return Netdev(
        name=name,
        kind="pci" if pci_address else _kind(path),
        driver=_link_name(path / "device/driver"),
        pci_address=pci_address,
        numa_node=numa_node if numa_node is not None and numa_node >= 0 else None,
        mac=_text(path / "address") or "",
        mtu=_number(path / "mtu") or 0,
        up=bool(int(_text(path / "flags") or "0", 16) & _IFF_UP),
        carrier=_carrier(path),
        speed_mbps=_speed(path),
        rx_queues=len(list(path.glob("queues/rx-*"))),
        tx_queues=len(list(path.glob("queues/tx-*"))),
        masters=tuple(sorted(upper.name[6:] for upper in path.glob("upper_*"))),
    )


def _pci_address(path: Path) -> str | None:
    """The nearest PCI function above it: a virtio interface's parent is a virtio device."""
    if not (path / "device").exists():
        return None
    parts = (path / "device").resolve().parts
    return next((part for part in reversed(parts) if is_pci_address(part)), None)


def _kind(path: Path) -> str:
    if (path / "tun_flags").exists():
        return "tap"
    lines = (_text(path / "uevent") or "").splitlines()
    named = dict(line.split("=", 1) for line in lines if "=" in line)
    return named.get("DEVTYPE", "virtual")


def _carrier(path: Path) -> bool | None:
    # The kernel answers EINVAL while the interface is down.
    carrier = _number(path / "carrier")
    return None if carrier is None else bool(carrier)


def _speed(path: Path) -> int | None:
    speed = _number(path / "speed")
    return speed if speed is not None and speed > 0 else None


def _link_name(path: Path) -> str | None:
    return path.resolve().name if path.is_symlink() else None


def _number(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text, re.ASCII) else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class LinkState:
    """`index` tells an interface from another that took its name.

    `carrier` is False, too, while it is down; `losses` counts how often it was lost, None
    where the kernel does not count (before 4.16).
    """

    index: int
    carrier: bool
    losses: int | None


def read_link_state(name: str, sys: Path = SYS) -> LinkState | None:
    """The link of the interface; None where there is no interface of that name."""
    path = sys / "class/net" / name
    index = _number(path / "ifindex")
    if index is None:
        return None
    # The kernel answers EINVAL for the carrier while the interface is down.
    carrier = _number(path / "carrier") == 1
    return LinkState(index, carrier, _number(path / "carrier_down_count"))

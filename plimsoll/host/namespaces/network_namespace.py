"""A network namespace of a lab's own, and the cables that lead from it to the tester."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from plimsoll.host.namespaces.ip_command import ip, ip_batch, ip_objects, run_program

# What marks a namespace as ours, whatever a ledger says.
NAMESPACE_PREFIX = "plimsoll-"
_NAME = re.compile(rf"{NAMESPACE_PREFIX}([0-9a-f]{{6}})")
# Where iproute2 keeps the names of namespaces.
_NAMES = Path("/run/netns")
_NETDEVS = Path("/sys/class/net")
_IPV6_SETTINGS = Path("/proc/sys/net/ipv6/conf")


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """The kernel's counters of one interface since it was made."""

    rx_packets: int
    rx_dropped: int
    rx_errors: int
    tx_packets: int
    tx_dropped: int
    tx_errors: int


@dataclass(frozen=True, slots=True)
class NetworkNamespace:
    """A named namespace (ip-netns(8))."""

    name: str

    @classmethod
    def of(cls, ledger_id: str) -> NetworkNamespace:
        """The one that belongs to a ledger, named after its id, so that it need not be noted."""
        return cls(f"{NAMESPACE_PREFIX}{ledger_id.rpartition('-')[2]}")

    def guest(self, name: str) -> NetworkNamespace:
        """A further one, of a guest within the lab, which is removed along with this one."""
        return NetworkNamespace(f"{self.name}-{name}")

    @property
    def path(self) -> Path:
        """What a program opens to enter it."""
        return _NAMES / self.name

    def create(self) -> None:
        """Make it, its loopback up, and silent: it speaks no IPv6 of its own. Raises MachineError.

        A kind of DUT that forwards IPv6 turns it on for its ports.
        """
        ip("netns", "add", self.name)
        self.batch("link set lo up")
        if _IPV6_SETTINGS.exists():
            self.write("1", *(f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6" for which in _ALL))

    def batch(self, *lines: str) -> None:
        """Run `ip` commands in it. Raises MachineError."""
        ip_batch(lines, self.name)

    def objects(self, *words: str) -> list[dict[str, object]]:
        """What an `ip … show` lists in it. Raises MachineError."""
        return ip_objects(*words, namespace=self.name)

    def write(self, value: str, *settings: str) -> None:
        """Write to files of its /proc/sys/net and /sys/class/net. Raises MachineError."""
        run_program(self.enter("tee", *settings), given=value)

    def enter(self, *argv: str) -> tuple[str, ...]:
        """The command that runs `argv` in it, with a /sys that shows its interfaces."""
        return ("ip", "netns", "exec", self.name, *argv)

    def tester_end(self, port: int) -> str:
        """What the tester's end of the cable to `port` is called, outside of the namespace."""
        return f"pl{self.name.removeprefix(NAMESPACE_PREFIX)}-{port}"

    def dut_end(self, port: int) -> str:
        """A name for the DUT's end of that cable which no other interface of the machine has."""
        return f"dut{self.name.removeprefix(NAMESPACE_PREFIX)}-{port}"

    def cable(self, port: int, end: str, mtu: int) -> str:
        """A veth pair from the tester to the interface `end` in here; the tester's end of it.

        Both are up, and silent but for what is sent on them.
        """
        near = self.tester_end(port)
        pair = f"link add {near} mtu {mtu} type veth peer name {end} mtu {mtu} netns {self.name}"
        ip_batch((pair,))
        be_silent(near)
        self.batch(f"link set {end} up")
        ip_batch((f"link set {near} up",))
        return near

    def cable_between(self, end: str, other: NetworkNamespace, other_end: str, mtu: int) -> None:
        """A veth pair from `end` in here to `other_end` in another, both up. Raises MachineError.

        A veth has each frame that it passed counted as transmitted by one end and as received by
        the other; one for which the receiving CPU's backlog had no room is the sender's
        `tx_dropped`.
        """
        peer = f"peer name {other_end} mtu {mtu} netns {other.name}"
        self.batch(f"link add {end} mtu {mtu} type veth {peer}", f"link set {end} up")
        other.batch(f"link set {other_end} up")

    def tap(self, name: str, mtu: int) -> None:
        """A tap interface, up, that a process in here may open by its name. Raises MachineError."""
        self.batch(
            f"tuntap add dev {name} mode tap",
            f"link set {name} mtu {mtu}",
            f"link set {name} up",
        )

    def link_counters(self) -> dict[str, LinkCounters]:
        """Those of each interface in it, by name. Raises MachineError."""
        return _counters(self.objects("link", "show"))

    def remove(self) -> bool:
        """Delete it, with guests' and all that is in them, and the tester's ends.

        False where nothing was left.

        A name that is not of ours names nothing. Raises MachineError where the kernel refuses.
        """
        match = _NAME.fullmatch(self.name)
        if match is None:
            return False
        # The kernel takes a namespace apart in its own time; its cables are to be gone now.
        ends = sorted(path.name for path in _NETDEVS.glob(f"pl{match[1]}-*"))
        for end in ends:
            ip("link", "delete", end)
        spaces = sorted(path.name for path in _NAMES.glob(f"{self.name}-*"))
        if self.path.exists():
            spaces.append(self.name)
        for name in spaces:
            ip("netns", "delete", name)
        return bool(ends or spaces)


_ALL = ("all", "default", "lo")


def be_silent(name: str) -> None:
    """Keep the kernel from speaking IPv6 on an interface of this process's namespace."""
    setting = _IPV6_SETTINGS / name / "disable_ipv6"
    if setting.exists():
        setting.write_text("1")


def counters_of(name: str) -> LinkCounters:
    """Those of an interface of this process's namespace. Raises MachineError."""
    return _counters(ip_objects("link", "show", "dev", name))[name]


def _counters(links: list[dict[str, object]]) -> dict[str, LinkCounters]:
    return {str(link["ifname"]): _counters_of(link) for link in links}


def _counters_of(link: dict[str, object]) -> LinkCounters:
    stats = link.get("stats64")
    ways = stats if isinstance(stats, dict) else {}

    def count(way: str, name: str) -> int:
        return int(ways[way][name])

    return LinkCounters(
        rx_packets=count("rx", "packets"),
        rx_dropped=count("rx", "dropped"),
        rx_errors=count("rx", "errors"),
        tx_packets=count("tx", "packets"),
        tx_dropped=count("tx", "dropped"),
        tx_errors=count("tx", "errors"),
    )

"""A network namespace of a lab's own, and the cables that lead from it to the tester."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from plimsoll.errors import MachineError
from plimsoll.host.namespaces.ip_command import ip, ip_batch, ip_objects, run_program
from plimsoll.host.processes.child import wait_until

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


_FORWARDING_TIMEOUT_S = 10.0
_POLL_S = 0.01
_BRIDGE_FACTS = ("stp_state", "ageing_time", "vlan_filtering")
_PORT_FACTS = ("state", "learning")


def add_bridge(
    namespace: NetworkNamespace, name: str, ports: Sequence[str], *, learning: bool = True
) -> None:
    """Join the `ports`, which are up. Raises MachineError."""
    namespace.batch(
        # Without delay, and without frames of its own: no spanning tree, no IGMP or MLD.
        f"link add {name} type bridge stp_state 0 forward_delay 0 mcast_snooping 0",
        *(f"link set {port} master {name}" for port in ports),
        *(
            f"link set {port} type bridge_slave learning {'on' if learning else 'off'}"
            for port in ports
        ),
        f"link set {name} up",
    )


def wait_until_forwarding(namespace: NetworkNamespace, name: str) -> None:
    """Return once each of its ports forwards. Raises MachineError."""
    states: list[object] = []

    def forwards() -> bool:
        nonlocal states
        states = [port["state"] for port in _ports(namespace, name).values()]
        return set(states) == {"forwarding"}

    if not wait_until(forwards, _FORWARDING_TIMEOUT_S, every_s=_POLL_S):
        raise MachineError(
            f"the ports of {name} are still {', '.join(map(str, states))}",
            where="lab",
            remedy="start it again on a less busy machine",
        )


def bridge_facts(namespace: NetworkNamespace, name: str) -> dict[str, object]:
    """The bridge and its ports as the kernel has them."""
    (bridge,) = namespace.objects("link", "show", "dev", name)
    return {
        "bridge": _link_data(bridge, "info_data", _BRIDGE_FACTS),
        "ports": _ports(namespace, name),
    }


def _ports(namespace: NetworkNamespace, name: str) -> dict[str, dict[str, object]]:
    return {
        str(port["ifname"]): _link_data(port, "info_slave_data", _PORT_FACTS)
        for port in namespace.objects("link", "show", "master", name)
    }


def _link_data(link: dict[str, object], which: str, names: tuple[str, ...]) -> dict[str, object]:
    info = link.get("linkinfo")
    data = info.get(which) if isinstance(info, dict) else None
    return {name: data.get(name) for name in names} if isinstance(data, dict) else {}


def steer(namespace: NetworkNamespace, interface: str, cpu: int) -> None:
    """Have the frames that arrive on an interface handled on `cpu`.

    Without it the kernel forwards a veth's frames on the CPU that sent them: the tester's.
    """
    queues = f"/sys/class/net/{interface}/queues"
    listed = run_program(namespace.enter("ls", queues)).split()
    namespace.write(
        cpu_mask(cpu), *(f"{queues}/{each}/rps_cpus" for each in listed if each.startswith("rx-"))
    )


def cpu_mask(cpu: int) -> str:
    """The kernel's mask of one CPU: hexadecimal, in comma-separated words of 32 bits."""
    words, bit = divmod(cpu, 32)
    return ",".join([f"{1 << bit:x}", *["00000000"] * words])


T = TypeVar("T")
_CLONE_NEWNET = 0x40000000
_OWN = Path("/proc/self/ns")
# PROC_PID_INIT_INO and PROC_TIME_INIT_INO of include/linux/proc_ns.h: those of the namespaces that
# the kernel itself begins with.
_PROCESS_IDS = 0xEFFFFFFC
_CLOCKS = 0xEFFFFFFA


def run_within(path: Path, work: Callable[[], T]) -> T:
    """What `work` returns, run by a thread in the namespace at `path` (setns(2)).

    A thread of its own, because a namespace is a thread's: this one never leaves its own, and
    the other ends with the work. Sockets, and files of /proc/thread-self/net, remain those of
    the namespace. Raises MachineError where it cannot be entered, and what `work` raises.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(_enter_and, path, work).result()


def _enter_and(path: Path, work: Callable[[], T]) -> T:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from error
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(descriptor, _CLONE_NEWNET) != 0:
            raise _refused(path, os.strerror(ctypes.get_errno()))
    finally:
        os.close(descriptor)
    return work()


def _refused(path: Path, reason: str) -> MachineError:
    return MachineError(
        f"cannot enter the network namespace {path.name}: {reason}",
        where="lab",
        remedy="run as root, or with CAP_SYS_ADMIN",
    )


# Whether this process has the host's own process ids and clocks, by which its kernel traces.
def has_host_process_ids(namespaces: Path = _OWN) -> bool:
    """Whether ids in /proc are those of the kernel; in a container they mostly are not."""
    return _is(namespaces / "pid", _PROCESS_IDS)


def has_host_clocks(namespaces: Path = _OWN) -> bool:
    """Whether CLOCK_MONOTONIC_RAW is the kernel's own, without a time namespace's offset."""
    return _is(namespaces / "time", _CLOCKS)


def _is(namespace: Path, number: int) -> bool:
    """A kernel that has no such namespaces, or does not show them, has none but its own."""
    try:
        return namespace.stat().st_ino == number
    except OSError:
        return True

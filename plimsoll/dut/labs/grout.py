"""The lab `grout`: DPDK's graph router connects or routes between two memif ports."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar, Literal

from plimsoll.dut.lab import DutPortCounters, DutProcess, LineRate
from plimsoll.dut.needs import NAMESPACE_CAPABILITIES, LabNeeds, NeededProgram
from plimsoll.dut.two_ports import PORTS, SHOWN_ROUTES, RoutedSettings, next_hop
from plimsoll.dut.userspace.program_lab import MemifOrCardSettings, ProgramLab
from plimsoll.errors import InputError, MachineError
from plimsoll.host.cpus import allowed_cpus, format_cpu_list
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import run_program
from plimsoll.host.processes.child import Child, Lifetime

_PROGRAM = "grout"
_PACKAGE = "grout (Debian sid, Fedora; https://git.dpdk.org/apps/grout)"
_GROUT = NeededProgram(_PROGRAM, _PACKAGE)
_GRCLI = NeededProgram("grcli", _PACKAGE)
_NSENTER = NeededProgram("nsenter", "util-linux")
_NAMES = tuple(f"p{port}" for port in PORTS)
_START_TIMEOUT_S = 30.0
_IPV6 = Path("/proc/sys/net/ipv6/conf")
_ALL = ("all", "default")
_MIN_ROUTES = 256
# A tree of so many routes has up to twice as many nodes, and grout makes room for as many of
# IPv6 as of IPv4.
_KILOBYTES_OF_A_ROUTE = 24
_BATCH_TIMEOUT_S = 180.0
# Measured with grout 0.19.3, DPDK 25.11 and the sizes below: 330 MB of hugepages, of which the
# IPv6 routes take the most.
_MEGABYTES = 384
_USUAL_MTU = 1800
# Of devargs, what grout 0.19 holds (the closing zero of 128 is one).
_LONGEST_DEVARGS = 127
_HERE = Path("/proc/self/cwd")
# Of its tables, which are made for a whole network's routes and flows, what a lab needs.
_SIZES = {
    "GROUT_MEMPOOL_CHUNK_SIZE": "16384",
    "GROUT_MAX_NEXTHOPS": "1024",
    "GROUT_MAX_CONNTRACKS": "1024",
    "GROUT_MAX_FDB_ENTRIES": "64",
}


class GroutSettings(RoutedSettings, MemifOrCardSettings):
    """grout between two memif ports, or on `cards`.

    `forwarding: cross` passes each port's frames to the other as they are; `route` routes
    IPv4 and IPv6 to `networks`, as the lab linux-router does.
    """

    summary: ClassVar[str] = "grout, DPDK's graph router, between two memif ports; needs no NIC"
    can_stand: ClassVar[bool] = True
    polling_program: ClassVar[str] = _PROGRAM
    cannot_reset: ClassVar[str | None] = (
        "grout holds the sockets that the tester's memif ports hang on, so their links end with "
        "it, and a trial ends with its links"
    )
    kind: Literal["grout"] = "grout"
    forwarding: Literal["cross", "route"] = "cross"

    @classmethod
    def needs(cls) -> LabNeeds:
        """grout, a CPU that it polls, and root for its namespace."""
        programs = (_GROUT, _GRCLI, _NSENTER)
        return LabNeeds(NAMESPACE_CAPABILITIES, ("tun",), programs, 1, hugepages=True)

    @property
    def megabytes(self) -> int:
        """For DPDK itself, the tables and the mbufs, in MB."""
        return _MEGABYTES + (self.routes or 0) * _KILOBYTES_OF_A_ROUTE // 1000

    def check_machine(self) -> LineRate:
        """Whether grout is there, can make its socket, and this user its namespace."""
        self.needs().check()
        if self.socket is not None:
            longest = max(len(self.memif(port, self.socket)) for port in PORTS)
            if longest > _LONGEST_DEVARGS:
                raise InputError(
                    f"grout takes no socket whose name is so long: {self.socket.name}",
                    where="lab.socket",
                    remedy=f"shorten the name by {longest - _LONGEST_DEVARGS} bytes",
                )
        return self.check_ports()

    def memif(self, port: int, socket: Path) -> str:
        """The devargs of its end, in the folder of the socket, whose path would be too long."""
        # DPDK's memif takes an absolute path alone (EINVAL), and an address when it is made, and
        # none later (EOPNOTSUPP).
        devargs = self.devargs("server", port, _HERE / socket.name)
        return f"{devargs},mac={self.router_macs[port]}"

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> GroutLab:
        """The lab, not yet up."""
        return GroutLab(self, ledger, memory, lifetime)


class GroutLab(ProgramLab[GroutSettings]):
    """One grout, with its control plane's interfaces in a namespace of its own."""

    program = _PROGRAM

    def counters(self) -> tuple[DutPortCounters, ...]:
        """grout's own counters since its ports were added."""
        by_name = {str(each["interface"]): each for each in self._objects("interface", "stats")}
        nodes = self._objects("stats", "show")
        return tuple(_port_counters(port, by_name[name], nodes) for port, name in enumerate(_NAMES))

    def processes(self) -> tuple[DutProcess, ...]:
        """The one grout."""
        return () if self._child is None else (DutProcess(_PROGRAM, self._child.pid),)

    def facts(self) -> dict[str, object]:
        """Which grout it was, how it was started, and what it says of its forwarding."""
        routes = self._routes() if self._settings.forwarding == "route" else []
        return {
            **self._facts,
            "settings": self._settings.model_dump(mode="json"),
            "namespace": self._ledger.namespace.name,
            "forwards": {
                "by": "grout",
                "ports": self._objects("interface", "show"),
                "routes": routes[:SHOWN_ROUTES],
                "route_count": len(routes),
                "queues": self._objects("affinity", "qmap", "show"),
            },
        }

    def down(self) -> None:
        """End grout, however it takes it, and delete its socket and its namespace."""
        super().down()
        self._ledger.namespace.remove()

    def _start(self) -> None:
        namespace = self._ledger.namespace
        namespace.create()
        # Its control plane's interfaces have IPv6 addresses, or are not made (EACCES).
        if _IPV6.exists():
            namespace.write("0", *(str(_IPV6 / which / "disable_ipv6") for which in _ALL))
        self._start_program()
        self._wait(
            lambda: None if self._control.exists() else "has made no socket", _START_TIMEOUT_S
        )
        self._forward()

    def _start_program(self) -> None:
        argv = (
            *(
                _NSENTER.find(),
                f"--net={self._ledger.namespace.path}",
                _GROUT.find(),
                "--poll-mode",
            ),
            *(() if self._memory.huge else ("--test-mode",)),
            *("--socket", str(self._control), "--socket-mode", "0600"),
            # By default it listens for HTTP on every address.
            *("--metrics", f"unix:{self._ledger.directory / 'grout-metrics.sock'}"),
            *("--max-mtu", str(max(_USUAL_MTU, self._settings.frame_size))),
        )
        self._child = Child.start(
            argv,
            log=self._ledger.directory / "grout.log",
            environment={**self._ledger.environment, **_SIZES, **self._room_for_routes()},
            folder=self._socket.parent,
            lifetime=self._lifetime,
        )
        self._child.name = _PROGRAM
        self._ledger.note_process(_PROGRAM, self._child.identity)
        version = run_program([_GROUT.find(), "--version"]).strip()
        self._facts = {"version": version, "argv": list(argv), "pid": self._child.pid}

    def _room_for_routes(self) -> dict[str, str]:
        return {"GROUT_MAX_ROUTES": str(_MIN_ROUTES + 2 * (self._settings.routes or 0))}

    def _forward(self) -> None:
        settings = self._settings
        cpus = format_cpu_list(allowed_cpus())
        self._ask("affinity", "cpus", "set", "control", cpus, "datapath", str(settings.cpu))
        for port, name in enumerate(_NAMES):
            with_mac: tuple[str, ...]
            if settings.cards is None:
                with_mac = (settings.memif(port, self._socket),)
            else:
                with_mac = (self._ports.devargs(port), "mac", settings.router_macs[port])
            self._ask("interface", "add", "port", name, "devargs", *with_mac, "rxqs", "1")
        if settings.forwarding == "cross":
            for name, other in zip(_NAMES, reversed(_NAMES), strict=True):
                self._ask("interface", "set", "port", name, "domain", other)
        else:
            self._route()

    def _route(self) -> None:
        settings = self._settings
        for port, name in enumerate(_NAMES):
            for version in settings.versions:
                nexthop = str(_nexthop(version, port))
                given = ("address", next_hop(version, port), "mac", settings.macs[port])
                self._ask("nexthop", "add", "l3", "iface", name, "id", nexthop, *given)
        begin = time.monotonic()
        lines = (
            f"route add {network} via id {_nexthop(network.version, port)}\n"
            for port in PORTS
            for network in settings.routed_to(port)
        )
        self._ask(given="".join(lines))
        self._facts["routes_installed_in_s"] = round(time.monotonic() - begin, 3)
        settings.check_installed(len(self._routes()))

    @property
    def _socket(self) -> Path:
        return self._settings.socket_of(self._ledger)

    @property
    def _control(self) -> Path:
        return self._ledger.directory / "grout.sock"

    def _links_down(self) -> list[int]:
        shown = {str(each["name"]): each["flags"] for each in self._objects("interface", "show")}
        return [port for port, name in enumerate(_NAMES) if "running" not in str(shown[name])]

    def _objects(self, *words: str) -> list[dict[str, object]]:
        """What `grcli … show` lists. Raises MachineError and LabDied."""
        text = self._ask(*words)
        try:
            found = json.loads(text or "[]")
        except ValueError as error:
            raise MachineError(
                f"grcli {' '.join(words)} answers no JSON: {error}",
                where="lab",
                remedy="install grout 0.19 or newer",
            ) from error
        return list(found)

    def _routes(self) -> list[dict[str, object]]:
        """Those that have a next hop, not what grout adds by itself."""
        return [each for each in self._objects("route", "show", "max", "0") if _is_static(each)]

    def _ask(self, *words: str, given: str = "") -> str:
        """What grcli prints of a command, or of those `given`, one a line."""
        command = (_GRCLI.find(), "--err-exit", "--json", "--no-pager")
        argv = [*command, "--socket", str(self._control), *words]
        try:
            return run_program(argv, given=given, timeout_s=_BATCH_TIMEOUT_S)
        except MachineError:
            # A tool that fails because grout has died is not the news.
            self._check_conversation(patience_s=0.1)
            raise


def _nexthop(version: int, port: int) -> int:
    """A number of our own for the host behind a port."""
    return 1 + 10 * port + version


def _is_static(route: Mapping[str, object]) -> bool:
    return route.get("origin") in ("user", "static")


def _port_counters(
    port: int, stats: Mapping[str, object], nodes: Iterable[Mapping[str, object]]
) -> DutPortCounters:
    # Of a crossed port the interface counts what it received twice (0.19.3); the nodes of the
    # graph that poll the port's queues count it once, and are not listed before the first frame.
    polled = f"port_rx-{_NAMES[port]}q"
    received = (node for node in nodes if str(node["node"]).startswith(polled))
    return DutPortCounters(
        port=port,
        rx_frames=sum(_count(node, "packets") for node in received),
        tx_frames=_count(stats, "tx_packets"),
        rx_missed=0,
        rx_errors=_count(stats, "rx_drops"),
        tx_errors=_count(stats, "tx_errors"),
        rx_no_mbuf=0,
    )


def _count(stats: Mapping[str, object], name: str) -> int:
    value = stats.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise MachineError(
            f"the counter {name!r} of grout is {value!r}, not a count",
            where="lab",
            remedy="install grout 0.19 or newer",
        )
    return value


LAB = GroutSettings

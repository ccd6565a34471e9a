"""The lab `vpp`: FD.io's VPP connects, bridges or routes between two memif ports, or cards."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import ClassVar, Literal

from pydantic import model_validator

from plimsoll.dut.cards import PLACE
from plimsoll.dut.lab import DutPortCounters, DutProcess, LabDied, LineRate
from plimsoll.dut.needs import LabNeeds, NeededProgram
from plimsoll.dut.sight import DutObservation, SightEnd
from plimsoll.dut.two_ports import PORTS, SHOWN_ROUTES, RoutedSettings, next_hop
from plimsoll.dut.userspace.program_lab import MemifOrCardSettings, ProgramLab
from plimsoll.dut.userspace.vpp_answers import (
    NodeError,
    entry_count,
    error_remarks,
    links_up,
    next_hop_of,
    port_counters,
    read_errors,
    read_interfaces,
    read_runtime,
    vector_remark,
)
from plimsoll.dut.userspace.vpp_startup import (
    HUGEPAGES,
    VppCardPorts,
    VppMemifPorts,
    VppPorts,
    VppStartup,
    hugepages_suffice,
    main_cpu,
)
from plimsoll.errors import MachineError
from plimsoll.host.cpus import allowed_cpus
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.ledger.ledger import Ledger
from plimsoll.host.namespaces.ip_command import run_program
from plimsoll.host.processes.child import Child, Lifetime, wait_until
from plimsoll.host.processes.privileges import IPC_LOCK
from plimsoll.text.mistakes import mistake

_PROGRAM = "vpp"
_PACKAGES = "vpp, with vpp-plugin-core (FD.io's repository, https://fd.io)"
_VPP = NeededProgram(_PROGRAM, _PACKAGES)
_VPPCTL = NeededProgram("vppctl", _PACKAGES)
_BRIDGE_DOMAIN = "1"
_START_TIMEOUT_S = 30.0
# 100,000 routes took 0.4 s with v26.06; on a busy machine they take more.
_BATCH_TIMEOUT_S = 180.0
# As VPP ends with, where no plugin knows the section of its startup configuration.
_NO_DPDK = "unknown input `dpdk "
# What precedes DPDK's own words in `show logging`, and how many lines of them are shown.
_DPDK_SAYS, _SHOWN_LINES = " dpdk ", 3
_SHOW_FIB = {4: ("show", "ip", "fib"), 6: ("show", "ip6", "fib")}


class VppSettings(RoutedSettings, MemifOrCardSettings):
    """VPP between two memif ports, or on `cards`.

    `forwarding: cross` cross-connects the two (L2), `bridge` puts them into a bridge domain that
    learns MAC addresses, and `route` routes IPv4 and IPv6 to `networks`, as the lab linux-router
    does.
    """

    summary: ClassVar[str] = "FD.io's VPP between two memif ports; needs no NIC"
    can_stand: ClassVar[bool] = True
    polling_program: ClassVar[str] = _PROGRAM
    cannot_reset: ClassVar[str | None] = (
        "VPP holds the sockets that the tester's memif ports hang on, so their links end with it, "
        "and a trial ends with its links"
    )
    kind: Literal["vpp"] = "vpp"
    forwarding: Literal["cross", "bridge", "route"] = "cross"

    @model_validator(mode="after")
    def _check_routes(self) -> VppSettings:
        if self.routes is not None and self.forwarding != "route":
            raise mistake(
                f"with `forwarding: {self.forwarding}` there are no routes",
                "write forwarding: route, or remove routes",
            )
        return self

    @classmethod
    def needs(cls) -> LabNeeds:
        """VPP, its command line, and a CPU that it polls; it does without root."""
        return LabNeeds(programs=(_VPP, _VPPCTL), cpus=1, hugepages=True)

    @property
    def megabytes(self) -> int:
        """For its buffers and its DPDK, in MB of hugepages; its heap is in ordinary pages."""
        return 2 * (HUGEPAGES + (VppCardPorts.hugepages if self.cards else 0))

    def check_machine(self) -> LineRate:
        """Whether VPP is there, can have its ports, and has a CPU for its main thread."""
        self.needs().check()
        if main_cpu(self.cpu, allowed_cpus()) is None:
            raise MachineError(
                f"VPP's main thread needs a CPU other than {self.cpu}, which its worker polls",
                where="lab.cpu",
                remedy="allow this process another CPU (taskset, cpuset)",
            )
        return self.check_ports()

    def make(self, ledger: Ledger, memory: MemoryPlan, lifetime: Lifetime) -> VppLab:
        """The lab, not yet up."""
        return VppLab(self, ledger, memory, lifetime)


class VppLab(ProgramLab[VppSettings]):
    """One VPP with one worker, which polls both ports."""

    program = _PROGRAM
    answer_timeout_s: ClassVar[float] = 30.0
    cards_timeout_s: ClassVar[float] = 30.0
    # Of routes, those that VPP has by itself.
    _own_entries = 0

    def wait_links(self, timeout_s: float) -> None:
        """Return once each port has its link, and VPP polls their queues."""
        super().wait_links(timeout_s)
        for name in self._names:
            # A memif port has its queues, and they their modes, from its client on.
            self._order("set", "interface", "rx-mode", name, "polling")

    def counters(self) -> tuple[DutPortCounters, ...]:
        """VPP's own counters since it started, by port."""
        if self._vpp_ports.opened_at_start:
            # Which has VPP read the cards' own counters, else up to 10 s old.
            self._ask("show", "hardware-interfaces", *self._names)
        interfaces, errors = self._interfaces(), self._errors()
        return tuple(
            port_counters(port, name, interfaces, errors) for port, name in enumerate(self._names)
        )

    def start_observation(self) -> SightEnd:
        """Begin to count what VPP's nodes do in a trial, and what they count as errors."""
        before = self._errors()
        self._order("clear", "runtime")

        def end() -> DutObservation:
            runs = read_runtime(self._ask("show", "runtime"))
            errors = error_remarks(before, self._errors())
            return DutObservation(remarks=(*vector_remark(runs), *errors))

        return end

    def processes(self) -> tuple[DutProcess, ...]:
        """The one VPP."""
        return () if self._child is None else (DutProcess(_PROGRAM, self._child.pid),)

    def facts(self) -> dict[str, object]:
        """Which VPP it was, how it was started, and what it says of its forwarding."""
        return {
            **self._facts,
            "settings": self._settings.model_dump(mode="json"),
            "forwards": {
                "by": "VPP",
                "ports": self._lines("show", "hardware-interfaces", *self._names),
                "modes": self._lines("show", "mode", *self._names),
                **self._forwarding_facts(),
                "queues": self._lines("show", "interface", "rx-placement"),
                "threads": self._lines("show", "threads"),
                "buffers": self._lines("show", "buffers"),
            },
        }

    def down(self) -> None:
        """End VPP, however it takes it, and delete its socket and its shared memory."""
        super().down()
        for path in self._startup.shared_files:
            path.unlink(missing_ok=True)

    @cached_property
    def _startup(self) -> VppStartup:
        settings = self._settings
        first = main_cpu(settings.cpu, allowed_cpus())
        return VppStartup(
            directory=self._ledger.directory / "vpp",
            cpu=settings.cpu,
            main_cpu=settings.cpu if first is None else first,
            huge=self._memory.huge and hugepages_suffice(settings.cpu, self._vpp_ports.hugepages),
            api_prefix=f"plimsoll-{self._ledger.id}",
            ports=self._vpp_ports,
        )

    @cached_property
    def _vpp_ports(self) -> VppPorts:
        settings = self._settings
        if settings.cards is not None:
            addresses = settings.cards.dut
            return VppCardPorts(settings.frame_size, settings.router_macs, addresses)
        return VppMemifPorts(
            settings.frame_size,
            settings.router_macs,
            socket=settings.socket_of(self._ledger),
            ring_frames=settings.ring_frames,
            buffer_bytes=settings.ring_buffer_bytes,
        )

    @property
    def _names(self) -> tuple[str, ...]:
        return self._vpp_ports.names

    def _start(self) -> None:
        for path in self._startup.shared_files:
            self._ledger.note_path(path)
        self._start_program()
        self._wait_for_start()
        if self._vpp_ports.opened_at_start:
            self._wait_for_cards()
        for words in self._vpp_ports.commands():
            self._order(*words)
        if self._settings.forwarding == "route":
            self._route()
        elif self._settings.forwarding == "bridge":
            for name in self._names:
                # The first of the two makes the domain.
                self._order("set", "interface", "l2", "bridge", name, _BRIDGE_DOMAIN)
        else:
            for name, other in zip(self._names, reversed(self._names), strict=True):
                self._order("set", "interface", "l2", "xconnect", name, other)

    def _start_program(self) -> None:
        configuration = self._ledger.directory / "vpp.conf"
        configuration.write_text(self._startup.text())
        argv = (_VPP.find(), "-c", str(configuration))
        self._child = Child.start(
            argv,
            log=self._ledger.directory / "vpp.log",
            environment=self._ledger.environment,
            lifetime=self._lifetime,
            # It locks its buffers' hugepages.
            needed=self._ports.needed | {IPC_LOCK},
        )
        self._ledger.note_process(_PROGRAM, self._child.identity)
        self._facts = {
            "version": run_program([_VPP.find(), "--version"]).strip(),
            "argv": list(argv),
            "startup": self._startup.text().splitlines(),
            "pid": self._child.pid,
        }

    def _wait_for_start(self) -> None:
        try:
            self._wait(self._start_problem, _START_TIMEOUT_S)
        except LabDied as died:
            if _NO_DPDK in died.message:
                raise MachineError(
                    f"this VPP has no {self._vpp_ports.plugin}, by which it drives cards",
                    where=PLACE,
                    remedy=f"install the package {self._vpp_ports.package}, of VPP's own version",
                ) from died
            raise

    def _wait_for_cards(self) -> None:
        """VPP opens them when its command line answers already."""

        def opened() -> bool:
            return set(self._names) <= set(self._interfaces())

        if not wait_until(opened, self.cards_timeout_s, check=self.check):
            said = [line for line in self._lines("show", "logging") if _DPDK_SAYS in line]
            raise MachineError(
                f"VPP has not opened its cards in {self.cards_timeout_s:g} s; its DPDK ends with: "
                + "; ".join(line.partition(_DPDK_SAYS)[2].strip() for line in said[-_SHOWN_LINES:]),
                where=PLACE,
                remedy="see plimsoll ports for what a card lacks, or drive it by a DPDK that has "
                "its driver",
            )

    def _start_problem(self) -> str | None:
        try:
            self._ask("show", "version")
        except MachineError:
            # The socket is not there at first.
            return "does not answer vppctl"
        self._free_main_thread()
        return None

    def _free_main_thread(self) -> None:
        """Let the main thread, which mostly sleeps, run wherever the worker does not poll.

        VPP pins it to one CPU, which the tester may be polling.
        """
        if self._child is not None:
            os.sched_setaffinity(self._child.pid, allowed_cpus() - {self._settings.cpu})

    def _route(self) -> None:
        settings = self._settings
        for port, name in enumerate(self._names):
            for version in settings.versions:
                self._order("enable", f"ip{version}", "interface", name)
                given = (name, next_hop(version, port), settings.macs[port])
                self._order("set", "ip", "neighbor", "static", *given)
            if 6 in settings.versions:
                # It would advertise itself, in the midst of a trial.
                self._order("ip6", "nd", name, "ra-suppress")
        # VPP has some entries by itself, and one for each neighbour.
        self._own_entries = self._entries()
        batch = self._ledger.directory / "vpp-routes"
        batch.write_text(
            "".join(
                f"ip route add {network} via {next_hop(network.version, port)} {name}\n"
                for port, name in enumerate(self._names)
                for network in settings.routed_to(port)
            )
        )
        begin = time.monotonic()
        self._order("exec", str(batch), timeout_s=_BATCH_TIMEOUT_S)
        self._facts["routes_installed_in_s"] = round(time.monotonic() - begin, 3)
        settings.check_installed(self._entries() - self._own_entries)

    def _forwarding_facts(self) -> dict[str, object]:
        if self._settings.forwarding == "bridge":
            shown = self._lines("show", "bridge-domain", _BRIDGE_DOMAIN, "detail")
            return {"bridge_domain": shown}
        if self._settings.forwarding == "cross":
            return {}
        return {
            "routes": list(self._shown_routes()),
            "route_count": self._entries() - self._own_entries,
            "neighbours": self._lines("show", "ip", "neighbors"),
        }

    def _shown_routes(self) -> Iterator[dict[str, object]]:
        for port in PORTS:
            for network in islice(self._settings.routed_to(port), SHOWN_ROUTES // len(PORTS)):
                shown = self._ask(*_SHOW_FIB[network.version], str(network))
                yield {"destination": str(network), "via": next_hop_of(shown)}

    def _entries(self) -> int:
        return sum(entry_count(self._ask(*words, "summary")) for words in _SHOW_FIB.values())

    def _interfaces(self) -> dict[str, dict[str, int]]:
        return read_interfaces(self._ask("show", "interface"))

    def _errors(self) -> dict[NodeError, int]:
        return read_errors(self._ask("show", "errors"))

    def _links_down(self) -> list[int]:
        up = links_up(self._ask("show", "hardware-interfaces", *self._names))
        return [port for port, name in enumerate(self._names) if name not in up]

    def _lines(self, *words: str) -> list[str]:
        return [line.rstrip() for line in self._ask(*words).splitlines() if line.strip()]

    def _order(self, *words: str, timeout_s: float | None = None) -> None:
        """Have VPP do something. Raises MachineError where it prints anything: why it did not."""
        if said := self._ask(*words, timeout_s=timeout_s).strip():
            raise MachineError(
                f"VPP refuses `{' '.join(words)}`: {said}",
                where="lab",
                remedy=f"install VPP v26.06 with its {self._vpp_ports.plugin} "
                f"({self._vpp_ports.package}), or report this",
            )

    def _ask(self, *words: str, timeout_s: float | None = None) -> str:
        """What vppctl prints of a command. Raises MachineError and LabDied."""
        argv = [_VPPCTL.find(), "-s", str(self._startup.cli_socket), *words]
        patience_s = timeout_s or self.answer_timeout_s
        try:
            return run_program(argv, timeout_s=patience_s)
        except MachineError as error:
            # A tool that fails because VPP has died is not the news.
            self._check_conversation(patience_s=0.1)
            if isinstance(error.__cause__, subprocess.TimeoutExpired):
                raise self._hangs(words, patience_s) from error
            raise

    def _hangs(self, words: tuple[str, ...], timeout_s: float) -> MachineError:
        pid = self._child.pid if self._child else 0
        return MachineError(
            f"VPP (pid {pid}) runs, and has not answered `{' '.join(words)}` in {timeout_s:g} s",
            where="lab",
            remedy="see what holds its main thread, or end it, and start again",
        )


LAB = VppSettings

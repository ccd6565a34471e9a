"""MoonGen as the generator of an experiment: a tree of the user's, started here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import Capabilities, CpuWork, GeneratorModel, Launch
from plimsoll.generator.moongen.generator import MoonGen
from plimsoll.generator.moongen.port_settings import check_streams, loads_of, probes_of
from plimsoll.generator.port_streams import interface_of
from plimsoll.generator.scripted.conversation import (
    ProgramName,
    ScriptConversation,
    script_environment,
    work_of_loops,
)
from plimsoll.host.ledger.hugepages import hugepages_explained, plan_memory
from plimsoll.host.ports.netdevs import pci_address
from plimsoll.host.processes.child import Child
from plimsoll.host.processes.privileges import IPC_LOCK, needed_for
from plimsoll.text.named_program import ProgramPath
from plimsoll.traffic.plan import StreamPlan

# The process, and where it lies in its tree.
PROGRAM = "MoonGen"
BINARY = Path("build") / PROGRAM
_USUAL_PLACE = Path("/opt/MoonGen")
_NAME = ProgramName(PROGRAM, "use a MoonGen of 2021 or later, with its own libmoon")
_DRIVER = Path(str(files("plimsoll.generator.moongen"))) / "driver.lua"
MEGABYTES = 256


class MoonGenSettings(GeneratorModel):
    """MoonGen on the kernel's interfaces or on cards, by loops of a script of ours.

    `tree` is its folder, once it is built. Of the `cpus` the lowest has its main thread, the next
    ones the loop of one port each, and one more the probes of latency streams; one has all.
    `burst` is how many frames leave at once.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        most_streams=32,
        least_pps=0.1,
        most_pps=1e9,
        # Unpaced, the AF_PACKET driver of its DPDK (17.08) says of frames that it sent that it did
        # not, and they are sent again.
        pacings=frozenset({"constant", "one-in-flight"}),
        latency=True,
        program=PROGRAM,
        summary="MoonGen: paced, losses by port counters, latency by cards that stamp alone",
    )

    kind: Literal["moongen"] = "moongen"
    tree: Annotated[Path, ProgramPath()]
    cpus: tuple[int, ...] = Field(default=(0,), min_length=1, max_length=18)
    burst: int = Field(default=16, ge=1, le=64)

    @classmethod
    def lacking(cls) -> tuple[str, ...]:
        """Where it is not in a usual place; it may lie elsewhere."""
        if (_USUAL_PLACE / BINARY).exists():
            return ()
        return (f"no MoonGen in {_USUAL_PLACE}: name the folder of one as generator.tree",)

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """As set: its main thread sleeps, but those that share its CPU poll."""
        return tuple((f"generator.cpus[{i}]", cpu) for i, cpu in enumerate(self.cpus))

    def check_ports(self, port_count: int) -> None:
        """Raise InputError where the CPUs do not fit so many ports, or there is no program."""
        fitting = (1, port_count + 1, port_count + 2)
        if len(self.cpus) not in fitting or list(self.cpus) != sorted(set(self.cpus)):
            raise InputError(
                f"MoonGen cannot drive {port_count} ports by the CPUs {list(self.cpus)}",
                where="generator.cpus",
                remedy=f"give 1, or in ascending order {port_count + 1}: the main thread's and one "
                "a port; probes take one more",
            )
        if not os.access(self.tree / BINARY, os.X_OK):
            raise InputError(
                f"no {BINARY} in {self.tree}",
                where="generator.tree",
                remedy="name the folder of a MoonGen that was built",
            )

    def streams_sent(
        self, streams: tuple[StreamPlan, ...], port_count: int
    ) -> tuple[StreamPlan, ...]:
        """The same. Raises InputError for what is not sent."""
        self.check_ports(port_count)
        check_streams(streams)
        if probes_of(streams) and len(self.cpus) == port_count + 1:
            raise InputError(
                "MoonGen sends probes by a loop of their own, and has no CPU for it",
                where="generator.cpus",
                remedy=f"give {port_count + 2}, or 1",
            )
        return streams

    def cpu_work(self, streams: tuple[StreamPlan, ...], port_count: int) -> tuple[CpuWork, ...]:
        """A single CPU has all; else the first has no loop, and a last one has the probes."""
        self.check_ports(port_count)
        if len(self.cpus) <= port_count + 1:
            return work_of_loops(self.cpus, streams, port_count)
        *cpus, last = self.cpus
        probes = probes_of(streams)
        receivers = tuple(sorted({each.rx_port for each in probes}))
        timing = CpuWork(last, tuple(each.name for each in probes), receivers)
        return (*work_of_loops(cpus, loads_of(streams), port_count), timing)

    def start(self, launch: Launch) -> MoonGen:
        """Start the process, noted in the ledger, and open its ports."""
        if launch.ledger is None:
            raise ValueError("MoonGen needs a ledger")
        ledger = launch.ledger
        ports = tuple(dpdk_port(place, each) for place, each in enumerate(launch.devargs))
        # Cards read and write none but hugepages.
        memory = None
        if any(each.card for each in ports):
            memory = plan_memory(MEGABYTES, ledger, require_huge=True)
            for path in files_left(ledger.id):
                ledger.note_path(path)
        configuration = ledger.directory / "moongen-dpdk.lua"
        configuration.write_text(dpdk_configuration(ports, self.cpus, ledger.id))
        tree = self.tree.absolute()

        def started(terminal: int, pipes: tuple[int, int]) -> Child:
            return Child.start(
                (
                    *(str(tree / BINARY), str(_DRIVER), str(len(self.cpus))),
                    *(each.name for each in ports),
                    f"--dpdk-config={configuration}",
                ),
                log=ledger.directory / "moongen.log",
                environment={**ledger.environment, **script_environment(pipes)},
                needed=needed_for(each.devargs for each in ports) | {IPC_LOCK},
                folder=tree,
                terminal=terminal,
                inherited=pipes,
            )

        explained = hugepages_explained(memory, ledger) if memory else nullcontext()
        with ExitStack() as undo, explained:
            conversation = ScriptConversation(_NAME, started)
            undo.callback(conversation.close)
            ledger.note_process(PROGRAM, conversation.child.identity)
            moongen = MoonGen(
                conversation,
                ledger.directory,
                _version(tree),
                self.burst,
                notes=(memory.note,) if memory and memory.note else (),
            )
            moongen.open(launch.devargs, launch.link_wait_s)
            moongen.started = undo.pop_all()
        return moongen


def _version(tree: Path) -> str:
    """The commit of its tree where that is a clone; it has no versions."""
    head = tree / ".git" / "HEAD"
    if not head.is_file():
        return ""
    said = head.read_text(errors="replace").strip()
    reference = tree / ".git" / said.removeprefix("ref: ")
    return reference.read_text().strip()[:40] if reference.is_file() else said[:40]


# What MoonGen's DPDK (17.08) is started with: the ports, its CPUs and its memory.
@dataclass(frozen=True, slots=True)
class DpdkPort:
    """A port: DPDK's name of it, what DPDK opens it by, and whether it is a `card`."""

    name: str
    devargs: str
    card: bool


def dpdk_port(place: int, devargs: str) -> DpdkPort:
    """The port at that place of ours. Raises InputError where it is of another kind."""
    if address := pci_address(devargs):
        return DpdkPort(address, address, card=True)
    interface = interface_of(devargs)
    name = f"net_af_packet{place}"
    return DpdkPort(name, f"{name},iface={interface}", card=False)


def dpdk_configuration(ports: Sequence[DpdkPort], cpus: Sequence[int], prefix: str) -> str:
    """The file that libmoon takes EAL's arguments from.

    Without cards it needs no hugepages, and leaves none; with cards it unlinks its own once it
    has them. `prefix` is in the names of files that it makes.
    """
    cards = [each for each in ports if each.card]
    words = ["--no-shconf", "--file-prefix", prefix, "-m", str(MEGABYTES)]
    words += ["--huge-unlink"] if cards else ["--no-huge", "--no-pci"]
    words += [word for each in cards for word in ("-w", each.devargs)]
    vdevs = [each for each in ports if not each.card]
    words += [word for each in vdevs for word in ("--vdev", each.devargs)]
    if any(set(word) & set('"\\\n') for word in words):
        raise ValueError("no argument of a port has quotes")
    quoted = ", ".join(f'"{word}"' for word in words)
    cores = ", ".join(map(str, cpus))
    # A loop a port, and one for probes.
    shared = len(ports) + 1
    return f"DPDKConfig {{cores = {{{cores}}}, sharedCores = {shared}, cli = {{{quoted}}}}}\n"


def files_left(prefix: str) -> tuple[Path, ...]:
    """What DPDK 17.08 makes for a process with hugepages and vfio-pci, and does not remove."""
    folder = Path("/var/run") if os.geteuid() == 0 else Path.home()
    return tuple(folder / f".{prefix}_{kind}" for kind in ("hugepage_info", "mp_socket"))


GENERATOR = MoonGenSettings

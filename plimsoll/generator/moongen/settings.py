"""MoonGen as the generator of an experiment: a tree of the user's, started here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import Capabilities, CpuWork, GeneratorModel, Launch
from plimsoll.generator.kernel_interfaces import interface_of
from plimsoll.generator.moongen.generator import MoonGen
from plimsoll.generator.moongen.port_settings import check_streams
from plimsoll.generator.scripted.conversation import (
    ProgramName,
    ScriptConversation,
    script_environment,
)
from plimsoll.generator.scripted.loop_cpus import work_of_loops
from plimsoll.host.processes.child import Child
from plimsoll.host.processes.privileges import IPC_LOCK, needed_for
from plimsoll.traffic.plan import StreamPlan

# The process, and where it lies in its tree.
PROGRAM = "MoonGen"
BINARY = Path("build") / PROGRAM
_USUAL_PLACE = Path("/opt/MoonGen")
_NAME = ProgramName(PROGRAM, "use a MoonGen of 2021 or later, with its own libmoon")
_DRIVER = Path(str(files("plimsoll.generator.moongen"))) / "driver.lua"
_MEGABYTES = 256


class MoonGenSettings(GeneratorModel):
    """MoonGen on the kernel's interfaces, by loops of a script of ours.

    `tree` is its folder, once it is built. Of the `cpus` the lowest has its main thread, and the
    others the loop of one port each; one has all. `burst` is how many frames leave at once.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        most_streams=16,
        least_pps=0.1,
        most_pps=1e9,
        # Unpaced, the AF_PACKET driver of its DPDK (17.08) says of frames that it sent that it did
        # not, and they are sent again.
        pacings=frozenset({"constant"}),
        latency=False,
        program=PROGRAM,
        summary="MoonGen on interfaces (AF_PACKET): paced, losses by port counters, no latency",
    )

    kind: Literal["moongen"] = "moongen"
    tree: Path
    cpus: tuple[int, ...] = Field(default=(0,), min_length=1, max_length=17)
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
        if len(self.cpus) not in (1, port_count + 1) or list(self.cpus) != sorted(set(self.cpus)):
            raise InputError(
                f"MoonGen cannot drive {port_count} ports by the CPUs {list(self.cpus)}",
                where="generator.cpus",
                remedy=f"give 1, or {port_count + 1} in ascending order: the main thread's first",
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
        """The same. Raises InputError for what the loops do not send."""
        self.check_ports(port_count)
        check_streams(streams)
        return streams

    def cpu_work(self, streams: tuple[StreamPlan, ...], port_count: int) -> tuple[CpuWork, ...]:
        """Each CPU but the first has one port both ways, or a single one all."""
        self.check_ports(port_count)
        return work_of_loops(self.cpus, streams, port_count)

    def start(self, launch: Launch) -> MoonGen:
        """Start the process, noted in the ledger, and open its ports."""
        if launch.ledger is None:
            raise ValueError("MoonGen needs a ledger")
        ledger = launch.ledger
        devargs = tuple(
            f"net_af_packet{port},iface={interface_of(each)}"
            for port, each in enumerate(launch.devargs)
        )
        configuration = ledger.directory / "moongen-dpdk.lua"
        configuration.write_text(dpdk_configuration(devargs, self.cpus))
        tree = self.tree.absolute()

        def started(terminal: int, pipes: tuple[int, int]) -> Child:
            place = "own" if len(self.cpus) > 1 else "shared"
            return Child.start(
                (
                    *(str(tree / BINARY), str(_DRIVER), str(len(devargs)), place),
                    f"--dpdk-config={configuration}",
                ),
                log=ledger.directory / "moongen.log",
                environment={**ledger.environment, **script_environment(pipes)},
                needed=needed_for(devargs) | {IPC_LOCK},
                folder=tree,
                terminal=terminal,
                inherited=pipes,
            )

        with ExitStack() as undo:
            conversation = ScriptConversation(_NAME, started)
            undo.callback(conversation.close)
            ledger.note_process(PROGRAM, conversation.child.identity)
            moongen = MoonGen(conversation, _version(tree), self.burst)
            moongen.open(devargs, launch.link_wait_s)
            moongen.started = undo.pop_all()
        return moongen


def dpdk_configuration(devargs: Sequence[str], cpus: Sequence[int]) -> str:
    """The file that libmoon takes EAL's arguments from. It needs no hugepages, and leaves none."""
    words = ["--no-pci", "--no-huge", "-m", str(_MEGABYTES), "--no-shconf"]
    words += ["--file-prefix", "generator"]
    words += [word for each in devargs for word in ("--vdev", each)]
    if any(set(word) & set('"\\\n') for word in words):
        raise ValueError("no argument of a port has quotes")
    quoted = ", ".join(f'"{word}"' for word in words)
    cores = ", ".join(map(str, cpus))
    shared = len(devargs)
    return f"DPDKConfig {{cores = {{{cores}}}, sharedCores = {shared}, cli = {{{quoted}}}}}\n"


def _version(tree: Path) -> str:
    """The commit of its tree where that is a clone; it has no versions."""
    head = tree / ".git" / "HEAD"
    if not head.is_file():
        return ""
    said = head.read_text(errors="replace").strip()
    reference = tree / ".git" / said.removeprefix("ref: ")
    return reference.read_text().strip()[:40] if reference.is_file() else said[:40]

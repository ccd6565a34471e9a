"""Pktgen-DPDK as the generator of an experiment: the user's own program, started here."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import Capabilities, CpuWork, GeneratorModel, Launch
from plimsoll.generator.pktgen.generator import Pktgen
from plimsoll.generator.pktgen.port_settings import streams_by_port
from plimsoll.generator.scripted.conversation import (
    ProgramName,
    ScriptConversation,
    script_environment,
    work_of_loops,
)
from plimsoll.host.ledger.hugepages import (
    MemoryPlan,
    device_arguments,
    hugepages_explained,
    memory_arguments,
    plan_memory,
)
from plimsoll.host.processes.child import Child
from plimsoll.host.processes.privileges import IPC_LOCK, needed_for
from plimsoll.text.counted import counted
from plimsoll.text.mistakes import mistake
from plimsoll.text.named_program import Program
from plimsoll.traffic.plan import StreamPlan

PROGRAM = "pktgen"
_NAME = ProgramName("Pktgen", "use a Pktgen of 24.07 or later, built with Lua (-Denable_lua=true)")
_PREFIX = "generator"
_DRIVER = Path(str(files("plimsoll.generator.pktgen"))) / "driver.lua"
# Of 24.07: two pools of 16384 buffers a port, each of which takes a page of 4 kB without
# hugepages.
_BASE_MEGABYTES, _PORT_MEGABYTES = 96, 160
# The lowest priority of an ordinary thread.
_LAST = 19


class PktgenSettings(GeneratorModel):
    """Pktgen-DPDK, of 24.07 or later, built with Lua.

    `program` is its path, or its name on PATH. Of the `cpus` the first has its main thread, and
    its screen's, which polls; the others have the loops of one port each. With one CPU all of them
    share it. `burst` is how many frames leave at once. `megabytes` is its memory, where that of
    24.07 does not suffice.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        most_streams=64,
        least_pps=1.0,
        most_pps=1e9,
        pacings=frozenset({"constant", "back-to-back"}),
        latency=True,
        program=PROGRAM,
        summary="Pktgen-DPDK: range mode, losses by port counters, probes behind bursts",
    )

    kind: Literal["pktgen"] = "pktgen"
    program: Annotated[str, Program(PROGRAM)] = PROGRAM
    cpus: tuple[int, ...] = Field(default=(0,), min_length=1, max_length=33)
    burst: int = Field(default=32, ge=1, le=128)
    megabytes: int | None = Field(default=None, ge=64, le=65536)

    @classmethod
    def lacking(cls) -> tuple[str, ...]:
        """Where nothing of the name is on PATH; it may lie elsewhere."""
        if shutil.which(PROGRAM):
            return ()
        return (f"no {PROGRAM} on PATH: name the program as generator.program",)

    @model_validator(mode="after")
    def _cpus_differ(self) -> Self:
        if len(set(self.cpus)) < len(self.cpus):
            raise mistake("a CPU is named twice", "give one for all, or different ones", "cpus")
        return self

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """As set: its screen's thread polls, too."""
        return tuple((f"generator.cpus[{i}]", cpu) for i, cpu in enumerate(self.cpus))

    def check_ports(self, port_count: int) -> None:
        """Raise InputError where the CPUs do not fit so many ports, or there is no program."""
        if len(self.cpus) not in (1, port_count + 1):
            raise InputError(
                f"Pktgen cannot drive {counted(port_count, 'port')} "
                f"by {counted(len(self.cpus), 'CPU')}",
                where="generator.cpus",
                remedy=f"give 1, or {port_count + 1}: its main thread's, and one a port",
            )
        if shutil.which(self.program) is None:
            raise InputError(
                f"{self.program} is not a program",
                where="generator.program",
                remedy="name the pktgen of a Pktgen-DPDK that was built with Lua",
            )

    def streams_sent(
        self, streams: tuple[StreamPlan, ...], port_count: int
    ) -> tuple[StreamPlan, ...]:
        """The same. Raises InputError for what Pktgen does not send or count."""
        self.check_ports(port_count)
        streams_by_port(streams)
        return streams

    def cpu_work(self, streams: tuple[StreamPlan, ...], port_count: int) -> tuple[CpuWork, ...]:
        """Each CPU but the first has one port both ways, or a single one all."""
        self.check_ports(port_count)
        return work_of_loops(self.cpus, streams, port_count)

    def start(self, launch: Launch) -> Pktgen:
        """Start the process, noted in the ledger, and open its ports."""
        if launch.ledger is None:
            raise ValueError("Pktgen needs a ledger")
        ledger = launch.ledger
        memory = plan_memory(self._megabytes(launch), ledger, require_huge=launch.require_hugepages)

        def started(terminal: int, pipes: tuple[int, int]) -> Child:
            return Child.start(
                (self.program, *self._arguments(launch, memory)),
                log=ledger.directory / "pktgen.log",
                environment={**ledger.environment, **script_environment(pipes)},
                needed=needed_for(launch.devargs) | {IPC_LOCK},
                terminal=terminal,
                inherited=pipes,
            )

        with ExitStack() as undo, hugepages_explained(memory, ledger):
            conversation = ScriptConversation(_NAME, started)
            undo.callback(conversation.close)
            ledger.note_process(PROGRAM, conversation.child.identity)
            pktgen = Pktgen(
                conversation,
                ledger.directory,
                self.burst,
                notes=() if memory.note is None else (memory.note,),
            )
            socket = ledger.directory / "dpdk" / _PREFIX / "dpdk_telemetry.v2"
            pktgen.open(launch.devargs, socket, launch.link_wait_s)
            if len(self.cpus) == 1:
                let_loops_go_first(conversation.child.pid)
            pktgen.started = undo.pop_all()
        return pktgen

    def _megabytes(self, launch: Launch) -> int:
        return self.megabytes or _BASE_MEGABYTES + _PORT_MEGABYTES * len(launch.devargs)

    def _arguments(self, launch: Launch, memory: MemoryPlan) -> tuple[str, ...]:
        ports = len(launch.devargs)
        return (
            *lcore_arguments(self.cpus, ports),
            *memory_arguments(_PREFIX, memory, memory.megabytes),
            *device_arguments(launch.devargs),
            *("--", "-P", f"--rxd={launch.descriptors}", f"--txd={launch.descriptors}"),
            *port_mappings(self.cpus, ports),
            *("-f", str(_DRIVER)),
        )


# Pktgen's threads and the CPUs that they run on.
def lcore_arguments(cpus: Sequence[int], ports: int) -> tuple[str, ...]:
    """EAL's: the main thread on the first CPU, and a loop for each port on the others, if any.

    Pktgen binds its screen's thread to the CPU that has the number of the main lcore
    (pktgen_timer_setup), so that lcore is numbered as its CPU.
    """
    main, *loops = cpus
    numbers = _loop_numbers(main, ports)
    places = [f"{main}@{main}"]
    places += [f"{n}@{cpu}" for n, cpu in zip(numbers, loops or [main] * ports, strict=True)]
    return ("--lcores", ",".join(places), "--main-lcore", str(main))


def port_mappings(cpus: Sequence[int], ports: int) -> tuple[str, ...]:
    """Pktgen's: each port sent and received by a loop of its own, as of 23.10 it has to be."""
    numbers = _loop_numbers(cpus[0], ports)
    return tuple(word for port in range(ports) for word in ("-m", f"{numbers[port]}.{port}"))


def let_loops_go_first(pid: int) -> None:
    """Have the screen's thread, which polls, wait for the loops that share its CPU.

    It is the one that is named as the main thread, of which it is none.
    """
    name = Path(f"/proc/{pid}/comm").read_text()
    for task in Path(f"/proc/{pid}/task").iterdir():
        # Threads may end, and not every user may have them wait.
        with contextlib.suppress(OSError):
            if int(task.name) != pid and (task / "comm").read_text() == name:
                os.setpriority(os.PRIO_PROCESS, int(task.name), _LAST)


def _loop_numbers(main: int, ports: int) -> list[int]:
    return [number for number in range(ports + 1) if number != main][:ports]


GENERATOR = PktgenSettings

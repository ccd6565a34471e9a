"""TRex as the generator of an experiment: the user's own, started here or already running."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import Capabilities, CpuWork, GeneratorModel, Launch
from plimsoll.generator.trex.client import TrexClient
from plimsoll.generator.trex.generator import StlTrex
from plimsoll.generator.trex.server import (
    LIBRARY,
    SERVER,
    StartedTrex,
    start_trex,
    wait_until_ready,
)
from plimsoll.generator.trex.stl_streams import MAX_GROUPS, stl_streams
from plimsoll.text.counted import counted
from plimsoll.text.mistakes import mistake
from plimsoll.text.named_program import Program, ProgramPath
from plimsoll.traffic.plan import StreamPlan

_READY_S = 90.0
# As its manual has it unpacked, one folder a release.
_USUAL_PLACE = Path("/opt/trex")
_LOOPBACK = "127.0.0.1"
_PYTHON = "python3"
# TRex's own.
_SYNC_PORT, _ASYNC_PORT = 4501, 4500


class TrexSettings(GeneratorModel):
    """A TRex, by its own client library.

    `tree` is the folder of a release, or `scripts` of its source tree: the library is
    taken from there, and without a `host` the server, too, which is then started on `cpus` and
    the lab's ports: on one CPU all of its threads, or the master's, the receiver's, and the
    senders'. With a `host` the TRex that runs there is driven, on ports of its own; `take` takes
    them from who holds them. `python` is the interpreter that runs the library.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(
        most_streams=MAX_GROUPS,
        least_pps=0.01,
        most_pps=1e9,
        pacings=frozenset({"constant", "back-to-back"}),
        latency=True,
        faults=frozenset({"misdirected"}),
        program=SERVER,
        summary="TRex: load counted by packet groups, probes timed in software",
    )

    kind: Literal["trex"] = "trex"
    tree: Annotated[Path, ProgramPath()]
    host: str | None = None
    cpus: tuple[int, ...] = Field(default=(0,), max_length=64)
    python: Annotated[str, Program(_PYTHON)] = _PYTHON
    sync_port: int = Field(default=_SYNC_PORT, ge=1, le=65535)
    async_port: int = Field(default=_ASYNC_PORT, ge=1, le=65535)
    take: bool = False

    @classmethod
    def lacking(cls) -> tuple[str, ...]:
        """Where a TRex usually lies there is none; it may lie elsewhere."""
        if any(path.is_dir() for path in _USUAL_PLACE.glob(f"*/{LIBRARY}")):
            return ()
        return (f"no TRex in {_USUAL_PLACE}: name the folder of one as generator.tree",)

    @model_validator(mode="after")
    def _cpus_fit(self) -> Self:
        if self.host is None and len(self.cpus) not in (1, *range(3, 65)):
            raise mistake(
                f"TRex cannot run on {counted(len(self.cpus), 'CPU')}",
                "give 1, or 3 and more: master, receiver, senders",
                "cpus",
            )
        return self

    @property
    def polled_cpus(self) -> tuple[tuple[str, int], ...]:
        """Those of a TRex that is started here."""
        if self.host is not None:
            return ()
        return tuple((f"generator.cpus[{i}]", cpu) for i, cpu in enumerate(self.cpus))

    def check_ports(self, port_count: int) -> None:
        """Raise InputError where the library is not in the tree."""
        if not (self.tree / LIBRARY / "trex").is_dir():
            raise InputError(
                f"no TRex client library in {self.tree} ({LIBRARY})",
                where="generator.tree",
                remedy="name the folder of a TRex release, or `scripts` of its tree",
            )
        if self.host is None and not os.access(self.tree / SERVER, os.X_OK):
            raise InputError(
                f"no {SERVER} in {self.tree}",
                where="generator.tree",
                remedy="name the folder of a TRex release, or give the host of one that runs",
            )

    def streams_sent(
        self, streams: tuple[StreamPlan, ...], port_count: int
    ) -> tuple[StreamPlan, ...]:
        """The same. Raises InputError for what TRex cannot send or count."""
        self.check_ports(port_count)
        for each in streams:
            stl_streams(each)
        return streams

    def cpu_work(self, streams: tuple[StreamPlan, ...], port_count: int) -> tuple[CpuWork, ...]:
        """What its threads share is TRex's to say: each CPU may do anything."""
        self.check_ports(port_count)
        names = tuple(each.name for each in streams)
        return tuple(CpuWork(cpu, names, tuple(range(port_count))) for _, cpu in self.polled_cpus)

    def start(self, launch: Launch) -> StlTrex:
        """Start or find the TRex, and take its ports."""
        if launch.ledger is None:
            raise ValueError("TRex needs a ledger")
        with ExitStack() as undo:
            started = self._started(launch, undo)
            client = TrexClient(
                self.python,
                self.tree / LIBRARY,
                launch.ledger.directory / "trex-client.log",
                launch.ledger.environment,
                () if started is None else started.enter,
                check_server=_nothing if started is None else started.check,
            )
            undo.callback(client.close)
            launch.ledger.note_process("trex-client", client.identity)
            trex = StlTrex.connect(
                client,
                self.host or _LOOPBACK,
                (self.sync_port, self.async_port),
                len(launch.devargs),
                take=self.take,
            )
            if started is not None:
                trex.pid = started.child.pid
                trex.notes = started.notes
                trex.ports = tuple(
                    replace(port, devargs=devargs)
                    for port, devargs in zip(trex.ports, launch.devargs, strict=True)
                )
            else:
                trex.notes = (f"TRex ran on {self.host}, on ports of its own",)
            trex.started = undo.pop_all()
        return trex

    def _started(self, launch: Launch, undo: ExitStack) -> StartedTrex | None:
        if self.host is not None:
            return None
        ports = (self.sync_port, self.async_port)
        started = start_trex(self.tree.absolute(), launch, self.cpus, ports, undo)
        wait_until_ready(lambda: started.listens(self.sync_port), started, _READY_S)
        return started


def _nothing() -> None:
    """Of a TRex elsewhere only its client can tell."""


GENERATOR = TrexSettings

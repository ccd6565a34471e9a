"""Plimsoll's own generator: the engine process behind the Generator interface."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from plimsoll.errors import MachineError
from plimsoll.generator.engine.engine_trial import EngineTrial
from plimsoll.generator.engine.hosts import NO_HOSTS, Hosts
from plimsoll.generator.engine.messages import (
    HELLO,
    PORTS,
    PROTOCOL,
    RESOLVE_TRIES,
    RESOLVE_WAIT_S,
    RESOLVED,
    Hello,
    link_request,
    open_request,
    resolve_request,
)
from plimsoll.generator.engine.program import ENGINE, Conversation, EngineProgram
from plimsoll.generator.engine.queue_parts import QueueParts
from plimsoll.generator.engine.timesync import check_timesync
from plimsoll.generator.interface import (
    GeneratorFacts,
    Interval,
    PortInfo,
    Stamps,
    TrialPlan,
    TrialReport,
    WorkerLayout,
)
from plimsoll.host.ledger.hugepages import MemoryPlan
from plimsoll.host.processes.identity import ProcessIdentity
from plimsoll.host.processes.privileges import needed_for
from plimsoll.version import VERSION

_HELLO_TIMEOUT_S = 20.0
_START_TIMEOUT_S = 60.0


class Engine:
    """One engine process, and its ports once they are open."""

    def __init__(self, program: EngineProgram, hello: Hello) -> None:
        """Use `start` instead."""
        self._program = program
        self._conversation = Conversation(program)
        self.hello = hello
        self._ports: tuple[PortInfo, ...] = ()
        self._workers: tuple[WorkerLayout, ...] = ()
        self._tsc_hz: float | None = None
        self._notes: tuple[str, ...] = ()
        self._hosts = NO_HOSTS
        self._stamps: Stamps = "tsc"

    @classmethod
    def start(
        cls, log: Path, environment: Mapping[str, str], devargs: Sequence[str] = ()
    ) -> Engine:
        """Start the process, with the capabilities that ports with these `devargs` need.

        Raises MachineError when it is missing or of another version.
        """
        program = EngineProgram(log, environment, needed_for(devargs))
        try:
            hello = HELLO.validate_python(program.receive(_HELLO_TIMEOUT_S))
            if hello.version != VERSION or hello.protocol != PROTOCOL:
                raise MachineError(
                    f"the engine is version {hello.version} (protocol {hello.protocol}), "
                    f"this is Plimsoll {VERSION} (protocol {PROTOCOL})",
                    where=ENGINE,
                    remedy="install both from one source: make build",
                )
        except BaseException:
            program.close()
            raise
        return cls(program, hello)

    @property
    def facts(self) -> GeneratorFacts:
        """Its version and DPDK's, its process and its loops, and what memory they run on."""
        return GeneratorFacts(
            name="engine",
            version=self.hello.version,
            dpdk=self.hello.dpdk,
            pid=self._program.pid,
            tsc_hz=self._tsc_hz,
            workers=self._workers,
            notes=self._notes,
        )

    @property
    def identity(self) -> ProcessIdentity:
        """The process itself, to be noted in a ledger."""
        return self._program.identity

    @property
    def ports(self) -> tuple[PortInfo, ...]:
        """The open ports."""
        return self._ports

    def open(
        self,
        *,
        workers: tuple[WorkerLayout, ...],
        stamps: Stamps,
        memory: MemoryPlan,
        devargs: Sequence[str],
        descriptors: int,
        main_cpus: Collection[int],
        max_frame_bytes: int,
        link_wait_s: float = 10.0,
        hosts: Hosts = NO_HOSTS,
    ) -> None:
        """Open the ports and wait for their links. The CPUs must exist (check_cpus).

        The main thread sleeps on `main_cpus`. Raises GeneratorRefused and GeneratorDied.
        """
        self._hosts, self._stamps = hosts, stamps
        reply = self._conversation.ask(
            open_request(
                huge=memory.huge,
                megabytes=memory.megabytes,
                main_cpus=sorted(main_cpus),
                workers=workers,
                devargs=devargs,
                stamps=stamps,
                descriptors=descriptors,
                link_wait_s=link_wait_s,
                max_frame_bytes=max_frame_bytes,
                hosts=self._hosts,
            ),
            _START_TIMEOUT_S + link_wait_s,
        )
        self._ports = PORTS.validate_python(reply["ports"])
        self._tsc_hz = float(reply["tsc_hz"])
        self._workers = workers
        self._notes = (memory.note,) if memory.note else ()

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """Run one trial; `watch` sees each interval as it ends and stops the trial with True."""
        return self.begin(plan).follow(watch)

    def resolve(self, plan: TrialPlan) -> TrialPlan:
        """The plan with the MACs that its frames lack, as they are now; see ResolvingGenerator."""
        reply = self._conversation.ask(
            resolve_request(self._hosts.next_hops(plan.streams)),
            _START_TIMEOUT_S + RESOLVE_TRIES * RESOLVE_WAIT_S,
        )
        resolved = RESOLVED.validate_python(reply["neighbours"])
        if not self._hosts:
            return plan
        streams = self._hosts.addressed(plan.streams, resolved, self._ports)
        return replace(plan, streams=streams, resolved=resolved)

    def begin(self, plan: TrialPlan) -> EngineTrial:
        """Begin a trial, which is then to be followed to its end.

        MACs that its frames lack are found out, unless `resolve` has done so. Raises InputError
        for probes that the ports cannot stamp as they are to.
        """
        if self._stamps == "timesync" and any(s.role == "latency" for s in plan.streams):
            check_timesync(plan.streams)
        if self._hosts and any(stream.unaddressed for stream in plan.streams):
            plan = self.resolve(plan)
        parts = QueueParts.of(plan.streams, [port.tx_queues for port in self._ports])
        return EngineTrial(self._conversation, plan, parts, self._stamps)

    def set_link(self, port: int, *, up: bool) -> bool:
        """Take the link of a port down or bring it up while no trial runs; whether it is up then.

        Raises GeneratorRefused where the port's driver cannot, and GeneratorDied.
        """
        return bool(self._conversation.ask(link_request(port, up=up), _START_TIMEOUT_S)["link_up"])

    def close(self) -> None:
        """End the process."""
        self._program.close()

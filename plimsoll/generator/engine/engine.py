"""Plimsoll's own generator: the engine process behind the Generator interface."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from plimsoll.errors import MachineError
from plimsoll.generator.engine.messages import (
    HELLO,
    PORTS,
    PROTOCOL,
    TRIAL_REPORT,
    Hello,
    open_request,
    trial_request,
)
from plimsoll.generator.engine.program import ENGINE, EngineProgram
from plimsoll.generator.engine.queue_parts import QueueParts
from plimsoll.generator.interface import (
    GeneratorFacts,
    GeneratorRefused,
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
# The id of the answer to a line that the engine could not read at all.
_UNREAD = None
# Beyond a trial's own length: how long a starved machine may keep the engine from answering.
_ANSWER_TIMEOUT_S = 60.0


class Engine:
    """One engine process, and its ports once they are open."""

    def __init__(self, program: EngineProgram, hello: Hello) -> None:
        """Use `start` instead."""
        self._program = program
        self._next_id = 0
        self.hello = hello
        self._ports: tuple[PortInfo, ...] = ()
        self._workers: tuple[WorkerLayout, ...] = ()
        self._tsc_hz: float | None = None
        self._notes: tuple[str, ...] = ()

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
    ) -> None:
        """Open the ports and wait for their links. The CPUs must exist (check_cpus).

        The main thread sleeps on `main_cpus`. Raises GeneratorRefused and GeneratorDied.
        """
        reply = self._ask(
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
            ),
            _START_TIMEOUT_S + link_wait_s,
        )
        self._ports = PORTS.validate_python(reply["ports"])
        self._tsc_hz = float(reply["tsc_hz"])
        self._workers = workers
        self._notes = (memory.note,) if memory.note else ()

    def trial(self, plan: TrialPlan, watch: Callable[[Interval], bool]) -> TrialReport:
        """Run one trial; `watch` sees each interval as it ends and stops the trial with True."""
        parts = QueueParts.of(plan.streams, [port.tx_queues for port in self._ports])
        number = self._send(trial_request(parts.plan(plan)))
        stopping = False
        silent_s = plan.hold_s or plan.interval_s * 1.5
        while True:
            message = self._program.receive(max(silent_s, plan.drain_s) + _ANSWER_TIMEOUT_S)
            if isinstance(message, Interval):
                if watch(parts.interval(message)) and not stopping:
                    self._send({"request": "stop"})
                    stopping = True
            elif message.get("id") in (number, _UNREAD):
                return parts.report(TRIAL_REPORT.validate_python(self._checked(message)))

    def close(self) -> None:
        """End the process."""
        self._program.close()

    def _send(self, request: Mapping[str, Any]) -> int:
        self._next_id += 1
        self._program.send({"id": self._next_id, **request})
        return self._next_id

    def _ask(self, request: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        number = self._send(request)
        while True:
            message = self._program.receive(timeout_s)
            # Or an answer to a stop that came after its trial had ended.
            if not isinstance(message, Interval) and message.get("id") in (number, _UNREAD):
                return self._checked(message)

    def _checked(self, message: dict[str, Any]) -> dict[str, Any]:
        if message.get("ok"):
            return message
        error = message.get("error", {})
        # What DPDK could not do, it explains in its log.
        why = self._program.last_words() if error.get("fatal") else ""
        raise GeneratorRefused(
            str(error.get("message", message)) + why,
            where=f"generator: {error.get('where') or 'request'}",
            remedy="correct the experiment's generator, lab or profile",
        )

"""The test bed of a run: lab and generator, up together, and trials on them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field

from plimsoll.benchmark.session import Session
from plimsoll.benchmark.trial_settings import TrialSettings
from plimsoll.dut.lab import Lab, LabModel, LabPorts
from plimsoll.dut.registry import make_lab
from plimsoll.generator.engine import Engine
from plimsoll.generator.interface import Interval, TrialPlan
from plimsoll.host.affinity import housekeeping_cpus, kept_off
from plimsoll.host.hugepages import MemoryPlan, plan_memory
from plimsoll.traffic.plan import FCS_BYTES, StreamPlan
from plimsoll.trial.outcome import Outcome
from plimsoll.trial.running import run_trial

_LINK_WAIT_S = 15.0
_MARKS = 0xFFFE


@dataclass
class Marks:
    """Numbers that tell each trial's frames from all others, of other runs too: 1 to 65534."""

    next: int = field(default_factory=lambda: secrets.randbelow(_MARKS))

    def take(self) -> int:
        """A mark that no trial of the last 65534 had."""
        self.next = self.next % _MARKS + 1
        return self.next


@dataclass(frozen=True)
class Testbed:
    """Everything needed to run trials, for as long as `testbed` holds it."""

    lab: Lab
    ports: LabPorts
    engine: Engine
    notes: tuple[str, ...]
    busy_cpus: tuple[int, ...]
    marks: Marks

    @property
    def line_rate_bps(self) -> float | None:
        """L1, of the slowest port: as the lab states it, or as the links of real wires do."""
        if self.ports.line_rate_bps is not None or self.ports.drained_by != "wire":
            return self.ports.line_rate_bps
        speeds = [port.link_mbps for port in self.engine.ports]
        known = [mbps for mbps in speeds if mbps is not None]
        return min(known) * 1e6 if len(known) == len(speeds) else None

    def plan(
        self, settings: TrialSettings, streams: tuple[StreamPlan, ...], duration_s: float
    ) -> TrialPlan:
        """A trial of `streams`, under a mark of its own."""
        return settings.plan(
            streams, duration_s, mark=self.marks.take(), queue_frames=self.ports.queue_frames
        )

    def trial(self, plan: TrialPlan, load_pps: float, watch: Callable[[Interval], bool]) -> Outcome:
        """Run one trial; `watch` sees each interval and stops the trial with True.

        This process keeps off the polled CPUs meanwhile, where there are others.
        """
        with kept_off(self.busy_cpus):
            return run_trial(
                self.engine, self.lab, self.ports, plan, load_pps=load_pps, watch=watch
            )


@contextmanager
def testbed(session: Session, lab_settings: LabModel) -> Iterator[Testbed]:
    """Bring `lab_settings` and the session's generator up, and both down at the end.

    Raises InputError and MachineError for what the user can mend, LabDied and EngineDied.
    """
    experiment, ledger = session.experiment, session.ledger
    lab_memory = _memory(session, lab_settings.megabytes)
    lab = make_lab(lab_settings, ledger, lab_memory)
    busy = (*experiment.generator.cpus, *lab.cpus())
    with ExitStack() as stack:
        stack.callback(lab.down)
        ports = lab.up()
        max_frame_bytes = experiment.profile.largest_frame_size - FCS_BYTES
        memory = _memory(
            session,
            experiment.generator.megabytes_for(
                len(ports.devargs), ports.descriptors, max_frame_bytes
            ),
        )
        log = ledger.directory / "engine.log"
        engine = stack.enter_context(closing(Engine.start(log, ledger.environment)))
        engine.open(
            experiment.generator,
            memory=memory,
            devargs=ports.devargs,
            descriptors=ports.descriptors,
            main_cpus=housekeeping_cpus(busy),
            max_frame_bytes=max_frame_bytes,
            link_wait_s=_LINK_WAIT_S,
        )
        lab.wait_links(_LINK_WAIT_S)
        notes = tuple(plan.note for plan in (lab_memory, memory) if plan.note)
        yield Testbed(lab, ports, engine, notes, busy, Marks())


def _memory(session: Session, megabytes: int) -> MemoryPlan:
    return plan_memory(megabytes, session.ledger, require_huge=session.experiment.require_hugepages)

"""All that an explanation may rest on, of one stretch of a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from plimsoll.attribution.events.coverage import TraceCoverage
from plimsoll.attribution.events.trace_reading import CpuFact
from plimsoll.attribution.explanation.absence import Absence, Part, Taker, meeting
from plimsoll.attribution.explanation.counters import INVISIBLE_TO_THE_KERNEL, CounterMove
from plimsoll.attribution.explanation.path_load import PathLoad
from plimsoll.attribution.incidents.cause import Cause
from plimsoll.attribution.incidents.incident import Incident, stall_subject
from plimsoll.attribution.incidents.loops import PollingLoop

_NS_PER_S = 1e9
# cpuinfo_transition_latency of the drivers that state one is at most some hundred us.
_LONGEST_TRANSITION_NS = 500_000


@dataclass(frozen=True, slots=True)
class IncidentEvidence:
    """What was seen around an incident. `away` has the absences of loops by their CPU."""

    loops: Sequence[PollingLoop]
    away: Mapping[int, Sequence[Absence]]
    counters: Sequence[CounterMove]
    coverage: TraceCoverage
    load: PathLoad
    tsc_hz: float
    facts: Sequence[CpuFact] = ()

    def traced(self, loop: PollingLoop, incident: Incident) -> bool:
        """Whether every kernel event of the loop's CPU during the incident is known."""
        return self.coverage.covers(loop.cpu, incident.begin_tsc, incident.end_tsc)

    def seen(self, loop: PollingLoop, incident: Incident) -> list[Absence]:
        """Its absences during the incident that the kernel saw, without those only measured."""
        during = meeting(self.away.get(loop.cpu, ()), incident.begin_tsc, incident.end_tsc)
        return [
            absence
            for absence in during
            if all(part.taker.kind != "tester-stall" for part in absence.parts)
        ]

    def for_the_rest(
        self, loops: Sequence[PollingLoop], incident: Incident, ticks: int
    ) -> list[Cause]:
        """Causes of `ticks` of the incident in which the kernel's trace shows none.

        With a complete trace these can only be what a kernel does not see; without, any
        counter that moved. Where none did it stays unexplained, and that is said.
        """
        length_ns = round(ticks / self.tsc_hz * _NS_PER_S)
        causes = [
            cause
            for loop in loops
            for cause in (
                *self._by_counter(loop, incident, length_ns, self.traced(loop, incident)),
                *self._by_frequency(loop, incident, length_ns),
            )
        ]
        causes = list(dict.fromkeys(causes))
        if len(causes) > 1:
            # Which of them took how much is not known.
            causes = [replace(cause, length_ns=None) for cause in causes]
        return causes or [self._unexplained(loops, incident, length_ns)]

    def _by_counter(
        self, loop: PollingLoop, incident: Incident, length_ns: int, traced: bool
    ) -> list[Cause]:
        return [
            Cause(
                kind=move.kind,
                name=move.name,
                owner=loop.owner if move.cpu is not None else None,
                cpu=move.cpu,
                pid=move.pid,
                cgroup=move.cgroup,
                woken_by=None,
                begin_tsc=None,
                length_ns=length_ns,
                confidence="counter",
            )
            for move in self.counters
            if move.meets(loop.cpu, incident.begin_tsc, incident.end_tsc)
            and (not traced or move.kind in INVISIBLE_TO_THE_KERNEL)
        ]

    def _by_frequency(self, loop: PollingLoop, incident: Incident, length_ns: int) -> list[Cause]:
        """A CPU may stop while its frequency changes; the length alone shows that it did."""
        changes = [
            fact
            for fact in self.facts
            if fact.name == "cpu_frequency"
            and fact.cpu == loop.cpu
            and incident.begin_tsc <= fact.tsc <= incident.end_tsc
        ]
        if not changes or length_ns > _LONGEST_TRANSITION_NS:
            return []
        first = changes[0]
        return [
            Cause(
                kind="frequency",
                name=first.text,
                owner=loop.owner,
                cpu=loop.cpu,
                pid=None,
                cgroup=None,
                woken_by=None,
                begin_tsc=first.tsc,
                length_ns=length_ns,
                confidence="partial",
            )
        ]

    def _unexplained(
        self, loops: Sequence[PollingLoop], incident: Incident, length_ns: int
    ) -> Cause:
        cpus = ", ".join(str(loop.cpu) for loop in loops)
        if not loops:
            name = "no polling loop of the path is on this host"
        elif all(self.traced(loop, incident) for loop in loops):
            name = f"no kernel event on CPU {cpus} accounts for it, and no counter moved"
        elif any(loop.cpu in self.coverage.complete for loop in loops):
            name = f"the kernel's trace of CPU {cpus} is not complete there, and no counter moved"
        else:
            name = f"kernel events on CPU {cpus} were not recorded, and no counter moved"
        one = loops[0] if len(loops) == 1 else None
        return Cause(
            kind="unexplained",
            name=name,
            owner=one.owner if one else None,
            cpu=one.cpu if one else None,
            pid=None,
            cgroup=None,
            woken_by=None,
            begin_tsc=None,
            length_ns=length_ns,
            confidence="unexplained",
        )


def absences_by_stalls(loop: PollingLoop, stalls: Sequence[Incident]) -> tuple[Absence, ...]:
    """Absences of a tester's loop that it measured itself, where the kernel's trace is missing."""
    taker = Taker("tester-stall", f"the tester's loop on CPU {loop.cpu} was away")
    mine = (stall for stall in stalls if stall.subject == stall_subject(loop.cpu))
    return tuple(
        Absence(loop, (Part(stall.begin_tsc, stall.end_tsc, taker),))
        for stall in sorted(mine, key=lambda stall: stall.begin_tsc)
    )

"""All that an explanation may rest on, of one stretch of a trial."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.attribution.absences.absence import Absence, Part, meeting
from plimsoll.attribution.absences.placed import certainly_inside
from plimsoll.attribution.absences.stopped import Taker
from plimsoll.attribution.events.trace_reading import NO_TRACE, CpuFact, TraceCoverage
from plimsoll.attribution.explanation.counters import (
    INVISIBLE_TO_THE_KERNEL,
    CounterBudget,
    CounterMove,
)
from plimsoll.attribution.explanation.observations import PathLoad
from plimsoll.attribution.explanation.silences import is_silent
from plimsoll.attribution.incidents.incident import CauseKind, Incident, stall_subject
from plimsoll.attribution.incidents.loops import PollingLoop
from plimsoll.attribution.incidents.spans import TickSpan, union, within
from plimsoll.attribution.incidents.spans import ticks as ticks_of
from plimsoll.record.causes.causes_record import Cause
from plimsoll.search.evidence.trial_evidence import named_cpus
from plimsoll.text.units import format_ns

_NS_PER_S = 1e9
# cpuinfo_transition_latency of the drivers that state one is at most some hundred us.
_LONGEST_TRANSITION_NS = 500_000
# A CPU that stood still for less may have missed no tick.
_BEATS_TO_MISS = 2


@dataclass(frozen=True, slots=True)
class HostEvidence:
    """What was seen of one host around an incident.

    `period` is the time between two ticks of its CPUs, None where that is not known. Its times may
    be off by `clock_error` together; where it is `misplaced`, by more than the incident lasts.
    """

    coverage: TraceCoverage = NO_TRACE
    facts: Sequence[CpuFact] = ()
    period: int | None = None
    clock_error: int = 0
    misplaced: bool = False


@dataclass(frozen=True, slots=True)
class IncidentEvidence:
    """What was seen around an incident. `away` has the absences of loops, `hosts` the rest.

    `stalls` are those that the tester's loops measured there; None where they measure none.
    `beats` are the scheduler's ticks on the CPUs of loops. Of the loops in `steal_measured` stolen
    time is known, so that its counter says no more.
    """

    loops: Sequence[PollingLoop]
    away: Mapping[PollingLoop, Sequence[Absence]]
    counters: Sequence[CounterMove]
    hosts: Mapping[str | None, HostEvidence]
    load: PathLoad
    tsc_hz: float
    budget: CounterBudget
    stalls: Sequence[Incident] | None = None
    beats: Mapping[PollingLoop, Sequence[int]] = field(default_factory=dict)
    steal_measured: Collection[PollingLoop] = ()

    def traced(self, loop: PollingLoop, incident: Incident) -> bool:
        """Whether every kernel event of the loop's CPU during the incident is known."""
        host = self.hosts[loop.host]
        return not host.misplaced and host.coverage.covers(
            loop.cpu, incident.begin_tsc - host.clock_error, incident.end_tsc + host.clock_error
        )

    def seen(self, loop: PollingLoop, incident: Incident) -> list[Absence]:
        """Its absences during the incident that the kernel saw, without those only measured."""
        during = meeting(self.away.get(loop, ()), incident.begin_tsc, incident.end_tsc)
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
        counter that moved by as much. Where none did it stays unexplained, and that is said.
        """
        length_ns = round(ticks / self.tsc_hz * _NS_PER_S)
        causes: list[Cause] = []
        for loop in loops:
            most = min(ticks, self._stalled(loop, incident))
            if most > 0:
                causes += self._by_counter(loop, incident, most)
                causes += self._by_machine_check(loop, incident, length_ns)
                causes += self._by_frequency(loop, incident, length_ns)
        causes = list(dict.fromkeys(causes))
        if len(causes) > 1:
            # Which of them took how much is not known.
            causes = [cause.model_copy(update={"length_ns": None}) for cause in causes]
        return causes or [self._by_itself(loops, incident, length_ns)]

    def _by_itself(self, loops: Sequence[PollingLoop], incident: Incident, length_ns: int) -> Cause:
        """That the DUT did something else where its CPU is known to have run it; else nothing."""
        unexplained = self._unexplained(loops, incident, length_ns)
        busy = [
            loop
            for loop in loops
            if loop.owner == "dut" and self.traced(loop, incident) and self._ticked(loop, incident)
        ]
        if len(busy) != 1 or not is_silent(incident) or not self._all_traced(loops, incident):
            return unexplained
        (loop,) = busy
        busy_elsewhere = {
            "kind": "busy-elsewhere",
            "name": f"{loop.process} itself was busy elsewhere",
            "owner": "dut",
            "cpu": loop.cpu,
            "host": loop.host,
            "confidence": "partial",
        }
        return unexplained.model_copy(update=busy_elsewhere)

    def _all_traced(self, loops: Sequence[PollingLoop], incident: Incident) -> bool:
        return all(self.traced(loop, incident) for loop in loops)

    def _ticked(self, loop: PollingLoop, incident: Incident) -> bool:
        """Whether the loop's CPU ran all the while, by its ticks; several were due."""
        host = self.hosts[loop.host]
        length = incident.ticks - 2 * host.clock_error
        if host.period is None or length < _BEATS_TO_MISS * host.period:
            return False
        beats = self.beats.get(loop, ())
        begin, end = incident.begin_tsc, incident.end_tsc
        return certainly_inside(beats, begin, end, host.clock_error) >= length // host.period

    def _stalled(self, loop: PollingLoop, incident: Incident) -> int:
        """For how much of the incident the loop can have been away.

        A loop of the tester knows by itself; of any other that is all of it.
        """
        if loop.owner != "tester" or self.stalls is None:
            return incident.ticks
        measured = union((each.begin_tsc, each.end_tsc) for each in self._stalls_of(loop))
        return ticks_of(within(measured, incident.begin_tsc, incident.end_tsc))

    def _stalls_of(self, loop: PollingLoop) -> list[Incident]:
        subject = stall_subject(loop.cpu)
        return [each for each in self.stalls or () if each.subject == subject]

    def _claim(self, incident: Incident, ticks: int) -> TickSpan:
        """In which time a CPU must have stood still for `ticks` of this incident.

        Of a loss that began when the queue began to fill.
        """
        begin, end = incident.begin_tsc, incident.end_tsc
        if incident.kind != "loss":
            return begin, begin + ticks
        needed_s = self.load.absence_s(incident.subject, incident.frames)
        needed = ticks if needed_s is None else round(needed_s * self.tsc_hz)
        return min(begin, end - needed), end

    def _by_counter(self, loop: PollingLoop, incident: Incident, ticks: int) -> list[Cause]:
        traced, measured = self.traced(loop, incident), self.steal_measured
        length_ns = round(ticks / self.tsc_hz * _NS_PER_S)
        claim = self._claim(incident, ticks)
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
                host=move.host,
            )
            for move in self.counters
            if move.meets(loop.place, incident.begin_tsc, incident.end_tsc)
            and (not traced or move.kind in INVISIBLE_TO_THE_KERNEL)
            and not (traced and move.kind == "hypervisor-steal" and loop in measured)
            and self.budget.grants(move, claim, length_ns)
        ]

    def _by_machine_check(
        self, loop: PollingLoop, incident: Incident, length_ns: int
    ) -> list[Cause]:
        """Firmware and kernel stop a CPU to handle one; the kernel's event comes after it."""
        return [
            self._at_once(loop, fact, "machine-check", f"machine check, {fact.text}", length_ns)
            for fact in self._facts("mce_record", loop, incident)[:1]
        ]

    def _facts(self, name: str, loop: PollingLoop, incident: Incident) -> list[CpuFact]:
        host = self.hosts[loop.host]
        if host.misplaced:
            return []
        error = host.clock_error
        return [
            fact
            for fact in host.facts
            if fact.name == name
            and fact.cpu == loop.cpu
            and incident.begin_tsc - error <= fact.tsc <= incident.end_tsc + error
        ]

    def _at_once(
        self, loop: PollingLoop, fact: CpuFact, kind: CauseKind, name: str, length_ns: int
    ) -> Cause:
        return Cause(
            kind=kind,
            name=name,
            owner=loop.owner,
            cpu=loop.cpu,
            pid=None,
            cgroup=None,
            woken_by=None,
            begin_tsc=fact.tsc,
            length_ns=length_ns,
            confidence="partial",
            host=loop.host,
        )

    def _by_frequency(self, loop: PollingLoop, incident: Incident, length_ns: int) -> list[Cause]:
        """A CPU may stop while its frequency changes; the length alone shows that it did."""
        changes = self._facts("cpu_frequency", loop, incident)
        if not changes or length_ns > _LONGEST_TRANSITION_NS:
            return []
        name = f"frequency {changes[0].text}"
        return [self._at_once(loop, changes[0], "frequency", name, length_ns)]

    def more_lost(self, incident: Incident, frames: float) -> Cause:
        """So many frames of a loss are more than what was away can have lost."""
        name = "more frames were lost than came in the time beyond what the queue holds"
        unknown = self._unexplained((), incident, 0)
        return unknown.model_copy(update={"name": name, "length_ns": None, "frames": frames})

    def _unexplained(
        self, loops: Sequence[PollingLoop], incident: Incident, length_ns: int
    ) -> Cause:
        one = loops[0] if len(loops) == 1 else None
        return Cause(
            kind="unexplained",
            name=self._unseen(loops, incident),
            owner=one.owner if one else None,
            cpu=one.cpu if one else None,
            pid=None,
            cgroup=None,
            woken_by=None,
            begin_tsc=None,
            length_ns=length_ns,
            confidence="unexplained",
            host=one.host if one else None,
        )

    def _unseen(self, loops: Sequence[PollingLoop], incident: Incident) -> str:
        """What is known of these loops in words, where nothing is that explains the incident."""
        if not loops:
            return "no polling loop of the path is on a host that is watched"
        cpus, no_counter = (
            named_cpus(loop.place for loop in loops),
            "and no counter moved by as much",
        )
        hosts = {loop.host: self.hosts[loop.host] for loop in loops}
        for host, evidence in hosts.items():
            if evidence.misplaced:
                error_ns = evidence.clock_error / self.tsc_hz * _NS_PER_S
                return f"the clock of {host} is only known to ±{format_ns(error_ns)}, {no_counter}"
        if all(self.traced(loop, incident) for loop in loops):
            return f"no kernel event on {cpus} accounts for it, {no_counter}"
        if any(loop.cpu in hosts[loop.host].coverage.complete for loop in loops):
            return f"the kernel's trace of {cpus} is not complete there, {no_counter}"
        return f"kernel events on {cpus} were not recorded, {no_counter}"


def absences_by_stalls(loop: PollingLoop, stalls: Sequence[Incident]) -> tuple[Absence, ...]:
    """Absences of a tester's loop that it measured itself, where the kernel's trace is missing."""
    taker = Taker("tester-stall", f"the tester's loop on CPU {loop.cpu} was away")
    mine = (stall for stall in stalls if stall.subject == stall_subject(loop.cpu))
    return tuple(
        Absence(loop, (Part(stall.begin_tsc, stall.end_tsc, taker),))
        for stall in sorted(mine, key=lambda stall: stall.begin_tsc)
    )

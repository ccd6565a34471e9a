"""Incidents, kernel events and counters in; explanations out. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from plimsoll.attribution.absences.absence import Absence, meeting
from plimsoll.attribution.absences.placed import placed, with_standstills
from plimsoll.attribution.explanation.confirm import confirmed
from plimsoll.attribution.explanation.counters import CounterBudget
from plimsoll.attribution.explanation.evidence import HostEvidence, IncidentEvidence
from plimsoll.attribution.explanation.held import (
    EXACT_SHARE,
    Held,
    causes_of,
    explain_stall,
    held,
    stall_link,
    ticks_within,
)
from plimsoll.attribution.explanation.observations import HostObservations, Observations, PathLoad
from plimsoll.attribution.explanation.seen_windows import SeenWindow, blameable, seen_windows
from plimsoll.attribution.explanation.silences import silences
from plimsoll.attribution.incidents.incident import Explanation, Incident, IncidentKind
from plimsoll.attribution.incidents.loops import PollingLoop, named_as_dut, noise_name
from plimsoll.attribution.incidents.spans import TickSpan, widened, window_of
from plimsoll.record.causes.causes_record import Cause, Confidence

# A tester's loop that was away for less of the time is not called the reason.
_MIN_STALL_SHARE = 0.1


# Why a frame was under way for so long: who did not poll while it waited.
#
# A frame waits while a loop on its path is away, and after that for the queue that grew
# in that time. With frames that arrive at a rate r and are served at m, a loop that was away for
# W in all between A and the frame's arrival has the frame through at A + W + (r/m)(s - A),
# where s is when the frame was sent. As r/m is at most 1 wherever a queue drains at all, such
# a queue explains a latency of at most W.
def explain_latency(incident: Incident, evidence: IncidentEvidence) -> tuple[Cause, ...]:
    """What held the loops of the path while the frame was under way, or just before."""
    loops = [loop for loop in evidence.loops if loop.handles(incident.subject)]
    while_under_way = [
        held(loop, evidence.away.get(loop, ()), incident.begin_tsc, incident.end_tsc)
        for loop in loops
    ]
    covered = covered_ticks(while_under_way) / max(1, incident.ticks)
    if covered >= EXACT_SHARE:
        exact = all(each.certain for each in while_under_way)
        return chain(while_under_way, "exact" if exact else "partial", incident, evidence)
    left_a_queue = [
        found for loop in loops if (found := _queue_left_by(loop, incident, evidence)) is not None
    ]
    if causes := chain(left_a_queue, "partial", incident, evidence):
        return causes
    causes = chain(while_under_way, "partial", incident, evidence)
    rest = round((1 - covered) * incident.ticks)
    return (*evidence.for_the_rest(loops, incident, rest), *causes)


def covered_ticks(found: Sequence[Held]) -> int:
    """For how long at least one of the loops was away."""
    spans = sorted(
        (max(part.begin, each.begin), min(part.end, each.end))
        for each in found
        for part in each.parts
    )
    total, reached = 0, 0
    for begin, end in spans:
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def chain(
    found: Sequence[Held], confidence: Confidence, incident: Incident, evidence: IncidentEvidence
) -> tuple[Cause, ...]:
    """The causes of several loops, the one that was away longest first.

    Where it is the tester's, the chain says so before it says what took its CPU.
    """
    causes: list[Cause] = []
    for each in sorted(found, key=lambda held_by: -held_by.ticks):
        own = causes_of(each, confidence, evidence.tsc_hz)
        stalled = each.ticks >= _MIN_STALL_SHARE * max(1, incident.ticks)
        if each.loop.owner == "tester" and own and stalled:
            causes.append(stall_link(each, confidence, evidence.tsc_hz))
        causes += [cause for cause in own if cause.kind != "tester-stall"]
        unseen = sum(
            ticks_within(part, each.begin, each.end)
            for part in each.parts
            if part.taker.kind == "tester-stall"
        )
        if unseen > (1 - EXACT_SHARE) * each.ticks:
            causes += evidence.for_the_rest((each.loop,), incident, unseen)
    return tuple(causes)


def _queue_left_by(
    loop: PollingLoop, incident: Incident, evidence: IncidentEvidence
) -> Held | None:
    """The absences since the last one whose queue explains the latency; None if none does.

    Not from before the incident's own window: others around it may make more known of that.
    """
    since, _ = window_of(incident, evidence.tsc_hz)
    away = 0
    for absence in reversed(meeting(evidence.away.get(loop, ()), since, incident.end_tsc - 1)):
        if absence.begin < since:
            break
        if not all(part.certain for part in absence.parts):
            continue
        away += min(absence.end, incident.end_tsc) - absence.begin
        if away >= incident.ticks and absence.begin <= incident.begin_tsc:
            return held(loop, evidence.away[loop], absence.begin, incident.end_tsc)
    return None


# Where it is not known how long a queue takes to overflow: what the engine catches up at
# once after a stall (catch_up_us, 1000 by default) overflows a queue within that time.
_REACH_S = 0.001


# Why frames were lost: whose absence let a queue overflow.
def explain_loss(incident: Incident, evidence: IncidentEvidence) -> tuple[Cause, ...]:
    """What kept a loop of the path away while the lost frames were sent, or just before.

    Only a loop that was away for long enough to fill the queue, and for no more frames than came
    beyond that. Exact where the absences cover the time in which these were sent; partial where
    they cover less of it or ended just before: a queue that was full then may still overflow.
    """
    loops = [
        loop
        for loop in evidence.loops
        if loop.handles(incident.subject) and not (incident.refused and loop.owner == "tester")
    ]
    overflow_s = evidence.load.overflow_s(incident.subject)
    reach = round(reach_s(evidence.load, incident) * evidence.tsc_hz)
    away = [_away_for_loss(loop, incident, evidence, reach) for loop in loops]
    found = [each for each in away if each.parts and _seconds(each, evidence) >= (overflow_s or 0)]
    covered = covered_ticks([_cut(each, incident) for each in found]) / max(1, incident.ticks)
    exact = covered >= EXACT_SHARE and all(each.certain for each in found)
    causes = chain(found, "exact" if exact else "partial", incident, evidence)
    if not causes:
        return tuple(evidence.for_the_rest(loops, incident, incident.ticks))
    return (*causes, *_beyond(found, incident, evidence))


def reach_s(load: PathLoad, incident: Incident) -> float:
    """How long before a loss an absence may have ended that is the reason for it."""
    overflow_s = load.overflow_s(incident.subject)
    return _REACH_S if overflow_s is None else overflow_s


def _beyond(found: list[Held], incident: Incident, evidence: IncidentEvidence) -> list[Cause]:
    """That more frames were lost than all of these absences can explain, and how many."""
    explained = [
        evidence.load.explained(incident.subject, _seconds(each, evidence)) for each in found
    ]
    if any(frames is None for frames in explained):
        return []
    beyond = incident.frames - sum(frames or 0.0 for frames in explained)
    return [evidence.more_lost(incident, beyond)] if beyond > 0 else []


def _away_for_loss(
    loop: PollingLoop, incident: Incident, evidence: IncidentEvidence, reach: int
) -> Held:
    """Absences that reach into the loss or end just before it, from their begin on."""
    begin, end = incident.begin_tsc - reach, _end(incident)
    away = meeting(evidence.away.get(loop, ()), begin + 1, end - 1)
    return held(loop, away, away[0].begin if away else begin, end)


def _cut(found: Held, incident: Incident) -> Held:
    parts = tuple(part for part in found.parts if part.end > incident.begin_tsc)
    return Held(found.loop, parts, incident.begin_tsc, _end(incident))


def _end(incident: Incident) -> int:
    # Frames of one burst have one stamp: a gap between them has no length of its own.
    return max(incident.end_tsc, incident.begin_tsc + 1)


def _seconds(found: Held, evidence: IncidentEvidence) -> float:
    return found.ticks / evidence.tsc_hz


_EXPLAIN: Mapping[IncidentKind, Callable[[Incident, IncidentEvidence], tuple[Cause, ...]]] = {
    "stall": explain_stall,
    "latency": explain_latency,
    "loss": explain_loss,
}
# Of an incident: where times of another host may be off by more, nothing there is exact.
_LARGEST_EXACT_ERROR = 0.2


def explain(
    seen: Observations, windows: Sequence[SeenWindow] | None = None
) -> tuple[Explanation, ...]:
    """The causes of each incident, in the incidents' order.

    `windows` are those of the incidents, where they have been read already.
    """
    if windows is None:
        windows = list(seen_windows(seen))
    suggested = _suggested(seen, windows)
    silent, counters = silences(suggested), seen.all_counters
    return tuple(
        Explanation(
            incident,
            tuple(
                _as_sure_as_clocks(_of_process(cause, seen), incident, seen)
                for cause in confirmed(causes, incident, counters, seen.tsc_hz, silent)
            ),
        )
        for incident, causes in suggested
    )


def _suggested(
    seen: Observations, windows: Sequence[SeenWindow]
) -> list[tuple[Incident, tuple[Cause, ...]]]:
    """The causes that are left for each incident when the longer ones have theirs."""
    begins = [window.begin for window in windows]
    budget = CounterBudget(seen.tsc_hz)
    found: dict[int, tuple[Cause, ...]] = {}
    for place, incident in sorted(enumerate(seen.incidents), key=lambda each: -each[1].length_ns):
        window = windows[bisect_right(begins, incident.begin_tsc) - 1]
        evidence = _evidence(seen, window, incident, budget)
        found[place] = _EXPLAIN[incident.kind](incident, evidence)
    return [(incident, found[place]) for place, incident in enumerate(seen.incidents)]


def _evidence(
    seen: Observations, window: SeenWindow, incident: Incident, budget: CounterBudget
) -> IncidentEvidence:
    span = _span(incident, seen)
    away: dict[PollingLoop, Sequence[Absence]] = {}
    for host in seen.hosts:
        away |= _away(seen, host, window, incident, span)
    return IncidentEvidence(
        loops=seen.loops,
        away=away,
        counters=seen.all_counters,
        hosts={
            host: _host_evidence(seen, host, window, span)
            for host in {None, *(loop.host for loop in seen.loops)}
        },
        load=seen.load,
        tsc_hz=seen.tsc_hz,
        budget=budget,
        stalls=window.stalls if seen.stalls_measured else None,
        beats=window.beats,
        steal_measured=window.steal_measured,
    )


def _span(incident: Incident, seen: Observations) -> TickSpan:
    """In which time an absence has to be to be the reason; of a loss, from when a queue fills."""
    reach = round(reach_s(seen.load, incident) * seen.tsc_hz) if incident.kind == "loss" else 0
    return incident.begin_tsc - reach, max(incident.end_tsc, incident.begin_tsc + 1)


def _away(
    seen: Observations,
    host: HostObservations,
    window: SeenWindow,
    incident: Incident,
    span: TickSpan,
) -> Mapping[PollingLoop, Sequence[Absence]]:
    """Of the loops on one host; nothing where its times say nothing of the incident."""
    if _misplaced(host, span):
        return {}
    loops = seen.loops_on(host.host)
    away: Mapping[PollingLoop, Sequence[Absence]] = with_standstills(
        loops,
        {loop: window.away[loop] for loop in loops if loop in window.away},
        window.still,
        incident,
        seen.tsc_hz,
        virtual=host.ticks is not None and host.ticks.virtual,
        clock_error=host.clock_error,
    )
    around = widened(window_of(incident, seen.tsc_hz), host.clock_error)
    if seen.stalls_measured:
        away = {
            loop: blameable(loop, meeting(found, *around), window.stalls)
            for loop, found in away.items()
        }
    return placed(away, span, host.clock_error) if host.clock_error else away


def _misplaced(host: HostObservations, span: TickSpan) -> bool:
    """Whether its times may be off by more than there is of time."""
    return host.clock_error > span[1] - span[0]


def _host_evidence(
    seen: Observations, host: str | None, window: SeenWindow, span: TickSpan
) -> HostEvidence:
    known = seen.on(host)
    return HostEvidence(
        coverage=known.coverage,
        facts=window.facts.get(host, ()),
        period=None if known.ticks is None else round(known.ticks.period_s * seen.tsc_hz),
        clock_error=known.clock_error,
        misplaced=_misplaced(known, span),
    )


def _as_sure_as_clocks(cause: Cause, incident: Incident, seen: Observations) -> Cause:
    """Partial at most where the times of the cause's host are known no better."""
    error = seen.on(cause.host).clock_error
    if cause.confidence == "exact" and error > _LARGEST_EXACT_ERROR * incident.ticks:
        return cause.model_copy(update={"confidence": "partial"})
    return cause


def _of_process(cause: Cause, seen: Observations) -> Cause:
    """With what is known of its process by its id; of a loop that was throttled, its cgroup."""
    there = seen.on(cause.host)
    if cause.kind == "throttling" and cause.cgroup is None:
        threads = (loop.thread_id for loop in seen.loops if loop.place == cause.place)
        found = (there.cgroups.get(thread) for thread in threads)
        return cause.model_copy(
            update={"cgroup": next((each for each in found if each is not None), None)}
        )
    if cause.pid is None:
        return cause
    of_dut = named_as_dut(cause, seen.loops)
    if of_dut is not None:
        return of_dut
    name = cause.name
    if cause.kind == "task" and cause.pid in there.noise_tasks:
        name = noise_name(name, there.noise_tasks[cause.pid])
    own = cause.kind == "task" and cause.pid in there.own_threads
    cgroup = cause.cgroup or there.cgroups.get(cause.pid)
    return cause.model_copy(update={"cgroup": cgroup, "name": name, "own": own})

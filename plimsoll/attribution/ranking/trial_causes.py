"""A finished trial's data in, the record of its causes out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from heapq import nlargest

from plimsoll.attribution.explanation.explain import explain
from plimsoll.attribution.explanation.latency_parts import LatencyParts, TimedFrames, latency_parts
from plimsoll.attribution.explanation.observations import Observations
from plimsoll.attribution.explanation.returned_frames import StreamLosses, with_returned
from plimsoll.attribution.explanation.seen_windows import seen_windows
from plimsoll.attribution.explanation.sentence import sentence
from plimsoll.attribution.incidents.incident import Explanation, Incident, weights
from plimsoll.attribution.ranking.rank import rank
from plimsoll.record.causes.causes_record import (
    Cause,
    ExplainedIncident,
    IncidentTotals,
    LoopRecord,
    TraceState,
    TrialCauses,
)
from plimsoll.record.causes.kernel_events import KeptEvent
from plimsoll.record.trials.clock_fit import ClockFit

# Shorter latencies are explained where they are listed, and do not count as spikes in the ranking.
SPIKES_FROM_NS = 100_000
_NS_PER_S = 1e9
_KEPT_OF_A_KIND = 100
_WITH_EVENTS = 50
_EVENTS_OF_ONE = 400
# Who set off what began an incident is seen just before it.
_LEAD_S = 0.0005


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialFacts(Observations):
    """What is known of a finished trial.

    `clock` is None where the clocks were not read together. `longest` are the trial's longest
    latencies, train by train. `streams` are the losses of judged streams by name, `loss_events`
    how many the tester counted; None where it lists all that there are.
    """

    number: int
    trace: TraceState
    clock: ClockFit | None = None
    spikes_from_ns: int = SPIKES_FROM_NS
    longest: Sequence[TimedFrames] = ()
    streams: Mapping[str, StreamLosses] = field(default_factory=dict)
    loss_events: int | None = None


@dataclass(frozen=True, slots=True)
class CausesFound:
    """The document, all explanations that it rests on, and the events worth keeping.

    `latency` has the trial's longest latencies, each in the parts of tester and DUT.
    """

    record: TrialCauses
    explanations: tuple[Explanation, ...]
    events: tuple[KeptEvent, ...]
    latency: tuple[LatencyParts, ...] = ()


def causes_of_trial(facts: TrialFacts) -> CausesFound:
    """Explain a trial's incidents and put what was found into its record. Pure."""
    windows = list(seen_windows(facts))
    found = with_returned(explain(facts, windows), facts.streams)
    kept = _worst(found)
    rows = rank(found, facts.spikes_from_ns)
    record = TrialCauses(
        trial=facts.number,
        tsc_hz=facts.tsc_hz,
        clock_error_ns=None if facts.clock is None else facts.clock.error_ns,
        spikes_from_ns=facts.spikes_from_ns,
        loops=tuple(LoopRecord.model_validate(loop) for loop in facts.loops),
        trace=facts.trace,
        rows=rows,
        incidents=tuple(_explained(each, facts) for each in kept),
        incidents_left_out=len(found) - len(kept),
        totals=_totals(facts, found),
    )
    latency = latency_parts(facts.longest, windows, facts)
    return CausesFound(record, found, tuple(_kept_events(kept, facts)), latency)


def _totals(facts: TrialFacts, found: Sequence[Explanation]) -> IncidentTotals:
    losses = [each.incident.frames for each in found if each.incident.kind == "loss"]
    lengths = [each.incident.length_ns for each in found if each.incident.kind == "latency"]
    of_streams = facts.streams.values()
    return IncidentTotals(
        lost_frames=max(sum(each.lost for each in of_streams), sum(losses)),
        corrupt=sum(each.corrupt for each in of_streams),
        misdirected=sum(each.misdirected for each in of_streams),
        truncated=sum(each.truncated for each in of_streams),
        loss_events=max(facts.loss_events or 0, len(losses)),
        spikes=sum(length >= facts.spikes_from_ns for length in lengths),
        stalls=sum(each.incident.kind == "stall" for each in found),
    )


def _worst(found: Sequence[Explanation]) -> list[Explanation]:
    """Losses by frames, then spikes and stalls by length."""
    kept: list[Explanation] = []
    for kind in ("loss", "latency", "stall"):
        of_kind = [each for each in found if each.incident.kind == kind]
        kept += nlargest(_KEPT_OF_A_KIND, of_kind, key=lambda each: _size(each.incident))
    return kept


def _size(incident: Incident) -> int:
    return incident.frames if incident.kind == "loss" else incident.length_ns


def _explained(explanation: Explanation, facts: TrialFacts) -> ExplainedIncident:
    incident, clock = explanation.incident, facts.clock
    return ExplainedIncident(
        **asdict(incident),
        begin_unix_ns=None if clock is None else clock.unix_ns(incident.begin_tsc),
        sentence=sentence(explanation, facts.loops),
        absence_ns=_absence_ns(explanation, facts),
        causes=explanation.causes,
    )


def _absence_ns(explanation: Explanation, facts: TrialFacts) -> int | None:
    incident = explanation.incident
    if incident.kind != "loss":
        return None
    beyond = sum(cause.frames or 0.0 for cause in explanation.causes)
    needed_s = facts.load.absence_s(incident.subject, incident.frames - beyond)
    return None if needed_s is None else round(needed_s * _NS_PER_S)


def _kept_events(kept: Sequence[Explanation], facts: TrialFacts) -> Iterator[KeptEvent]:
    """Of the worst incidents of each kind, the events from just before to the end, of all hosts."""
    places = _in_turn(kept)[:_WITH_EVENTS]
    for host in facts.hosts:
        times = [event.tsc for event in host.events]
        margin = round(_LEAD_S * facts.tsc_hz) + host.clock_error
        for place in places:
            begin, end = _from_first_cause(kept[place], host.host)
            first, last = bisect_left(times, begin - margin), bisect_right(times, end + margin)
            for event in host.events[first:last][:_EVENTS_OF_ONE]:
                yield KeptEvent.of(place, event.tsc, event.cpu, event.name, event.fields, host.host)


def _from_first_cause(of: Explanation, host: str | None) -> tuple[int, int]:
    """From when a cause on that host began, before the incident or with it, to the end."""
    begins = [each.begin_tsc for each in of.causes if each.host == host]
    known = [begin for begin in begins if begin is not None]
    return min([of.incident.begin_tsc, *known]), of.incident.end_tsc


def _in_turn(kept: Sequence[Explanation]) -> list[int]:
    """Places in the list: the worst of each kind first, then the second worst of each."""
    turns: dict[str, int] = {}
    order = []
    for place, explanation in enumerate(kept):
        turn = turns.get(explanation.incident.kind, 0)
        turns[explanation.incident.kind] = turn + 1
        order.append((turn, place))
    return [place for _, place in sorted(order)]


_SEEN = ("exact", "partial")


@dataclass(frozen=True, slots=True)
class LossAttribution:
    """Frames of the loss events that were listed, by what caused them.

    `tester`: its own loop was away, or a process of its own had the DUT's CPU. `platform`:
    something else had the DUT's CPU. `unseen`: no loop was seen to be away, or the DUT was busy
    with something else, or only a counter moved; then it is the DUT's own, unless something else
    is known. Frames of unlisted events are in none of them.
    """

    tester: float
    platform: float
    unseen: float

    @property
    def frames(self) -> float:
        """All of them."""
        return self.tester + self.platform + self.unseen


def loss_blame(explanations: Sequence[Explanation]) -> LossAttribution:
    """Of all loss events among the explained incidents."""
    frames = {"tester": 0.0, "platform": 0.0, "unseen": 0.0}
    for each in explanations:
        if each.incident.kind == "loss":
            for blamed, share in _shares(each):
                frames[blamed] += share * each.incident.frames
    return LossAttribution(**frames)


def _shares(explanation: Explanation) -> list[tuple[str, float]]:
    shared = weights(explanation)
    return [(_blamed(cause), share) for cause, share in shared] or [("unseen", 1.0)]


def _blamed(cause: Cause) -> str:
    if cause.owner is None or cause.confidence not in _SEEN or cause.kind == "busy-elsewhere":
        return "unseen"
    return "tester" if cause.own or cause.owner == "tester" else "platform"

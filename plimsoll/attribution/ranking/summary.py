"""The causes of several trials together, and what limits a load line, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll.attribution.explanation.returned_frames import RETURNED
from plimsoll.attribution.incidents.incident import Explanation, Incident
from plimsoll.attribution.incidents.loops import is_dut_on_tester_cpu, is_noise
from plimsoll.attribution.ranking.rank import rank
from plimsoll.attribution.ranking.remedies import remedy_for
from plimsoll.record.causes.causes_record import ExplainedIncident, RankedCause, Remedy, TrialCauses
from plimsoll.search.evidence.trial_evidence import of_host
from plimsoll.text.counted import counted, whole_percents
from plimsoll.text.units import format_ns

_WORST = 10


@dataclass(frozen=True, slots=True)
class LocatedIncident:
    """An incident with its trial, its place in the trial's list, and what helps against it."""

    trial: int
    place: int
    incident: ExplainedIncident
    remedy: Remedy | None


@dataclass(frozen=True, slots=True)
class CausesSummary:
    """Ranked causes, and the worst incidents of each kind: at most ten.

    `left_out` counts incidents that the trials' records have no room for, the smallest. Counts
    are of the whole trials; the ranking rests on `ranked_losses` events with `ranked_frames`
    lost frames, which are all where they are None. `at_least` are counts of earlier versions'
    records, which lack what was left out. `corrupt` and `misdirected` are lost frames that came
    back otherwise.
    """

    rows: tuple[RankedCause, ...]
    spikes: tuple[LocatedIncident, ...]
    losses: tuple[LocatedIncident, ...]
    stalls: tuple[LocatedIncident, ...]
    spike_count: int
    loss_events: int
    lost_frames: int
    stall_count: int
    left_out: int
    ranked_losses: int | None = None
    ranked_frames: int | None = None
    at_least: bool = False
    corrupt: int = 0
    misdirected: int = 0
    truncated: int = 0


def summarise(trials: Sequence[TrialCauses], above_ns: int) -> CausesSummary:
    """The causes of these trials; latencies from `above_ns` on are spikes."""
    located = [
        LocatedIncident(trial.trial, place, incident, _remedy(incident))
        for trial in trials
        for place, incident in enumerate(trial.incidents)
    ]
    spikes = [
        t for t in located if t.incident.kind == "latency" and t.incident.length_ns >= above_ns
    ]
    losses = [t for t in located if t.incident.kind == "loss"]
    stalls = [t for t in located if t.incident.kind == "stall"]
    known = [trial.totals for trial in trials if trial.totals is not None]
    without = [trial for trial in trials if trial.totals is None]
    listed_of = [each for trial in without for each in trial.incidents if each.kind == "loss"]
    return CausesSummary(
        rows=rank((explanation_of(each.incident) for each in located), above_ns),
        spikes=_longest(spikes),
        losses=tuple(sorted(losses, key=lambda each: -each.incident.frames)[:_WORST]),
        stalls=_longest(stalls),
        spike_count=len(spikes),
        loss_events=sum(each.loss_events for each in known) + len(listed_of),
        lost_frames=sum(each.lost_frames for each in known) + sum(e.frames for e in listed_of),
        stall_count=len(stalls),
        left_out=sum(trial.incidents_left_out for trial in trials),
        ranked_losses=len(losses),
        ranked_frames=sum(each.incident.frames for each in losses),
        at_least=any(trial.incidents_left_out for trial in without),
        corrupt=sum(each.corrupt for each in known),
        misdirected=sum(each.misdirected for each in known),
        truncated=sum(each.truncated for each in known),
    )


def explanation_of(recorded: ExplainedIncident) -> Explanation:
    """The explanation that was recorded."""
    incident = Incident(
        recorded.kind,
        recorded.subject,
        recorded.begin_tsc,
        recorded.end_tsc,
        recorded.frames,
        recorded.length_ns,
        recorded.refused,
    )
    return Explanation(incident, recorded.causes)


def _longest(located: Iterable[LocatedIncident]) -> tuple[LocatedIncident, ...]:
    return tuple(sorted(located, key=lambda each: -each.incident.length_ns)[:_WORST])


def _remedy(recorded: ExplainedIncident) -> Remedy | None:
    first = next(iter(explanation_of(recorded).roots), None)
    if first is None:
        return None
    return remedy_for(first.kind, first.name, first.owner, own=first.own)


_MAX_NAMED = 3
# What took less than this share is not worth a place in the sentence.
_MIN_SHARE = 0.05


def limit_sentence(summary: CausesSummary) -> str:
    """The causes of the losses; without losses those of the spikes; without these, of stalls."""
    if summary.lost_frames:
        losses = _losses(summary)
        return f"{_shared_cpu(summary)}{losses}{_noise_in_spikes(summary)}"
    if summary.spike_count:
        what = f"No frame was lost. Of {summary.spike_count:,} latency spikes"
        said = _sentence(what, [(row, row.spike_share) for row in summary.rows])
        return f"{_shared_cpu(summary)}{said}"
    if summary.stall_count:
        total = sum(row.total_ns or 0 for row in summary.rows) or 1
        what = f"No loss and no spike. Of the time of {summary.stall_count:,} stalls of the tester"
        said = _sentence(what, [(row, (row.total_ns or 0) / total) for row in summary.rows])
        return f"{_shared_cpu(summary)}{said}"
    return "No loss, no latency spike and no stall of the tester was recorded."


def _losses(summary: CausesSummary) -> str:
    """All lost frames of the trials, and by what; what was not looked at is said."""
    least = "at least " if summary.at_least else ""
    what = f"Of {least}{summary.lost_frames:,} lost frames in {summary.loss_events:,} events"
    frames, events = summary.ranked_frames, summary.ranked_losses
    if frames is not None and frames < summary.lost_frames:
        if not events:
            return f"{what}, none is in an event that was looked at.{_returned(summary)}"
        what += f" the {events:,} largest, with {frames:,} frames, were looked at. Of these frames"
    said = _sentence(what, [(row, row.loss_share) for row in summary.rows])
    return f"{said}{_returned(summary)}"


def _returned(summary: CausesSummary) -> str:
    """Frames that the tester counted when they came back otherwise."""
    found = (
        (summary.corrupt, "corrupt"),
        (summary.misdirected, "on a wrong port"),
        (summary.truncated, "cut short"),
    )
    said = [f"{frames:,} came back {how}" for frames, how in found if frames]
    return f" Of all lost frames {' and '.join(said)}." if said else ""


def _shared_cpu(summary: CausesSummary) -> str:
    """The test bed's own fault, which comes before everything else."""
    rows = [row for row in summary.rows if is_dut_on_tester_cpu(row.name, row.owner)]
    return "".join(
        f"The test bed is at fault: {row.name} had the tester's CPU {row.cpu}"
        f"{'' if row.total_ns is None else f' for {format_ns(row.total_ns)}'}. "
        for row in rows
    )


def _noise_in_spikes(summary: CausesSummary) -> str:
    """Noise that lost no frame has delayed some, and is what those who add it ask about."""
    spikes = [(row, row.spike_share) for row in summary.rows]
    silent = {row.name for row in summary.rows if is_noise(row.name) and not row.loss_share}
    if not any(
        row.name in silent and share is not None and share >= _MIN_SHARE for row, share in spikes
    ):
        return ""
    noise = [
        (row, share if row.name in silent or row.kind == "unexplained" else 0.0)
        for row, share in spikes
    ]
    return f" {_sentence(f'Of {summary.spike_count:,} latency spikes', noise)}"


def _sentence(what: str, shared: Sequence[tuple[RankedCause, float | None]]) -> str:
    """Shares that add up to 100 %: the named causes, what is unexplained, and all others."""
    known = [(row, share) for row, share in shared if share]
    caused = sorted(
        ((row, share) for row, share in known if row.kind != "unexplained"),
        key=lambda each: -each[1],
    )
    large = [each for each in caused if each[1] >= _MIN_SHARE]
    unexplained = sum(share for row, share in known if row.kind == "unexplained")
    if not large and unexplained < _MIN_SHARE:
        return f"{what}, none has a cause that stands out."
    # Whoever adds noise wants to know what it took, be it less than others did.
    noise = [each for each in large[_MAX_NAMED:] if is_noise(each[0].name)]
    named = [*large[:_MAX_NAMED], *noise]
    parts = [(share, _because(row)) for row, share in named]
    if unexplained:
        parts.append((unexplained, "are unexplained"))
        parts.sort(key=lambda each: -each[0])
    others = len(caused) - len(named)
    rest = f"by {counted(others, 'other cause')}" if others else "by other causes"
    parts.append((1 - sum(share for share, _ in parts), rest))
    percents = whole_percents([max(0.0, share) for share, _ in parts])
    said = [f"{n}% {words}" for n, (_, words) in zip(percents, parts, strict=True) if n]
    return f"{what}, {'; '.join(said)}."


def _because(row: RankedCause) -> str:
    if row.kind in RETURNED:
        return RETURNED[row.kind]
    whose = {"tester": "the tester's ", "dut": "the DUT's ", None: ""}[row.owner]
    cpu = "" if row.cpu is None else f" on {whose}CPU {row.cpu}"
    place = f"{cpu}{of_host(row.host)}"
    worst = "" if row.worst_ns is None else f", up to {format_ns(row.worst_ns)}"
    own = ", Plimsoll's own" if row.own else ""
    sure = "" if row.confidence in ("exact", "partial") else ", by its counter alone"
    return f"by {row.name}{place} ({row.kind}{own}{worst}{sure})"

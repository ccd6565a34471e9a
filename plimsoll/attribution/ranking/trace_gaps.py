"""What is known of the time of which the kernel's trace lost events, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from plimsoll.record.causes.causes_record import ExplainedIncident, TracedCpu, TrialCauses
from plimsoll.text.counted import counted
from plimsoll.text.units import format_duration


def trace_gaps(trials: Sequence[TrialCauses]) -> Iterator[str]:
    """A sentence for each trial without a trace, and for each CPU whose buffer overflowed."""
    without: dict[str, list[int]] = {}
    for each in trials:
        if each.trace.unavailable is not None:
            without.setdefault(each.trace.unavailable, []).append(each.trial)
    for why, numbers in without.items():
        named = ", ".join(map(str, numbers))
        yield f"Trial {named}: no kernel trace: {why}; there, causes rest on counters alone."
    for each in trials:
        yield from (_overflowed(each, cpu) for cpu in each.trace.cpus if cpu.lost_events)


def _overflowed(of: TrialCauses, cpu: TracedCpu) -> str:
    whole_s = (cpu.complete_to_tsc - cpu.complete_from_tsc) / of.tsc_hz
    since = (
        f"the trace is whole for its last {format_duration(whole_s)}"
        if whole_s > 0
        else "since when the trace is whole is not known"
    )
    before = [each for each in of.incidents if each.begin_tsc < cpu.complete_from_tsc]
    return (
        f"Trial {of.trial}, CPU {cpu.cpu}: {cpu.lost_events:,} kernel events had no room in "
        f"the trace's buffer; {since}. {_known(before)}"
    )


def _known(before: Sequence[ExplainedIncident]) -> str:
    """By what the incidents in the time with gaps are explained."""
    if not before:
        return "No listed incident is of the time before."
    found = Counter(_surest(each) for each in before)
    return (
        f"Of {counted(len(before), 'listed incident')} before, {found['seen']:,} are explained by "
        f"what else was seen, {found['counter']:,} by a counter that moved alone, and "
        f"{found['unexplained']:,} by nothing."
    )


def _surest(of: ExplainedIncident) -> str:
    confidences = {each.confidence for each in of.causes}
    if confidences & {"exact", "partial"}:
        return "seen"
    return "counter" if "counter" in confidences else "unexplained"

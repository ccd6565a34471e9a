"""What is known of the time of which the kernel's trace lost events, in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from plimsoll.record.causes.causes_record import (
    ExplainedIncident,
    TracedCpu,
    TrialCauses,
    UnwatchedDut,
)
from plimsoll.search.evidence.trial_evidence import HostCpu
from plimsoll.text.counted import counted
from plimsoll.text.units import format_duration


def trace_gaps(trials: Sequence[TrialCauses]) -> Iterator[str]:
    """A sentence for what was not watched in which trials, and for each buffer that overflowed."""
    for sentence, numbers in _unwatched(trials).items():
        yield f"Trial {', '.join(map(str, numbers))}: {sentence}"
    without: dict[str, list[int]] = {}
    for each in trials:
        if each.trace.unavailable is not None:
            without.setdefault(each.trace.unavailable, []).append(each.trial)
    for why, numbers in without.items():
        named = ", ".join(map(str, numbers))
        yield f"Trial {named}: no kernel trace: {why}; there, causes rest on counters alone."
    for each in trials:
        yield from (_overflowed(each, cpu) for cpu in each.trace.cpus if cpu.lost_events)


def unwatched_sentences(trials: Sequence[TrialCauses]) -> tuple[str, ...]:
    """Where absences of the DUT were not watched in any of the trials, and why."""
    return tuple(_unwatched(trials))


def _unwatched(trials: Sequence[TrialCauses]) -> dict[str, list[int]]:
    """The trials of each sentence."""
    found: dict[str, list[int]] = {}
    for each in trials:
        for dut in each.trace.unwatched:
            found.setdefault(unwatched_sentence(dut), []).append(each.trial)
    return found


def unwatched_sentence(dut: UnwatchedDut) -> str:
    """That absences of the DUT were not watched, why, and what to do about it."""
    where = "" if dut.host is None else f" on {dut.host}"
    return f"The DUT's absences{where} were not watched: {dut.reason}. To do: {dut.remedy}."


def _overflowed(of: TrialCauses, cpu: TracedCpu) -> str:
    whole_s = (cpu.complete_to_tsc - cpu.complete_from_tsc) / of.tsc_hz
    since = (
        f"the trace is whole for its last {format_duration(whole_s)}"
        if whole_s > 0
        else "since when the trace is whole is not known"
    )
    before = [each for each in of.incidents if each.begin_tsc < cpu.complete_from_tsc]
    return (
        f"Trial {of.trial}, {HostCpu(cpu.host, cpu.cpu)}: {cpu.lost_events:,} kernel events had no "
        f"room in the trace's buffer; {since}. {_known(before)}"
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

"""Whether it is the platform that keeps a load line from being higher, and by what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll.attribution.ranking.summary import CausesSummary, summarise
from plimsoll.record.causes.causes_record import (
    ExplainedIncident,
    RankedCause,
    TrialCauses,
    read_causes,
)
from plimsoll.record.results.result import PlatformLimit
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.evidence.trial_evidence import named_cpus
from plimsoll.text.units import format_ns, format_pps

# Of the lost frames: below, the load itself is what the DUT fails by.
_MAX_OF_THEM = 0.5
_MAX_NAMED = 3
_SEEN = ("exact", "partial")
_UNCHECKED = "; whether that overflows the DUT's buffer is not known, as its size or load is not"


def platform_limit(
    run: RunDirectory, trials: Sequence[TrialRecord], line_pps: float | None
) -> PlatformLimit | None:
    """Of the lowest load that failed by losses; None where those are not the platform's.

    Raises RecordError.
    """
    failed = [each for each in trials if each.verdict == "fail" and each.loss_blame is not None]
    lowest = min(failed, key=lambda each: each.load_pps, default=None)
    if lowest is None or (line_pps is not None and lowest.load_pps <= line_pps):
        return None
    share = _platform_share(lowest)
    causes = next((each for each in read_causes(run) if each.trial == lowest.number), None)
    if share < _MAX_OF_THEM or causes is None:
        return None
    longest = longest_absence(causes)
    if longest is not None and not longest.overflows:
        return None
    forwarded_pps = max(each.evidence.forwarded_pps for each in trials if each.evidence)
    return PlatformLimit(
        forwarded_pps=forwarded_pps,
        trial=lowest.number,
        platform_share=share,
        sentence=platform_sentence(
            forwarded_pps, line_pps, summarise([causes], causes.spikes_from_ns), longest
        ),
    )


def _platform_share(trial: TrialRecord) -> float:
    blame = trial.loss_blame
    frames = 0.0 if blame is None else blame.tester + blame.platform + blame.unseen
    return 0.0 if blame is None or not frames else blame.platform / frames


@dataclass(frozen=True, slots=True)
class LongestAbsence:
    """The longest time in which the DUT was away and lost frames, whatever had its CPU.

    `needed_ns` is how long it must have been for what was lost in it; None where the DUT's buffer
    or the load is not known.
    """

    length_ns: int
    needed_ns: int | None

    @property
    def overflows(self) -> bool:
        """Whether the arithmetic of the buffer bears it out, as far as that can be checked."""
        return self.needed_ns is None or self.length_ns >= self.needed_ns


def longest_absence(causes: TrialCauses) -> LongestAbsence | None:
    """Of the loss events of a trial; None where no length is known."""
    found = [
        LongestAbsence(length_ns, each.absence_ns)
        for each in causes.incidents
        if each.kind == "loss" and (length_ns := _away_ns(each))
    ]
    return max(found, key=lambda each: (each.overflows, each.length_ns), default=None)


def _away_ns(incident: ExplainedIncident) -> int:
    return sum(
        cause.length_ns or 0
        for cause in incident.causes
        if cause.owner == "dut" and not cause.own and cause.confidence in _SEEN
    )


def platform_sentence(
    forwarded_pps: float,
    line_pps: float | None,
    summary: CausesSummary,
    longest: LongestAbsence | None,
) -> str:
    """What limits a load line of `line_pps`, both rates per direction, by the causes of losses.

    Its length is that of the `longest` absence, which overflows the DUT's buffer at the load
    under which it lost frames; where that cannot be checked the sentence says so. Causes of which
    only a counter tells stand for themselves where nothing better is known: of those neither
    begin nor length was seen.
    """
    taken = [row for row in summary.rows if _took_the_dut(row)]
    taken = [row for row in taken if row.confidence in _SEEN] or taken
    taken.sort(key=lambda row: -(row.loss_share or 0.0))
    cpus = named_cpus(row.place for row in taken if row.cpu is not None) or "its CPU"
    named = "; ".join(_named(row) for row in taken[:_MAX_NAMED])
    kept = (
        "meets its criteria at no load"
        if line_pps is None
        else f"meets its criteria at {format_pps(line_pps)}"
    )
    lengths = "" if longest is None else f" of up to {format_ns(longest.length_ns)}"
    unchecked = "" if longest is None or longest.needed_ns is not None else _UNCHECKED
    return (
        f"Forwards up to {format_pps(forwarded_pps)} per direction; {kept}, limited by "
        f"preemptions of {cpus}{lengths} ({named}){unchecked}."
    )


def _took_the_dut(row: RankedCause) -> bool:
    return row.owner == "dut" and not row.own and bool(row.loss_share)


def _named(row: RankedCause) -> str:
    sure = "" if row.confidence in _SEEN else ", by its counter alone"
    return f"{row.name}, {row.loss_share:.0%}{sure}"

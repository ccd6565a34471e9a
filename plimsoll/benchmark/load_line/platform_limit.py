"""Whether it is the platform that keeps a load line from being higher, and by what."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.attribution.ranking.rank import RankedCause
from plimsoll.attribution.ranking.summary import CausesSummary, summarise
from plimsoll.record.causes.causes_record import read_causes
from plimsoll.record.results.result import PlatformLimit
from plimsoll.record.run.run_directory import RunDirectory
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.text.units import format_ns, format_pps

# Of the lost frames: below, the load itself is what the DUT fails by.
_MOST_OF_THEM = 0.5
_MOST_NAMED = 3
_SEEN = ("exact", "partial")


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
    if share < _MOST_OF_THEM or causes is None:
        return None
    forwarded_pps = max(each.evidence.forwarded_pps for each in trials if each.evidence)
    return PlatformLimit(
        forwarded_pps=forwarded_pps,
        trial=lowest.number,
        platform_share=share,
        sentence=_sentence(forwarded_pps, line_pps, summarise([causes], causes.spikes_from_ns)),
    )


def _platform_share(trial: TrialRecord) -> float:
    blame = trial.loss_blame
    frames = 0.0 if blame is None else blame.tester + blame.platform + blame.unseen
    return 0.0 if blame is None or not frames else blame.platform / frames


def _sentence(forwarded_pps: float, line_pps: float | None, summary: CausesSummary) -> str:
    taken = [row for row in summary.rows if _is_platform(row)]
    taken.sort(key=lambda row: -(row.loss_share or 0.0))
    cpus = ", ".join(str(cpu) for cpu in dict.fromkeys(row.cpu for row in taken))
    longest = max((row.worst_ns or 0 for row in taken), default=0)
    named = "; ".join(_named(row) for row in taken[:_MOST_NAMED])
    kept = (
        "meets its criteria at no load"
        if line_pps is None
        else f"meets its criteria at {format_pps(line_pps)}"
    )
    return (
        f"Forwards up to {format_pps(forwarded_pps)} per direction; {kept}, limited by "
        f"preemptions of CPU {cpus} of up to {format_ns(longest)} ({named})."
    )


def _is_platform(row: RankedCause) -> bool:
    seen = row.owner == "dut" and not row.own and row.confidence in _SEEN
    return seen and bool(row.loss_share)


def _named(row: RankedCause) -> str:
    return f"{row.name}, {row.loss_share:.0%}"

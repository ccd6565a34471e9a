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
        sentence=platform_sentence(
            forwarded_pps, line_pps, summarise([causes], causes.spikes_from_ns)
        ),
    )


def _platform_share(trial: TrialRecord) -> float:
    blame = trial.loss_blame
    frames = 0.0 if blame is None else blame.tester + blame.platform + blame.unseen
    return 0.0 if blame is None or not frames else blame.platform / frames


def platform_sentence(forwarded_pps: float, line_pps: float | None, summary: CausesSummary) -> str:
    """What limits a load line of `line_pps`, both rates per direction, by the causes of losses.

    Causes of which only a counter tells stand for themselves where nothing better is known: of
    those neither begin nor length was seen.
    """
    taken = [row for row in summary.rows if _took_the_dut(row)]
    taken = [row for row in taken if row.confidence in _SEEN] or taken
    taken.sort(key=lambda row: -(row.loss_share or 0.0))
    cpus = ", ".join(dict.fromkeys(str(row.cpu) for row in taken if row.cpu is not None))
    longest = max((row.worst_ns for row in taken if row.worst_ns is not None), default=None)
    named = "; ".join(_named(row) for row in taken[:_MOST_NAMED])
    kept = (
        "meets its criteria at no load"
        if line_pps is None
        else f"meets its criteria at {format_pps(line_pps)}"
    )
    lengths = "" if longest is None else f" of up to {format_ns(longest)}"
    return (
        f"Forwards up to {format_pps(forwarded_pps)} per direction; {kept}, limited by "
        f"preemptions of CPU {cpus}{lengths} ({named})."
    )


def _took_the_dut(row: RankedCause) -> bool:
    return row.owner == "dut" and not row.own and bool(row.loss_share)


def _named(row: RankedCause) -> str:
    sure = "" if row.confidence in _SEEN else ", by its counter alone"
    return f"{row.name}, {row.loss_share:.0%}{sure}"

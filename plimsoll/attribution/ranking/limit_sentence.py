"""What limits a load line, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from plimsoll.attribution.incidents.noise_tasks import is_noise
from plimsoll.attribution.ranking.rank import RankedCause
from plimsoll.attribution.ranking.summary import CausesSummary
from plimsoll.text.units import format_ns

_MOST_NAMED = 3
# What took less than this share is not worth a place in the sentence.
_LEAST_SHARE = 0.05


def limit_sentence(summary: CausesSummary) -> str:
    """The causes of the losses; without losses those of the spikes; without these, of stalls."""
    if summary.lost_frames:
        what = f"Of {summary.lost_frames:,} lost frames in {summary.loss_events:,} events"
        losses = _sentence(what, [(row, row.loss_share) for row in summary.rows])
        return f"{losses}{_noise_in_spikes(summary)}"
    if summary.spike_count:
        what = f"No frame was lost. Of {summary.spike_count:,} latency spikes"
        return _sentence(what, [(row, row.spike_share) for row in summary.rows])
    if summary.stall_count:
        total = sum(row.total_ns or 0 for row in summary.rows) or 1
        what = f"No loss and no spike. Of the time of {summary.stall_count:,} stalls of the tester"
        return _sentence(what, [(row, (row.total_ns or 0) / total) for row in summary.rows])
    return "No loss, no latency spike and no stall of the tester was recorded."


def _noise_in_spikes(summary: CausesSummary) -> str:
    """Noise that lost no frame has delayed some, and is what those who add it ask about."""
    noise = [
        (row, row.spike_share) for row in summary.rows if is_noise(row.name) and not row.loss_share
    ]
    if not any(share is not None and share >= _LEAST_SHARE for _, share in noise):
        return ""
    return f" {_sentence(f'Of {summary.spike_count:,} latency spikes', noise)}"


def _sentence(what: str, shared: Sequence[tuple[RankedCause, float | None]]) -> str:
    shares = sorted(
        ((row, share) for row, share in shared if share is not None and share >= _LEAST_SHARE),
        key=lambda each: -each[1],
    )
    if not shares:
        return f"{what}, none has a cause that stands out."
    # Whoever adds noise wants to know what it took, be it less than others did.
    noise = [each for each in shares[_MOST_NAMED:] if is_noise(each[0].name)]
    named = [f"{share:.0%} {_because(row)}" for row, share in (*shares[:_MOST_NAMED], *noise)]
    return f"{what}, {'; '.join(named)}."


def _because(row: RankedCause) -> str:
    if row.kind == "unexplained":
        return "are unexplained"
    whose = {"tester": "the tester's ", "dut": "the DUT's ", None: ""}[row.owner]
    place = "" if row.cpu is None else f" on {whose}CPU {row.cpu}"
    worst = "" if row.worst_ns is None else f", up to {format_ns(row.worst_ns)}"
    own = ", Plimsoll's own" if row.own else ""
    sure = "" if row.confidence in ("exact", "partial") else ", by its counter alone"
    return f"by {row.name}{place} ({row.kind}{own}{worst}{sure})"

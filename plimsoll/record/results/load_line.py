"""The load line, as a result has it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Self

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.trials.stream_record import StreamRecord
from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.search.text.wire import l1_bits, l2_bits


class LoadLine(RecordModel):
    """The highest load that passed a search trial and the validation.

    All rates are of what was offered, sums of the load streams and of probes that are taken
    from one; probes sent in addition to the load are not counted. Directions may differ.
    """

    pps_per_direction: float = Field(
        description="The load that the heaviest direction carries, in frames per second, as its "
        "proof offered it (RFC 2285's offered load)."
    )
    intended_pps_per_direction: float | None = Field(
        default=None,
        description="The load that the search requested (RFC 2285's intended load), in pps per "
        "direction. Null in results of earlier versions, whose pps_per_direction this is.",
    )
    total_pps: float = Field(
        description="What was offered of the load in all directions, in frames per second: of load "
        "streams, and of probes that are taken from one; probes sent in addition to "
        "the load are not counted."
    )
    directions: int = Field(description="How many directions carried the load.")
    frame_sizes: tuple[int, ...] = Field(
        description="The load streams' frame sizes with FCS, in bytes."
    )
    l1_bps_per_direction: float = Field(
        description="Bits per second with preamble and gap, of the direction with most."
    )
    l2_bps_per_direction: float = Field(
        description="Bits per second of the frames, of the direction with most."
    )
    percent_of_line_rate: float | None = Field(
        description="l1_bps_per_direction in per cent of the line rate; null where the lab has "
        "none."
    )

    @classmethod
    def of(cls, trial: TrialRecord, line_rate_bps: float | None) -> Self:
        """The load line that this validation trial proved.

        Raises ValueError when the trial has no load stream with a rate.
        """
        load = [s for s in trial.streams if s.role == "load" and s.planned_pps is not None]
        if not load:
            raise ValueError("a load line needs load streams")
        names = {stream.name for stream in load}
        carried = [*load, *(s for s in trial.streams if s.taken_from in names)]
        l1_bps = max(_per_path(trial, carried, l1_bits))
        offered_pps = trial.offered_pps
        return cls(
            pps_per_direction=trial.load_pps if offered_pps is None else offered_pps,
            intended_pps_per_direction=trial.load_pps,
            total_pps=math.fsum(_offered_pps(trial, stream) for stream in carried),
            directions=len({stream.path for stream in load}),
            frame_sizes=tuple(sorted({each.size for s in load for each in s.frame_sizes})),
            l1_bps_per_direction=l1_bps,
            l2_bps_per_direction=max(_per_path(trial, carried, l2_bits)),
            percent_of_line_rate=100 * l1_bps / line_rate_bps if line_rate_bps else None,
        )

    @property
    def intended_pps(self) -> float:
        """The intended load per direction, which is what trials are known by."""
        intended_pps = self.intended_pps_per_direction
        return self.pps_per_direction if intended_pps is None else intended_pps


def _offered_pps(trial: TrialRecord, stream: StreamRecord) -> float:
    return stream.offered / trial.sending_s if trial.sending_s > 0 else 0.0


def _per_path(
    trial: TrialRecord, streams: Sequence[StreamRecord], bits: Callable[[float], float]
) -> list[float]:
    """Bits per second that these streams were offered in each direction."""
    rates: dict[tuple[int, int], list[float]] = {}
    for stream in streams:
        bps = _offered_pps(trial, stream) * bits(stream.mean_frame_size)
        rates.setdefault(stream.path, []).append(bps)
    return [math.fsum(path) for path in rates.values()]


# Zero events in T, or in N samples: with 95 % confidence their rate is below 3/T, or 3/N (Poisson,
# -ln 0.05 = 3.0).
ZERO_EVENTS_BOUND = 3.0


def events_per_hour_below(seconds: float) -> float:
    """The rate that, with 95 % confidence, is not exceeded when `seconds` saw no event.

    Raises ValueError for a time that is not above zero.
    """
    if seconds <= 0:
        raise ValueError("no time has passed")
    return ZERO_EVENTS_BOUND / (seconds / 3600)

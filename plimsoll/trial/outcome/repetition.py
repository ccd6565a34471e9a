"""What of a trial is compared with other trials at the same load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.trial.outcome.quantiles import QuantileName, known_quantiles


@dataclass(frozen=True, slots=True)
class ForwardedFrames:
    """Frames of one direction, offered and come back, each counted once, in `sending_s`."""

    offered: int
    returned: int
    sending_s: float

    @property
    def forwarded_pps(self) -> float:
        """The rate that came back; 0 of a trial that never sent."""
        return self.returned / self.sending_s if self.sending_s > 0 else 0.0

    @property
    def share(self) -> float:
        """What came back of what was offered; 0 where nothing was."""
        return self.returned / self.offered if self.offered else 0.0


@dataclass(frozen=True, slots=True)
class Repetition:
    """A trial's forwarding by direction ("0-1"), and its latency by stream name, in ns.

    A quantile is missing where there were too few samples for it.
    """

    forwarding: Mapping[str, ForwardedFrames]
    latency_ns: Mapping[str, Mapping[QuantileName, int]]

    @classmethod
    def of(cls, record: TrialRecord) -> Self:
        """What a recorded trial is compared by."""
        offered: defaultdict[str, int] = defaultdict(int)
        returned: defaultdict[str, int] = defaultdict(int)
        for each in record.streams:
            came = each.received - each.duplicate
            offered[f"{each.tx_port}-{each.rx_port}"] += came + each.lost
            returned[f"{each.tx_port}-{each.rx_port}"] += came
        return cls(
            forwarding={
                direction: ForwardedFrames(frames, returned[direction], record.sending_s)
                for direction, frames in offered.items()
            },
            latency_ns={each.name: known_quantiles(each.latency) for each in record.streams},
        )

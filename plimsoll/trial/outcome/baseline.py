"""What latency was at the lowest load, which bounds in multiples of it are held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from plimsoll.record.trials.trial_record import TrialRecord
from plimsoll.trial.outcome.quantiles import QuantileName, known_quantiles


@dataclass(frozen=True, slots=True)
class Baseline:
    """By a stream's name, its latency at `load_pps` per direction, in ns by quantile.

    A quantile is missing where there were too few samples for it.
    """

    load_pps: float
    latency_ns: Mapping[str, Mapping[QuantileName, int]]

    @classmethod
    def of(cls, record: TrialRecord) -> Self:
        """The baseline that a recorded trial is."""
        return cls(
            load_pps=record.load_pps,
            latency_ns={each.name: known_quantiles(each.latency) for each in record.streams},
        )

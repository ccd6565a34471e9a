"""What of a trial is compared with other trials at the same load."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from plimsoll.record.trial_record import TrialRecord
from plimsoll.trial.quantiles import QuantileName, known_quantiles


@dataclass(frozen=True, slots=True)
class Repetition:
    """A trial's forwarded rate by direction ("0-1"), and its latency by stream name, in ns.

    A quantile is missing where there were too few samples for it.
    """

    forwarded_pps: Mapping[str, float]
    latency_ns: Mapping[str, Mapping[QuantileName, int]]

    @classmethod
    def of(cls, record: TrialRecord) -> Self:
        """What a recorded trial, which sent, is compared by."""
        forwarded_pps: defaultdict[str, float] = defaultdict(float)
        for each in record.streams:
            direction = f"{each.tx_port}-{each.rx_port}"
            forwarded_pps[direction] += (each.received - each.duplicate) / record.sending_s
        return cls(
            forwarded_pps=dict(forwarded_pps),
            latency_ns={each.name: known_quantiles(each.latency) for each in record.streams},
        )

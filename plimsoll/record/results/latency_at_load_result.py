"""The result of `plimsoll latency-at-load`: latency at shares of a rate.

Its JSON Schema is published as docs/schemas/latency-at-load-result.schema.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from plimsoll.record.files.record_model import RecordModel
from plimsoll.record.results.method_result import MethodResult
from plimsoll.record.trials.latency_estimate import LatencyEstimate
from plimsoll.record.trials.latency_record import LatencyRecord
from plimsoll.record.trials.trial_record import Verdict
from plimsoll.record.trials.whole_verdict import whole_verdict
from plimsoll.traffic.plan import Role

# The journal's event that a point is known: `point`. A run tells it as it goes on.
POINT = "latency-at-load-point"
# Where the rate comes from: given, another run's load line, or a search of this run.
RateFrom = Literal["given", "run", "search"]


class StreamLatency(RecordModel):
    """One stream of a trial: its latency, and what it lost."""

    name: str
    role: Role
    sent: int
    lost: int
    latency: LatencyRecord
    across_stalls: int
    latency_low: LatencyRecord | None = Field(
        default=None,
        description="The latency of all frames that came back, less the most that stalls of the "
        "tester can have delayed each: the DUT's is at least this. Null where no stall can have "
        "delayed any, as it is `latency` then, and in results of earlier versions.",
    )
    latency_high: LatencyRecord | None = Field(
        default=None,
        description="The latency of all frames that came back, as measured: the DUT's is at most "
        "this. Null where `latency_low` is.",
    )
    latency_estimate: LatencyEstimate | None = Field(
        default=None,
        description="One figure for each quantile between both, where one must stand, as in the "
        "trial's record; null where that has none, and in results of earlier versions.",
    )

    @property
    def latency_ends(self) -> tuple[LatencyRecord, LatencyRecord]:
        """What the DUT's latency is at least and at most, as far as the result has both."""
        return self.latency_low or self.latency, self.latency_high or self.latency


class LoadPoint(RecordModel):
    """One load; `percent` is of the rate, 0 with the probes alone.

    The verdict is the tester's: where it is "invalid", `reason` says why, and the figures
    say more of the tester than of the DUT.
    """

    percent: float
    load_pps: float
    offered_pps: float | None = Field(
        default=None,
        description="The load that was offered of it, in pps per direction; null without load, "
        "and in results of earlier versions.",
    )
    trial: int
    sending_s: float
    streams: tuple[StreamLatency, ...]
    verdict: Verdict
    reason: str | None


class LatencyAtLoadResult(MethodResult):
    """`rate_pps`, per direction, is 100 %; null where a search found none, as `reason` says."""

    method: Literal["latency-at-load"] = "latency-at-load"
    media: str
    rate_pps: float | None
    rate_from: RateFrom
    reason: str | None
    points: tuple[LoadPoint, ...]
    search_verdict: Verdict | None = Field(
        default=None,
        description="Why a search found no rate: fail for the DUT, invalid for the tester.",
    )

    @property
    def verdict(self) -> Verdict:
        """Fail where a search found no rate, invalid where the tester spoiled a point."""
        spoiled: Sequence[Verdict] = [p.verdict for p in self.points if p.verdict == "invalid"]
        return whole_verdict([self.search_verdict, *spoiled])

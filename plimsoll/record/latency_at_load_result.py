"""The result of `plimsoll latency-at-load`: latency at shares of a rate.

Its JSON Schema is published as docs/schemas/latency-at-load-result.schema.json.
"""

from __future__ import annotations

from typing import Literal

from plimsoll.record.latency_record import LatencyRecord
from plimsoll.record.method_result import MethodResult
from plimsoll.record.record_model import RecordModel
from plimsoll.record.trial_record import Verdict
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


class LoadPoint(RecordModel):
    """One load; `percent` is of the rate, 0 with the probes alone.

    The verdict is the tester's: where it is "invalid", `reason` says why, and the figures
    say more of the tester than of the DUT.
    """

    percent: float
    load_pps: float
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

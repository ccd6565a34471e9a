"""Every criterion there is. A new one is a file here, or in `hosts/`, and a member of the union."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal, get_args

from pydantic import Field

from plimsoll.trial.criteria.delay_variation import DelayVariation
from plimsoll.trial.criteria.dut_received import DutReceived
from plimsoll.trial.criteria.frame_count import FrameCount
from plimsoll.trial.criteria.hosts.busy import Busy
from plimsoll.trial.criteria.hosts.dut_interrupts import DutInterrupts
from plimsoll.trial.criteria.hosts.host_criterion import HostCriterion
from plimsoll.trial.criteria.hosts.host_metric import HostMetric
from plimsoll.trial.criteria.hosts.major_faults import MajorFaults
from plimsoll.trial.criteria.hosts.steal import Steal
from plimsoll.trial.criteria.hosts.throttled import Throttled
from plimsoll.trial.criteria.latency_bound import LatencyBound
from plimsoll.trial.criteria.loss_ratio import LossRatio
from plimsoll.trial.criteria.rx_stability import RxStability
from plimsoll.trial.criteria.segment_loss import SegmentLoss
from plimsoll.trial.criteria.spread_of_latency import SpreadOfLatency
from plimsoll.trial.criteria.spread_of_rate import SpreadOfRate

# One entry of an experiment's `criteria`, distinguished by `kind`.
CriterionSettings = Annotated[
    LossRatio
    | LatencyBound
    | DelayVariation
    | RxStability
    | SegmentLoss
    | SpreadOfRate
    | SpreadOfLatency
    | FrameCount
    | DutReceived
    | Steal
    | Throttled
    | DutInterrupts
    | MajorFaults
    | Busy
    | HostMetric,
    Field(discriminator="kind"),
]


def host_criteria_kinds() -> frozenset[str]:
    """The kinds of those that are about hosts."""
    union, _ = get_args(CriterionSettings)
    of_hosts = (each for each in get_args(union) if issubclass(each, HostCriterion))
    return frozenset(each.model_fields["kind"].default for each in of_hosts)


# What a DUT may be allowed: several cores reorder flows against each other, rings resend.
AllowedFault = Literal["duplicate", "out-of-order"]


def default_criteria(allowed: Collection[AllowedFault] = ()) -> tuple[CriterionSettings, ...]:
    """Those of the seed methodology, and that each frame comes back whole, once, in its order.

    And where it belongs. What the DUT is `allowed` is not judged.
    """
    faults = (FrameCount(kind="duplicate"), FrameCount(kind="out-of-order"))
    judged = (each for each in faults if each.kind not in allowed)
    return (LossRatio(), FrameCount(kind="corrupt"), FrameCount(kind="misdirected"), *judged)

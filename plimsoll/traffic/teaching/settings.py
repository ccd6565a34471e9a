"""How addresses are taught, as written in an experiment under `trial.teaching`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from plimsoll.text.mistakes import mistake
from plimsoll.text.units import DurationField, Rate, RateField

# What is sent from the far end: the stream's own packets turned round, gratuitous ARP, or
# ICMP echo requests.
TeachingFrames = Literal["generic", "garp", "icmp"]

# trafficgen's defaults: --teaching-*-packet-rate and --teaching-measurement-interval.
_RATE = Rate(1000.0, "pps")
_INTERVAL_S = 10.0


def _in_pps(rate: Rate) -> Rate:
    if rate.unit != "pps":
        raise mistake(f"{rate} is not a fixed rate", "give it in pps, such as 1000pps")
    return rate


TeachingRate = Annotated[RateField, AfterValidator(_in_pps)]


class WarmupTeaching(BaseModel):
    """Teaching before each trial: one frame for each flow, at `rate` for each taught stream."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    frames: TeachingFrames = "generic"
    rate: TeachingRate = _RATE


class MeasurementTeaching(BaseModel):
    """Teaching during the load: one frame for each flow in each `interval`.

    They are spread evenly over it, and never come faster than `rate`; more flows than that
    allows take longer than the interval.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    frames: TeachingFrames = "generic"
    rate: TeachingRate = _RATE
    interval: Annotated[DurationField, Field(ge=0.001, le=86400)] = _INTERVAL_S

    def pps(self, flows: int) -> float:
        """What a stream of so many flows is taught at."""
        return min(self.rate.value, flows / self.interval)


class TeachingSettings(BaseModel):
    """Which teaching there is; null leaves it out.

    Streams are taught whose `stream_types` name it: teaching_warmup, teaching_measurement.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    warmup: WarmupTeaching | None = WarmupTeaching()
    measurement: MeasurementTeaching | None = MeasurementTeaching()

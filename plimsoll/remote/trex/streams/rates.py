"""Rates of streams and multipliers, as TRex reckons them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.errors import InputError
from plimsoll.remote.trex.streams.stl_stream import StlRate
from plimsoll.search.text.wire import FCS_BYTES, PREAMBLE_AND_GAP_BYTES

# TRex allows as much for rounding.
_ROUNDING = 1.0001


class Multiplier(BaseModel):
    """By how much the rates of a profile are to be scaled, or to what."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    op: Literal["abs", "add", "sub"]
    type: Literal["raw", "pps", "bps", "bpsl1", "percentage"]
    value: Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]


def rate_pps(rate: StlRate, mean_bytes: float, line_rate_bps: float) -> float:
    """Frames a second of frames of `mean_bytes`, without FCS."""
    l2_bits = 8 * (mean_bytes + FCS_BYTES)
    l1_bits = l2_bits + 8 * PREAMBLE_AND_GAP_BYTES
    match rate.type:
        case "pps":
            return rate.value
        case "bps_L2":
            return rate.value / l2_bits
        case "bps_L1":
            return rate.value / l1_bits
        case _:
            return rate.value / 100 * line_rate_bps / l1_bits


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """What some streams send together."""

    pps: float = 0.0
    l2_bps: float = 0.0
    l1_bps: float = 0.0

    @classmethod
    def of(cls, streams: Iterable[tuple[float, float]]) -> Bandwidth:
        """From rates in pps and mean lengths without FCS."""
        listed = list(streams)
        pps = sum(rate for rate, _ in listed)
        l2_bps = sum(rate * 8 * (length + FCS_BYTES) for rate, length in listed)
        return cls(pps, l2_bps, l2_bps + pps * 8 * PREAMBLE_AND_GAP_BYTES)


@dataclass(frozen=True, slots=True)
class ProfileBandwidth:
    """What a profile sends: what is multiplied, and what is `fixed`, as latency streams are.

    `line_rate_bps` is L1.
    """

    varied: Bandwidth
    fixed: Bandwidth
    line_rate_bps: float

    def l1_bps(self, factor: float) -> float:
        """All of it, at a factor."""
        return self.varied.l1_bps * factor + self.fixed.l1_bps

    def factor(self, multiplier: Multiplier, now: float, *, force: bool) -> float:
        """The factor that a multiplier comes to; `now` is that in use. Raises InputError."""
        named = self._named(multiplier, now)
        if named <= 0:
            raise InputError(f"Factor must be positive, got: {named:g}")
        expected = self.l1_bps(named)
        if not force and expected > self.line_rate_bps * _ROUNDING:
            raise InputError(
                f"Expected L1 B/W: '{expected / 1e9:g} Gbps' exceeds port line rate: "
                f"'{self.line_rate_bps / 1e9:g} Gbps'"
            )
        match multiplier.op:
            case "abs":
                return named
            case "add":
                return now + named
            case _:
                if named >= now:
                    raise InputError("Update request will lower traffic to less than zero")
                return now - named

    def _named(self, multiplier: Multiplier, now: float) -> float:
        value = multiplier.value
        match multiplier.type:
            case "raw":
                return value
            case "pps":
                return _share(value, self.fixed.pps, self.varied.pps, "pps")
            case "bps":
                return _share(value, self.fixed.l2_bps, self.varied.l2_bps, "BPS L2")
            case "bpsl1":
                return _share(value, self.fixed.l1_bps, self.varied.l1_bps, "BPS L1")
            case _ if multiplier.op == "abs":
                selected = value / 100 * self.line_rate_bps
                return _share(selected, self.fixed.l1_bps, self.varied.l1_bps, "BPS L1")
            case _:
                return now * value / 100


def _share(selected: float, fixed: float, varied: float, unit: str) -> float:
    if selected < fixed:
        raise InputError(
            f"current stream configuration enforces a minimum rate of '{fixed:g}' {unit}"
        )
    if varied == 0:
        # Latency streams alone have nothing to multiply.
        return 1.0
    return (selected - fixed) / varied

"""Loads of settings in pps, as a run would tell them."""

from __future__ import annotations

from plimsoll.errors import InputError
from plimsoll.search.strategy.settings import ToPps
from plimsoll.text.units import Rate


def frames_of_64_bytes(line_rate_bps: float | None = None) -> ToPps:
    """Tells loads of 64-byte frames of a profile without a rate of its own."""

    def to_pps(field: str, rate: Rate) -> float:
        try:
            return rate.to_pps(64, line_rate_bps, None)
        except InputError as error:
            raise InputError(error.message, where=f"search.{field}", remedy=error.remedy) from None

    return to_pps

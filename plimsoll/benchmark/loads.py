"""Loads as they are written in an experiment, told in pps per direction."""

from __future__ import annotations

from plimsoll.errors import InputError
from plimsoll.search.settings import ToPps
from plimsoll.traffic.profile import Profile
from plimsoll.traffic.units import Rate


def loads_of_search(profile: Profile, line_rate_bps: float | None) -> ToPps:
    """Tells a load of the experiment's `search` in pps per direction of this profile.

    What it returns raises InputError naming the field, where the load is a share of
    something that is not known.
    """

    def to_pps(field: str, rate: Rate) -> float:
        try:
            return rate.to_pps(profile.mean_frame_size, line_rate_bps, profile.rate_pps)
        except InputError as error:
            raise InputError(error.message, where=f"search.{field}", remedy=error.remedy) from None

    return to_pps

"""Loads as they are written in an experiment, in pps per direction."""

from __future__ import annotations

from plimsoll.benchmark.experiment.experiment import Experiment
from plimsoll.errors import InputError
from plimsoll.search.strategy.settings import ToPps
from plimsoll.search.text.wire import max_pps
from plimsoll.text.units import Rate, format_number, format_pps
from plimsoll.traffic.streams.profile import Profile

# Of floating point: 100 % is within the line rate.
_ROUNDING = 1e-9


def loads_of_search(experiment: Experiment, line_rate_bps: float | None) -> ToPps:
    """Tells a load of the experiment's `search` in pps per direction of this profile.

    What it returns raises InputError naming the field, where the load is a share of
    something that is not known.
    """

    def to_pps(field: str, rate: Rate) -> float:
        return load_within_line(rate, experiment, line_rate_bps, f"search.{field}")

    return to_pps


def load_in_pps(rate: Rate, profile: Profile, line_rate_bps: float | None, where: str) -> float:
    """A load in pps per direction of this profile, given at `where`.

    Raises InputError where it is a share of something that is not known.
    """
    try:
        return profile.pps_of(rate, line_rate_bps)
    except InputError as error:
        raise InputError(error.message, where=where, remedy=error.remedy) from None


def load_within_line(
    rate: Rate, experiment: Experiment, line_rate_bps: float | None, where: str
) -> float:
    """The same; also raises InputError for more than the line carries, if its rate is known."""
    with experiment.with_source_locations():
        load_pps = load_in_pps(rate, experiment.profile, line_rate_bps, where)
        if line_rate_bps is not None:
            _check_within_line(load_pps, experiment.profile, line_rate_bps, where)
    return load_pps


def _check_within_line(load_pps: float, profile: Profile, line_rate_bps: float, where: str) -> None:
    most_pps = max_pps(profile.mean_frame_size, line_rate_bps)
    if load_pps > most_pps * (1 + _ROUNDING):
        raise InputError(
            f"a load of {format_pps(load_pps)} per direction is "
            f"{format_number(100 * load_pps / most_pps)} % of the line rate of "
            f"{format_number(line_rate_bps / 1e9)} Gbps, which carries {format_pps(most_pps)} of "
            "these frames",
            where=where,
            remedy="give at most 100%, or correct the lab's line rate",
        )

"""The settings of a latency-at-load run, apart from its experiment."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.benchmark.experiment.trial_settings import check_trial_duration
from plimsoll.errors import InputError
from plimsoll.methods.latency_at_load.result import RateFrom
from plimsoll.text.units import RateField

_STANDARD_S, _QUICK_S = 60.0, 2.0


class LatencyAtLoadSettings(BaseModel):
    """A trial of `trial_s` at each of the loads, in percent of the rate.

    `rate` is null where the experiment's search is to find it first.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    quick: bool = False
    percents: Annotated[tuple[float, ...], Field(min_length=1)] = (0.0, 10.0, 50.0, 90.0)
    trial_s: float = _STANDARD_S
    rate: RateField | None = None
    rate_from: RateFrom = "search"

    @classmethod
    def quickly(cls) -> Self:
        """Durations for demos and CI."""
        return cls(quick=True, trial_s=_QUICK_S)

    def check(self) -> None:
        """Raise InputError, naming the option, where no run can be like this."""
        check_trial_duration(self.trial_s, "--duration")
        for percent in self.percents:
            if not 0 <= percent <= 1000:
                raise InputError(
                    f"{percent:g} % is not a share of the rate",
                    where="--loads",
                    remedy="give percents from 0 (probes alone) to 1000, such as 0,10,50,90",
                )

"""The settings of a probe, apart from its experiment."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from plimsoll.benchmark.experiment.trial_settings import check_trial_duration
from plimsoll.errors import InputError
from plimsoll.generator.generator_plan import GeneratorPlan
from plimsoll.text.units import RateField, format_pps

# The engine's own bounds of the time after which a probe is given up.
_MIN_TIMEOUT_US, _MAX_TIMEOUT_US = 1.0, 10e6
_LINES = 60
_SHORTEST_WINDOW_S, _LONGEST_WINDOW_S = 1.0, 60.0


class ProbeSettings(BaseModel):
    """One frame in flight a direction for so long; `rate` is what it may not exceed.

    The defaults are those of the seed article's runs, which lasted eight hours.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    quick: bool = False
    duration_s: Annotated[float, Field(gt=0)] = 8 * 3600.0
    rate: RateField = Field(default="10kpps", validate_default=True)
    timeout_us: Annotated[float, Field(ge=_MIN_TIMEOUT_US, le=_MAX_TIMEOUT_US)] = 100_000.0

    @classmethod
    def quickly(cls) -> Self:
        """A look, for demos and CI."""
        return cls(quick=True, duration_s=10.0)

    @property
    def window_s(self) -> float:
        """How long a line of the report is: a sixtieth of the run, from a second to a minute."""
        return min(_LONGEST_WINDOW_S, max(_SHORTEST_WINDOW_S, self.duration_s / _LINES))

    def check(self, generator: GeneratorPlan) -> None:
        """Raise InputError, naming the option, where the generator sends no such probes."""
        check_trial_duration(self.duration_s, "--duration")
        if self.rate.unit != "pps":
            raise InputError(
                f"{self.rate} is not the rate of a probe",
                where="--rate",
                remedy="give it in pps, such as 10kpps",
            )
        able = generator.capabilities
        if not able.least_pps <= self.rate.value <= able.most_pps:
            raise InputError(
                f"the generator sends no probes at {self.rate}",
                where="--rate",
                remedy=f"give {format_pps(able.least_pps)} to {format_pps(able.most_pps)}",
            )

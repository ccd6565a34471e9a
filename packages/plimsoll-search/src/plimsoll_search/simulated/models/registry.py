"""Every simulated DUT there is. A new one is a file in a room here and a member of the union."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from .capacity.diurnal import Diurnal
from .capacity.link_flaps import LinkFlaps
from .capacity.steady import Asymmetric, FixedCapacity, StallingTester
from .dut_model import DutModel
from .losses.leaking import Queueing, RandomLoss, SoftKnee
from .memory.overloaded import Hysteresis, OverloadCollapse
from .memory.temperature import ThermalThrottling, WarmUp
from .memory.tiring import CapacitySteps, Drift
from .stalls.garbage_collector import GarbageCollector
from .stalls.noisy_neighbour import NoisyNeighbour
from .stalls.rare_stalls import ChangingBuffer, Housekeeping, RareStalls
from .stalls.slow_phases import Rekeying, SlowPhases

# The model of a simulated lab, distinguished by `kind`.
ModelSettings = Annotated[
    FixedCapacity
    | SoftKnee
    | RareStalls
    | RandomLoss
    | Queueing
    | OverloadCollapse
    | WarmUp
    | Drift
    | Asymmetric
    | StallingTester
    | Housekeeping
    | SlowPhases
    | Rekeying
    | ThermalThrottling
    | GarbageCollector
    | LinkFlaps
    | Diurnal
    | Hysteresis
    | CapacitySteps
    | NoisyNeighbour
    | ChangingBuffer,
    Field(discriminator="kind"),
]


def model_kinds() -> dict[str, type[DutModel]]:
    """Every model by its kind, all settings of which have defaults."""
    models: tuple[type[DutModel], ...] = get_args(get_args(ModelSettings)[0])
    return {model.model_fields["kind"].default: model for model in models}

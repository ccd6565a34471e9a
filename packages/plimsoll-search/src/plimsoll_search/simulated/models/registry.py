"""Every simulated DUT there is. A new one is a file in a room here and a member of the union."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from .capacity.asymmetric import Asymmetric
from .capacity.diurnal import Diurnal
from .capacity.fixed_capacity import FixedCapacity
from .capacity.link_flaps import LinkFlaps
from .capacity.stalling_tester import StallingTester
from .dut_model import DutModel
from .losses.queueing import Queueing
from .losses.random_loss import RandomLoss
from .losses.soft_knee import SoftKnee
from .memory.drift import Drift
from .memory.hysteresis import Hysteresis
from .memory.overload_collapse import OverloadCollapse
from .memory.steps import CapacitySteps
from .memory.thermal import ThermalThrottling
from .memory.warm_up import WarmUp
from .stalls.changing_buffer import ChangingBuffer
from .stalls.garbage_collector import GarbageCollector
from .stalls.housekeeping import Housekeeping
from .stalls.noisy_neighbour import NoisyNeighbour
from .stalls.rare_stalls import RareStalls
from .stalls.rekeying import Rekeying
from .stalls.slow_phases import SlowPhases

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

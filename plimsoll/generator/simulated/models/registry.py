"""Every simulated DUT there is. A new one is a file in a room here and a member of the union."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from plimsoll.generator.simulated.models.capacity.asymmetric import Asymmetric
from plimsoll.generator.simulated.models.capacity.diurnal import Diurnal
from plimsoll.generator.simulated.models.capacity.fixed_capacity import FixedCapacity
from plimsoll.generator.simulated.models.capacity.link_flaps import LinkFlaps
from plimsoll.generator.simulated.models.capacity.stalling_tester import StallingTester
from plimsoll.generator.simulated.models.dut_model import DutModel
from plimsoll.generator.simulated.models.losses.queueing import Queueing
from plimsoll.generator.simulated.models.losses.random_loss import RandomLoss
from plimsoll.generator.simulated.models.losses.soft_knee import SoftKnee
from plimsoll.generator.simulated.models.memory.drift import Drift
from plimsoll.generator.simulated.models.memory.hysteresis import Hysteresis
from plimsoll.generator.simulated.models.memory.overload_collapse import OverloadCollapse
from plimsoll.generator.simulated.models.memory.steps import CapacitySteps
from plimsoll.generator.simulated.models.memory.thermal import ThermalThrottling
from plimsoll.generator.simulated.models.memory.warm_up import WarmUp
from plimsoll.generator.simulated.models.stalls.changing_buffer import ChangingBuffer
from plimsoll.generator.simulated.models.stalls.garbage_collector import GarbageCollector
from plimsoll.generator.simulated.models.stalls.housekeeping import Housekeeping
from plimsoll.generator.simulated.models.stalls.noisy_neighbour import NoisyNeighbour
from plimsoll.generator.simulated.models.stalls.rare_stalls import RareStalls
from plimsoll.generator.simulated.models.stalls.rekeying import Rekeying
from plimsoll.generator.simulated.models.stalls.slow_phases import SlowPhases

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

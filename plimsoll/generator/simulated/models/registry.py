"""Every simulated DUT there is. A new one is a file beside this one and a member of the union."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from plimsoll.generator.simulated.models.asymmetric import Asymmetric
from plimsoll.generator.simulated.models.drift import Drift
from plimsoll.generator.simulated.models.dut_model import DutModel
from plimsoll.generator.simulated.models.fixed_capacity import FixedCapacity
from plimsoll.generator.simulated.models.overload_collapse import OverloadCollapse
from plimsoll.generator.simulated.models.queueing import Queueing
from plimsoll.generator.simulated.models.random_loss import RandomLoss
from plimsoll.generator.simulated.models.rare_stalls import RareStalls
from plimsoll.generator.simulated.models.soft_knee import SoftKnee
from plimsoll.generator.simulated.models.stalling_tester import StallingTester
from plimsoll.generator.simulated.models.warm_up import WarmUp

# The model of a simulated lab, told apart by `kind`.
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
    | StallingTester,
    Field(discriminator="kind"),
]


def model_kinds() -> dict[str, type[DutModel]]:
    """Every model by its kind, all settings of which have defaults."""
    models: tuple[type[DutModel], ...] = get_args(get_args(ModelSettings)[0])
    return {model.model_fields["kind"].default: model for model in models}

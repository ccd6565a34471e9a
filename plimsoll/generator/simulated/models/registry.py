"""Every simulated DUT there is. A new one is a file beside this one and a member of the union."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from plimsoll.generator.simulated.models.fixed_capacity import FixedCapacity

# The model of a simulated lab, told apart by `kind`.
ModelSettings = Annotated[FixedCapacity, Field()]

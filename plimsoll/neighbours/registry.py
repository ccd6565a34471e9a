"""The kinds of neighbour there are. A new kind is one file, and one line here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from plimsoll.neighbours.memory import MemorySettings
from plimsoll.neighbours.stress_ng import StressNgSettings

NeighbourSettings = Annotated[StressNgSettings | MemorySettings, Field(discriminator="kind")]

"""Every strategy there is. A new one is a SearchModel, and a member of the union here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from plimsoll.search.binary.settings import BinarySettings
from plimsoll.search.checkpoints.settings import CheckpointSettings
from plimsoll.search.load_line.settings import LoadLineSettings
from plimsoll.search.mlrsearch.settings import MlrSettings

# An experiment's `search`.
SearchSettings = Annotated[
    BinarySettings | MlrSettings | CheckpointSettings | LoadLineSettings,
    Field(discriminator="strategy"),
]

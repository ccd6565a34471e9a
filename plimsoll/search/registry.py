"""Every strategy there is. A new one is a SearchModel, and a member of the union here."""

from __future__ import annotations

from typing import Annotated, get_args

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


def strategies() -> tuple[str, ...]:
    """What an experiment's `search.strategy` may be."""
    union, _ = get_args(SearchSettings)
    return tuple(
        get_args(model.model_fields["strategy"].annotation)[0] for model in get_args(union)
    )

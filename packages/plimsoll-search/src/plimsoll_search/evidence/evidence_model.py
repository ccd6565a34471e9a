"""What all parts of a trial's evidence have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, with_config

# Of a dataclass that is a part of a record as it is: a field that it does not have is damage.
recorded = with_config(ConfigDict(extra="forbid"))


class EvidenceModel(BaseModel):
    """Plain JSON of its fields alone; made from any object with the same attributes.

    Each is built when first used, not when it is imported: a program needs few of them.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        from_attributes=True,
        ser_json_inf_nan="null",
        defer_build=True,
    )

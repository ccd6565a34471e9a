"""What a BMC said of a host's firmware settings."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class BiosAnswer(BaseModel):
    """`where` is the URL of the Bios resource, `vendor` the name of the map that fits.

    Of the attributes only those that the vendor's map names are kept: the others hold
    serial numbers, asset tags and hashes of passwords. `vendor` is None where no map fits;
    `manufacturer` says what the BMC called itself.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    where: str
    manufacturer: str
    model: str
    bios_version: str
    vendor: str | None
    attributes: dict[str, str]

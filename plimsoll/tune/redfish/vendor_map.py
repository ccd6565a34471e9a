"""What each vendor calls the firmware settings that an intent is about.

A map is a YAML file in maps/, with the source of each name. Redfish (DSP2046, schema Bios)
leaves names and values of BIOS attributes to the vendor.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from plimsoll.text.document import parse_document

FirmwareSetting = Literal["smt", "turbo", "c_states", "aspm", "power_profile"]
SETTINGS: tuple[FirmwareSetting, ...] = ("smt", "turbo", "c_states", "aspm", "power_profile")
# What a value means. "deferred": another attribute of the setting says it.
# "elsewhere": none does, for the operating system decides, or nothing does.
Meaning = Literal[
    "on", "off", "max-performance", "balanced", "power-saving", "deferred", "elsewhere"
]

_MAPS = files("plimsoll.tune.redfish") / "maps"
_ANY = "*"
# With which name the vendors' tools list it; the number of a slot in a name.
_NUMBER = r"\d+"


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class AttributeRule(_Part):
    """One attribute: `*` in its name is a number; `*` as a value is any other one.

    `source` says where name and values are published; `derived` is true where the name is
    made from the label of the setup menu by the vendor's rule, and was not seen itself.
    """

    attribute: str
    values: dict[Meaning, list[str]]
    source: str
    derived: bool = False

    def meaning(self, value: str) -> Meaning | None:
        """What `value` means, whatever its case and blanks; None where the map does not say."""
        any_other: Meaning | None = None
        for meaning, values in self.values.items():
            if _plain(value) in map(_plain, values):
                return meaning
            if _ANY in values:
                any_other = meaning
        return any_other

    def names(self, name: str) -> bool:
        """Whether `name`, without a vendor's suffix, is this attribute."""
        pieces = (re.escape(piece) for piece in self.attribute.split(_ANY))
        return re.fullmatch(_NUMBER.join(pieces), name, re.IGNORECASE | re.ASCII) is not None


class VendorMap(_Part):
    """`manufacturers` are how the vendor's systems begin to name their maker, in lower case.

    `suffix` is what firmware adds to names, as a regular expression.
    """

    vendor: str
    manufacturers: list[str]
    suffix: str | None = None
    settings: dict[FirmwareSetting, list[AttributeRule]]

    def plain_name(self, name: str) -> str:
        """An attribute's name without the suffix."""
        return re.sub(f"(?:{self.suffix})$", "", name) if self.suffix else name

    def knows(self, name: str) -> bool:
        """Whether the attribute says something of a setting."""
        plain = self.plain_name(name)
        return any(rule.names(plain) for rules in self.settings.values() for rule in rules)


@cache
def vendor_maps() -> tuple[VendorMap, ...]:
    """Every map, by file name."""
    found = sorted(_MAPS.iterdir(), key=lambda each: each.name)
    return tuple(
        parse_document(Path(each.name), each.read_text(encoding="utf-8")).validate(VendorMap)
        for each in found
        if each.name.endswith(".yaml")
    )


def map_of(manufacturer: str) -> VendorMap | None:
    """The map for systems of that maker, as their BMC names it."""
    name = manufacturer.strip().lower()
    for each in vendor_maps():
        if name.startswith(tuple(each.manufacturers)):
            return each
    return None


def map_named(vendor: str) -> VendorMap | None:
    """The map of that vendor."""
    return next((each for each in vendor_maps() if each.vendor == vendor), None)


def _plain(value: str) -> str:
    return "".join(value.split()).lower()

"""What each vendor calls the firmware settings that an intent is about.

A map is a YAML file in maps/, with the source of each name. Redfish (DSP2046, schema Bios)
leaves names and values of BIOS attributes to the vendor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from plimsoll.text.document import parse_document
from plimsoll.tune.host.view.host_view import BiosAnswer

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


# Of attributes that disagree the first of these counts: one that is on is enough, an unknown
# value must not pass for another, and of profiles the one that saves more power is felt.
_WORST: tuple[Meaning | None, ...] = (
    "on",
    None,
    "power-saving",
    "balanced",
    "elsewhere",
    "max-performance",
    "off",
    "deferred",
)


@dataclass(frozen=True, slots=True)
class SettingFound:
    """`attributes` are the names and values that tell; `meaning` what they mean together.

    `meaning` is None where the map knows the attribute and not its value. `derived` is true
    where a name was worked out and not seen.
    """

    attributes: tuple[tuple[str, str], ...]
    meaning: Meaning | None
    derived: bool

    @property
    def shown(self) -> str:
        """The attributes as `name value, name value`."""
        return ", ".join(f"{name} {value}" for name, value in self.attributes)


@dataclass(frozen=True, slots=True)
class _Attribute:
    name: str
    value: str
    meaning: Meaning | None
    derived: bool


def find_setting(
    answer: BiosAnswer, known: VendorMap, setting: FirmwareSetting
) -> SettingFound | None:
    """What all attributes of the setting together say; None where the answer has none of them.

    Those that defer to others count only where there are no others. Where they disagree, those
    that decide are listed.
    """
    rules = known.settings.get(setting, [])
    found = [each for rule in rules for each in _attributes(answer, known, rule)]
    telling = [each for each in found if each.meaning != "deferred"] or found
    if not telling:
        return None
    meaning = min((each.meaning for each in telling), key=_WORST.index)
    decisive = [each for each in telling if each.meaning == meaning]
    return SettingFound(
        tuple((each.name, each.value) for each in decisive),
        meaning,
        any(each.derived for each in decisive),
    )


def _attributes(answer: BiosAnswer, known: VendorMap, rule: AttributeRule) -> Iterator[_Attribute]:
    for name, value in sorted(answer.attributes.items()):
        if rule.names(known.plain_name(name)):
            yield _Attribute(name, value, rule.meaning(value), rule.derived)

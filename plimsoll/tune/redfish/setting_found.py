"""What a BMC's answer says of one firmware setting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll.tune.host.view.bios_answer import BiosAnswer
from plimsoll.tune.redfish.vendor_map import AttributeRule, FirmwareSetting, Meaning, VendorMap

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

"""What a BMC's answer says of one firmware setting."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.tune.redfish.bios_answer import BiosAnswer
from plimsoll.tune.redfish.vendor_map import AttributeRule, Meaning, Setting, VendorMap


@dataclass(frozen=True, slots=True)
class SettingFound:
    """`attributes` are the names and values that tell; `meaning` what they mean together.

    `meaning` is None where the map knows the attribute and not its value. `derived` is true
    where the name was worked out and not seen.
    """

    attributes: tuple[tuple[str, str], ...]
    meaning: Meaning | None
    derived: bool

    @property
    def told(self) -> str:
        """The attributes as `name value, name value`."""
        return ", ".join(f"{name} {value}" for name, value in self.attributes)


def find_setting(answer: BiosAnswer, known: VendorMap, setting: Setting) -> SettingFound | None:
    """The first rule of the setting that the answer has attributes for and that is not deferred.

    Where all defer, the last of them; None where the answer has none of them.
    """
    found: SettingFound | None = None
    for rule in known.settings.get(setting, []):
        named = tuple(
            (name, value)
            for name, value in sorted(answer.attributes.items())
            if rule.names(known.plain_name(name))
        )
        if not named:
            continue
        found = SettingFound(named, _together(rule, named), rule.derived)
        if found.meaning != "deferred":
            break
    return found


def _together(rule: AttributeRule, named: tuple[tuple[str, str], ...]) -> Meaning | None:
    """One slot where something is on is enough for it to be on."""
    meanings = {rule.meaning(value) for _, value in named}
    if "on" in meanings:
        return "on"
    return meanings.pop() if len(meanings) == 1 else None

"""18: the firmware's settings, which only its BMC can tell."""

from __future__ import annotations

from plimsoll.tune.audit.check import Check
from plimsoll.tune.audit.finding import (
    CheckJudgement,
    Reading,
    advice,
    fail,
    not_applicable,
    ok,
    unknown,
    warn,
    worst_of,
)
from plimsoll.tune.host.view.host_view import BiosAnswer, HostView
from plimsoll.tune.intent.intent import Intent
from plimsoll.tune.intent.system import Bios
from plimsoll.tune.redfish.vendor_map import (
    SETTINGS,
    FirmwareSetting,
    VendorMap,
    find_setting,
    map_named,
)

_WORDS: dict[FirmwareSetting, str] = {
    "smt": "SMT",
    "turbo": "turbo",
    "c_states": "C-states",
    "aspm": "PCIe ASPM",
    "power_profile": "the power profile",
}


def _judge(view: HostView, intent: Intent) -> CheckJudgement:
    wishes = _wishes(intent.bios)
    if not wishes:
        return not_applicable("the intent has no firmware settings")
    answer = view.firmware()
    if answer is None:
        return not_applicable("no BMC was read: plimsoll tune audit --bmc https://…")
    known = map_named(answer.vendor) if answer.vendor else None
    if known is None:
        return unknown(
            f"there is no map of attributes for {answer.manufacturer or 'an unnamed maker'}",
            Reading(answer.where, f"Manufacturer {answer.manufacturer}"),
            expected=", ".join(_expected(setting, wish) for setting, wish in wishes.items()),
        )
    return worst_of(_setting(answer, known, setting, wish) for setting, wish in wishes.items())


def _wishes(bios: Bios) -> dict[FirmwareSetting, str]:
    """What the intent declares, as meanings of the maps."""
    given = ((setting, getattr(bios, setting)) for setting in SETTINGS)
    return {
        setting: value if isinstance(value, str) else "on" if value else "off"
        for setting, value in given
        if value is not None
    }


def _setting(
    answer: BiosAnswer, known: VendorMap, setting: FirmwareSetting, wish: str
) -> CheckJudgement:
    name, expected = _WORDS[setting], _expected(setting, wish)
    found = find_setting(answer, known, setting)
    if found is None:
        rules = known.settings.get(setting, [])
        names = ", ".join(rule.attribute for rule in rules) or "nothing of it"
        return unknown(
            f"{name}: the BMC reports none of {names}",
            Reading(answer.where, f"{known.vendor} {answer.model}"),
            expected=expected,
        )
    worked_out = " (a name worked out from the setup menu's label)" if found.derived else ""
    read = Reading(answer.where, found.shown + worked_out)
    if found.meaning is None:
        return unknown(f"{name}: the map does not know {found.shown}", read, expected=expected)
    if found.meaning in ("deferred", "elsewhere"):
        return warn(f"{name} is left open by {found.shown}", read, expected=expected)
    if found.meaning == wish:
        return ok(f"{name} is {wish}", read, expected=expected)
    return fail(
        f"{name} is {found.meaning} ({found.shown})",
        read,
        expected=expected,
        steps=[advice(f"set {expected} in the setup of the firmware: {found.shown} now")],
    )


def _expected(setting: FirmwareSetting, wish: str) -> str:
    return f"{_WORDS[setting]} {wish}"


CHECK = Check(
    number=18,
    name="bios",
    group="power",
    title="The firmware's settings are the intent's",
    reads=(),
    why=(
        "Two threads of a core share its caches and execution units, turbo moves the "
        "frequency with the temperature, idle states take time to leave, and a PCIe link "
        "asleep delays the first frame. The kernel can undo only part of what the firmware "
        "allows, and some power profiles hide their settings from it. It asks the BMC that --bmc "
        "names, and reads no file of the host."
    ),
    fix=(
        "Set them in the firmware's setup, or with the vendor's tool, and restart. Plimsoll "
        "reads a BMC and never writes to it."
    ),
    sources=(
        "DMTF, DSP2046 (Redfish resources), schema Bios: Attributes",
        "Names by vendor: plimsoll/tune/redfish/maps, each with its source; tested with answers "
        "made by hand after published ones, not with BMCs",
        "Build deterministic OpenShift dataplane performance with TRex: table of BIOS settings",
    ),
    rule=_judge,
)

"""The intent's firmware settings."""

from __future__ import annotations

from typing import Literal

from plimsoll.tune.intent.fields.section import Section, Switch


class Bios(Section):
    """What no manifest can set: a checklist for people, and what Redfish is asked.

    `power_profile` is the vendor's system profile by its purpose.
    """

    smt: Switch = None
    turbo: Switch = None
    c_states: Switch = None
    aspm: Switch = None
    power_profile: Literal["max-performance", "balanced", "power-saving"] | None = None

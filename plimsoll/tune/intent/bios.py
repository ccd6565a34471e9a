"""The intent's firmware settings."""

from __future__ import annotations

from typing import Literal

from plimsoll.tune.intent.fields.section import Section, Switch


class Bios(Section):
    """What no manifest can set: a checklist for people, and what is read over Redfish."""

    smt: Switch = None
    """Several threads a core (Hyper-Threading)."""
    turbo: Switch = None
    """Frequencies above the nominal (Turbo Boost, Core Performance Boost)."""
    c_states: Switch = None
    """Idle power states of the CPUs, C1E and deeper."""
    aspm: Switch = None
    """Active State Power Management: PCIe links that sleep."""
    power_profile: Literal["max-performance", "balanced", "power-saving"] | None = None
    """The vendor's system profile, by its purpose."""

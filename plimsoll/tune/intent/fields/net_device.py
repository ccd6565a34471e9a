"""The kernel-driven interfaces whose queues user_level_networking is to count."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from plimsoll.text.mistakes import mistake
from plimsoll.tune.intent.fields.section import Section, Word
from plimsoll.tune.intent.nic import HexId


class NetDevice(Section):
    """By its interface's name, in which `*` and a leading `!` have TuneD's meaning; or by kind."""

    interface: Word | None = None
    """The interface's name, in which `*` and a leading `!` have TuneD's meaning."""
    vendor: HexId | None = None
    """PCI vendor, four hexadecimal digits; instead of the interface."""
    device_id: HexId | None = None
    """PCI device, four hexadecimal digits; it needs `vendor`."""

    @model_validator(mode="after")
    def _check_named(self) -> Self:
        """The Node Tuning Operator's own rule: a device's id needs its vendor's."""
        if not (self.interface or self.vendor):
            raise mistake("names no device", "add interface, or vendor with device_id")
        return self

"""Waiting for the links of a generator's ports."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plimsoll.errors import MachineError
from plimsoll.generator.interface import PortInfo
from plimsoll.generator.port_streams import linked_ports
from tests.worded.says import Says


def looks(*states: tuple[bool, bool]) -> Callable[[], tuple[PortInfo, ...]]:
    """Two ports, with such links at each look; the last look's for good."""
    left = list(states)

    def look() -> tuple[PortInfo, ...]:
        up = left.pop(0) if len(left) > 1 else left[0]
        return tuple(
            PortInfo(number, f"net_x{number}", "net_x", "", link_up, None)
            for number, link_up in enumerate(up)
        )

    return look


def test_ports_are_as_they_are_once_all_are_up() -> None:
    ports = linked_ports(looks((False, True), (True, True)), 20.0)
    assert [(port.port, port.link_up) for port in ports] == [(0, True), (1, True)]


def test_those_that_stay_down_are_named(says: Says) -> None:
    with pytest.raises(MachineError) as caught:
        linked_ports(looks((True, False)), 0.1)
    assert caught.value == says("net_x1", "0.1")

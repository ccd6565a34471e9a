"""Waiting for the links of a generator's ports."""

from __future__ import annotations

from collections.abc import Callable

from plimsoll.errors import MachineError
from plimsoll.generator.interface import PortInfo
from plimsoll.host.processes.comes_true import comes_true

_LOOK_EVERY_S = 0.05


def linked_ports(look: Callable[[], tuple[PortInfo, ...]], wait_s: float) -> tuple[PortInfo, ...]:
    """The ports as `look` sees them once all have links. Raises MachineError after `wait_s`."""
    ports: tuple[PortInfo, ...] = ()

    def are_up() -> bool:
        nonlocal ports
        ports = look()
        return all(port.link_up for port in ports)

    if comes_true(are_up, wait_s, every_s=_LOOK_EVERY_S):
        return ports
    down = ", ".join(port.devargs for port in ports if not port.link_up)
    raise MachineError(
        f"{down} still without link after {wait_s:g} s",
        where="generator",
        remedy="check that the DUT runs and opened its end",
    )

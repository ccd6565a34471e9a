"""Links of ports, taken down and brought up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from plimsoll.errors import InputError
from plimsoll.generator.interface import GeneratorRefused
from plimsoll.remote.otg.flows.ends import OtgPort
from plimsoll.remote.otg.model.given import Given
from plimsoll.remote.otg.model.published import Refusal
from plimsoll.remote.otg.session.transmission import FlowTraffic


class PortLinks:
    """The links of one configuration's ports, over live traffic."""

    def __init__(self, traffic: FlowTraffic) -> None:
        self._traffic = traffic
        self._ports: Mapping[str, OtgPort] = {}
        self._down: set[int] = set()

    def replace_all(self, ports: Mapping[str, OtgPort]) -> None:
        """Bring all links up that were taken down, and know these ports. Raises PlimsollError."""
        for number in sorted(self._down):
            self._set(number, up=True)
        self._ports = dict(ports)

    def set_state(self, given: Given) -> list[str]:
        """Take those that are named down or up, by default all; all of them or none.

        Warnings are of links that are not so yet, as a card's that comes up.
        """
        names = given.names("port_names") or list(self._ports)
        for name in names:
            if name not in self._ports:
                raise given.refused("port_names", f"there is no port {name!r}")
        up = given.text("state") == "up"
        changed: list[int] = []
        warnings: list[str] = []
        for name in dict.fromkeys(names):
            number = self._ports[name].number
            before = number not in self._down
            try:
                is_up = self._set(number, up=up)
            except (InputError, GeneratorRefused) as error:
                self._undo(changed, up=not up)
                raise _refused(given, name, error) from error
            if before != up:
                changed.append(number)
            if is_up != up:
                still = "up" if is_up else "down"
                warnings.append(f"the link of {name} is still {still}: watch it in port metrics")
        return warnings

    def _set(self, number: int, *, up: bool) -> bool:
        is_up = self._traffic.set_link(number, up=up)
        if up:
            self._down.discard(number)
        else:
            self._down.add(number)
        return is_up

    def _undo(self, numbers: Sequence[int], *, up: bool) -> None:
        for number in numbers:
            self._set(number, up=up)


def _refused(given: Given, name: str, error: InputError | GeneratorRefused) -> Refusal:
    """At the name where one was given, else at the list that stands for all."""
    listed = given.names("port_names")
    field = f"port_names[{listed.index(name)}]" if name in listed else "port_names"
    return given.refused(field, f"{name}: {error.message}")

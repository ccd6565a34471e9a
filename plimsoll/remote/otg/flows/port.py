"""The ports of a configuration, and which of the tester's they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.remote.otg.model.given import Given
from plimsoll.remote.otg.model.refusal import Refusals
from plimsoll.traffic.frames.packet import MAX_FRAME_SIZE


@dataclass(frozen=True, slots=True)
class OtgPort:
    """An OTG port: its name, the tester's port that its location means, and its speed if known."""

    name: str
    location: str
    number: int
    speed_bps: float | None


@dataclass(frozen=True, slots=True)
class Tester:
    """The tester as flows need it: how many ports, how the lab joins them, and their speed.

    `locations` are further names of ports, by number; `largest_frame_size` is what the ports were
    opened for, in bytes with FCS.
    """

    port_count: int
    paths: tuple[tuple[int, int], ...]
    line_rate_bps: float | None = None
    locations: Mapping[str, int] | None = None
    largest_frame_size: int = MAX_FRAME_SIZE

    def far_end(self, port: int) -> int:
        """The port at which frames from there arrive; itself where the lab has no path."""
        return next((rx for tx, rx in self.paths if tx == port), port)

    def number_of(self, location: str) -> int | None:
        """The port that a location means: its number, `port N`, or a name given to it."""
        named = (self.locations or {}).get(location)
        if named is not None:
            return named
        digits = location.removeprefix("port").strip()
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 4 else -1
        return number if 0 <= number < self.port_count else None


def read_ports(
    config: Given, tester: Tester, refusals: Refusals
) -> tuple[dict[str, OtgPort], list[str]]:
    """Ports by name, and warnings. Each location means a port of its own."""
    speeds, warnings = _layer1(config)
    ports: dict[str, OtgPort] = {}
    for given in config.parts("ports"):
        with refusals.collecting(given):
            name, location = given.text("name"), given.text("location")
            number = tester.number_of(location)
            if number is None:
                known = [*map(str, range(tester.port_count)), *(tester.locations or {})]
                raise given.refused(
                    "location", f"there is no port {location!r}", f"use one of {', '.join(known)}"
                )
            if name in ports or number in {port.number for port in ports.values()}:
                raise given.refused("name" if name in ports else "location", "another port has it")
            speed = tester.line_rate_bps or speeds.get(name)
            ports[name] = OtgPort(name, location, number, speed)
    return ports, warnings


def _layer1(config: Given) -> tuple[dict[str, float], list[str]]:
    """Speeds in bit/s by port name: what rates in percent are of where a port has no speed."""
    speeds: dict[str, float] = {}
    warnings = []
    for given in config.parts("layer1"):
        given.leave(
            "name", "media", "promiscuous", "mtu", "ieee_media_defaults", "auto_negotiate",
            "auto_negotiation", "flow_control",
        )  # fmt: skip
        names = given.names("port_names")
        speed = given.text("speed")
        if speed:
            speeds |= dict.fromkeys(names, _speed_bps(speed))
        warnings.append(
            f"{given.path}: links stay as they are"
            + (f"; {speed} is what rates in percent are of" if speed else "")
        )
    return speeds, warnings


def _speed_bps(speed: str) -> float:
    """Of one of OTG's names, such as speed_10_gbps or speed_100_fd_mbps."""
    parts = speed.split("_")
    return float(parts[1]) * (1e9 if parts[-1] == "gbps" else 1e6)

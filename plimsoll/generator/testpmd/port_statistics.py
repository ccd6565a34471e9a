"""What testpmd says of its ports, read."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PORT = re.compile(r"NIC statistics for port (\d+)")
_COUNT = re.compile(r"([RT]X-[a-z]+): +(\d+)")
_MBPS = {"Mbps": 1, "Gbps": 1000}


@dataclass(frozen=True, slots=True)
class PortStatistics:
    """A port's counters since it was started."""

    received: int
    rx_missed: int
    rx_errors: int
    rx_no_mbuf: int
    sent: int


@dataclass(frozen=True, slots=True)
class PortDescription:
    """A port as testpmd describes it; `link_mbps` is None where it has no speed."""

    device: str
    driver: str
    mac: str
    link_up: bool
    link_mbps: int | None


def read_statistics(said: str) -> dict[int, PortStatistics]:
    """By port, from the answer to `show port stats all`. Raises ValueError where one is short."""
    parts = _PORT.split(said)[1:]
    return {
        int(number): _statistics(number, text)
        for number, text in zip(parts[::2], parts[1::2], strict=True)
    }


def read_description(said: str) -> PortDescription:
    """From the answer to `show port info N`. Raises ValueError where a line is missing."""
    speed = re.search(r"^Link speed: (\d+(?:\.\d+)?) ([MG]bps)", said, re.MULTILINE)
    return PortDescription(
        device=_line(said, "Device name"),
        driver=_line(said, "Driver name"),
        mac=_line(said, "MAC address").lower(),
        link_up=_line(said, "Link status") == "up",
        link_mbps=round(float(speed[1]) * _MBPS[speed[2]]) if speed else None,
    )


def _statistics(number: str, text: str) -> PortStatistics:
    counts = {name: int(count) for name, count in _COUNT.findall(text)}
    try:
        return PortStatistics(
            received=counts["RX-packets"],
            rx_missed=counts["RX-missed"],
            rx_errors=counts["RX-errors"],
            rx_no_mbuf=counts["RX-nombuf"],
            sent=counts["TX-packets"],
        )
    except KeyError as error:
        raise ValueError(f"no {error.args[0]} among the statistics of port {number}") from error


def _line(said: str, name: str) -> str:
    found = re.search(rf"^{name}: *(\S+)", said, re.MULTILINE)
    if found is None:
        raise ValueError(f"no {name!r} in the description of a port")
    return found[1]

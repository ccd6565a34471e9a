"""The devices of a binary-search.py command line, as the lab and the generator that use them."""

from __future__ import annotations

import re
from typing import Any

from plimsoll.benchmark.trafficgen.command import TrafficgenCommand
from plimsoll.benchmark.trafficgen.trex_config import TrexConfig, device_of
from plimsoll.errors import InputError
from plimsoll.text.commented_yaml import Noted

_PAIR = re.compile(r"(\d{1,3}):(\d{1,3})")
_SAME_AS_DEVICES = "--"


def lab_section(command: TrafficgenCommand, trex: TrexConfig | None) -> dict[str, Any]:
    """A lab of kind external between the devices. Raises InputError."""
    pairs = _pairs(command, "device-pairs")
    active = pairs
    if command["active-device-pairs"] != _SAME_AS_DEVICES:
        active = _pairs(command, "active-device-pairs")
    devices = devices_of(command)
    section: dict[str, Any] = {
        "kind": "external",
        "ports": [{"devargs": _devargs(device, trex)} for device in devices],
    }
    numbers = {device: number for number, device in enumerate(devices)}
    if unknown := [device for pair in active for device in pair if device not in numbers]:
        raise InputError(
            f"device {unknown[0]} is in none of --device-pairs",
            where="--active-device-pairs",
            remedy="name pairs of --device-pairs",
        )
    paths = [[numbers[one], numbers[other]] for a, b in active for one, other in ((a, b), (b, a))]
    origin = command.origin("active-device-pairs" if active != pairs else "device-pairs")
    section["paths"] = Noted(paths, origin)
    if trex is not None and trex.port_gbps is not None:
        rate = f"{trex.port_gbps:g}Gbps"
        section["line_rate"] = Noted(rate, "port_bandwidth_gb of TRex's configuration")
    return section


def generator_section(command: TrafficgenCommand, trex: TrexConfig | None) -> dict[str, Any]:
    """TRex's CPUs, where the engine can use as many; empty where none are known."""
    ports = len(devices_of(command))
    if trex is None or not trex.cpus or len(trex.cpus) % ports:
        return {}
    return {"cpus": Noted(list(trex.cpus), "threads of TRex's configuration")}


def devices_of(command: TrafficgenCommand) -> list[int]:
    """TRex's numbers of the devices, each once, in the order of the pairs."""
    pairs = _pairs(command, "device-pairs")
    return list(dict.fromkeys(device for pair in pairs for device in pair))


def _devargs(device: int, trex: TrexConfig | None) -> Any:
    if trex is not None:
        return Noted(device_of(trex, device), f"device {device}")
    return Noted(f"trex-device-{device}", f"put device {device}'s PCI address here")


def _pairs(command: TrafficgenCommand, name: str) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for written in command.text(name).split(","):
        match = _PAIR.fullmatch(written)
        if match is None or int(match[1]) == int(match[2]):
            raise InputError(
                f"{written!r} is not a pair of devices",
                where=f"--{name}",
                remedy="write it as 0:1, or 0:1,2:3",
            )
        pairs.append((int(match[1]), int(match[2])))
    return pairs

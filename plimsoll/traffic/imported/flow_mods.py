"""bench-trafficgen's flow_mods: a Python call kept as text, parsed here and never run."""

from __future__ import annotations

import re

from plimsoll.errors import InputError
from plimsoll.text.mistakes import did_you_mean

_CALL = re.compile(r"\s*function:create_flow_mod_object\s*\((.*)\)\s*", re.DOTALL)
_ARGUMENT = re.compile(r"\s*(\w+)\s*=\s*(True|False)\s*")
_NAMES = ("src_mac", "dst_mac", "src_ip", "dst_ip", "src_port", "dst_port", "protocol")
_ARGUMENTS = {f"use_{name}_flows": name for name in _NAMES}
_REMEDY = "write function:create_flow_mod_object(use_dst_ip_flows=True)"


def parse_flow_mods(text: str) -> tuple[str, ...]:
    """The fields that change per flow, e.g. ("dst_ip",), in the order of a frame's writing.

    Raises InputError, without a place, for anything but one call of
    create_flow_mod_object with keywords that are True or False.
    """
    call = _CALL.fullmatch(text)
    if call is None:
        raise InputError(f"{text[:80]!r} is not a call of create_flow_mod_object", remedy=_REMEDY)
    arguments = call[1].split(",")
    if not arguments[-1].strip() and (len(arguments) == 1 or arguments[-2].strip()):
        # No argument at all, or Python's trailing comma.
        arguments.pop()
    chosen: dict[str, bool] = {}
    for argument in arguments:
        name, value = _parse_argument(argument)
        if name in chosen:
            raise InputError(f"use_{name}_flows is given twice", remedy="give it once")
        chosen[name] = value
    return tuple(name for name in _NAMES if chosen.get(name))


def _parse_argument(argument: str) -> tuple[str, bool]:
    match = _ARGUMENT.fullmatch(argument)
    if match is None:
        raise InputError(
            f"{argument.strip()[:80]!r} is not keyword=True or keyword=False", remedy=_REMEDY
        )
    if match[1] not in _ARGUMENTS:
        remedy = did_you_mean(match[1], _ARGUMENTS)
        raise InputError(f"unknown keyword {match[1]!r}", remedy=remedy)
    return _ARGUMENTS[match[1]], match[2] == "True"

"""What a capture takes of the output of commands: the lines and fields that the audit reads.

lspci and devlink tell serial numbers, ip the MAC addresses of VFs and what people wrote as an
interface's alias; nothing of that is judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from plimsoll.host.ports.pci_address import is_pci_address
from plimsoll.tune.host.view.commands import form_of

_DRIVER_LINE = re.compile(r"(?:driver|version|firmware-version):")
_PAUSE_LINE = re.compile(r"(?:RX|TX)(?: negotiated)?:\s*(?:on|off)\s*")
_DEVLINK_LINE = re.compile(r"pci/[0-9a-f:.]+:|\s*fw\.app\.name(?:\s.*)?")
_LSPCI_FIELD = re.compile(r"MaxReadReq \d+ bytes|LnkCtl:\s*ASPM [^;\n]+;")


def kept_output(command: str, text: str) -> str:
    """What a capture takes of a command's output; it is judged as the whole is.

    Raises ValueError, saying why, for a command without a declared reader.
    """
    rule = _RULES.get(form_of(command))
    if rule is None:
        raise ValueError("captures leave it out")
    return rule(text)


def _word(text: str) -> str:
    """systemctl's answer: a state, or its own words for having none."""
    return text


def _last_line(text: str) -> str:
    """What TuneD says of the verification as a whole."""
    return "\n".join(text.splitlines()[-1:])


def _driver(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if _DRIVER_LINE.match(line))


def _pause(text: str) -> str:
    """The settings; where there are none, ethtool's words for that."""
    lines = text.splitlines()
    kept = [line for line in lines if _PAUSE_LINE.fullmatch(line)]
    return "\n".join(kept or [*lines[:1], *(line for line in lines[1:] if "not supported" in line)])


def _vfs(text: str) -> str:
    """Of ip's JSON what it lists of VFs; nothing for any other output."""
    try:
        interfaces = json.loads(text)
        listed = [dict(_vf_fields(entry)) for entry in interfaces[0].get("vfinfo_list", [])]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return ""
    return json.dumps([{"vfinfo_list": listed}])


def _vf_fields(entry: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, kind in (("vf", int), ("trust", bool), ("spoofchk", bool), ("vlan", int)):
        if isinstance(entry.get(name), kind):
            yield name, entry[name]
    if vlans := entry.get("vlan_list"):
        numbers = (vlan.get("vlan", 0) for vlan in vlans)
        yield "vlan_list", [{"vlan": number} for number in numbers if isinstance(number, int)]


def _packages(text: str) -> str:
    """By function the DDP package that it has."""
    return "\n".join(line for line in text.splitlines() if _DEVLINK_LINE.fullmatch(line))


def _links(text: str) -> str:
    """By function the size of its read requests and its link's ASPM."""
    return "\n\n".join(
        "\n\t".join([f"{address} ", *fields])
        for block in text.split("\n\n")
        if is_pci_address(address := block.lstrip().partition(" ")[0])
        and (fields := _LSPCI_FIELD.findall(block))
    )


_RULES: Mapping[str, Callable[[str], str]] = {
    "tuned-adm verify": _last_line,
    "systemctl is-active <service>": _word,
    "systemctl is-enabled <service>": _word,
    "ethtool -i <interface>": _driver,
    "ethtool -a <interface>": _pause,
    "ip -details -json link show dev <interface>": _vfs,
    "devlink dev info": _packages,
    "lspci -D -vv": _links,
}

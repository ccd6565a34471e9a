"""Whether a port's VFs have the trust, spoof check and VLAN that the intent asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from plimsoll.tune.audit.finding import (
    Judgement,
    Reading,
    Step,
    command,
    fail,
    ok,
    unknown,
    worst_of,
)
from plimsoll.tune.audit.openshift_object import sriov_network
from plimsoll.tune.audit.ports.nic_ports import NicPort
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import CannotRead, Unread

VF_COMMAND = "ip -details -json link show dev <interface>"
# SriovNetwork's own spelling.
_FIELDS = {"spoofchk": "spoofChk"}


def judge_vf_settings(view: HostView, port: NicPort) -> Judgement:
    """Trust, spoof check and VLAN, which only the port's own driver knows. Raises CannotRead."""
    if all(each is None for each in (port.nic.trust, port.nic.spoofchk, port.nic.vlan)):
        return ok("the intent leaves trust, spoof check and VLAN open")
    if port.interface is None:
        return unknown(f"{port.name} is not the kernel's: who set its VFs up does not show")
    asked = VF_COMMAND.replace("<interface>", port.interface)
    by_number = _vf_info(asked, view.need_command(asked).text)
    return worst_of(
        judged
        for number in port.nic.vfs
        for judged in _vf_setting(port, asked, number, by_number.get(number))
    )


def _vf_setting(
    port: NicPort, asked: str, number: int, found: Mapping[str, Any] | None
) -> Iterator[Judgement]:
    name = f"VF {number} of {port.interface}"
    if found is None:
        yield unknown(f"{asked} does not show {name}")
        return
    for field, wanted in (("trust", port.nic.trust), ("spoofchk", port.nic.spoofchk)):
        if wanted is None:
            continue
        word = "on" if wanted else "off"
        read = Reading(asked, f"{name}: {field} {found.get(field)!r}")
        if field not in found:
            # Drivers without the setting, and switchdev mode, leave it out.
            yield unknown(f"{asked} does not show {field} of {name}", read)
        elif found[field] is wanted:
            yield ok(f"{name}: {field} {word}", read, wanted=f"{name}: {field} {word}")
        else:
            yield fail(
                f"{name}: {field} is not {word}",
                read,
                wanted=f"{name}: {field} {word}",
                steps=[_set_vf(port, number, field, word)],
            )
    if port.nic.vlan is not None:
        yield _vlan(port, asked, number, _vlan_of(found))


def _vlan(port: NicPort, asked: str, number: int, found: int) -> Judgement:
    name, wanted = f"VF {number} of {port.interface}", port.nic.vlan
    read = Reading(asked, f"{name}: VLAN {found}")
    if found == wanted:
        return ok(f"{name}: VLAN {found}", read, wanted=f"{name}: VLAN {wanted}")
    told = f"{name} has VLAN {found}, not {wanted}"
    steps = [_set_vf(port, number, "vlan", str(wanted))]
    return fail(told, read, wanted=f"{name}: VLAN {wanted}", steps=steps)


def _set_vf(port: NicPort, number: int, field: str, value: str) -> Step:
    return command(
        "ip",
        "link",
        "set",
        "dev",
        port.interface or "",
        "vf",
        str(number),
        field,
        value,
        openshift=sriov_network(f"{_FIELDS.get(field, field)}: {value}"),
    )


def _vf_info(asked: str, text: str) -> dict[int, Mapping[str, Any]]:
    """By VF, what `ip` prints of it. Raises CannotRead for what is no such answer."""
    try:
        interfaces = json.loads(text)
        entries = interfaces[0].get("vfinfo_list", [])
        return {int(entry["vf"]): entry for entry in entries}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise CannotRead(Unread(asked, "unreadable", "no answer of ip's")) from None


def _vlan_of(entry: Mapping[str, Any]) -> int:
    """0 is none; ip lists them since it knows of more than one."""
    listed = entry.get("vlan_list") or [{"vlan": entry.get("vlan", 0)}]
    try:
        return int(listed[0].get("vlan", 0))
    except (TypeError, ValueError, AttributeError, LookupError):
        return 0

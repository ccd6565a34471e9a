"""Collecting a capture: every file that a pattern names, within bounds, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from plimsoll.host.ports.netdevs import is_pci_address
from plimsoll.tune.host.capture.capture import (
    MAX_BYTES,
    MAX_FILES,
    Capture,
    CapturedOutput,
    CapturedUnread,
    CaptureManifest,
)
from plimsoll.tune.host.capture.capture_privacy import is_private, is_wild, kept_text, matches
from plimsoll.tune.host.view.commands import commands_of, form_of
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import Unread
from plimsoll.version import VERSION

# 512 CPUs with ten idle states each make 5120 paths of one pattern.
MAX_PATHS_OF_A_PATTERN = 20_000
_DEEPEST = 12
# What names the host and the kernel in an audit, in addition to the manifest.
_IDENTITY = (
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/osrelease",
)
_INTERFACES = "/sys/class/net"
_DRIVER_LINE = re.compile(r"(?:driver|version|firmware-version):")
_PAUSE_LINE = re.compile(r"(?:RX|TX)(?: negotiated)?:\s*(?:on|off)\s*")
_DEVLINK_LINE = re.compile(r"pci/[0-9a-f:.]+:|\s*fw\.app\.name(?:\s.*)?")
_LSPCI_FIELD = re.compile(r"MaxReadReq \d+ bytes|LnkCtl:\s*ASPM [^;\n]+;")


@dataclass(frozen=True, slots=True)
class NeededFiles:
    """What to collect: patterns of files, links and directories, and forms of commands."""

    files: tuple[str, ...]
    links: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass
class _Collected:
    files: dict[str, str] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    listed: dict[str, list[str]] = field(default_factory=dict)
    outputs: dict[str, CapturedOutput] = field(default_factory=dict)
    unread: dict[str, Unread] = field(default_factory=dict)
    size: int = 0


def collect(view: HostView, expected: NeededFiles, now: datetime) -> Capture:
    """Read all that is `expected` of `view`; what cannot be read is noted, and raises nothing."""
    found = _Collected()
    for path in _paths(view, (*_IDENTITY, *expected.files), found):
        _take_file(view, path, found)
    for path in _paths(view, expected.links, found):
        _take_link(view, path, found)
    for path in _paths(view, expected.lists, found):
        _take_names(view, path, found)
    for command in _commands(view, expected.commands):
        _take_output(view, command, found)
    return Capture(_manifest(view, expected, found, now), found.files)


def _manifest(
    view: HostView, expected: NeededFiles, found: _Collected, now: datetime
) -> CaptureManifest:
    host, kernel = (view.read(path) or "" for path in _IDENTITY)
    return CaptureManifest(
        plimsoll=VERSION,
        host=host,
        kernel=kernel,
        time=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        collected=[*_IDENTITY, *expected.files, *expected.links, *expected.lists],
        links=found.links,
        listed=found.listed,
        outputs=found.outputs,
        unread=[
            CapturedUnread(where=each.where, cause=each.cause, reason=each.reason)
            for each in found.unread.values()
        ],
    )


def _take_file(view: HostView, path: str, found: _Collected) -> None:
    if is_private(path):
        return _note(Unread(path, "forbidden", "captures leave it out"), found)
    text = view.file(path)
    if isinstance(text, Unread):
        return _note(text, found)
    try:
        text = kept_text(path, text)
    except ValueError as error:
        return _note(Unread(path, "forbidden", str(error)), found)
    size = len(text.encode())
    if found.size + size > MAX_BYTES or len(found.files) == MAX_FILES:
        reason = "the capture is as large as any may be"
        return _note(Unread(path, "not-captured", reason), found)
    found.size += size
    found.files[path] = text
    return None


def _take_link(view: HostView, path: str, found: _Collected) -> None:
    said = view.target(path)
    if isinstance(said, Unread):
        return _note(said, found)
    found.links[path] = said
    return None


def _take_names(view: HostView, path: str, found: _Collected) -> None:
    names = view.directory(path)
    if isinstance(names, Unread):
        return _note(names, found)
    found.listed[path] = list(names)
    return None


def _take_output(view: HostView, command: str, found: _Collected) -> None:
    output = view.output(command)
    if isinstance(output, Unread):
        found.unread[command] = output
        return
    try:
        text = kept_output(command, output.text)
    except ValueError as error:
        found.unread[command] = Unread(command, "forbidden", str(error))
        return
    found.outputs[command] = CapturedOutput(status=output.status, text=text)


def _note(unread: Unread, found: _Collected) -> None:
    """What is absent needs no note: it was requested, and is not there."""
    if unread.cause != "absent":
        found.unread[unread.where] = unread


def _commands(view: HostView, forms: Iterable[str]) -> Iterator[str]:
    """Of interfaces only those of devices: a node has hundreds of pods' virtual ones."""
    interfaces = tuple(
        name
        for name in view.listing(_INTERFACES) or ()
        if view.link(f"{_INTERFACES}/{name}/device") is not None
    )
    for form in dict.fromkeys(forms):
        yield from commands_of(form, interfaces)


def _paths(view: HostView, patterns: Iterable[str], found: _Collected) -> Iterator[str]:
    """Every path of the patterns that the host has, once."""
    seen: set[str] = set()
    for pattern in dict.fromkeys(patterns):
        paths = _expand(view, "", tuple(pattern.split("/")[1:]), found)
        for count, path in enumerate(islice(paths, MAX_PATHS_OF_A_PATTERN + 1)):
            if count == MAX_PATHS_OF_A_PATTERN:
                reason = f"more than {MAX_PATHS_OF_A_PATTERN} paths"
                found.unread[pattern] = Unread(pattern, "not-captured", reason)
            elif path not in seen:
                seen.add(path)
                yield path


def _expand(view: HostView, above: str, names: tuple[str, ...], found: _Collected) -> Iterator[str]:
    """The paths that `names` stand for below the directory `above`, links included."""
    if not names:
        yield above
        return
    name, rest = names[0], names[1:]
    if name == "**":
        yield from _descend(view, above, rest, found, depth=0)
    elif not is_wild(name):
        yield from _expand(view, f"{above}/{name}", rest, found)
    else:
        for each in _names(view, above, found):
            if matches(f"/{name}", f"/{each}"):
                yield from _expand(view, f"{above}/{each}", rest, found)


def _descend(
    view: HostView, above: str, rest: tuple[str, ...], found: _Collected, *, depth: int
) -> Iterator[str]:
    yield from _expand(view, above, rest, found)
    if depth == _DEEPEST:
        return
    for each in view.listing(above) or ():
        path = f"{above}/{each}"
        # Links of sysfs lead round in circles.
        if isinstance(view.target(path), Unread) and view.listing(path) is not None:
            yield from _descend(view, path, rest, found, depth=depth + 1)


def _names(view: HostView, path: str, found: _Collected) -> tuple[str, ...]:
    """The names in a directory; kept, because an empty one says something too."""
    names = view.directory(path or "/")
    if isinstance(names, Unread):
        _note(names, found)
        return ()
    if not names:
        found.listed[path] = []
    return names


# What a capture takes of the output of commands: the lines and fields that the audit reads.
#
# lspci and devlink tell serial numbers, ip the MAC addresses of VFs and what people wrote as an
# interface's alias; nothing of that is judged.
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

"""Collecting a capture: every file that a pattern names, within bounds, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from plimsoll.tune.host.capture.capture import (
    MOST_BYTES,
    MOST_FILES,
    Capture,
    CapturedOutput,
    CapturedUnread,
    CaptureManifest,
)
from plimsoll.tune.host.capture.capture_privacy import is_private, kept_text
from plimsoll.tune.host.capture.captured_outputs import kept_output
from plimsoll.tune.host.capture.path_pattern import is_wild, matches
from plimsoll.tune.host.view.commands import commands_of
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.unread import Unread
from plimsoll.version import VERSION

# 512 CPUs with ten idle states each make 5120 paths of one pattern.
MOST_PATHS_OF_A_PATTERN = 20_000
_DEEPEST = 12
# What names the host and the kernel in an audit, in addition to the manifest.
_IDENTITY = (
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/osrelease",
)
_INTERFACES = "/sys/class/net"


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
    if found.size + size > MOST_BYTES or len(found.files) == MOST_FILES:
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
        for count, path in enumerate(islice(paths, MOST_PATHS_OF_A_PATTERN + 1)):
            if count == MOST_PATHS_OF_A_PATTERN:
                reason = f"more than {MOST_PATHS_OF_A_PATTERN} paths"
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

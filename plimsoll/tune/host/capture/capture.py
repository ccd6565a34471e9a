"""A capture: what was read of one host at one time, to be judged elsewhere."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from pydantic import BaseModel, ConfigDict

from plimsoll.errors import InputError
from plimsoll.text.given_path import reason_of
from plimsoll.tune.host.capture.capture_privacy import matches, parents
from plimsoll.tune.host.view.host_view import CommandOutput, HostView
from plimsoll.tune.host.view.unread import Unread, UnreadCause

FORMAT_VERSION: Literal[1] = 1
# Bounds for who collects and who opens: 512 CPUs with ten idle states of eight files each are
# 40,000 files, and /proc/interrupts of such a host has 6 MB.
MAX_FILES = 100_000
MAX_BYTES = 128 << 20


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class CapturedOutput(_Part):
    """A command's exit status and text."""

    status: int
    text: str


class CapturedUnread(_Part):
    """What could not be read, and why."""

    where: str
    cause: UnreadCause
    reason: str = ""


class CaptureManifest(_Part):
    """All of a capture but its files; `manifest.json` in it.

    `time` is UTC by RFC 3339. `collected` are the patterns that were requested; `links`
    holds what links said, `listed` the names in directories of which no file was taken.
    """

    format: Literal["plimsoll-capture"] = "plimsoll-capture"
    version: Literal[1] = FORMAT_VERSION
    plimsoll: str
    host: str
    kernel: str
    time: str
    collected: list[str]
    links: dict[str, str]
    listed: dict[str, list[str]]
    outputs: dict[str, CapturedOutput]
    unread: list[CapturedUnread]


@dataclass(frozen=True)
class Capture:
    """The manifest, and the text of each file by its absolute path on the host."""

    manifest: CaptureManifest
    files: Mapping[str, str]

    def view(self, where: str) -> CapturedHost:
        """The host that it holds; `where` names the capture in messages."""
        manifest = self.manifest
        return CapturedHost(
            files=self.files,
            links=manifest.links,
            listed={path: tuple(names) for path, names in manifest.listed.items()},
            outputs={
                command: CommandOutput(output.status, output.text)
                for command, output in manifest.outputs.items()
            },
            unread=[Unread(each.where, each.cause, each.reason) for each in manifest.unread],
            collected=manifest.collected,
            where=where,
        )


# A host as a capture holds it.
class CapturedHost(HostView):
    """`files`, `links` and `outputs` by absolute path or command; `unread` what was refused.

    `collected` are the patterns of paths, and the commands, that were requested: what
    matches one of them and is not here did not exist. All else was never requested, and
    whether the host has it is unknown. `listed` has directories of which the names alone
    were taken, on top of those that the paths make.
    """

    def __init__(
        self,
        *,
        files: Mapping[str, str],
        links: Mapping[str, str] | None = None,
        listed: Mapping[str, tuple[str, ...]] | None = None,
        outputs: Mapping[str, CommandOutput] | None = None,
        unread: Iterable[Unread] = (),
        collected: Iterable[str] = ("/**",),
        where: str = "a capture",
    ) -> None:
        self.where = where
        self._files = dict(files)
        self._links = dict(links or {})
        self._outputs = dict(outputs or {})
        self._unread = {each.where: each for each in unread}
        self._collected = tuple(collected)
        self._names = _names([*self._files, *self._links, *self._unread])
        for path, names in (listed or {}).items():
            self._names.setdefault(path, set()).update(names)

    def file(self, path: str) -> str | Unread:
        """The text of a regular file."""
        found = self._files.get(path)
        return self._missing(path) if found is None else found.strip()

    def directory(self, path: str) -> tuple[str, ...] | Unread:
        """The names in a directory, sorted, as far as the capture has them."""
        if path in self._names and path not in self._unread:
            return tuple(sorted(self._names[path]))
        return self._missing(path)

    def target(self, path: str) -> str | Unread:
        """What a symbolic link says, as written."""
        found = self._links.get(path)
        return self._missing(path) if found is None else found

    def output(self, command: str) -> CommandOutput | Unread:
        """The output that the command had."""
        found = self._outputs.get(command)
        if found is not None:
            return found
        missing = Unread(command, "not-captured")
        return self._unread.get(command, missing)

    def _missing(self, path: str) -> Unread:
        if path in self._unread:
            return self._unread[path]
        requested = (pattern for each in self._collected for pattern in (each, *parents(each)))
        known = any(matches(pattern, path) for pattern in requested)
        return Unread(path, "absent" if known else "not-captured")


def _names(paths: Iterable[str]) -> dict[str, set[str]]:
    """The names in each directory that a path passes through."""
    found: dict[str, set[str]] = {}
    for path in paths:
        if not path.startswith("/"):
            continue
        child = PurePosixPath(path)
        for parent in child.parents:
            found.setdefault(str(parent), set()).add(child.name)
            child = parent
    return found


MANIFEST = "manifest.json"
# Before the host's own absolute paths.
FILES = "files"
SUFFIXES = (".tar.gz", ".tgz")


def write_capture(capture: Capture, path: Path) -> None:
    """Write it to `path`, readable by its owner alone.

    Raises InputError for another suffix, for a file that is there already and for one that
    cannot be written.
    """
    if not path.name.endswith(SUFFIXES):
        raise InputError(
            "captures are written as tar archives under gzip",
            where=str(path),
            remedy=f"end the name with {SUFFIXES[0]}",
        )
    try:
        with open(path, "xb", opener=_private) as file:
            write_archive(capture, file)
    except FileExistsError:
        raise InputError(
            "is there already", where=str(path), remedy="choose another name"
        ) from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be written: {reason_of(error)}", where=str(path), remedy="choose another place"
        ) from error


def write_archive(capture: Capture, file: IO[bytes]) -> None:
    """Write it to an open file, or a pipe. Raises OSError."""
    with tarfile.open(fileobj=file, mode="w|gz", format=tarfile.PAX_FORMAT) as archive:
        for name, text in _members(capture):
            content = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o644
            archive.addfile(member, io.BytesIO(content))


def _members(capture: Capture) -> Iterator[tuple[str, str]]:
    yield MANIFEST, capture.manifest.model_dump_json(indent=1)
    for path in sorted(capture.files):
        yield FILES + path, capture.files[path]


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)

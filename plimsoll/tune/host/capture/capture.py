"""A capture: what was read of one host at one time, to be judged elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict

from plimsoll.tune.host.capture.captured_host import CapturedHost
from plimsoll.tune.host.view.host_view import CommandOutput
from plimsoll.tune.host.view.unread import Unread, UnreadCause

FORMAT_VERSION: Literal[1] = 1
# Bounds for who collects and who opens: 512 CPUs with ten idle states of eight files each are
# 40,000 files, and /proc/interrupts of such a host has 6 MB.
MOST_FILES = 100_000
MOST_BYTES = 128 << 20


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

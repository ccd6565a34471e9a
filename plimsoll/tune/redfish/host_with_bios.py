"""A host, and what its BMC said of its firmware."""

from __future__ import annotations

from plimsoll.tune.host.host_view import CommandOutput, HostView
from plimsoll.tune.host.unread import Unread
from plimsoll.tune.redfish.bios_answer import BIOS_PATH, BiosAnswer


class HostWithBios(HostView):
    """Answers for BIOS_PATH what the BMC answered, and for all else what `host` does."""

    def __init__(self, host: HostView, answer: BiosAnswer) -> None:
        self.where = host.where
        self._host = host
        self._answer = answer.model_dump_json()

    def file(self, path: str) -> str | Unread:
        """The text of a regular file, or the BMC's answer."""
        return self._answer if path == BIOS_PATH else self._host.file(path)

    def directory(self, path: str) -> tuple[str, ...] | Unread:
        """The names in a directory, sorted."""
        return self._host.directory(path)

    def target(self, path: str) -> str | Unread:
        """What a symbolic link says, as written."""
        return self._host.target(path)

    def output(self, command: str) -> CommandOutput | Unread:
        """The output of one of the fixed commands."""
        return self._host.output(command)

"""A host, and what its BMC said of its firmware."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.tune.host.view.bios_answer import BiosAnswer
from plimsoll.tune.host.view.host_view import CommandOutput, HostView
from plimsoll.tune.host.view.unread import Unread


class HostWithBios(HostView):
    """Of its firmware it says what the BMC answered, and of all else what `host` does."""

    def __init__(self, host: HostView, answer: BiosAnswer) -> None:
        self.where = host.where
        self._host = host
        self._answer = answer

    def firmware(self) -> BiosAnswer:
        """What the BMC answered."""
        return self._answer

    def session(self) -> Mapping[str, str]:
        """The SSH session of the caller on the host."""
        return self._host.session()

    def file(self, path: str) -> str | Unread:
        """The text of a regular file."""
        return self._host.file(path)

    def directory(self, path: str) -> tuple[str, ...] | Unread:
        """The names in a directory, sorted."""
        return self._host.directory(path)

    def target(self, path: str) -> str | Unread:
        """What a symbolic link says, as written."""
        return self._host.target(path)

    def output(self, command: str) -> CommandOutput | Unread:
        """The output of one of the fixed commands."""
        return self._host.output(command)

"""A host as it is now."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from plimsoll.tune.host.view.commands import check_command
from plimsoll.tune.host.view.host_view import CommandOutput, HostView
from plimsoll.tune.host.view.rooted_files import RootedFiles
from plimsoll.tune.host.view.unread import Unread

_TIMEOUT_S = 10.0
_MAX_OUTPUT_BYTES = 1 << 20
# What the kernel answers in; a root file system on a disk has them as empty directories.
_MOUNTED = ("/proc", "/sys")
# Words that mean that the command could not ask, not that it got an answer.
_NOT_REQUESTED = ("failed to connect", "cannot talk to", "system has not been booted with systemd")


class LiveHost(HostView):
    """This host; or one whose root file system, with procfs and sysfs, is mounted at `root`.

    On the latter no command can be run: it would answer for this one. Where its procfs or
    sysfs is not mounted, what is in them is unreadable and not absent.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._files = RootedFiles(root)
        self._own = root == Path("/")
        self._unmounted = tuple(top for top in _MOUNTED if not self._own and self._is_bare(top))
        self.where = "this host" if self._own else str(root)

    def file(self, path: str) -> str | Unread:
        """The text of a regular file."""
        return self._unknown(path) or self._files.text(path)

    def directory(self, path: str) -> tuple[str, ...] | Unread:
        """The names in a directory, sorted."""
        return self._unknown(path) or self._files.names(path)

    def target(self, path: str) -> str | Unread:
        """What a symbolic link says, as written."""
        return self._unknown(path) or self._files.target(path)

    def output(self, command: str) -> CommandOutput | Unread:
        """Run the command, in English, for ten seconds at most."""
        if not self._own:
            return Unread(command, "unreadable", "commands run on the host itself only")
        argv = check_command(command)
        if shutil.which(argv[0]) is None:
            return Unread(command, "absent", f"{argv[0]} is not installed")
        try:
            done = subprocess.run(  # noqa: S603 - one of the fixed commands, without a shell
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
                env={"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath)},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Unread(command, "unreadable", _reason(error))
        return _answer(command, done)

    def session(self) -> Mapping[str, str]:
        """By which client this process's SSH session comes, if it has one."""
        connection = os.environ.get("SSH_CONNECTION") if self._own else None
        return {"SSH_CONNECTION": connection} if connection else {}

    def _is_bare(self, top: str) -> bool:
        names = self._files.names(top)
        return isinstance(names, Unread) or not names

    def _unknown(self, path: str) -> Unread | None:
        """Why `path` is unknown, where its file system is not mounted."""
        for top in self._unmounted:
            if path == top or path.startswith(f"{top}/"):
                return Unread(path, "unreadable", f"nothing is mounted at {top}")
        return None


def _answer(command: str, done: subprocess.CompletedProcess[bytes]) -> CommandOutput | Unread:
    said, complained = (
        stream[:_MAX_OUTPUT_BYTES].decode(errors="replace").strip()
        for stream in (done.stdout, done.stderr)
    )
    text = said or complained
    if done.returncode and any(words in text.lower() for words in _NOT_REQUESTED):
        return Unread(command, "unreadable", text.splitlines()[0])
    return CommandOutput(done.returncode, text)


def _reason(error: OSError | subprocess.TimeoutExpired) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"no answer within {_TIMEOUT_S:g} s"
    return error.strerror or ""

"""A capture on its way here: another host's own `plimsoll tune capture`, over ssh."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile

from plimsoll.errors import InputError, MachineError
from plimsoll.host.processes.child import tied_to_parent
from plimsoll.host.processes.over_ssh import is_destination, over_ssh
from plimsoll.tune.host.capture.capture import MOST_BYTES
from plimsoll.tune.host.capture.capture_file import SUFFIXES
from plimsoll.tune.host.capture.open_capture import open_root
from plimsoll.tune.host.view.host_view import HostView

_CAPTURE = ("plimsoll", "tune", "capture", "--output", "-")
# How timeout(1) ends where the time was up.
_TIME_WAS_UP = 124
_MOST_NAMED_BYTES = 1 << 12
_REMEDY = "let ssh in by key, and have plimsoll of this version on PATH there"
_SCHEME = "ssh://"
_MOST_S = 120.0


class RemoteCapture:
    """What a host says of itself; it comes while this process does other things.

    After `most_s` both ends give up, and what would be larger
    than any capture is cut off: the host is not trusted.
    """

    def __init__(
        self,
        destination: str,
        *,
        most_s: float,
        where: str,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        """Ask `destination`, as ssh takes it; `where` is its place in errors.

        What comes is kept in `folder`, by default that of temporary files, until `close`. ssh
        runs on the CPUs that the caller may use now. Raises MachineError.
        """
        self.url = f"ssh://{destination}"
        self._most_s = most_s
        self._where = where
        self._deadline_s = time.monotonic() + most_s
        self._late = False
        with ExitStack() as files:
            # Its name distinguishes it from what is not an archive.
            self._archive = files.enter_context(
                NamedTemporaryFile(prefix="plimsoll-", suffix=SUFFIXES[0], dir=folder)
            )
            self._errors = files.enter_context(TemporaryFile())
            self._process = self._start(destination, environment)
            self._files = files.pop_all()

    def wait(self) -> None:
        """Until it has come, or the time is up."""
        try:
            self._process.wait(max(0.0, self._deadline_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            self._late = True
            self._end()

    def view(self) -> HostView:
        """The host, once its capture has come. It is opened as any is: with suspicion.

        Raises MachineError where ssh or the command there fails, InputError for what is no
        capture.
        """
        self.wait()
        if self._process.returncode != 0:
            raise self._failed(self._what_went_wrong())
        try:
            view = open_root(Path(self._archive.name))
        except InputError as error:
            raise InputError(
                f"its capture {error.message}", where=self._where, remedy=error.remedy
            ) from None
        view.where = self.url
        return view

    def close(self) -> None:
        """End it, if it goes on still; safe to repeat."""
        self._end()
        self._files.close()

    def _start(
        self, destination: str, environment: Mapping[str, str] | None
    ) -> subprocess.Popen[bytes]:
        # Where ssh is ended here, sshd leaves the command there alone until it writes.
        command = over_ssh(destination, "timeout", f"{self._most_s:g}", *_CAPTURE)
        try:
            return subprocess.Popen(  # noqa: S603 - an argument vector, no shell here
                tied_to_parent(("prlimit", f"--fsize={MOST_BYTES}", "--", *command)),
                stdin=subprocess.DEVNULL,
                stdout=self._archive,
                stderr=self._errors,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise self._failed(error.strerror or str(error)) from error

    def _end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _what_went_wrong(self) -> str:
        status = self._process.returncode
        if self._late or status == _TIME_WAS_UP:
            return f"no capture came within {self._most_s:g} s"
        if status == -signal.SIGXFSZ:
            return f"it sends more than {MOST_BYTES >> 20} MiB"
        self._errors.seek(0)
        said = self._errors.read(_MOST_NAMED_BYTES).decode(errors="replace").strip().splitlines()
        message = "".join(letter for letter in said[-1] if letter.isprintable()) if said else ""
        return message or f"it ended with {status}"

    def _failed(self, problem: str) -> MachineError:
        return MachineError(
            f"cannot be read over ssh: {problem}", where=self._where, remedy=_REMEDY
        )


# A host elsewhere, as a command's option names it.
def view_over_ssh(url: str) -> HostView:
    """What the host of `ssh://[user@]host` says of itself.

    Raises InputError for another kind of URL and for what is not a capture, MachineError where
    ssh or the command there fails.
    """
    destination = url.removeprefix(_SCHEME).removesuffix("/")
    if not url.startswith(_SCHEME) or not is_destination(destination):
        raise InputError(
            f"{url!r} is not a host", where="--host", remedy="write it as ssh://root@node-1"
        )
    where = f"--host {destination}"
    with closing(RemoteCapture(destination, most_s=_MOST_S, where=where)) as capture:
        return capture.view()

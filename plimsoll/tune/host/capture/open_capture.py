"""Opening a capture, which may come from anybody: nothing of it is unpacked onto a disk.

An archive holds regular files under the names that `plimsoll tune capture` gives. Links,
devices, names that lead elsewhere, and more than a capture can need are refused whole.
"""

from __future__ import annotations

import signal
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile

from pydantic import ValidationError

from plimsoll.errors import InputError, MachineError
from plimsoll.host.processes.child import is_destination, over_ssh, with_parent_death_signal
from plimsoll.text.given_path import look_at
from plimsoll.tune.host.archives.archived_files import ArchiveBounds, archived_files, folder_files
from plimsoll.tune.host.capture.capture import (
    FILES,
    MANIFEST,
    MAX_BYTES,
    MAX_FILES,
    SUFFIXES,
    Capture,
    CaptureManifest,
)
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.host.view.rooted_files import MAX_FILE_BYTES

# The manifest has as much again as the files.
_MAX_BYTES = 2 * MAX_BYTES
# Half a kB for each file, and as much again for names of more than 100 characters.
_MAX_HEADER_BYTES = 64 << 20
# The deepest path of sysfs that is read has some fifteen.
_MAX_PARTS = 64
_REMEDY = "make it with plimsoll tune capture"


def open_root(path: Path) -> HostView:
    """The host of a capture, an archive or unpacked; or of a whole root file system.

    An archive may be compressed by gzip, as captures are made, by bzip2, by xz, or not at all.
    A directory is a capture where it holds the manifest. Raises InputError for whatever is
    neither, and for captures that no honest tool makes.
    """
    found = look_at(path)
    if found is None:
        raise InputError("does not exist", where=str(path), remedy=_REMEDY)
    if stat.S_ISDIR(found.st_mode):
        if look_at(path / MANIFEST) is None:
            return _root_file_system(path)
        return _capture(path, _unpacked_members(path)).view(str(path))
    if not stat.S_ISREG(found.st_mode):
        raise _refused(path, "is neither a directory nor a regular file")
    return _capture(path, _archived_members(path)).view(str(path))


def _root_file_system(path: Path) -> HostView:
    if not any(_is_directory(path / top) for top in ("proc", "sys")):
        raise InputError(
            f"holds neither {MANIFEST} nor a host's proc and sys", where=str(path), remedy=_REMEDY
        )
    return LiveHost(path)


def _is_directory(path: Path) -> bool:
    found = look_at(path)
    return found is not None and stat.S_ISDIR(found.st_mode)


def _capture(path: Path, members: Iterator[tuple[str, bytes]]) -> Capture:
    manifest: CaptureManifest | None = None
    files: dict[str, str] = {}
    seen: set[str] = set()
    for name, content in members:
        if name in seen:
            raise _refused(path, f"holds {name!r} twice")
        seen.add(name)
        if name == MANIFEST:
            manifest = _manifest(path, content)
        else:
            files[_host_path(path, name)] = content.decode(errors="replace")
    if manifest is None:
        raise _refused(path, f"holds no {MANIFEST}")
    return Capture(manifest, files)


def _manifest(path: Path, content: bytes) -> CaptureManifest:
    try:
        return CaptureManifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise _refused(path, f"{MANIFEST}: {place}: {first['msg']}") from None


def _host_path(path: Path, name: str) -> str:
    """`files/proc/cmdline` is /proc/cmdline."""
    parts = name.split("/")
    odd = len(parts) > _MAX_PARTS or any(part in ("", ".", "..") for part in parts)
    if parts[0] != FILES or len(parts) < 2 or odd:
        raise _refused(path, f"holds {name[:80]!r}, which no capture does")
    return "/" + "/".join(parts[1:])


def _archived_members(path: Path) -> Iterator[tuple[str, bytes]]:
    return archived_files(path, _bounds(), lambda _: True)


def _unpacked_members(path: Path) -> Iterator[tuple[str, bytes]]:
    return folder_files(path, _bounds(), lambda name: name.split("/")[0] in (MANIFEST, FILES))


def _bounds() -> ArchiveBounds:
    return ArchiveBounds(
        most_members=MAX_FILES,
        most_bytes=_MAX_BYTES,
        most_file_bytes=MAX_FILE_BYTES,
        most_header_bytes=_MAX_HEADER_BYTES,
        remedy=_REMEDY,
    )


def _refused(path: Path, message: str) -> InputError:
    return InputError(message, where=str(path), remedy=_REMEDY)


_CAPTURE = ("plimsoll", "tune", "capture", "--output", "-")
# How timeout(1) ends where the time was up.
_TIME_WAS_UP = 124
_MAX_NAMED_BYTES = 1 << 12
_SSH_REMEDY = "let ssh in by key, and have plimsoll of this version on PATH there"
_SCHEME = "ssh://"
_MAX_S = 120.0


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
                with_parent_death_signal(("prlimit", f"--fsize={MAX_BYTES}", "--", *command)),
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
            return f"it sends more than {MAX_BYTES >> 20} MiB"
        self._errors.seek(0)
        said = self._errors.read(_MAX_NAMED_BYTES).decode(errors="replace").strip().splitlines()
        message = "".join(letter for letter in said[-1] if letter.isprintable()) if said else ""
        return message or f"it ended with {status}"

    def _failed(self, problem: str) -> MachineError:
        return MachineError(
            f"cannot be read over ssh: {problem}", where=self._where, remedy=_SSH_REMEDY
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
    with closing(RemoteCapture(destination, most_s=_MAX_S, where=where)) as capture:
        return capture.view()

"""A host elsewhere: its own `plimsoll tune capture`, over ssh."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from plimsoll.errors import InputError, MachineError
from plimsoll.host.over_ssh import is_destination, over_ssh
from plimsoll.tune.host.host_view import HostView
from plimsoll.tune.host.open_capture import open_root

_SCHEME = "ssh://"
_CAPTURE = ("plimsoll", "tune", "capture", "--output", "-")
_TIMEOUT_S = 120.0


def view_over_ssh(url: str) -> HostView:
    """What the host of `ssh://[user@]host` says of itself.

    It is opened as any capture is: with suspicion. Raises InputError for another kind of
    URL and for what is no capture, MachineError where ssh or the command there fails.
    """
    destination = url.removeprefix(_SCHEME).removesuffix("/")
    if not url.startswith(_SCHEME) or not is_destination(destination):
        raise InputError(
            f"{url!r} is no host", where="--host", remedy="write it as ssh://root@node-1"
        )
    with tempfile.NamedTemporaryFile(prefix="plimsoll-", suffix=".tar.gz") as file:
        _capture(destination, file.fileno())
        return open_root(Path(file.name))


def _capture(destination: str, output: int) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - an argument vector, no shell here
            over_ssh(destination, *_CAPTURE),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _failed(destination, str(error)) from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise _failed(destination, said[-1] if said else f"it ended with {done.returncode}")


def _failed(destination: str, problem: str) -> MachineError:
    return MachineError(
        f"cannot be asked over ssh: {problem}",
        where=f"--host {destination}",
        remedy="let ssh in by key, and have plimsoll of this version on PATH there",
    )

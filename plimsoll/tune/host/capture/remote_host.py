"""A host elsewhere, as a command's option names it."""

from __future__ import annotations

from contextlib import closing

from plimsoll.errors import InputError
from plimsoll.host.processes.over_ssh import is_destination
from plimsoll.tune.host.capture.remote_capture import RemoteCapture
from plimsoll.tune.host.view.host_view import HostView

_SCHEME = "ssh://"
_MOST_S = 120.0


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

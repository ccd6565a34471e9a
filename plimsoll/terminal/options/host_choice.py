"""The host that a command is about: this one, a captured one, or one elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from plimsoll.errors import InputError
from plimsoll.tune.host.capture.open_capture import open_root
from plimsoll.tune.host.capture.remote_capture import view_over_ssh
from plimsoll.tune.host.view.host_view import HostView
from plimsoll.tune.host.view.live_host import LiveHost

RootOption = Annotated[
    Path | None,
    typer.Option(
        metavar="CAPTURE",
        help="Of this capture (an archive or directory), or a mounted root file system.",
    ),
]
HostOption = Annotated[
    str | None,
    typer.Option(metavar="ssh://HOST", help="Of this host, on which plimsoll is installed too."),
]


def chosen_host(root: Path | None, host: str | None) -> HostView:
    """This host, unless another is named. Raises InputError, and MachineError over ssh."""
    if root is not None and host is not None:
        raise InputError("one host at a time", where="--host", remedy="leave out --root or --host")
    if host is not None:
        return view_over_ssh(host)
    return LiveHost() if root is None else open_root(root)

"""The options with which an audit asks a host's BMC."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from plimsoll.errors import InputError
from plimsoll.tune.host.capture.open_capture import open_root, view_over_ssh
from plimsoll.tune.host.view.host_view import BiosAnswer, CommandOutput, HostView
from plimsoll.tune.host.view.live_host import LiveHost
from plimsoll.tune.host.view.unread import Unread
from plimsoll.tune.redfish.bmc_credentials import (
    PASSWORD_VARIABLE,
    USER_VARIABLE,
    bmc_address,
    read_credentials,
)
from plimsoll.tune.redfish.read_bios import read_bios

BmcOption = Annotated[
    str | None,
    typer.Option(
        metavar="https://HOST", help="Ask this BMC for the firmware's settings; reads only."
    ),
]
BmcCredentialsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Lines user=NAME and password=PASSWORD, in a file of mode 600; by default "
        f"{USER_VARIABLE} and {PASSWORD_VARIABLE} of the environment.",
    ),
]
CaFileOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="The authorities that may have signed the BMC's certificate (PEM)."
    ),
]


def with_bmc(
    view: HostView, bmc: str | None, credentials: Path | None, ca_file: Path | None
) -> HostView:
    """The host, and with --bmc what that says of its firmware.

    Raises InputError for bad options and MachineError where the BMC gives no answer.
    """
    if bmc is None:
        if credentials is not None or ca_file is not None:
            option = "--bmc-credentials" if credentials is not None else "--ca-file"
            raise InputError("is for a BMC", where=option, remedy="give --bmc https://HOST too")
        return view
    address = bmc_address(bmc)
    return HostWithBios(
        view, read_bios(address, read_credentials(credentials, os.environ), ca_file)
    )


# A host, and what its BMC said of its firmware.
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

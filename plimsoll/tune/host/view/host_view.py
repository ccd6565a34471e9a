"""What can be read of a host, alike from a live one and from a capture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from plimsoll.tune.host.view.commands import check_command
from plimsoll.tune.host.view.unread import CannotRead, Unread


class BiosAnswer(BaseModel):
    """`where` is the URL of the Bios resource, `vendor` the name of the map that fits.

    Of the attributes only those that the vendor's map names are kept: the others hold
    serial numbers, asset tags and hashes of passwords. `vendor` is None where no map fits;
    `manufacturer` says what the BMC called itself.
    """

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    where: str
    manufacturer: str
    model: str
    bios_version: str
    vendor: str | None
    attributes: dict[str, str]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """How a command ended, and its standard output, or its error output where that is empty."""

    status: int
    text: str


class HostView(ABC):
    """A host's files by absolute path, its directories, links and a few commands' outputs.

    Nothing is ever written. A source answers each question with what it found or with an
    `Unread`; the methods below give that the shape a caller wants:

    - `read`, `listing`, `link`, `command`: None whatever the cause, which `why_not` tells;
    - `find`: None where the host truly has no such file, CannotRead where that is unknown;
    - `need`: text, or CannotRead.

    Text comes without blanks and line ends around it. `where` names the source.
    """

    where: str = "this host"

    @abstractmethod
    def file(self, path: str) -> str | Unread:
        """The text of a regular file."""

    @abstractmethod
    def directory(self, path: str) -> tuple[str, ...] | Unread:
        """The names in a directory, sorted."""

    @abstractmethod
    def target(self, path: str) -> str | Unread:
        """What a symbolic link says, as written."""

    @abstractmethod
    def output(self, command: str) -> CommandOutput | Unread:
        """The output of one of the fixed commands, which has been checked to be one."""

    def firmware(self) -> BiosAnswer | None:
        """What the host's BMC said of its firmware; None where none was read."""
        return None

    def session(self) -> Mapping[str, str]:
        """SSH_CONNECTION, under that name, of a caller on the host itself over ssh; else empty."""
        return {}

    def read(self, path: str) -> str | None:
        """The text of a file; None where it could not be read."""
        return _known(self.file(path))

    def find(self, path: str) -> str | None:
        """The text of a file; None where there is none. Raises CannotRead otherwise."""
        return _present(self.file(path))

    def need(self, path: str) -> str:
        """The text of a file. Raises CannotRead."""
        return _required(self.file(path))

    def why_not(self, path: str) -> Unread | None:
        """Why `read` gave None; None where it gives text."""
        found = self.file(path)
        return found if isinstance(found, Unread) else None

    def listing(self, path: str) -> tuple[str, ...] | None:
        """The names in a directory; None where it could not be read."""
        return _known(self.directory(path))

    def find_names(self, path: str) -> tuple[str, ...]:
        """The names in a directory, none where it is absent. Raises CannotRead otherwise."""
        return _present(self.directory(path)) or ()

    def link(self, path: str) -> str | None:
        """What a symbolic link says; None where it could not be read."""
        return _known(self.target(path))

    def command(self, command: str) -> CommandOutput | None:
        """The output of a command of the fixed list, as it is typed: "tuned-adm active".

        None where it did not run. Raises ValueError for any other command.
        """
        check_command(command)
        return _known(self.output(command))

    def need_command(self, command: str) -> CommandOutput:
        """The same. Raises CannotRead where it did not run, and ValueError."""
        check_command(command)
        return _required(self.output(command))


def _known(found: T | Unread) -> T | None:
    return None if isinstance(found, Unread) else found


def _present(found: T | Unread) -> T | None:
    if isinstance(found, Unread) and found.cause != "absent":
        raise CannotRead(found)
    return _known(found)


def _required(found: T | Unread) -> T:
    if isinstance(found, Unread):
        raise CannotRead(found)
    return found

"""Who asks, and how that is proved: from the environment or a file, never from arguments.

What is on a command line, every user of the machine can read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.errors import InputError

USER = "PLIMSOLL_EXPORT_USER"
PASSWORD = "PLIMSOLL_EXPORT_PASSWORD"  # noqa: S105 - the name of a variable
_MAX_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user and a password, or the id of an access key and its secret."""

    user: str
    secret: str = field(repr=False)


def read_credentials(
    path: Path | None, environment: Mapping[str, str] = os.environ
) -> Credentials | None:
    """Those of the file `path`, else of the environment, else None.

    The file has one line, `user:password`, and only its owner may read it. Raises
    InputError for one that is open to others, missing or of another form.
    """
    if path is not None:
        return _of_file(path)
    user, secret = environment.get(USER), environment.get(PASSWORD)
    if user is None and secret is None:
        return None
    if not user or secret is None:
        raise InputError(
            f"only one of {USER} and {PASSWORD} is set", where="environment", remedy="set both"
        )
    return Credentials(user, secret)


def _of_file(path: Path) -> Credentials:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            content = file.read(_MAX_BYTES)
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}",
            where=str(path),
            remedy="name a file with one line, user:password",
        ) from error
    if stat.S_IMODE(mode) & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(
            f"others may get at these credentials: its mode is {stat.S_IMODE(mode):o}",
            where=str(path),
            remedy=f"chmod 600 {path}",
        )
    user, colon, secret = content.decode("utf-8", "replace").rstrip("\r\n").partition(":")
    if not (user and colon and secret) or "\n" in secret:
        # Not a word of what it holds.
        raise InputError(
            "is not one line of the form user:password", where=str(path), remedy="write it so"
        )
    return Credentials(user, secret)

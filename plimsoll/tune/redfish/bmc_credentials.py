"""Who asks a BMC: a user and a password, which are never written anywhere.

They come from a file that no other user can read, or from the environment; an option of
the command line could be read by every user of the host.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from plimsoll.errors import InputError
from plimsoll.text.given_path import reason_of

USER_VARIABLE = "PLIMSOLL_BMC_USER"
PASSWORD_VARIABLE = "PLIMSOLL_BMC_PASSWORD"  # noqa: S105 - its name, not its value
_FORM = "write two lines in it, user=NAME and password=PASSWORD"
_MAX_BYTES = 4096
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_REMEDY = "write it as https://host or https://host:port"


@dataclass(frozen=True, slots=True)
class BmcCredentials:
    """Both are kept out of representations, and so out of tracebacks and logs."""

    user: str = field(repr=False)
    password: str = field(repr=False)


def read_credentials(path: Path | None, environment: Mapping[str, str]) -> BmcCredentials:
    """Of the file, or without one of the environment.

    Raises InputError where there are none, and for a file that others than its owner may
    read; no message quotes what is in it.
    """
    if path is not None:
        return _parsed(_private_text(path), str(path))
    user = environment.get(USER_VARIABLE, "")
    password = environment.get(PASSWORD_VARIABLE, "")
    if not user or not password:
        raise InputError(
            "a BMC requires a user name and a password",
            where="--bmc",
            remedy=f"give --bmc-credentials FILE, or set {USER_VARIABLE} and {PASSWORD_VARIABLE}",
        )
    return BmcCredentials(user, password)


def _private_text(path: Path) -> str:
    try:
        # Without O_NONBLOCK a pipe would block opening until a process writes to it.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            _check_private(path, os.fstat(descriptor))
            content = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be read: {reason_of(error)}", where=str(path), remedy="check its name"
        ) from None
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = ""
    if not text or len(content) > _MAX_BYTES:
        raise InputError("holds no credentials", where=str(path), remedy=_FORM)
    return text


def _check_private(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise InputError("is not a regular file", where=str(path), remedy="give a file")
    if status.st_mode & _OTHERS:
        raise InputError(
            f"may be read or written by others than its owner (mode {status.st_mode & 0o777:o})",
            where=str(path),
            remedy=f"chmod 600 {path}, and change the password if others had access",
        )


def _parsed(text: str, where: str) -> BmcCredentials:
    """Blanks belong to a password; only the line's end does not."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        if not line.strip() or line.startswith("#"):
            continue
        if not equals or name not in ("user", "password") or name in found or not value:
            raise InputError("is not a credentials file", where=where, remedy=_FORM)
        found[name] = value
    if len(found) < 2:
        raise InputError("holds no user or no password", where=where, remedy=_FORM)
    return BmcCredentials(found["user"], found["password"])


# The address of a baseboard management controller.
def bmc_address(text: str) -> str:
    """`https://host[:port]`, as given but for a slash at its end; raises InputError.

    Only HTTPS: passwords go to it. None may stand in the address, which is shown.
    """
    try:
        parts = urlsplit(text)
        usable = _is_plain(parts, text)
    except ValueError:
        usable = False
    if not usable:
        raise InputError("is not an address of a BMC", where="--bmc", remedy=_REMEDY)
    return f"https://{parts.netloc}"


def _is_plain(parts: SplitResult, text: str) -> bool:
    whole = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    return (
        whole
        and "@" not in parts.netloc
        and not parts.query
        and not parts.fragment
        and parts.path in ("", "/")
        and text.isprintable()
        and " " not in text
    )

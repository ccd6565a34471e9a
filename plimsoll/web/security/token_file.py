"""The file of the token: scripts of this user read it, and no one else can."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from plimsoll.errors import InputError, MachineError
from plimsoll.text.given_path import read_regular_file

_OPTION = "--token-file"
_NAME = "token"
_MODE = 0o600
_MIN_CHARACTERS = 32
_FOR_OTHERS = 0o077
_MAX_MIB = 1


def write_token(folder: Path, token: str) -> Path:
    """Write it into a new file of a private folder. Raises MachineError."""
    path = folder / _NAME
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{token}\n")
    except OSError as error:
        raise MachineError(
            f"cannot write the token: {error.strerror}",
            where=str(path),
            remedy="free some space there",
        ) from error
    return path


def read_token(path: Path) -> str:
    """The token in a file of the user's. Raises InputError where others may know it."""
    try:
        found = path.stat()
        content = read_regular_file(path, _MAX_MIB, "write the token alone into it")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise _unusable(path, f"cannot be read: {reason}", "give a file of yours") from error
    if not stat.S_ISREG(found.st_mode) or found.st_mode & _FOR_OTHERS:
        raise _unusable(path, "others may read it", f"chmod 600 {path}")
    if found.st_uid not in (os.geteuid(), 0):
        raise _unusable(path, "it belongs to another user", "give a file of yours")
    token = content.decode(errors="replace").strip()
    if len(token) < _MIN_CHARACTERS or not token.isascii() or not token.isprintable():
        raise _unusable(
            path,
            f"it holds no token of {_MIN_CHARACTERS} characters or more",
            f"make one: (umask 077; openssl rand -hex 32 > {path})",
        )
    if " " in token:
        raise _unusable(path, "its token has blanks", "leave them out")
    return token


def _unusable(path: Path, problem: str, remedy: str) -> InputError:
    return InputError(f"{path}: {problem}", where=_OPTION, remedy=remedy)

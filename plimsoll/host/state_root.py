"""Where the ledgers of this user are kept."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from plimsoll.errors import MachineError

STATE_VARIABLE = "PLIMSOLL_STATE"


def state_root() -> Path:
    """The private directory that holds this user's ledgers, made when it is missing.

    $PLIMSOLL_STATE, else /run/plimsoll for root, else $XDG_RUNTIME_DIR/plimsoll, else
    plimsoll-<uid> among the temporary files. Raises MachineError when it cannot be made
    or another user could write to it.
    """
    root = _choose().absolute()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = root.lstat()
    except OSError as error:
        raise _unusable(root, error.strerror or str(error)) from error
    private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o022
    if not private or status.st_uid != os.getuid():
        raise _unusable(root, "it is not a directory that belongs to this user alone")
    return root


def _choose() -> Path:
    if chosen := os.environ.get(STATE_VARIABLE):
        return Path(chosen)
    if os.getuid() == 0:
        return Path("/run/plimsoll")
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(runtime) / "plimsoll"
    return Path(tempfile.gettempdir()) / f"plimsoll-{os.getuid()}"


def _unusable(root: Path, reason: str) -> MachineError:
    return MachineError(
        f"cannot keep state here: {reason}",
        where=str(root),
        remedy=f"remove it, or set {STATE_VARIABLE} to a directory of your own",
    )

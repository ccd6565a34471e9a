"""Scratch folders among the temporary files, which a later command removes after a kill."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plimsoll.host.processes.identity import ProcessIdentity, identify

_PREFIX = "plimsoll-scratch-"
_NAME = re.compile(rf"{_PREFIX}(\d{{1,10}})-(\d{{1,20}})-[a-z0-9_]+", re.ASCII)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A private folder in the temporary directory (TMPDIR), removed at the end of the block.

    Its name says whose it is, so that `sweep_scratch` finds it when this process is killed.
    Raises OSError.
    """
    owner = identify(os.getpid())
    prefix = f"{_PREFIX}{owner.pid}-{owner.start_ticks}-"
    with tempfile.TemporaryDirectory(prefix=prefix) as folder:
        yield Path(folder)


def sweep_scratch() -> list[str]:
    """Remove this user's scratch folders whose processes have ended: what was done, in words."""
    done: list[str] = []
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        match = _NAME.fullmatch(folder.name)
        if match is None or not _ours(folder):
            continue
        if not ProcessIdentity(int(match[1]), int(match[2])).alive:
            shutil.rmtree(folder, ignore_errors=True)
            done.append(f"removed {folder}")
    return done


def _ours(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()

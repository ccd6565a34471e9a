"""A file for other programs: written whole or not at all, never over an existing one."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from plimsoll.errors import InputError, MachineError, PlimsollError
from plimsoll.record.files.record_error import NO_ROOM

_DISK = (*NO_ROOM, errno.EIO)


@contextmanager
def fresh_file(path: Path, *, force: bool) -> Iterator[TextIO]:
    """Write `path` within a `with`; before that ends well, nothing is there by that name.

    Raises InputError where it exists and `force` does not say to replace it, and where it
    cannot be written, MachineError where that is the disk's doing.
    """
    refuse_existing(path, force=force)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with unfinished.open("x", encoding="utf-8", newline="") as file:
            yield file
        refuse_existing(path, force=force)
        unfinished.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()


@contextmanager
def new_folders(folder: Path) -> Iterator[None]:
    """Make `folder`, with those above it, within a `with`; before that ends well, none is kept.

    Others may have put something there by then: what is not empty stays. Raises OSError.
    """
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            for each in made:
                each.rmdir()
        raise


def refuse_existing(path: Path, *, force: bool) -> None:
    """Raises InputError where something is there by that name."""
    if path.is_dir():
        raise InputError("is a folder", where=str(path), remedy="name a file")
    if os.path.lexists(path) and not force:
        raise InputError(
            "exists already", where=str(path), remedy="name another file, or add --force"
        )


def unwritable(path: Path, error: OSError) -> PlimsollError:
    """The error for a target that cannot be written: the machine's, where its disk is full."""
    kind = MachineError if error.errno in _DISK else InputError
    return kind(
        f"cannot be written: {error.strerror or error}",
        where=str(path),
        remedy="name a place with room that you may write to",
    )


class ExportError(PlimsollError):
    """The other side did not take it; the record here is unharmed."""

    exit_code = 6

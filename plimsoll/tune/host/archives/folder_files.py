"""The files of a folder that may come from anybody: no link is followed, no pipe waited for."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from plimsoll.tune.host.archives.archive_bounds import (
    ArchiveBounds,
    PathFilter,
    shown_name,
    size_text,
)


def folder_files(
    path: Path, bounds: ArchiveBounds, is_needed: PathFilter
) -> Iterator[tuple[str, bytes]]:
    """(path within it, content) of each file that `is_needed`, in the order of their names.

    A link to a folder counts as a file, which it is refused as where it is needed. Raises
    InputError for a needed path that is not a regular file or cannot be read, and for what is
    beyond the bounds.
    """
    total = 0
    for count, (name, place) in enumerate(_walk(path)):
        if count >= bounds.most_members:
            raise bounds.too_many(path)
        if not is_needed(name):
            continue
        content = _read_regular(path, place, name, bounds)
        total += len(content)
        if total > bounds.most_bytes:
            raise bounds.refused(path, f"holds more than {size_text(bounds.most_bytes)}")
        yield name, content


def _walk(path: Path) -> Iterator[tuple[str, Path]]:
    for folder, folders, names in os.walk(path):
        folders.sort()
        # os.walk does not enter links to directories, but would not tell of them.
        linked = [each for each in folders if (Path(folder) / each).is_symlink()]
        for name in sorted([*names, *linked]):
            place = Path(folder) / name
            yield place.relative_to(path).as_posix(), place


def _read_regular(path: Path, place: Path, name: str, bounds: ArchiveBounds) -> bytes:
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise bounds.no_regular_file(path, name)
            content = file.read(bounds.most_file_bytes + 1)
    except OSError as error:
        if place.is_symlink():
            raise bounds.no_regular_file(path, name) from None
        message = f"{shown_name(name)!r} cannot be read ({error.strerror})"
        raise bounds.refused(path, message) from None
    if len(content) > bounds.most_file_bytes:
        raise bounds.too_large(path, name)
    return content

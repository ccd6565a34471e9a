"""The files of a must-gather that an audit may want, out of a directory or an archive.

Nothing is unpacked onto a disk and no link is followed. Of an archive only the requested
members are kept; a must-gather is mostly logs, gigabytes of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plimsoll.tune.host.archives.archive_bounds import ArchiveBounds, PathFilter, size_text
from plimsoll.tune.host.archives.archived_files import archived_files
from plimsoll.tune.host.archives.folder_files import folder_files

MOST_FILE_BYTES = 32 << 20
MOST_KEPT_BYTES = 256 << 20
_BOUNDS = ArchiveBounds(
    # A must-gather of hundreds of nodes.
    most_members=1_000_000,
    most_bytes=32 << 30,
    most_file_bytes=MOST_FILE_BYTES,
    # Names of more than 100 characters, which most are, take three blocks more than others.
    most_header_bytes=4 << 30,
    remedy="give the directory or archive that oc adm must-gather wrote",
)


def needed_files(path: Path, expected: PathFilter) -> Iterator[tuple[str, bytes]]:
    """(path within it, content) of each regular file whose path is `expected`.

    Directories give them in the order of their names, archives in their own. Raises InputError
    for what is neither, for an expected path that is a link or a device, and for more than a
    must-gather can need.
    """
    read = folder_files if path.is_dir() else archived_files
    kept = 0
    for name, content in read(path, _BOUNDS, expected):
        kept += len(content)
        if kept > MOST_KEPT_BYTES:
            raise _BOUNDS.refused(path, f"holds more than {size_text(MOST_KEPT_BYTES)} of objects")
        yield name, content

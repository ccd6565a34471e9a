"""An initramfs: what a kernel unpacks into memory as its first file system.

The format is "newc" of cpio: Linux, Documentation/driver-api/early-userspace/
buffer-format.rst.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import PurePosixPath

_EXECUTABLE = stat.S_IFREG | 0o755
_DIRECTORY = stat.S_IFDIR | 0o755
_LAST = "TRAILER!!!"


def initramfs(files: Mapping[str, bytes]) -> bytes:
    """An archive of `files` by path without its first slash; all of them may be executed."""
    folders = {
        str(folder): b"" for name in files for folder in PurePosixPath(name).parents if folder.name
    }
    members = [(name, _DIRECTORY, b"") for name in sorted(folders)]
    members += [(name, _EXECUTABLE, content) for name, content in files.items()]
    members.append((_LAST, 0, b""))
    return b"".join(
        _member(number, name, mode, content)
        for number, (name, mode, content) in enumerate(members, start=1)
    )


def _member(number: int, name: str, mode: int, content: bytes) -> bytes:
    named = name.encode() + b"\0"
    # Inode, mode, user, group, links, time, size, two devices of two numbers, name, no checksum.
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(named), 0)
    header = b"070701" + b"".join(f"{field:08X}".encode() for field in fields)
    return _padded(header + named) + _padded(content)


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 4)

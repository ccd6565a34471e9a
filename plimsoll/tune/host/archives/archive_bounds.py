"""How much of an archive or a folder that may come from anybody is read at most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from plimsoll.errors import InputError

# Whether a file of that path within the archive or folder is needed.
PathFilter = Callable[[str], bool]

_LONGEST_SHOWN = 80
_MIB, _GIB = 1 << 20, 1 << 30


@dataclass(frozen=True, slots=True)
class ArchiveBounds:
    """`most_bytes` are of all files together, `most_file_bytes` of one that is needed.

    `most_header_bytes` are of everything else in an archive: a few compressed bytes make a
    million names, and reading those takes a hundred times as long as reading as many bytes of
    a file. `remedy` is what to do with what is beyond.
    """

    most_members: int
    most_bytes: int
    most_file_bytes: int
    most_header_bytes: int
    remedy: str

    def refused(self, path: Path, message: str) -> InputError:
        """The error for `path`."""
        return InputError(message, where=str(path), remedy=self.remedy)

    def too_many(self, path: Path) -> InputError:
        """More members than `most_members`."""
        return self.refused(path, f"holds more than {self.most_members} files")

    def too_large(self, path: Path, name: str) -> InputError:
        """A file of more than `most_file_bytes`."""
        size = size_text(self.most_file_bytes)
        return self.refused(path, f"{shown_name(name)!r} is larger than {size}")

    def no_regular_file(self, path: Path, name: str) -> InputError:
        """A link, a device, a pipe where a file was expected."""
        return self.refused(path, f"holds {shown_name(name)!r}, a link or a device")


def shown_name(name: str) -> str:
    """The end of a long path, which says more than its start."""
    return name if len(name) <= _LONGEST_SHOWN else f"…{name[-_LONGEST_SHOWN:]}"


def size_text(size: int) -> str:
    """A bound for people: 256 MiB, 32 GiB."""
    return f"{size // _GIB} GiB" if size >= _GIB else f"{size // _MIB} MiB"

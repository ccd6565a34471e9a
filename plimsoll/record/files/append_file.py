"""A file that only grows, by whole lines, so that a kill costs at most the last one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from plimsoll.record.files.closeable import Closeable
from plimsoll.record.files.record_error import write_failed

_BLOCK_BYTES = 65536


class AppendFile(Closeable):
    """Appends lines to `path`; a failed append takes back what it wrote of them.

    A line without its end, as a kill leaves it, is cut off on opening: its writer
    never learnt that it was recorded. There is one writer at a time; the run's
    lock sees to that. Raises RecordError when the file cannot be written.
    """

    def __init__(self, path: Path, *, sync: bool = False) -> None:
        """Open for appending. With `sync` each append is on the disk when it returns."""
        self.path = path
        self._sync = sync
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise write_failed(path, error) from error
        self._length = _end_of_last_line(self._descriptor)
        self._cut_back()

    @property
    def empty(self) -> bool:
        """Whether nothing has been appended yet, by this writer or an earlier one."""
        return self._length == 0

    @property
    def length(self) -> int:
        """The bytes that were appended, by this writer and earlier ones."""
        return self._length

    def cut(self, length: int) -> None:
        """Take back whatever lies beyond `length` bytes, where a line must end."""
        self._length = min(self._length, length)
        self._cut_back()

    def append(self, lines: Iterable[str]) -> None:
        """Append the lines (without line ends), all or none of them."""
        data = "".join(f"{line}\n" for line in lines).encode()
        try:
            self._write(data)
        except OSError as error:
            self._cut_back()
            raise write_failed(self.path, error) from error
        self._length += len(data)

    def _write(self, data: bytes) -> None:
        view, offset = memoryview(data), self._length
        while view:
            written = os.pwrite(self._descriptor, view, offset)
            view, offset = view[written:], offset + written
        if self._sync:
            os.fsync(self._descriptor)

    def _cut_back(self) -> None:
        # Where even this fails, the torn line stays, and every reader leaves it out.
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, self._length)

    def close(self) -> None:
        """Close the file; safe to repeat."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _end_of_last_line(descriptor: int) -> int:
    end = os.fstat(descriptor).st_size
    while end > 0:
        begin = max(0, end - _BLOCK_BYTES)
        newline = os.pread(descriptor, end - begin, begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        end = begin
    return 0

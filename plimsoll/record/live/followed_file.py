"""A file of lines that grows, read a piece at a time."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO


class FollowedFile:
    """Gives each line once, when it is complete; also those written before it was removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._torn = b""

    def new_lines(self) -> list[str]:
        """Those since the last look; none where there is no file yet, or none any more."""
        if self._file is None:
            try:
                self._file = self._path.open("rb")
            except FileNotFoundError:
                return []
        *lines, self._torn = (self._torn + self._file.read()).split(b"\n")
        return [line.decode(errors="replace") for line in lines]

    def close(self) -> None:
        """Let go of it; safe to repeat."""
        if self._file is not None:
            self._file.close()
            self._file = None

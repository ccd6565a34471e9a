"""A file of lines that grows, read a piece at a time."""

from __future__ import annotations

from pathlib import Path


class FollowedFile:
    """Gives each line once, when it is complete."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_bytes = 0

    def new_lines(self) -> list[str]:
        """Those since the last look; none when the file has gone."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._read_bytes)
                grown = file.read()
        except FileNotFoundError:
            return []
        whole = grown[: grown.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        return whole.decode(errors="replace").splitlines()

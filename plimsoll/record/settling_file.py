"""A file of lines whose last stretch may still be replaced by fewer: detail now, steps later."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from plimsoll.record.append_file import AppendFile
from plimsoll.record.closeable import Closeable
from plimsoll.record.record_error import write_failed

_FOLLOWS = "follows_bytes"


class SettlingFile(Closeable):
    """Appends lines to `path`; those of an open stretch lie beside it until they settle.

    They lie in `<path>.open`, whose first line says how long `path` was when the stretch
    began. As long as that file is there it holds good, and whatever `path` has beyond that
    length does not; so a kill at any moment costs at most the last line.
    """

    def __init__(self, path: Path) -> None:
        """Open for appending; lines of a stretch that a kill left open are kept as they are."""
        self._path = path
        self._file = AppendFile(path)
        self._held: AppendFile | None = None
        self._keep_leftover()

    @property
    def empty(self) -> bool:
        """Whether nothing has settled yet."""
        return self._file.empty

    def append(self, lines: Iterable[str]) -> None:
        """Append lines for good. What is held must have settled."""
        self._file.append(lines)

    def hold(self, lines: Iterable[str]) -> None:
        """Append lines to the open stretch."""
        if self._held is None:
            self._held = AppendFile(open_stretch(self._path))
            self._held.append([json.dumps({_FOLLOWS: self._file.length})])
        self._held.append(lines)

    def settle(self, lines: Iterable[str]) -> None:
        """End the open stretch: `lines` take the place of all that was held."""
        self._file.append(lines)
        if self._held is not None:
            self._held.close()
            self._held = None
            _remove(open_stretch(self._path))

    def close(self) -> None:
        """Close the files, an open stretch as it is; safe to repeat."""
        self._file.close()
        if self._held is not None:
            self._held.close()

    def _keep_leftover(self) -> None:
        path = open_stretch(self._path)
        if not path.exists():
            return
        follows, held = _read_stretch(path)
        if follows is not None:
            self._file.cut(follows)
            self._file.append(held)
        _remove(path)


def open_stretch(path: Path) -> Path:
    """Where the lines of `path` lie that have not settled."""
    return path.with_name(f"{path.name}.open")


def settling_lines(path: Path) -> Iterator[str]:
    """All whole lines without their ends, those of an open stretch last; none without a file.

    May be read while it is written.
    """
    # The stretch first: up to where it begins, the file no longer changes.
    follows, held = _read_stretch(open_stretch(path))
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        position = 0
        for line in file:
            position += len(line)
            if not line.endswith(b"\n") or (follows is not None and position > follows):
                break
            yield line[:-1].decode()
    yield from held


def _read_stretch(path: Path) -> tuple[int | None, list[str]]:
    """How long the file was that it follows, None where that is not known, and its lines."""
    try:
        *whole, _ = path.read_bytes().decode().split("\n")
    except FileNotFoundError:
        whole = []
    if not whole:
        return None, []
    return int(json.loads(whole[0])[_FOLLOWS]), whole[1:]


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise write_failed(path, error) from error

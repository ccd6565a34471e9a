"""A file of lines whose last stretch may still be replaced by fewer: detail now, steps later."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from plimsoll.record.files.append_file import AppendFile
from plimsoll.record.files.closeable import Closeable
from plimsoll.record.files.record_error import RecordError, write_failed

_FOLLOWS = "follows_bytes"


class SettlingFile(Closeable):
    """Appends lines to `path`; those of an open stretch lie in a file next to it until they settle.

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


def settling_lines(path: Path, length: int | None = None) -> Iterator[str]:
    """All whole lines without their ends, those of an open stretch last; none without a file.

    With a `length` only those in the first bytes of the file, and none of an open stretch.

    May be read while it is written. Raises RecordError where they cannot be read, or are no
    text.
    """
    # The stretch first: up to where it begins, the file no longer changes.
    follows, held = _read_stretch(open_stretch(path)) if length is None else (length, [])
    with contextlib.suppress(FileNotFoundError), _readable(path), path.open("rb") as file:
        position = 0
        for number, line in enumerate(file, start=1):
            position += len(line)
            if not line.endswith(b"\n") or (follows is not None and position > follows):
                break
            yield _text(line[:-1], path, number)
    yield from held


def _read_stretch(path: Path) -> tuple[int | None, list[str]]:
    """How long the file was that it follows, None where that is not known, and its lines."""
    raw = b""
    with contextlib.suppress(FileNotFoundError), _readable(path):
        raw = path.read_bytes()
    *whole, _ = raw.split(b"\n")
    if not whole:
        return None, []
    first, *lines = [_text(line, path, number) for number, line in enumerate(whole, start=1)]
    return _length_before(first, path), lines


def _length_before(first: str, path: Path) -> int:
    try:
        return int(json.loads(first)[_FOLLOWS])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _damaged(path, 1) from error


def _text(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise _damaged(path, number) from error


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as error:
        raise RecordError(
            f"cannot be read: {error.strerror or error}",
            where=str(path),
            remedy="make it a file that you may read",
        ) from error


def _damaged(path: Path, number: int) -> RecordError:
    return RecordError(
        f"line {number} is damaged", where=str(path), remedy="restore it from a copy of the run"
    )


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise write_failed(path, error) from error

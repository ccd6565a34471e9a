"""Files that grow by whole lines, so that a kill costs the last at most."""

from __future__ import annotations

import contextlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from plimsoll.generator.interface import Interval
from plimsoll.record.files.record_error import RecordError, write_failed


class Closeable(ABC):
    """Something to use in a `with`, which closes it."""

    @abstractmethod
    def close(self) -> None:
        """Stop writing; may be repeated."""

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


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


# So long every interval is kept as it is: searches and standard tests have no longer trials.
FINE_S = 600.0
STEP_S = 60.0


class TimeSteps:
    """Says of each interval of a run's trials where its step ends."""

    def __init__(self) -> None:
        self._begin_s: float | None = None

    def coarse(self, interval: Interval) -> bool:
        """Whether it is part of a step, and not kept for itself."""
        return interval.begin_s >= FINE_S

    def begins_anew(self, interval: Interval) -> bool:
        """Whether it belongs to another trial than the step that is open."""
        return self._begin_s is not None and interval.begin_s < self._begin_s

    def ends_with(self, interval: Interval) -> bool:
        """Take a coarse interval into the step; True where the step is then complete."""
        if self._begin_s is None:
            self._begin_s = interval.begin_s
        # Half an interval early: intervals are as long as a timer makes them.
        half_s = (interval.end_s - interval.begin_s) / 2
        if interval.end_s < self._begin_s + STEP_S - half_s:
            return False
        self.end()
        return True

    def end(self) -> None:
        """No step is open any more."""
        self._begin_s = None

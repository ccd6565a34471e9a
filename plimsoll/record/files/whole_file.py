"""Files that are written and read as a whole: the old content or the new one, never a half."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Self, TypeVar

from pydantic import BaseModel, ValidationError

from plimsoll.record.files.record_error import RecordError, in_one_line, write_failed

M = TypeVar("M", bound=BaseModel)


def write_whole(path: Path, text: str, *, durable: bool = True) -> None:
    """Replace `path` by `text`. Raises RecordError; `path` is then as before.

    What is not `durable` is not forced onto the disk: a power cut may spoil it.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _write_through(unfinished, text, durable)
        unfinished.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise write_failed(path, error) from error


def read_whole(path: Path, model: type[M], remedy: str) -> M | None:
    """The model whose JSON `path` holds; None without a file.

    Raises RecordError with `remedy` for one that cannot be read or is of another make.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RecordError(f"cannot be read: {error}", where=str(path), remedy=remedy) from error
    return parsed_whole(path, content, model, remedy)


def parsed_whole(path: Path, content: bytes, model: type[M], remedy: str) -> M:
    """The model whose JSON is the `content` of `path`. Raises RecordError with `remedy`."""
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        reason = in_one_line(error)
        raise RecordError(f"cannot be read: {reason}", where=str(path), remedy=remedy) from error


def _write_through(path: Path, text: str, durable: bool) -> None:
    # A directory from elsewhere may hold a link or a pipe of that name.
    with open(path, "w", encoding="utf-8", opener=_open_own) as file:
        file.write(text)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def _open_own(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)


_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FileSum:
    """What was recorded of the bytes from `begin` up to `end`; `begin` is 0 of a whole file."""

    end: int
    sha256: str
    begin: int = 0

    @classmethod
    def of(cls, path: Path, begin: int = 0) -> Self:
        """Of the file from `begin` to its end. Raises OSError."""
        with _opened(path) as file:
            end = os.fstat(file.fileno()).st_size
            return cls(end, digest(file.fileno(), begin, end), begin)

    @classmethod
    def recorded(cls, fields: object) -> Self | None:
        """As the journal has it; None of what is none."""
        if not isinstance(fields, Mapping):
            return None
        end, sha256, begin = fields.get("end"), fields.get("sha256"), fields.get("begin", 0)
        if not isinstance(end, int) or not isinstance(sha256, str) or not isinstance(begin, int):
            return None
        return cls(end, sha256, begin)

    @property
    def fields(self) -> dict[str, int | str]:
        """For the journal."""
        begin = {"begin": self.begin} if self.begin else {}
        return {**begin, "end": self.end, "sha256": self.sha256}

    def difference(self, path: Path) -> str | None:
        """How the file at `path` differs from it, in words; None where it does not."""
        try:
            with _opened(path) as file:
                size = os.fstat(file.fileno()).st_size
                if size < self.end:
                    return f"has {size:,} bytes; {self.end:,} were recorded"
                if digest(file.fileno(), self.begin, self.end) != self.sha256:
                    where = f", between bytes {self.begin:,} and {self.end:,}" if self.begin else ""
                    return f"was changed after it was recorded{where} (SHA-256)"
        except FileNotFoundError:
            return "is missing"
        except OSError as error:
            return f"cannot be read: {error.strerror or error}"
        return None


def digest(descriptor: int, begin: int, end: int) -> str:
    """The SHA-256 of these bytes, in hexadecimal. Raises OSError."""
    found, position = hashlib.sha256(), begin
    while position < end:
        block = os.pread(descriptor, min(_BLOCK_BYTES, end - position), position)
        if not block:
            break
        found.update(block)
        position += len(block)
    return found.hexdigest()


def _opened(path: Path) -> BinaryIO:
    # A directory from elsewhere may hold a pipe or a device of that name.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    raise OSError("not a regular file")

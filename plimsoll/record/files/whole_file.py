"""Files that are written and read as a whole: the old content or the new one, never a half."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TypeVar

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

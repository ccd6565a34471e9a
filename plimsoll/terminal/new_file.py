"""A file for a command to write, which must not exist before."""

from __future__ import annotations

from pathlib import Path

from plimsoll.errors import InputError
from plimsoll.terminal.output import stderr
from plimsoll.text.given_path import reason_of


def write_new_file(path: Path, text: str, option: str = "--output") -> None:
    """Write it and say so on standard error; never over something that exists.

    Raises InputError, with the `option` as the remedy, where it cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be written: {reason_of(error)}",
            where=str(path),
            remedy=f"name another file with {option}",
        ) from None
    stderr.print(f"written: {path}", soft_wrap=True, highlight=False)

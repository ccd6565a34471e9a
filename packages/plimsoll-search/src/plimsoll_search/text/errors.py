"""The error that says what is wrong with what a user gave, where, and what to do next."""

from __future__ import annotations


class PlimsollError(Exception):
    """Something the user can fix: what is wrong, where, and what to do next.

    `where` is a place the user knows (a file and field, a path, a process);
    `remedy` is one imperative sentence. A command line prints all three and
    exits with `exit_code`.
    """

    # Each kind has its own; this is that of a fault in the program itself. Never 1, which is left
    # to a DUT that failed.
    exit_code = 7

    def __init__(self, message: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        remedy = f" ({self.remedy})" if self.remedy else ""
        return f"{place}{self.message}{remedy}"


class InputError(PlimsollError):
    """Bad input: a file, a field, an option."""

    exit_code = 2

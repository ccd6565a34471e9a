"""The error every layer raises for what a user can fix."""

from __future__ import annotations

# The one exit code that says so, and that nothing else has.
DUT_FAILED = 1
# The exit code where the tester, not the DUT, is why a question has no answer.
TESTER_COULD_NOT_TELL = 5
# A fault in Plimsoll itself: whatever no one foresaw. Never 1, which says that the DUT failed.
INTERNAL_FAULT = 7
# As a shell has it for a program that SIGINT ended.
SIGNALLED = 130


class PlimsollError(Exception):
    """Something the user can fix: what is wrong, where, and what to do next.

    `where` is a place the user knows (a file and field, a path, a process);
    `remedy` is one imperative sentence. The command line prints all three and
    exits with `exit_code`.
    """

    # Each kind has its own.
    exit_code = INTERNAL_FAULT

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


class MachineError(PlimsollError):
    """The machine lacks something the run needs."""

    exit_code = 3


class Interrupted(BaseException):
    """A signal requested this process to end: unwind, taking everything down on the way.

    Like KeyboardInterrupt not an Exception, so that no handler of errors swallows it.
    """

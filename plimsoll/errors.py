"""The error every layer raises for what a user can fix."""

from __future__ import annotations

from plimsoll.search.text.errors import InputError, PlimsollError

__all__ = [
    "DUT_FAILED",
    "INTERNAL_FAULT",
    "SIGNALLED",
    "TESTER_COULD_NOT_TELL",
    "InputError",
    "Interrupted",
    "MachineError",
    "PlimsollError",
]

# The one exit code that says so, and that nothing else has.
DUT_FAILED = 1
# The exit code where the tester, not the DUT, is why a question has no answer.
TESTER_COULD_NOT_TELL = 5
# A fault in Plimsoll itself: whatever no one foresaw. Never 1, which says that the DUT failed.
INTERNAL_FAULT = PlimsollError.exit_code
# As a shell has it for a program that SIGINT ended.
SIGNALLED = 130


class MachineError(PlimsollError):
    """The machine lacks something the run needs."""

    exit_code = 3


class Interrupted(BaseException):
    """A signal requested this process to end: unwind, taking everything down on the way.

    Like KeyboardInterrupt not an Exception, so that no handler of errors swallows it.
    """

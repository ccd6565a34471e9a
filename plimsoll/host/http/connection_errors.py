"""What is wrong with a connection: the error that others hold."""

from __future__ import annotations

# Errors of connections hold the one that caused them, a few deep.
_DEEPEST_ERROR = 10


def innermost(error: BaseException) -> BaseException:
    """The error that a connection's errors are about: of the system, or of TLS."""
    for _ in range(_DEEPEST_ERROR):
        held = (getattr(error, "reason", None), error.__cause__, *error.args)
        inner = next((each for each in held if isinstance(each, BaseException)), None)
        if inner is None:
            break
        error = inner
    return error


def words_of(error: BaseException) -> str:
    """For people: "Connection refused"."""
    return getattr(error, "strerror", None) or str(error)

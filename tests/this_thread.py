"""A stand-in for a function of the whole process that no other thread meets."""

import threading
from collections.abc import Callable
from typing import Any


def in_this_thread(real: Callable[..., Any], stand_in: Callable[..., Any]) -> Callable[..., Any]:
    """`stand_in` where the thread that asks for it calls, `real` in any other.

    A clock, a sleep or a call of the kernel's is everybody's: a thread that an earlier test left
    would take of what a stand-in has to give, or be counted by it.
    """
    thread = threading.get_ident()

    def call(*args: Any, **options: Any) -> Any:
        wanted = stand_in if threading.get_ident() == thread else real
        return wanted(*args, **options)

    return call

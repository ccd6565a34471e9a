"""Tells a test that failed from one whose machine was away: a watch on each CPU."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.tried_again import SpoiltByMachine

_NAP_S = 0.01


@contextmanager
def spoilt_where_away(longest_s: float) -> Iterator[None]:
    """What fails in the block was spoilt where a CPU did not run a thread of ours for so long.

    Such a thread sleeps, and looks how much later than it wanted it is woken.
    """
    over = threading.Event()
    watches = [_Watch(cpu, over) for cpu in os.sched_getaffinity(0)]
    for watch in watches:
        watch.start()
    failure: AssertionError | None = None
    try:
        yield
    except AssertionError as error:
        failure = error
    finally:
        over.set()
        for watch in watches:
            watch.join()
    away_s = max(watch.longest_s for watch in watches)
    if failure is not None and away_s > longest_s:
        raise SpoiltByMachine(f"a CPU was away for {away_s:.3g} s") from failure
    if failure is not None:
        raise failure


class _Watch(threading.Thread):
    def __init__(self, cpu: int, over: threading.Event) -> None:
        super().__init__(daemon=True)
        self.longest_s = 0.0
        self._cpu = cpu
        self._over = over

    def run(self) -> None:
        os.sched_setaffinity(threading.get_native_id(), {self._cpu})
        while not self._over.is_set():
            begin_s = time.monotonic()
            time.sleep(_NAP_S)
            self.longest_s = max(self.longest_s, time.monotonic() - begin_s - _NAP_S)
